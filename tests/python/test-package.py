#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package nmscore: its results equal the definition, from several threads too."""
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np

import nmscore
from slow import exact_nms, integer_case, random_case, slow_run


class Results(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def same(self, got, wanted):
        self.assertEqual(got.dtype, np.int64)
        np.testing.assert_array_equal(got, wanted)

    def test_many_boxes(self):
        """With few boxes fuzz-python compares these functions with the definition."""
        boxes, scores = random_case(self.random, 300)
        one, idxs = np.zeros(300, int), self.random.integers(0, 4, 300)
        self.same(nmscore.nms(boxes, scores, 0.3),
                  slow_run(boxes, scores, one, iou_threshold=0.3)[0])
        wanted = slow_run(boxes, scores, idxs, iou_threshold=0.4)[0]
        for given in (idxs, self.random.permutation(2**62 - np.arange(4))[idxs],
                      np.uint64(2**63) + idxs.astype(np.uint64)):
            self.same(nmscore.batched_nms(boxes, scores, given, 0.4), wanted)

    def test_exact_arithmetic(self):
        """Overlaps equal to the threshold do not suppress, though float32 rounds it."""
        for text in ("1/10", "1/5", "1/3", "2/5", "1/2", "3/5", "2/3", "7/10", "9/10"):
            threshold = Fraction(text)
            for side in (4, 16, 300):
                boxes, scores = integer_case(self.random, 60, side)
                self.same(nmscore.nms(boxes, scores, float(threshold)),
                          exact_nms(boxes, scores, threshold))

    def test_broadcast_and_rounded(self):
        """Strides of 0, and numbers that float32 does not hold; fuzz-python tests other forms."""
        boxes, scores = random_case(self.random, 200)
        self.same(nmscore.nms(boxes, np.broadcast_to(np.float32(1), 200), 0.4),
                  nmscore.nms(boxes, np.ones(200, np.float32), 0.4))
        self.same(nmscore.nms(np.broadcast_to(boxes[0], (200, 4)), scores, 0.4),
                  [np.argmax(scores)])
        self.same(nmscore.batched_nms(boxes, scores, np.broadcast_to(5, 200), 0.4),
                  nmscore.nms(boxes, scores, 0.4))
        # a box with a corner too large for float32 is invalid
        self.same(nmscore.nms([[0, 0, 1e300, 9], [0, 0, 9, 8]], [2, 1], 0.5), [1])

    def test_no_boxes(self):
        for boxes in (np.zeros((0, 4), np.float32), np.zeros((0, 4)), [], (), np.zeros(0),
                      np.zeros(0, np.float32)):
            self.same(nmscore.nms(boxes, [], 0.5), [])
            self.same(nmscore.nms(boxes, np.zeros(0, np.float32), 0.5), [])
            self.same(nmscore.batched_nms(boxes, [], [], 0.5), [])
            self.same(nmscore.batched_nms(boxes, [], np.zeros(0, np.int64), 0.5), [])

    def test_never_kept(self):
        boxes = np.array([[0, 0, 9, 9], [np.nan, 0, 9, 9], [0, 0, np.inf, 9], [50, 50, 60, 60]],
                         np.float32)
        self.same(nmscore.nms(boxes, np.float32([1, 2, 3, np.nan]), 0.5), [0])

    def test_threads(self):
        cases = [random_case(self.random, 900) for _ in range(4)]
        wanted = [nmscore.nms(*case, 0.4) for case in cases]
        with ThreadPoolExecutor(12) as pool:
            got = pool.map(lambda case: nmscore.nms(*case, 0.4), cases * 600)
        for ours, kept in zip(got, wanted * 600):
            self.same(ours, kept)

    def test_nothing_is_copied_or_changed(self):
        boxes, scores = random_case(self.random, 50)
        before = boxes.copy(), scores.copy()
        references = sys.getrefcount(boxes), sys.getrefcount(scores)
        for _ in range(100):
            nmscore.nms(boxes, scores, 0.5)
            for wrong in (scores[:3], boxes, "no"):
                self.assertRaises((TypeError, ValueError), nmscore.nms, boxes, wrong, 0.5)
        self.assertEqual((sys.getrefcount(boxes), sys.getrefcount(scores)), references)
        np.testing.assert_array_equal(boxes, before[0])
        np.testing.assert_array_equal(scores, before[1])
        boxes.resize((60, 4))  # refused while a view of the array exists


if __name__ == "__main__":
    unittest.main()
