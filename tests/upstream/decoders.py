# SPDX-License-Identifier: LGPL-2.1-or-later
"""decoders.py SSD|YOLO: nmsfilter after GStreamer's decoders of tensors, on models whose boxes are
known. nmsfilter keeps the boxes that greedy suppression keeps, and a tracker and GStreamer's
overlay accept the result. The pipeline of docs/nmsfilter.md runs.

The SSD decoder does no non-maximum suppression. GStreamer 1.28's YOLO decoder does, and keeps the
same boxes if all lie within the frame. It clips other boxes to x, y >= 0 before it computes
overlaps, and nmsfilter does not. That is the cause of every difference, as greedy suppression with
and without this clipping shows.
"""
import random
import sys

import pipelines_of as p

ELEMENTS = {"SSD": ["onnxinference", "ssdobjectdetector", "objectdetectionoverlay", "boxrecord"],
            "YOLO": ["onnxinference", "yolov8tensordec", "ioutracker", "objectdetectionoverlay",
                     "boxrecord"]}
INFERENCE = "onnxinference model-file=m.onnx"


def random_boxes(rand, count, labels):
    """Returns boxes within 320 x 240: (x, y, w, h, label, score)."""
    boxes = []
    for i in range(count):
        w, h = rand.randint(20, 90), rand.randint(20, 70)
        boxes.append((rand.randint(0, 320 - w), rand.randint(0, 240 - h), w, h,
                      rand.choice(labels), 0.95 - 0.5 * i / count))
    rand.shuffle(boxes)
    return boxes


def detections(path, count=None):
    found = p.detections(path)
    if len(found) != 3 or len(found[0]) != (count or len(found[0])):
        sys.exit("%d frames, %d boxes" % (len(found), len(found[0])))
    return found


def ssd(models, info):
    dropped = 0
    for seed in range(3):
        models.ssd("m.onnx", info, random_boxes(random.Random(seed), 100, (1, 2, 3)), 320, 240)
        for iou, agnostic in ((0.3, False), (0.5, False), (0.5, True)):
            p.launch(p.SOURCE, INFERENCE,
                     "ssdobjectdetector score-threshold=0.4 size-threshold=1.0 "
                     "label-file=labels.txt", "boxrecord location=raw.jsonl",
                     "nmsfilter iou-threshold=%s class-agnostic=%s" % (iou, str(agnostic).lower()),
                     "boxrecord location=ours.jsonl", "objectdetectionoverlay", "fakesink")
            raw, ours = detections("raw.jsonl", 100), detections("ours.jsonl")
            for before, after in zip(raw, ours):
                p.must_equal("seed %d, threshold %s" % (seed, iou), sorted(after),
                             sorted(p.greedy(before, iou, agnostic)))
                dropped += len(before) - len(after)
    print("%d boxes dropped" % dropped)
    if not dropped:
        sys.exit("nothing was dropped: nothing was shown")


def clipped(box):
    """Returns the box as the decoder clips it, at the left and the upper edge."""
    x, y, w, h = box[:4]
    right, bottom = max(x + w, 0), max(y + h, 0)
    x, y = max(x, 0), max(y, 0)
    return (x, y, right - x, bottom - y)


def yolo(models, info):
    differences = 0
    info["images"]["dims"] = "1,3,240,320"
    info["output0"]["dims"] = "1,%d,120" % (4 + len(models.LABELS))
    p.write_info("m.onnx", info)
    decode = "yolov8tensordec max-detections=1000 label-file=labels.txt iou-threshold="
    for seed, inside in ((seed, inside) for seed in range(3) for inside in (True, False)):
        rand = random.Random(seed)
        boxes = random_boxes(rand, 120, (0, 1, 2))
        if not inside:    # many are partly or wholly left of or above the frame
            boxes = [(x - rand.randint(0, 90), y - rand.randint(0, 70), *rest)
                     for x, y, *rest in boxes]
        models.yolo("m.onnx", info, boxes)
        for iou in (0.3, 0.5, 0.7):
            p.launch(p.SOURCE, INFERENCE, decode + "1", "boxrecord location=raw.jsonl",
                     "nmsfilter class-agnostic=true iou-threshold=%s" % iou,
                     "boxrecord location=ours.jsonl", "ioutracker",
                     "boxrecord location=tracked.jsonl", "objectdetectionoverlay", "fakesink")
            p.launch(p.SOURCE, INFERENCE, decode + str(iou), "boxrecord location=theirs.jsonl",
                     "fakesink")
            what = "inside %s, seed %d, threshold %s" % (inside, seed, iou)
            for raw, ours, theirs, tracked in zip(detections("raw.jsonl", 120),
                                                  detections("ours.jsonl"),
                                                  detections("theirs.jsonl"),
                                                  p.frames("tracked.jsonl")):
                p.must_equal(what + ", ours", sorted(ours), sorted(p.greedy(raw, iou)))
                p.must_equal(what + ", theirs", sorted(theirs),
                             sorted(p.greedy(raw, iou, seen=clipped)))
                if inside:
                    p.must_equal(what, ours, theirs)
                differences += ours != theirs
                p.must_equal(what + ", tracks", len({box["id"] for box in tracked}), len(ours))
                p.must_equal(what + ", tracked", len(tracked), len(ours))
    if not differences:
        sys.exit("the clipping made no difference anywhere: nothing was shown")
    print("%d of 54 frames differ, all by the clipping" % differences)


def main(name):
    p.need(*ELEMENTS[name])
    try:
        import models
    except ImportError as error:
        print("SKIP: %s" % error)
        sys.exit(77)
    p.enter_new_folder()
    # (SSD: 1.28.8 begins with class 1, earlier versions with class 0)
    with open("labels.txt", "w", encoding="ascii") as labels:
        labels.write("\n".join(("none",) * (name == "SSD") + models.LABELS) + "\n")
    documented = p.Documented(name)
    w, h = documented.size
    boxes = [(w // 3, h // 3, 80, 60, label, score)
             for label, score in ((2, 0.9), (2, 0.8), (1 if name == "SSD" else 0, 0.7))]
    if name == "SSD":
        models.ssd(documented.model, documented.info(), boxes, w, h)
    else:
        models.yolo(documented.model, documented.info(), boxes)
    documented.run([1, 2], [1, 1])
    p.write_info("m.onnx", documented.info())
    (ssd if name == "SSD" else yolo)(models, documented.info())


if __name__ == "__main__":
    main(sys.argv[1])
