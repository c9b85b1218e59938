#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# methodpictures: makes the pictures of the guide docs/methods.md from its frame and recording.
usage ()
{
  cat <<TEXT
usage: docs/methods/methodpictures.sh [--output DIR]

Runs nmsfilter on docs/methods/crowd.jsonl with the settings of each picture that
docs/methods.md shows, draws the kept boxes and their scores on crowd.jpg, and writes NAME.png
to DIR (default: docs/methods).
Prints one line for each picture: its name, the settings and the number of boxes. With
Debian's package python3-pil the pictures get a palette, which makes them a fifth as large.
TEXT
}

. "$(dirname "$0")/../../pipelines/common.sh"

nms_arguments "$@"
source=$NMS_ROOT/docs/methods
out=${NMS_OUTPUT:-$source}
nms_output_dir "$out"
nms_prepare
nms_work_dir "$out"

# picture NAME SETTINGS...: makes one picture with these settings of nmsfilter.
picture ()
{
  local name=$1
  shift
  nms_launch -q filesrc "$(nms_set location "$source/crowd.jpg")" ! jpegdec ! videoconvert \
    ! video/x-raw,format=RGB ! boxreplay match=index "$(nms_set location "$source/crowd.jsonl")" \
    ! nmsfilter "$@" ! boxrecord "$(nms_set location "$NMS_WORK/kept.jsonl")" \
    ! boxoverlay show-label=false ! pngenc snapshot=true compression-level=9 \
    ! filesink "$(nms_set location "$NMS_WORK/$name.png")" >"$NMS_WORK/errors" 2>&1 ||
    nms_failed "$NMS_WORK/errors"
  say "$name: $*: $(nms_total_boxes "$NMS_WORK/kept.jsonl") boxes"
}

# Replaces the colours of the pictures by a palette of 32.
reduce_colours ()
{
  local python
  for python in python3 /usr/bin/python3; do
    ! nms_child "$python" -c 'import PIL' 2>/dev/null || break
  done
  nms_child "$python" - "$@" <<'END'
import sys
try:
    from PIL import Image
except ImportError:
    print("methodpictures: python3-pil is missing, so the pictures have no palette", file=sys.stderr)
    sys.exit()
for path in sys.argv[1:]:
    full = Image.open(path).convert("RGB")
    full.quantize(32, Image.Quantize.MAXCOVERAGE).save(path, optimize=True)
END
}

# The tables of the guide: a row of pictures, then a row of their settings.
mapfile -t pictures < <(awk -F '|' '
  /\]\(methods\/[a-z-]*\.png\) \|/ {
    for (i = 2; i < NF; i++) {
      match($i, /methods\/[a-z-]*\.png/)
      name[i] = substr($i, RSTART + 8, RLENGTH - 12)
    }
  }
  / boxes, `/ { for (i = 2; i < NF; i++) { split($i, part, "`"); print name[i], part[2] } }
  ' "$NMS_ROOT/docs/methods.md")
for row in "${pictures[@]}"; do
  # shellcheck disable=SC2086
  picture $row
done
reduce_colours "$NMS_WORK"/*.png
mv "$NMS_WORK"/*.png "$out/"
