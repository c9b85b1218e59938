#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart: installs packages, builds the plugin, runs a detector on a video, and makes a
# video with the raw boxes left, the filtered boxes in the middle and the steady ones right.
usage ()
{
  cat <<END
usage: pipelines/quickstart.sh [--input FILE] [--output DIR] [--seconds N]

Installs what is needed (with apt-get, as root or through sudo), builds the
plugin and runs OpenCV's people detector (hogdetect) on a video. The detector reports
every window that looks like a person to it, with a score; nmsfilter leaves the best
one of each person, and boxsteady links these along time.

  --input FILE   any video (default: vtest.avi, which Debian ships)
  --output DIR   where the results go (default: output/ in the checkout)
  --seconds N    how much of the video (default: 10; 0: all of it)

Results: quickstart.mp4 (raw boxes left, filtered in the middle, steady right),
quickstart.png (raw and filtered boxes of one frame), before.jsonl and after.jsonl (the boxes, one line a frame).
END
}

. "$(dirname "$0")/common.sh"

NMS_SECONDS=10
nms_arguments "$@"
out=${NMS_OUTPUT:-$NMS_ROOT/output}
nms_output_dir "$out"
nms_prepare
nms_open_video
nms_detector
nms_filter
nms_two_halves
DRAW_SCORES=(boxoverlay show-label=false)
nms_work_dir "$out"
work=$NMS_WORK
nms_encode "$work/quickstart.mp4"
third=$(((NMS_WIDTH + 1) / 2 * 2))
THREE=(compositor name=mix background=black sink_1::xpos="$third" sink_2::xpos="$((2 * third))"
  ! "video/x-raw,width=$((3 * third)),height=$(((NMS_HEIGHT + 1) / 2 * 2))" ! videoconvert)

# Prints the progress: ten lines in all or, on a terminal, one line that changes each second.
progress ()
{
  local line frames in out
  while IFS= read -r line; do
    [[ $line =~ nmsfilter,.*frames=\(guint64\)([0-9]+) ]] || continue
    frames=${BASH_REMATCH[1]}
    [[ $line =~ boxes-in=\(guint64\)([0-9]+) ]] && in=${BASH_REMATCH[1]}
    [[ $line =~ boxes-out=\(guint64\)([0-9]+) ]] && out=${BASH_REMATCH[1]}
    if [ -t 1 ]; then
      printf '\r  frame %s%s: %s in, %s out\033[K' "$frames" "$of" "$(nms_boxes "$in")" "$out"
    elif [ $((frames * 10 / (NMS_FRAMES > 0 ? NMS_FRAMES : 1000))) != "${tenth-}" ]; then
      tenth=$((frames * 10 / (NMS_FRAMES > 0 ? NMS_FRAMES : 1000)))
      say "  frame $frames$of: $(nms_boxes "$in") in, $out out"
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}
of=
[ "$NMS_FRAMES" -lt 0 ] || of=" of $NMS_FRAMES"

say "Detecting people in $NMS_INPUT"
mkfifo "$work/messages"
progress <"$work/messages" &
watcher=$!
if ! nms_launch -m -e "${NMS_SOURCE[@]}" \
  ! "${NMS_DETECTOR[@]}" ! boxrecord "$(nms_set location "$work/before.jsonl")" ! tee name=raw \
  raw. ! queue ! "${NMS_DRAW[@]}" ! "${NMS_CAPTION[@]}" "$(nms_set text "raw")" ! mix.sink_0 \
  raw. ! queue ! "${NMS_FILTER[@]}" interval=1000000000 \
  ! boxrecord "$(nms_set location "$work/after.jsonl")" ! tee name=kept \
  kept. ! queue ! "${DRAW_SCORES[@]}" ! "${NMS_CAPTION[@]}" "$(nms_set text "nmsfilter")" \
  ! mix.sink_1 kept. ! queue ! boxsteady ! "${DRAW_SCORES[@]}" color-by=track \
  ! "${NMS_CAPTION[@]}" "$(nms_set text "boxsteady")" ! mix.sink_2 \
  "${THREE[@]}" ! "${NMS_ENCODE[@]}" \
  >"$work/messages" 2>"$work/errors"; then
  nms_failed "$work/errors"
fi
wait "$watcher"

# Chooses the frame for the picture: many boxes removed, many kept, and few of the kept
# boxes within one another. Prints its number, and its boxes before and after.
choose_frame ()
{
  nms_child python3 - "$work/before.jsonl" "$work/after.jsonl" <<'END'
import itertools, json, sys

def within(a, b):
    width = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
    height = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
    return 2 * max(width, 0) * max(height, 0) > min(a["w"] * a["h"], b["w"] * b["h"])

best = (-1, 0, 0, 0)
for number, lines in enumerate(zip(*map(open, sys.argv[1:])), 1):
    before, after = (json.loads(line)["objects"] for line in lines)
    piled = sum(within(a, b) for a, b in itertools.combinations(after, 2))
    value = (len(before) - len(after)) * len(after) / (1 + piled)
    if value > best[0]:
        best = (value, number, len(before), len(after))
print(*best[1:])
END
}
choose_frame >"$work/chosen"
read -r frame raw left <"$work/chosen"
[ "${frame:-0}" -gt 0 ] || die "the video has no frame"
sed -n "${frame}p" "$work/before.jsonl" >"$work/frame.jsonl"
if ! {
  # Writes the pixels of that frame (each frame overwrites the one before it), then
  # draws the two halves from its recorded boxes.
  nms_cut "$frame"
  nms_launch -q "${NMS_SOURCE[@]}" ! multifilesink "$(nms_set location "$work/frame.rgb")" &&
  nms_launch -q filesrc "$(nms_set location "$work/frame.rgb")" \
    ! rawvideoparse format=rgb width="$NMS_WIDTH" height="$NMS_HEIGHT" framerate=1/1 \
    ! boxreplay match=index "$(nms_set location "$work/frame.jsonl")" ! tee name=raw \
    raw. ! queue ! "${NMS_DRAW[@]}" \
    ! "${NMS_CAPTION[@]}" "$(nms_set text "raw: $(nms_boxes "$raw")")" ! mix.sink_0 \
    raw. ! queue ! "${NMS_FILTER[@]}" ! "${DRAW_SCORES[@]}" \
    ! "${NMS_CAPTION[@]}" "$(nms_set text "nmsfilter: $(nms_boxes "$left")")" ! mix.sink_1 \
    "${NMS_MIX[@]}" ! pngenc snapshot=true \
    ! filesink "$(nms_set location "$work/quickstart.png")"
} >/dev/null 2>"$work/errors"; then
  nms_failed "$work/errors" "the picture could not be made"
fi

in=$(nms_total_boxes "$work/before.jsonl")
kept=$(nms_total_boxes "$work/after.jsonl")
mv "$work/quickstart.mp4" "$work/quickstart.png" "$work/before.jsonl" "$work/after.jsonl" "$out/"

say "Frames:    $(wc -l <"$out/after.jsonl")"
say "Boxes in:  $in"
say "Boxes out: $kept"
[ "$in" -gt 0 ] || say "The detector found no people in it; vtest.avi, the default, shows people."
say "Results in $out:"
say "  quickstart.mp4   raw boxes left, filtered in the middle, steady right"
say "  quickstart.png   frame $frame of it: $(nms_boxes "$raw") before, $left after"
say "  before.jsonl     the detector's boxes, one line a frame"
say "  after.jsonl      what nmsfilter left of them"
