#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# hogdetect: boxes with confidences that elements of the plugin read, and its properties.
. "$(dirname "$0")/check.sh"
NMS_SECONDS=0
prepare hogdetect
nms_element hogdetect
nms_open_video
nms_cut 3

# detect NAME PROPERTIES...: records the boxes of three frames.
detect ()
{
  nms_launch -q "${NMS_SOURCE[@]}" ! hogdetect pyramid-step=1.1 "${@:2}" \
    ! boxrecord location="$1.jsonl" ! fakesink
  recording "$1.jsonl" 3
}
detect large scale=1.6
detect sure scale=1.6 score-threshold=0.7
detect second scale=1.6 interval=2
detect one
# `interval` counts the tiles of a frame as one frame.
nms_launch -q "${NMS_SOURCE[@]}" \
  ! tiledetect rows=1 detector="hogdetect pyramid-step=1.1 scale=1.6 interval=2" \
  ! boxrecord location=tiles.jsonl ! fakesink
subset large.jsonl sure.jsonl
python3 - <<'END'
import json
def read(name):
    # (OpenCV's threads report windows in any order)
    return [sorted(json.loads(line)["objects"], key=json.dumps) for line in open(name + ".jsonl")]
one, large, sure, second, tiles = map(read, ("one", "large", "sure", "second", "tiles"))
boxes = sum(large, [])
scores = [box["detection"]["confidence"] for box in boxes]
assert all(0.5 <= score <= 1 for score in scores) and len(set(scores)) > len(scores) / 2
assert sum(sure, []) == [box for box in boxes if box["detection"]["confidence"] >= 0.7]
assert 0 < len(sum(sure, [])) < len(boxes)
assert {box["roi_type"] for box in boxes} == {"person"}
assert len(sum(one, [])) < len(boxes), "people that are too small without scale"
for frame in (0, 2):    # (frames of 768 pixels)
    assert {box["x"] + box["w"] / 2 > 384 for box in tiles[frame]} == {False, True}
assert tiles[1] == []
assert second[0] == large[0] and second[1] == [] and second[2] == large[2]
# a man whom the first frame shows at 501, 157, 529, 233
def overlap(box, other=(501, 157, 529, 233)):
    x, y, w, h = (box[k] for k in "xywh")
    common = (max(min(x + w, other[2]) - max(x, other[0]), 0)
              * max(min(y + h, other[3]) - max(y, other[1]), 0))
    return common / (w * h + (other[2] - other[0]) * (other[3] - other[1]) - common)
assert max(map(overlap, large[0])) > 0.6, max(map(overlap, large[0]))
for box in boxes:
    exact = box["detection"]["bounding_box"]
    assert abs(max(exact["x_min"], 0) * 768 - box["x"]) <= 1
    assert abs(min(exact["y_max"], 1) * 576 - box["y"] - box["h"]) <= 1
END

# A frame smaller than the detector's window has no boxes.
nms_launch -q videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=50,height=30 \
  ! hogdetect ! boxrecord location=tiny.jsonl ! fakesink
[ "$(boxes tiny.jsonl)" = 0 ] || fail "boxes in a tiny frame"
