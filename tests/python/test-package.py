#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package nmscore: results against the definition, arrays of all
kinds, and what it refuses."""
import sys
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

import nmscore
from slow import random_case, slow_nms


class Results(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def same(self, got, wanted):
        self.assertEqual(got.dtype, np.int64)
        np.testing.assert_array_equal(got, wanted)

    def test_definition(self):
        for count in (0, 1, 2, 9, 100, 700):
            boxes, scores = random_case(self.random, count)
            one = np.zeros(count, np.int32)
            for threshold in (0, 0.3, 0.5, 1):
                self.same(nmscore.nms(boxes, scores, threshold),
                          slow_nms(boxes, scores, one, threshold))
            for idxs in (self.random.integers(-3, 3, count).astype(np.int32),
                         self.random.integers(-2**62, 2**62, 4)[self.random.integers(0, 4, count)],
                         self.random.integers(0, 2, count).astype(np.uint8),
                         2**63 + self.random.integers(0, 3, count).astype(np.uint64)):
                self.same(nmscore.batched_nms(boxes, scores, idxs, 0.4),
                          slow_nms(boxes, scores, idxs, 0.4))

    def test_options(self):
        boxes, scores = random_case(self.random, 300)
        one = np.zeros(300, np.int32)
        self.same(nmscore.nms(boxes, scores, 0.5, score_threshold=0.7),
                  slow_nms(boxes, scores, one, 0.5, score_threshold=0.7))
        self.same(nmscore.nms(boxes, scores, 0.5, max_detections=5),
                  slow_nms(boxes, scores, one, 0.5, max_detections=5))
        self.same(nmscore.batched_nms(boxes, scores, one, 0.5, max_detections=np.uint8(5)),
                  slow_nms(boxes, scores, one, 0.5, max_detections=5))

    def test_arrays_of_all_kinds(self):
        boxes, scores = random_case(self.random, 200)
        idxs = self.random.integers(0, 3, 200)
        plain = nmscore.nms(boxes, scores, 0.4)
        classes = nmscore.batched_nms(boxes, scores, idxs, 0.4)
        wide = np.zeros((200, 9), np.float32)
        wide[:, 1:8:2] = boxes
        odd = np.zeros(200 * 16 + 1, np.uint8)[1:].view(np.float32).reshape(200, 4)
        odd[:] = boxes
        self.assertFalse(odd.flags.aligned)
        readonly = boxes.copy()
        readonly.flags.writeable = False
        for other in (boxes.tolist(), boxes.astype(np.float64), np.asfortranarray(boxes), odd,
                      wide[:, 1:8:2], boxes.astype(">f4"), readonly, memoryview(boxes),
                      np.ma.array(boxes)):
            self.same(nmscore.nms(other, scores, 0.4), plain)
        for other in (scores.tolist(), scores.astype(np.float64), np.repeat(scores, 3)[::3],
                      scores.astype(">f4")):
            self.same(nmscore.nms(boxes, other, 0.4), plain)
        for other in (idxs.tolist(), idxs.astype(np.int32), idxs.astype(np.int16),
                      np.repeat(idxs, 2)[::2], idxs.astype(">i8"), idxs + 2**40, idxs - 2**31 - 1,
                      idxs.astype(np.uint64)):
            self.same(nmscore.batched_nms(boxes, scores, other, 0.4), classes)
        self.same(nmscore.nms(boxes[::-1], scores[::-1], 0.4),
                  nmscore.nms(boxes[::-1].copy(), scores[::-1].copy(), 0.4))
        # broadcast: strides of 0
        self.same(nmscore.nms(boxes, np.broadcast_to(np.float32(1), 200), 0.4),
                  nmscore.nms(boxes, np.ones(200, np.float32), 0.4))
        self.same(nmscore.nms(np.broadcast_to(boxes[0], (200, 4)), scores, 0.4),
                  [np.argmax(scores)])
        self.same(nmscore.batched_nms(boxes, scores, np.broadcast_to(5, 200), 0.4), plain)
        # whole numbers are rounded, and what float32 cannot hold is no box
        self.same(nmscore.nms([[0, 0, 9, 9], [0, 0, 9, 8]], [1, 2], 0.5), [1])
        self.same(nmscore.nms([[0, 0, 1e300, 9], [0, 0, 9, 8]], [2, 1], 0.5), [1])

    def test_no_boxes(self):
        for boxes in (np.zeros((0, 4), np.float32), np.zeros((0, 4))):
            self.same(nmscore.nms(boxes, [], 0.5), [])
            self.same(nmscore.batched_nms(boxes, [], [], 0.5), [])

    def test_never_kept(self):
        boxes = np.array([[0, 0, 9, 9], [np.nan, 0, 9, 9], [0, 0, np.inf, 9], [50, 50, 60, 60]],
                         np.float32)
        self.same(nmscore.nms(boxes, np.float32([1, 2, 3, np.nan]), 0.5), [0])

    def test_threads(self):
        cases = [random_case(self.random, 900) for _ in range(4)]
        wanted = [nmscore.nms(*case, 0.4) for case in cases]
        wrong = []

        def work(start):
            for i in range(start, start + 200):
                if not np.array_equal(nmscore.nms(*cases[i % 4], 0.4), wanted[i % 4]):
                    wrong.append(i)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

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
        boxes.resize((60, 4))  # refused while anything still looks into the array


class Refusals(unittest.TestCase):
    def refused(self, error, text, *arguments, function=nmscore.nms, **options):
        with self.assertRaisesRegex(error, text):
            function(*arguments, **options)

    def test_shapes(self):
        boxes, scores = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
        self.refused(ValueError, r"boxes must have shape \(N, 4\), not \(3, 3\)",
                     boxes[:, :3], scores, 0.5)
        self.refused(ValueError, r"boxes must have shape \(N, 4\), not \(4,\)",
                     boxes[0], scores, 0.5)
        self.refused(ValueError, r"boxes must have shape \(N, 4\), not \(0,\)", [], [], 0.5)
        self.refused(ValueError, r"not \(1, 3, 4\)", boxes[None], scores, 0.5)
        self.refused(ValueError, r"scores must have shape \(3,\).*, not \(2,\)",
                     boxes, scores[:2], 0.5)
        self.refused(ValueError, r"scores .*not \(3, 1\)", boxes, scores[:, None], 0.5)
        self.refused(ValueError, r"scores .*not \(\)", boxes, np.float32(1), 0.5)
        self.refused(ValueError, r"idxs must have shape \(3,\).*, not \(4,\)",
                     boxes, scores, [1, 2, 3, 4], 0.5, function=nmscore.batched_nms)
        self.refused(ValueError, r"idxs .*not \(\)",
                     boxes, scores, 7, 0.5, function=nmscore.batched_nms)

    def test_types(self):
        boxes, scores = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
        for wrong in (boxes.astype(bool), boxes.astype(complex), boxes.astype("U"), "boxes", None,
                      object(), [[1, 2], [3]], boxes.astype("M8[s]")):
            self.refused(TypeError, "boxes ", wrong, scores, 0.5)
        self.refused(TypeError, "scores must hold numbers, not bool", boxes, scores > 1, 0.5)
        for wrong in ([0.5, 1, 2], ["a", "b", "c"], [True, False, True]):
            self.refused(TypeError, "idxs must hold", boxes, scores, wrong, 0.5,
                         function=nmscore.batched_nms)

    def test_options(self):
        boxes, scores = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
        for wrong in (-0.1, 1.1, float("nan"), float("inf")):
            self.refused(ValueError, "iou_threshold is .*must be 0..1", boxes, scores, wrong)
        self.refused(TypeError, "number", boxes, scores, "0.5")
        self.refused(ValueError, "score_threshold", boxes, scores, 0.5,
                     score_threshold=float("nan"))
        self.refused(ValueError, "max_detections", boxes, scores, 0.5, max_detections=-1)
        self.refused(ValueError, "max_detections", boxes, scores, 0.5, max_detections=2**64)
        self.refused(TypeError, "", boxes, scores, 0.5, max_detections=1.5)
        self.refused(TypeError, "", boxes, scores)


if __name__ == "__main__":
    unittest.main()
