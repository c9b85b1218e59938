#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every gst-launch-1.0 line of README.md and of the documents that it names as
# it is printed, in order, with two changes: a window becomes a fakesink, the first
# one the file sink that README names instead, and the video ends after 25 frames.
# tests/env/readme-install.sh runs the section Install.
. "$(dirname "$0")/check.sh"

# Prepares this shell as quickstart.sh does: its packages, and the folder of the plugin.
prepare readme

# The table of properties lists those of the element.
nms_preloaded gst-inspect-1.0 nmsfilter >inspected
python3 - "$ROOT/docs/nmsfilter.md" <<'END' || fail "the property table"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
table = text.split("## Properties")[1].split("\n## ")[0]
rows = re.findall(r"^\| (`.*?) \|", table, re.M)
listed = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
inspected = open("inspected").read().split("Element Properties:")[1]
real = set(re.findall(r"^  ([a-z-]+) +: ", inspected, re.M))
real -= {"name", "parent", "qos"}
print("missing:", real - listed, "too many:", listed - real)
assert real == listed
END

# The inputs of the lines: the first 25 frames of the video, and a camera.
NMS_DECODER=(filesrc location="$(nms_sample_video)" ! decodebin ! videoconvert)
nms_cut 25
nms_launch -q "${NMS_SOURCE[@]}" ! jpegenc quality=95 ! avimux ! filesink location=clip.avi
nms_prepare_python
address= cameras=0
if "$NMS_PYTHON" -c 'import gi; gi.require_version ("GstRtspServer", "1.0")' 2>/dev/null; then
  cameras=2
  exec {camera}< <(exec "$NMS_PYTHON" "$PIPELINES/live/rtsp-server.py" "$(nms_sample_video)" jpeg)
  read -r -t 30 -u "$camera" address
else
  echo "The lines with a camera are left out, because $NMS_PACKAGES_TEST_CAMERA is not installed."
fi

python3 - "$address" "$ROOT"/{README,docs/{nmsfilter,methods,boxmerge,geometry,boxrecord,boxreplay,boxoverlay,boxtransform,tiledetect},pipelines/README,pipelines/detectors/README}.md <<'END'
import re, sys
count = number = instead = 0
address = sys.argv[1]
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"^## Install\n.*?(?=^## |\Z)", "", text, flags=re.S | re.M)
    to_file = re.search(r"`(x264enc ! .*? location=out.mkv)`", text)
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        if not re.search(r"^(gst-launch-1.0|[A-Z]+=|cc |pipelines/live)", block, re.M):
            continue
        if not address and "rtsp://" in block:
            continue
        if to_file and not instead:
            block, instead = re.subn(r"\bautovideosink\b", to_file[1], block)
        block = re.sub(r"\bautovideosink\b", "fakesink", block)
        block = re.sub(r"^VIDEO=.*", "VIDEO=clip.avi", block, flags=re.M)
        block = block.replace("rtsp://192.168.1.20/stream", address).replace("-seconds 60",
                                                                             "-seconds 4")
        # (a camera has no end)
        block = re.sub(r"(rtspsrc.*)decodebin !", r"\1decodebin ! identity eos-after=26 !", block)
        block = re.sub(r"^pipelines/", 'timeout 100 pipelines/', block, flags=re.M)
        block = re.sub(r"(?<![-\w/.])pipelines/", '"$PIPELINES"/', block)
        block = re.sub(r"(?<![-\w/.])docs/", '"$PIPELINES"/../docs/', block)
        block = re.sub(r"(?<![-\w/.])tools/", '"$PIPELINES"/../tools/', block)
        count += block.count("gst-launch-1.0")
        number += 1
        open("block-%02d.sh" % number, "w").write(block)
    for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M):
        open("block.py", "w").write(re.sub(r"^(keep = .*# (\[.*?\]).*)$",
                                           r"\1\nassert str(keep) == '\2', keep", block,
                                           flags=re.M))
print(count, "lines of gst-launch-1.0")
assert count >= 6 and instead == 1
END
: >all.sh
for block in block-*.sh; do
  cat "$block" >>all.sh
done
# (functions replace the programs of these names, so that the lines of README need no change)
preload=${NMS_PRELOAD:+LD_PRELOAD=$NMS_PRELOAD}
python3 () { env $preload "$NMS_PYTHON" "$@"; }
/usr/bin/python3 () { timeout 60 env $preload /usr/bin/python3 "$@"; }
./filter-video () { timeout 60 env $preload ./filter-video "$@"; }
gst-launch-1.0 ()
{
  case "$*" in
    rtspsrc*)
      # (when the pipeline has ended, rtspsrc wants to pause what the test camera
      # may have closed, and gst-launch-1.0 shows that)
      timeout 60 env $preload gst-launch-1.0 "$@" >camera.log 2>&1 || true
      grep 'Got EOS from element "pipeline0"' camera.log || { cat camera.log; return 1; }
      ;;
    *) timeout 60 env $preload gst-launch-1.0 "$@" ;;
  esac
}
# One shell runs all blocks, because later blocks use the variables of earlier ones.
# (no `||` follows the subshell, because it would switch off -e in the subshell)
set +e
(set -ex; . ./all.sh) >out 2>err </dev/null
rc=$?
set -e
[ $rc = 0 ] || { cat out err >&2; fail "a line of the READMEs failed"; }
# (PyGObject's elements are never floating: pipelines/detectors/README.md)
! grep -v 'CRITICAL .* The created element should be floating' err |
  grep -E '^(WARNING|ERROR)|CRITICAL|no element|no property' ||
  { cat err >&2; fail "complaints"; }
# Without a plugin, engine xla gives the one warning that its page announces.
[ "$(grep -c '^WARNING' out)" = 1 ] && grep -q '^WARNING: .*: Engine xla cannot be used' out ||
  { cat out >&2; fail "another number of warnings than one"; }
video out.mkv 768 576 25
find . -type f -name '*.jsonl' | sort
rm fifth.jsonl middle.jsonl # of fewer frames on purpose
for file in *.jsonl; do
  recording "$file" 25
  [ "$(boxes "$file")" -gt 0 ] || fail "$file has no boxes"
done
[ "$(grep -c '^25 frames, boxes: [1-9]' out)" -ge 2 ] || { cat out err >&2; fail "filter-video"; }
[ "$(grep -cE '^[1-9][0-9]* frames in (people|test).mkv$' out)" = "$cameras" ] || { cat out err >&2; fail "cameras"; }

# The lines about the Python package.
PYTHONPATH=$NMS_PYTHON_DIR "$NMS_PYTHON" block.py || fail "the lines of Python"
