#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart.sh: its results and its messages.
. "$(dirname "$0")/check.sh"

run quickstart --seconds 2 --output "the results"
cd "the results"
recording before.jsonl 20
recording after.jsonl 20
before=$(boxes before.jsonl) after=$(boxes after.jsonl)
[ "$before" -gt "$after" ] && [ "$after" -gt 0 ] || fail "$before boxes before, $after after"
subset before.jsonl after.jsonl
picture quickstart.png 1536 576
video quickstart.mp4 2304 576 20
[ "$(find . -mindepth 1 | wc -l)" = 4 ] || fail "more than the four results: $(ls -A)"
cd ..
said "^Boxes in:  $before\$"
said "^Boxes out: $after\$"
said "frame 20 of 20: $before boxes in, $after out"

# The halves of the picture differ: that many boxes are drawn on one side only.
gst-launch-1.0 -q filesrc location="the results/quickstart.png" ! pngdec ! videoconvert \
  ! video/x-raw,format=RGB ! filesink location=pixels
python3 - <<'END'
w, h = 1536, 576
p = open("pixels", "rb").read()
row = lambda y: p[y * w * 3:(y + 1) * w * 3]
different = sum(row(y)[i:i + 3] != row(y)[w // 2 * 3 + i:w // 2 * 3 + i + 3]
                for y in range(60, h) for i in range(0, w // 2 * 3, 3))
print(different, "pixels differ")
assert 500 < different < w * h / 4
END

# A second run replaces the results of the first one.
run quickstart --seconds=.5 --output "the results"
recording "the results/after.jsonl" 5
