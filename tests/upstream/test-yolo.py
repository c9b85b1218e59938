#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-yolo: after GStreamer 1.28's YOLO decoder, nmsfilter keeps the boxes that the
decoder keeps with its own non-maximum suppression, if all boxes lie within the frame.
The decoder clips other boxes to x, y >= 0 before it computes overlaps, and nmsfilter
does not. That is the cause of every difference, as greedy suppression with and without
this clipping shows. A tracker and GStreamer's overlay accept the result. The pipeline of
docs/nmsfilter.md runs.
"""
import random
import sys

import pipelines_of as p


def inside(count, seed):
    rand = random.Random(seed)
    boxes = []
    for i in range(count):
        w, h = rand.randint(20, 90), rand.randint(20, 70)
        boxes.append((rand.randint(0, 320 - w), rand.randint(0, 240 - h), w, h,
                      rand.randint(0, 2), 0.95 - 0.5 * i / count))
    rand.shuffle(boxes)
    return boxes


def leaving(count, seed):
    """Returns boxes, many of them partly or wholly left of or above the frame."""
    rand = random.Random(seed)
    boxes = [(x - rand.randint(0, 90), y - rand.randint(0, 70), w, h, label, score)
             for x, y, w, h, label, score in inside(count, seed)]
    return boxes


def clipped(box):
    """Returns the box as the decoder clips it, at the left and the upper edge."""
    x, y, w, h = box[:4]
    right, bottom = max(x + w, 0), max(y + h, 0)
    x, y = max(x, 0), max(y, 0)
    return (x, y, right - x, bottom - y)


def decoded(model, iou, *then):
    p.launch(p.SOURCE, "onnxinference model-file=" + model,
             "yolov8tensordec max-detections=1000 label-file=labels.txt iou-threshold=%s" % iou,
             *then, "fakesink")


def main():
    p.need("onnxinference", "yolov8tensordec", "ioutracker", "objectdetectionoverlay", "boxrecord")
    try:
        import models
    except ImportError as error:
        print("SKIP: %s" % error)
        sys.exit(77)
    p.enter_new_folder()
    with open("labels.txt", "w", encoding="ascii") as labels:
        labels.write("\n".join(models.LABELS) + "\n")

    documented = p.Documented("YOLO")
    w, h = documented.size
    models.yolo(documented.model, documented.info(),
                [(w // 3, h // 3, 80, 60, label, score)
                 for label, score in ((2, 0.9), (2, 0.8), (0, 0.7))])
    documented.run([1, 2], [1, 1])

    differences = 0
    info = documented.info()
    info["images"]["dims"] = "1,3,240,320"
    info["output0"]["dims"] = "1,%d,120" % (4 + len(models.LABELS))
    p.write_info("m.onnx", info)
    for seed in range(3):
        for kind in (inside, leaving):
            models.yolo("m.onnx", info, kind(120, seed))
            for iou in (0.3, 0.5, 0.7):
                decoded("m.onnx", 1.0, "boxrecord location=raw.jsonl",
                        "nmsfilter class-agnostic=true iou-threshold=%s" % iou,
                        "boxrecord location=ours.jsonl", "ioutracker",
                        "boxrecord location=tracked.jsonl", "objectdetectionoverlay")
                decoded("m.onnx", iou, "boxrecord location=theirs.jsonl")
                raw, ours = p.detections("raw.jsonl"), p.detections("ours.jsonl")
                theirs = p.detections("theirs.jsonl")
                what = "%s, seed %d, threshold %s" % (kind.__name__, seed, iou)
                if len(raw) != 3 or len(raw[0]) != 120:
                    sys.exit("%s: %d frames, %d boxes" % (what, len(raw), len(raw[0])))
                for frame in range(3):
                    p.must_equal(what + ", ours", sorted(ours[frame]),
                                 sorted(p.greedy(raw[frame], iou)))
                    p.must_equal(what + ", theirs", sorted(theirs[frame]),
                                 sorted(p.greedy(raw[frame], iou, seen=clipped)))
                    if kind is inside:
                        p.must_equal(what, ours[frame], theirs[frame])
                    differences += ours[frame] != theirs[frame]
                    tracks = [box["id"] for box in p.frames("tracked.jsonl")[frame]]
                    if len(tracks) != len(set(tracks)) or len(tracks) != len(ours[frame]):
                        sys.exit("%s: tracks %s of %d boxes" % (what, tracks, len(ours[frame])))
    if not differences:
        sys.exit("the clipping made no difference anywhere: nothing was shown")
    print("%d of 54 frames differ, all by the clipping" % differences)


if __name__ == "__main__":
    main()
