#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every example pipeline of the elements runs: those that gst-inspect-1.0 shows
# and those in the documentation comments of the sources, each as it is printed,
# but for a window, which becomes a fakesink, and a camera, which becomes a test
# picture.
. "$(dirname "$0")/check.sh"

prepare examples

# The inputs of the pipelines: a video of 10 frames, and recordings of it and of its halves.
nms_launch -q videotestsrc num-buffers=10 ! video/x-raw,width=1280,height=360,framerate=10/1 \
  ! jpegenc ! matroskamux ! filesink location=video.mkv
for time in 0 100 200 300 400 500 600 700 800 900; do
  printf '{"timestamp":%d,"objects":[%s]}\n' "${time}000000" \
    '{"x":10,"y":10,"w":100,"h":100,"roi_type":"person","detection":{"confidence":0.9}}'
done >boxes.jsonl
cp boxes.jsonl left.jsonl
cp boxes.jsonl right.jsonl

elements=$(nms_preloaded gst-inspect-1.0 nms 2>/dev/null | sed -n 's/^  \([a-z]*\): .*/\1/p')
[ -n "$elements" ] || fail "gst-inspect-1.0 nms shows no elements"
for element in $elements; do
  nms_preloaded gst-inspect-1.0 "$element" 2>/dev/null | sed -n 's/^  Example  *//p' >"$element.sh"
  [ -s "$element.sh" ] || fail "gst-inspect-1.0 $element shows no example"
done
python3 - "$ROOT/gst" <<'END'
import os, re, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.startswith("gst") and name.endswith(".c"):
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            blocks = re.findall(r"^ \* \|\[\n(.*?)^ \* \]\|$", text, re.S | re.M)
            assert blocks, name + " has no example"
            for number, block in enumerate(blocks):
                with open("%s-%d.sh" % (name, number), "w", encoding="utf-8") as file:
                    file.write(re.sub(r"^ \* ?", "", block, flags=re.M))
END

count=0
for file in *.sh; do
  sed -i -e 's/\bautovideosink\b/fakesink/; s/\bv4l2src\b/videotestsrc num-buffers=10/' \
    -e 's/gst-launch-1.0/nms_launch/' "$file"
  ( . "./$file" ) >out 2>err </dev/null || { cat "$file" out err >&2; fail "$file"; }
  ! grep -E '^(WARNING|ERROR)|CRITICAL|no element|no property' err ||
    { cat "$file" err >&2; fail "$file complains"; }
  count=$((count + 1))
done
recording_boxes=$(boxes kept.jsonl)
[ "$recording_boxes" = 10 ] || fail "kept.jsonl has $recording_boxes boxes, not 10"
printf '%s examples\n' "$count"
[ "$count" -ge 10 ] || fail "only $count examples"
