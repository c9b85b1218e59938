#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package nmscore: its results equal the definition, it accepts arrays of all
kinds, and it refuses invalid arguments."""
import sys
import threading
import unittest
from fractions import Fraction

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

import nmscore
from slow import exact_nms, integer_case, random_case, slow_nms


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

    def test_exact_arithmetic(self):
        """Overlaps equal to the threshold do not suppress, though float32 rounds it."""
        for text in ("1/10", "1/5", "1/3", "2/5", "1/2", "3/5", "2/3", "7/10", "9/10"):
            threshold = Fraction(text)
            for side in (4, 16, 300):
                boxes, scores = integer_case(self.random, 60, side)
                self.same(nmscore.nms(boxes, scores, float(threshold)),
                          exact_nms(boxes, scores, threshold))

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
                      wide[:, 1:8:2], boxes.astype(">f4"), readonly, memoryview(boxes)):
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
        # integers are rounded; a box with a corner too large for float32 is invalid
        self.same(nmscore.nms([[0, 0, 9, 9], [0, 0, 9, 8]], [1, 2], 0.5), [1])
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
        boxes.resize((60, 4))  # refused while a view of the array exists


class Refusals(unittest.TestCase):
    boxes, scores, idxs = np.zeros((3, 4), np.float32), np.zeros(3, np.float32), np.arange(3)

    def refused(self, error, text, *arguments, **options):
        """Expects `error`; the regular expression `text` must match its whole message."""
        function = nmscore.batched_nms if len(arguments) == 4 else nmscore.nms
        with self.assertRaisesRegex(error, f"^(?:{text})$"):
            function(*arguments, **options)

    def test_shapes(self):
        boxes, scores, idxs = self.boxes, self.scores, self.idxs
        for wrong, shape in ((boxes[:, :3], r"\(3, 3\)"), (boxes[0], r"\(4,\)"), (7, r"\(\)"),
                             (boxes[None], r"\(1, 3, 4\)"), (np.zeros((0, 5)), r"\(0, 5\)"),
                             ([[]], r"\(1, 0\)")):
            self.refused(ValueError, r"boxes must have shape \(N, 4\), not " + shape,
                         wrong, scores, 0.5)
        for wrong, shape in ((scores[:2], r"\(2,\)"), (scores[:, None], r"\(3, 1\)"),
                             (np.float32(1), r"\(\)"), ([], r"\(0,\)")):
            self.refused(ValueError, r"scores must have shape \(3,\) for 3 boxes, not " + shape,
                         boxes, wrong, 0.5)
        for wrong, shape in (([1, 2, 3, 4], r"\(4,\)"), (7, r"\(\)"), ([], r"\(0,\)"),
                             (idxs[None], r"\(1, 3\)")):
            self.refused(ValueError, r"idxs must have shape \(3,\) for 3 boxes, not " + shape,
                         boxes, scores, wrong, 0.5)
        for none in ([], np.zeros((0, 4))):
            self.refused(ValueError, r"scores must have shape \(0,\) for 0 boxes, not \(3,\)",
                         none, scores, 0.5)
            self.refused(ValueError, r"idxs must have shape \(0,\) for 0 boxes, not \(3,\)",
                         none, [], idxs, 0.5)

    def test_types(self):
        boxes, scores, idxs = self.boxes, self.scores, self.idxs
        for wrong in (boxes.astype(bool), boxes.astype(complex), boxes.astype("U"), "boxes",
                      object(), boxes.astype("M8[s]")):
            self.refused(TypeError, "boxes must hold numbers, not .+", wrong, scores, 0.5)
        self.refused(TypeError, "boxes (must hold numbers, not|cannot be read as an array:) .*",
                     [[1, 2], [3]], scores, 0.5)
        self.refused(TypeError, "scores must hold numbers, not bool", boxes, scores > 1, 0.5)
        for wrong in ([0.5, 1, 2], ["a", "b", "c"], [True, False, True]):
            self.refused(TypeError, "idxs must hold .*numbers, not .+", boxes, scores, wrong, 0.5)
        self.refused(TypeError, "boxes must be an array, not None", None, scores, 0.5)
        self.refused(TypeError, "scores must be an array, not None", boxes, None, 0.5)
        self.refused(TypeError, "idxs must be an array, not None", boxes, scores, None, 0.5)
        self.refused(TypeError, "idxs must be an array, not None", [], [], None, 0.5)

    def test_masked_arrays(self):
        def text(name):
            return name + " must not be a masked array: .+"
        for mask in (np.ma.nomask, [True, False, False]):
            scores = np.ma.array(self.scores, mask=mask)
            idxs = np.ma.array(self.idxs, mask=mask)
            boxes = np.ma.array(self.boxes, mask=mask is not np.ma.nomask)
            self.refused(TypeError, text("boxes"), boxes, self.scores, 0.5)
            self.refused(TypeError, text("boxes"), boxes.astype(np.float64), self.scores, 0.5)
            self.refused(TypeError, text("scores"), self.boxes, scores, 0.5)
            self.refused(TypeError, text("idxs"), self.boxes, self.scores, idxs, 0.5)
            self.assertEqual(nmscore.nms(boxes.data, scores.data, 0.5).tolist(), [0, 1, 2])

    def test_options(self):
        arrays = self.boxes, self.scores
        for wrong in (-0.1, 1.1, float("nan"), float("inf")):
            self.refused(ValueError, "iou_threshold is .*, must be 0..1", *arrays, wrong)
        for wrong, kind in ((None, "None"), ("0.5", "str"), ([0.5], "list"), (1j, "complex"),
                            (self.scores, "ndarray")):
            self.refused(TypeError, "iou_threshold must be a number, not " + kind, *arrays, wrong)
            self.refused(TypeError, "iou_threshold must be a number, not " + kind,
                         *arrays, self.idxs, wrong)
            self.refused(TypeError, "score_threshold must be a number, not " + kind, *arrays, 0.5,
                         score_threshold=wrong)
        for wrong, kind in ((None, "None"), ("5", "str"), (1.5, "float"), ([5], "list")):
            self.refused(TypeError, "max_detections must be a whole number, not " + kind,
                         *arrays, 0.5, max_detections=wrong)
        self.refused(ValueError, "iou_threshold is beyond the range of a float",
                     *arrays, 10**400)
        self.refused(ValueError, "score_threshold is beyond the range of a float", *arrays, 0.5,
                     score_threshold=-10**400)
        self.refused(ValueError, "score_threshold is NaN.*", *arrays, 0.5,
                     score_threshold=float("nan"))
        for wrong in (-1, 2**64):
            self.refused(ValueError, r"max_detections must be 0 or more, below 2\*\*64",
                         *arrays, 0.5, max_detections=wrong)
        with self.assertRaisesRegex(TypeError, "missing 1 required .*'iou_threshold'"):
            nmscore.nms(*arrays)


if __name__ == "__main__":
    unittest.main()
