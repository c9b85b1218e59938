#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bfloat16, the type of detectors on TPUs: arrays of ml_dtypes give the results of the same numbers
in float32. test-export.py runs programs with bfloat16."""
import unittest

import numpy as np
from ml_dtypes import bfloat16

import nmscore


def random_frame(rng, count=120):
    """Returns boxes, scores and classes; bfloat16 has few values, so overlaps and scores tie."""
    corner = rng.random((count, 2)) * 60
    boxes = np.concatenate([corner, corner + rng.random((count, 2)) * 30], 1).astype(bfloat16)
    scores = rng.random(count).astype(bfloat16)
    boxes[rng.random(boxes.shape) < 0.01] = np.nan
    scores[rng.random(count) < 0.02] = -np.inf
    scores[rng.random(count) < 0.02] = np.nan
    return boxes, scores, rng.integers(0, 3, count).astype(np.int32)


def wide(array):
    return array.astype(np.float32) if array.dtype == bfloat16 else array


class Arrays(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def same(self, got, wanted):
        for ours, theirs in zip(got, wanted):
            np.testing.assert_array_equal(ours, theirs)
        self.assertEqual(len(got), len(wanted))

    def check(self, function, *arrays, **options):
        """Compares the results of bfloat16 arrays and of the same numbers in float32."""
        got, wanted = function(*arrays, **options), function(*map(wide, arrays), **options)
        if isinstance(got, np.ndarray):
            got, wanted = (got,), (wanted,)
        self.same(got, wanted)

    def test_functions(self):
        for _ in range(20):
            boxes, scores, classes = random_frame(self.rng)
            self.check(nmscore.nms, boxes, scores, iou_threshold=0.3)
            self.check(nmscore.nms, boxes[::-2], scores[::-2], iou_threshold=0.3)
            self.check(nmscore.batched_nms, boxes, scores, classes, iou_threshold=0.3)
            self.check(nmscore.run, boxes, scores, classes, outcome=True, suppressed_by=True)
            self.check(nmscore.run_batch, boxes, np.array([0, 50, 120]), scores)
            self.check(nmscore.count_neighbors, boxes, scores)
            self.check(nmscore.soft_nms, boxes, scores)
            self.check(nmscore.matrix_nms, boxes, scores)
            self.check(nmscore.rows_from_xywh, boxes)
            self.check(nmscore.rows_from_cxcywh, boxes)

    def test_angles_pairs_and_ensembles(self):
        boxes, scores, classes = random_frame(self.rng)
        angles = self.rng.random(120).astype(bfloat16)
        wanted = nmscore.run(wide(boxes), wide(scores), angles=wide(angles))
        self.same(nmscore.run(boxes, scores, angles=angles)[:1], wanted[:1])
        self.assertEqual(nmscore.iou(boxes[5], boxes[6]), nmscore.iou(*map(wide, boxes[5:7])))
        halves = [[a[i::2] for i in range(2)] for a in (boxes, scores, classes)]
        self.same(nmscore.weighted_boxes_fusion(*halves),
                  nmscore.weighted_boxes_fusion(*[list(map(wide, a)) for a in halves]))


if __name__ == "__main__":
    unittest.main()
