#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# onnxdetect: its messages, and with the packages of onnx-packages.sh in the folder NMS_TEST_ONNX
# (without it: skipped) generated models of each head, and a real one.
. "$(dirname "$0")/check.sh"
prepare onnxdetect
nms_element onnxdetect

# says TEXT PROPERTIES...: fails unless the pipeline fails and its error contains TEXT. gst-launch-1.0
# does not end after an error of the first frame that comes before its main loop runs.
says ()
{
  ! NMS_LIMIT=30 nms_launch -q videotestsrc num-buffers=1 ! onnxdetect "${@:2}" ! fakesink >/dev/null 2>err ||
    fail "${*:2} plays"
  grep -qE "^ERROR: .*$1" err || { cat err; fail "${*:2} does not say '$1'"; }
}
mkdir hidden
echo 'raise ImportError ("none here")' >hidden/onnxruntime.py
PYTHONPATH=hidden says 'needs onnxruntime \(none here\): .*pip install --target ~/onnx onnxruntime' \
  model=none.onnx

[ -n "${NMS_TEST_ONNX-}" ] || { echo "NMS_TEST_ONNX names no folder" >&2; exit 77; }
export PYTHONPATH=$NMS_TEST_ONNX
/usr/bin/python3 "$ROOT/tests/pipelines/onnxmodels.py"
printf '["human",\n"vehicle"]' >labels.json
printf 'human\nvehicle\n' >labels.txt
printf '{"0": "human", "1": "vehicle"}' >object.json
printf '{"a": "human"}' >wrong.json
says 'needs the property model=' score-threshold=0.5
says "cannot load the model 'none.onnx'.*No such file" model=none.onnx
says "cannot load the model 'labels.txt'" model=labels.txt
says "head=v9 is none of auto, yolov5, yolov8, end2end, ssd, detr" model=yolov8.onnx head=v9
says "0 labels do not tell what its 2 logits are: set head=detr-sigmoid" model=rf-detr.onnx
says "a DETR has an output" model=yolov8.onnx head=detr
says "0 labels do not tell" model=detr-masks.onnx
says "head ssd needs outputs with 'box'" model=detr-unnamed.onnx
says "a box has a number that is not finite" model=not-finite.onnx
says "cannot run the model 'batch.onnx': .*invalid dimensions" model=batch.onnx
says "head end2end needs 6 columns" model=yolov5.onnx head=end2end
says "mean=1,2 is neither a number nor three" model=mean.onnx mean=1,2
says "divisor=0 is not above 0" model=mean.onnx divisor=0
says "inputs .*\[1, 1, 240, 320\].*not one input \(1, 3, height, width\)" model=grey.onnx
says "no known head .*outputs are output0 \(1, 2\)" model=classifier.onnx
says "head=ssd: .*'score'" model=yolov8.onnx head=ssd
says "cannot read the labels 'no.txt'" model=ssd.onnx labels=no.txt
says "'wrong.json' is no file of labels" model=ssd.onnx labels=wrong.json

# play WIDTH HEIGHT PATTERN PROPERTIES...: records the boxes of one frame in out.jsonl.
play ()
{
  nms_launch -q videotestsrc num-buffers=1 pattern="$3" \
    ! "video/x-raw,format=RGB,width=$1,height=$2" ! onnxdetect "${@:4}" \
    ! boxrecord location=out.jsonl ! fakesink
}

# found LABELS X1,Y1,X2,Y2 X1,Y1,X2,Y2: fails unless out.jsonl has these two boxes, in this order.
found ()
{
  python3 - "$@" <<'END' || { cat out.jsonl; fail "other boxes than $*"; }
import json, sys
line = json.load(open("out.jsonl"))
size = [line["resolution"][k] for k in ("width", "height")] * 2
labels, *wanted = sys.argv[1:]
objects = line["objects"]
assert [o["roi_type"] for o in objects] == labels.split(","), objects
assert [o["detection"]["label_id"] for o in objects] == [1, 0]
for o, corners, score in zip(objects, wanted, (0.9, 0.6)):
    exact = o["detection"]["bounding_box"]
    got = [exact[k] * s for k, s in zip(("x_min", "y_min", "x_max", "y_max"), size)]
    assert all(abs(a - float(b)) < 0.01 for a, b in zip(got, corners.split(","))), got
    assert abs(o["detection"]["confidence"] - score) < 0.001
END
}

# Frames of the input's own size give `same`. Frames twice as wide are scaled by 0.5 with letterbox,
# with 60 grey lines above, and are stretched without it.
same="32,48,64,120 100,60,200,180"
boxed="64,-24,128,120 200,0,400,240"
stretched="64,48,128,120 200,60,400,180"
for model in yolov5 yolov8 yolov8-half end2end ssd tensorflow detr rf-detr; do
  play 640 240 black model=$model.onnx labels=labels.txt
  found vehicle,human $boxed
done
for model in detr-masks detr-unnamed; do
  play 640 240 black model=$model.onnx head=detr-sigmoid labels=labels.txt
  found vehicle,human $boxed
done
play 320 240 black model=efficient.onnx score-threshold=0
found 1,0 $same
[ "$(boxes out.jsonl)" = 2 ] || fail "rows that do not count"
play 320 240 black model=empty.onnx
[ "$(boxes out.jsonl)" = 0 ] || fail "boxes of a model without any"
play 640 240 black model=yolov8.onnx letterbox=false
found car,person $stretched
play 320 240 black model=background.onnx    # class 0 is the background
sed -i 's/"label_id":1,/"label_id":0,/; s/"label_id":2,/"label_id":1,/' out.jsonl
found 2,1 $same

# Labels come from a file or from the metadata, or are numbers. free.onnx takes any size.
for file in labels.json labels.txt object.json; do
  play 320 240 black model=ssd.onnx labels=$file
  found vehicle,human $same
done
play 320 240 black model=yolov8.onnx
found car,person $same
play 320 240 black model=ssd.onnx
found 1,0 $same
play 640 640 black model=free.onnx head=yolov8
found 1,0 $same
play 640 640 black model=free.onnx head=yolov8 input-size=320
found 1,0 64,96,128,240 200,120,400,360
play 320 240 black model=ssd.onnx score-threshold=0.95
[ "$(boxes out.jsonl)" = 0 ] || fail "the threshold"

# The input: red is channel 0, and (pixel - mean) / divisor.
confidence ()
{
  play 320 240 "$2" model=mean.onnx score-threshold=0 "${@:3}"
  python3 -c 'import json, sys
got = json.load(open("out.jsonl"))["objects"][0]["detection"]["confidence"]
assert abs(got - float(sys.argv[1])) < 0.001, got' "$1" || fail "$*"
}
confidence 1 red
confidence 0 blue
confidence 0.5 white mean=127.5
confidence 0.5 white divisor=510
confidence 0.25 white mean=127.5,0,0 divisor=510,1,1

# The pipeline of docs/detectors.md: the second box on the first object is removed.
VIDEO=three.avi
nms_launch -q videotestsrc num-buffers=3 ! jpegenc ! avimux ! filesink location=$VIDEO
sed -n '0,/^```sh$/d; /^```$/q; p' "$ROOT/docs/detectors.md" >page.sh
sed -i 's/ ! boxoverlay / ! boxrecord location=out.jsonl ! boxoverlay /
  s/autovideosink/fakesink/' page.sh
gst-launch-1.0 () { nms_launch -q "$@"; }
. ./page.sh
[ "$(wc -l <out.jsonl)" = 3 ] && [ "$(boxes out.jsonl)" = 9 ] ||
  { cat out.jsonl; fail "the page's pipeline"; }

# With a real model the boxes are those of nudenet's own code, which pads the input in another way.
/usr/bin/python3 - <<'END'
import cv2
from nudenet import NudeDetector
image = cv2.imread("/usr/share/doc/opencv-doc/examples/data/messi5.jpg")[20:220, 120:360]
cv2.imwrite("face.png", image)
(face,) = NudeDetector().detect("face.png")
print(face["class"], *face["box"], face["score"], file=open("theirs", "w"))
END
nms_launch -q filesrc location=face.png ! pngdec ! videoconvert ! video/x-raw,format=RGB \
  ! onnxdetect model="$NMS_TEST_ONNX/nudenet/320n.onnx" ! boxrecord location=raw.jsonl \
  ! nmsfilter iou-threshold=0.45 ! boxrecord location=ours.jsonl ! fakesink
[ "$(boxes raw.jsonl)" -gt "$(boxes ours.jsonl)" ] || fail "no duplicates from the real model"
python3 - <<'END'
import json
(ours,) = json.load(open("ours.jsonl"))["objects"]
label, *numbers = open("theirs").read().split()
x, y, w, h, score = map(float, numbers)
common = (max(min(x + w, ours["x"] + ours["w"]) - max(x, ours["x"]), 0)
          * max(min(y + h, ours["y"] + ours["h"]) - max(y, ours["y"]), 0))
overlap = common / (w * h + ours["w"] * ours["h"] - common)
print(ours["roi_type"], ours["detection"]["confidence"], score, "IoU", overlap)
assert ours["roi_type"] == label and overlap > 0.8
assert abs(ours["detection"]["confidence"] - score) < 0.15
END
