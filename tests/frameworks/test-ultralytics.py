#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-ultralytics [--times]: nmscore.torch under non_max_suppression of the package ultralytics,
and metric probiou beside its batch_probiou.

Runs with Debian's torch, because those of PyPI contain CUDA, and takes only what Debian lacks from
the environment that NMS_TEST_FRAMEWORKS names. --times prints the table of docs/frameworks.md
instead: the processor time of the whole function, on one thread.
"""
import glob
import os
import statistics
import sys
import tempfile
import time
import timeit
import unittest

sys.path += glob.glob(os.environ.get("NMS_TEST_FRAMEWORKS", "") + "/lib/python3*/site-packages")
os.environ.setdefault("YOLO_CONFIG_DIR", tempfile.gettempdir())
os.environ["YOLO_OFFLINE"] = "true"
try:
    import torch
    import torchvision  # before ultralytics, which uses it only then
    import ultralytics
    from ultralytics.utils.metrics import batch_probiou
    from ultralytics.utils.nms import non_max_suppression
except ImportError as error:
    print("ultralytics is not installed:", error)
    sys.exit(77)

import nmscore.torch


def rotated_boxes(objects, count):
    """Returns rows cx cy w h angle, float32 numbers as float64: boxes near objects."""
    near = torch.randint(0, objects, (count,))
    rows = torch.rand(objects, 5) * torch.tensor([300, 300, 80, 80, 3.1])
    rows[:, 2:4] += 20
    rows = rows[near] + torch.randn(count, 5) * torch.tensor([3, 3, 3, 3, 0.1])
    rows[:, 2:4] = rows[:, 2:4].abs() + 10
    return (rows * 16).round().double() / 16  # exact in corners, too


def corners(rows):
    return torch.cat([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1)


def head(objects, anchors=8400, classes=80):
    """Returns the output of a YOLO head (1, 4 + classes, anchors): boxes around each object."""
    out, anchor = torch.zeros(1, 4 + classes, anchors), torch.arange(anchors)
    near = torch.randint(0, objects, (anchors,))
    centers, sizes = torch.rand(objects, 2) * 600 + 20, torch.rand(objects, 2) * 100 + 20
    out[0, :2] = (centers[near] + torch.randn(anchors, 2) * 4).T
    out[0, 2:4] = (sizes[near] * (1 + torch.randn(anchors, 2) / 10)).abs().T
    out[0, 4 + torch.randint(0, classes, (objects,))[near], anchor] = torch.rand(anchors)**3
    return out


def suppress(predictions, confidence, replaced=False, **options):
    if not replaced:
        return non_max_suppression(predictions.clone(), confidence, 0.7, **options)
    with nmscore.torch.replace_torchvision():
        return suppress(predictions, confidence, **options)


class Ultralytics(unittest.TestCase):
    def test_same_detections(self):
        for objects in (3, 30, 300):
            predictions = head(objects)
            for confidence in (0.25, 0.001):
                for options in ({}, {"agnostic": True}, {"multi_label": True}, {"max_det": 5}):
                    wanted = suppress(predictions, confidence, **options)
                    got = suppress(predictions, confidence, True, **options)
                    self.assertGreater(len(wanted[0]), 2)
                    self.assertTrue(torch.equal(got[0], wanted[0]))

    def test_it_calls_the_replaced_function(self):
        """nmscore never keeps a box of infinite size; the others do."""
        predictions = head(1, anchors=1)
        predictions[0, 2] = float("inf")
        predictions[0, 4:] = 0.5
        self.assertEqual(len(suppress(predictions, 0.25)[0]), 1)
        self.assertEqual(len(suppress(predictions, 0.25, True)[0]), 0)


class ProbIoU(unittest.TestCase):
    """Theirs adds 1e-7 in five places, so that it is less for boxes that are nearly equal: equal
    ones have 0.9996. It is not 0 for boxes that do not intersect."""

    def test_values(self):
        rows, seen = rotated_boxes(5, 200), 0
        boxes, theirs = corners(rows).float().numpy(), batch_probiou(rows, rows)
        for i, j in torch.randint(0, 200, (3000, 2)).tolist():
            pair = [i, j]
            got = nmscore.run(boxes[pair], [1, 1], angles=rows[pair, 4].float().numpy(),
                              metric="probiou", method="soft-linear", iou_threshold=0, min_score=0)
            ours, other = 1 - float(got.scores[1]), float(theirs[i, j])
            if ours == 0:
                self.assertLess(other, 0.125)
                continue
            seen += 1
            self.assertAlmostEqual(ours, other, delta=5e-4 if ours > 0.95 else 5e-6)
        self.assertGreater(seen, 500)

    def test_kept(self):
        for threshold in (0.3, 0.5, 0.7):
            rows, scores = rotated_boxes(20, 500), torch.rand(500)
            theirs, kept = batch_probiou(rows, rows), []
            for i in scores.argsort(descending=True).tolist():
                if not any(theirs[i, k] > threshold for k in kept):
                    kept.append(i)
            got = nmscore.run(corners(rows).float().numpy(), scores.numpy(),
                              angles=rows[:, 4].float().numpy(), metric="probiou",
                              iou_threshold=threshold)
            self.assertEqual(got.kept.tolist(), kept)


def milliseconds(function):
    function()
    return 1000 * statistics.median(timeit.repeat(function, timer=time.process_time, repeat=15,
                                                  number=1))


def print_times():
    torch.set_num_threads(1)
    print(f"ultralytics {ultralytics.__version__}, torch {torch.__version__}, torchvision "
          f"{torchvision.__version__}\n")
    print("| objects | confidence | boxes | torchvision | nmscore | ratio |\n"
          "|---|---|---|---|---|---|")
    for objects in (10, 100, 1000):
        predictions = head(objects)
        for confidence in (0.25, 0.001):
            boxes = int((predictions[:, 4:].amax(1) > confidence).sum())
            theirs = milliseconds(lambda: suppress(predictions, confidence))
            with nmscore.torch.replace_torchvision():
                ours = milliseconds(lambda: suppress(predictions, confidence))
            print(f"| {objects} | {confidence} | {boxes} | {theirs:.1f} ms | {ours:.1f} ms | "
                  f"{theirs / ours:.1f} |")


if __name__ == "__main__":
    torch.manual_seed(1)
    if sys.argv[1:] == ["--times"]:
        print_times()
    else:
        unittest.main()
