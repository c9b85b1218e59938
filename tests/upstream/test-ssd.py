#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-ssd: GStreamer's SSD decoder does no non-maximum suppression. nmsfilter after it keeps
the boxes that greedy suppression keeps, and GStreamer's overlay accepts the result. The
pipeline of docs/nmsfilter.md runs.
"""
import random
import sys

import pipelines_of as p


def main():
    p.need("onnxinference", "ssdobjectdetector", "objectdetectionoverlay", "boxrecord")
    try:
        import models
    except ImportError as error:
        print("SKIP: %s" % error)
        sys.exit(77)
    p.enter_new_folder()
    with open("labels.txt", "w", encoding="ascii") as labels:
        # 1.28.8 begins with class 1, earlier versions with class 0
        labels.write("\n".join(("none",) + models.LABELS) + "\n")

    documented = p.Documented("SSD")
    w, h = documented.size
    models.ssd(documented.model, documented.info(),
               [(w // 3, h // 3, 80, 60, label, score)
                for label, score in ((2, 0.9), (2, 0.8), (1, 0.7))], w, h)
    documented.run([1, 2], [1, 1])

    dropped = 0
    p.write_info("m.onnx", documented.info())
    for seed in range(3):
        rand = random.Random(seed)
        boxes = [(rand.randint(0, 220), rand.randint(0, 160), rand.randint(30, 90),
                  rand.randint(30, 70), rand.randint(1, 3), 0.95 - 0.004 * i) for i in range(100)]
        rand.shuffle(boxes)
        models.ssd("m.onnx", documented.info(), boxes, 320, 240)
        for iou, agnostic in ((0.3, False), (0.5, False), (0.5, True)):
            p.launch(p.SOURCE, "onnxinference model-file=m.onnx",
                     "ssdobjectdetector score-threshold=0.4 size-threshold=1.0 "
                     "label-file=labels.txt", "boxrecord location=raw.jsonl",
                     "nmsfilter iou-threshold=%s class-agnostic=%s" % (iou, str(agnostic).lower()),
                     "boxrecord location=ours.jsonl", "objectdetectionoverlay", "fakesink")
            raw, ours = p.detections("raw.jsonl"), p.detections("ours.jsonl")
            if len(raw) != 3 or len(raw[0]) != 100:
                sys.exit("%d frames, %d boxes" % (len(raw), len(raw[0])))
            for frame in range(3):
                p.must_equal("seed %d, threshold %s" % (seed, iou), sorted(ours[frame]),
                             sorted(p.greedy(raw[frame], iou, agnostic)))
                dropped += len(raw[frame]) - len(ours[frame])
    print("%d boxes dropped" % dropped)
    if not dropped:
        sys.exit("nothing was dropped: nothing was shown")


if __name__ == "__main__":
    main()
