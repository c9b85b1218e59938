#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test-ultralytics [--times]: nmscore.torch under non_max_suppression of the package ultralytics.

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
import unittest

sys.path += glob.glob(os.environ.get("NMS_TEST_FRAMEWORKS", "") + "/lib/python3*/site-packages")
os.environ.setdefault("YOLO_CONFIG_DIR", tempfile.gettempdir())
os.environ["YOLO_OFFLINE"] = "true"
try:
    import torch
    import torchvision  # before ultralytics, which uses it only then
    import ultralytics
    from ultralytics.utils.nms import non_max_suppression
except ImportError as error:
    print("ultralytics is not installed:", error)
    sys.exit(77)

import nmscore.torch


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
        """A box of infinite size is one that only nmscore never keeps."""
        predictions = head(1, anchors=1)
        predictions[0, 2] = float("inf")
        predictions[0, 4:] = 0.5
        self.assertEqual(len(suppress(predictions, 0.25)[0]), 1)
        self.assertEqual(len(suppress(predictions, 0.25, True)[0]), 0)


def milliseconds(function, rounds=15):
    function()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


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
