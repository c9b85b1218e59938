#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/tiles.py: its crops are the tiles of boxmerge, and cover the frame. The detector of this test
# reports each picture that it gets as one box.
. "$(dirname "$0")/check.sh"
NMS_SELF=tiles
. "$PIPELINES/common.sh"
nms_prepare
tiles=$ROOT/tools/tiles.py

printf '%s\n' '{"timestamp":0,"resolution":{"width":100,"height":100},"objects":[{"x":0,"y":0,
  "w":100,"h":100,"roi_type":"tile"}]}' | tr -d '\n' >whole.jsonl

# expect FRAME OPTIONS...: plays one frame and compares the boxes with the crops.
expect ()
{
  local frame=$1
  shift
  "$tiles" --frame "$frame" "$@" --detector "boxreplay location=whole.jsonl" >line
  # shellcheck disable=SC2046
  nms_launch -q videotestsrc num-buffers=1 ! "video/x-raw,width=${frame%x*},height=${frame#*x}" ! \
    $(cat line) merged. ! boxrecord location=out.jsonl ! fakesink
  python3 - "$frame" <<'END' || { cat line out.jsonl; fail "$frame $*"; }
import json, re, sys
width, height = map(int, sys.argv[1].split("x"))
found = [(o["x"], o["y"], o["w"], o["h"]) for o in json.load(open("out.jsonl"))["objects"]]
crops = re.findall(r"left=(\d+) right=(\d+) top=(\d+) bottom=(\d+)", open("line").read())
wanted = [(l, t, width - l - r, height - t - b) for l, r, t, b in (map(int, c) for c in crops)]
if "width=%d" % width in open("line").read():
    wanted.append((0, 0, width, height))
assert found == wanted, (found, wanted)
covered = {(x + i, y + j) for x, y, w, h in wanted for i in range(w) for j in range(h)
           if (x + i) % 7 == 0 and (y + j) % 7 == 0}
assert len(covered) == -(-width // 7) * -(-height // 7)
END
}

expect 768x576 --grid 2x2
expect 768x576 --grid 2x1 --overlap 64 --scale 832x1152
expect 640x480 --tile 320x320 --overlap 32 --whole
expect 640x480 --tile 700x500 --whole --scale 320x240
expect 322x242 --grid 5x3 --overlap 10
expect 1000x700 --tile 256x256 --overlap 50

! "$tiles" --frame 640x480 --tile 64x64 --overlap 63 --detector identity 2>err || fail "overlap"
grep -q "^tiles.py: the overlap has to be smaller than a tile" err || fail "$(cat err)"
! "$tiles" --frame 640 --grid 2x2 --detector identity 2>err || fail "size"
grep -q "is not WIDTHxHEIGHT" err || fail "$(cat err)"
