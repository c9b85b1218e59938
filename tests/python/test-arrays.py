#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the Python package nmscore reads arrays by the buffer protocol and by DLPack without
a copy, rounds other numbers once, and returns arrays that share memory by both protocols."""
import gc
import sys
import tracemalloc
import unittest

import numpy as np

try:
    import torch
except ImportError:
    torch = None

import lenders
import nmscore
from lenders import Lender, bfloats, describing
from slow import random_case

needs_torch = unittest.skipIf(torch is None, "torch is not installed")


class Case(unittest.TestCase):
    def setUp(self):
        self.boxes, self.scores = random_case(np.random.default_rng(3), 300)
        self.idxs = np.random.default_rng(4).integers(0, 5, 300)
        self.kept = nmscore.batched_nms(self.boxes, self.scores, self.idxs, 0.4)

    def same(self, boxes, scores, idxs):
        np.testing.assert_array_equal(nmscore.batched_nms(boxes, scores, idxs, 0.4), self.kept)


class Dlpack(Case):
    def test_lender(self):
        lent = [Lender(a) for a in (self.boxes, self.scores, self.idxs)]
        self.same(*lent)
        self.same(*(Lender(a, packed=True) for a in (self.boxes, self.scores, self.idxs)))
        self.same(*(Lender(a, offset=64) for a in (self.boxes, self.scores, self.idxs)))
        self.same(Lender(np.asfortranarray(self.boxes)), Lender(np.repeat(self.scores, 3)[::3]),
                  Lender(self.idxs[::-1].copy()[::-1]))
        self.assertEqual([one.lent for one in lent], [0, 0, 0])

    def test_pinned_memory(self):
        for device in (lenders.CUDA_HOST, lenders.ROCM_HOST):
            self.same(Lender(self.boxes, device=device), self.scores, self.idxs)

    def test_no_boxes(self):
        self.assertEqual(nmscore.nms(Lender(np.zeros((0, 4))), Lender(np.zeros(0)), 0.5).size, 0)

    def test_refusals(self):
        for wrong, error, text in (
                (Lender(self.boxes, device=lenders.CUDA), ValueError,
                 "boxes must be in the memory of the CPU, not of a device of DLPack's type 2"),
                (Lender(self.boxes[:, :3]), ValueError, r"boxes must have shape \(N, 4\), not .*"),
                (Lender(self.boxes.astype(complex)), TypeError, "boxes .*"),
                (Lender(self.boxes, lanes=2, counted=False), TypeError,
                 "boxes cannot be read as an array: .*"),
                (Lender(self.boxes > 0), TypeError, "boxes must hold numbers, not bool"),
                (Lender(self.boxes, name=b"other", counted=False), TypeError,
                 "boxes cannot be read as an array: .*")):
            with self.assertRaisesRegex(error, f"^{text}$"):
                nmscore.nms(wrong, self.scores, 0.5)
            gc.collect()
            self.assertEqual(wrong.lent, 0)

    def test_impossible_shapes(self):
        """Strides of 0 allow rows that no memory could hold."""
        row = np.zeros((1, 4), np.float32)
        for function in (nmscore.rows_from_xywh, lambda rows: nmscore.nms(rows, [], 0.5)):
            for array, rows, error in ((row, 2**62, ValueError), (row, -1, ValueError),
                                       (row.astype(np.uint8), 2**60, MemoryError),
                                       (row, 2**56, MemoryError)):
                lender = Lender(array)
                lender.shape[0], lender.strides[0] = rows, 0
                with self.subTest(rows=rows), self.assertRaisesRegex(
                        error, "^(boxes|rows) has a shape that no array can have$"
                        if error is ValueError else ""):
                    function(lender)
        lender = Lender(row)
        lender.managed.tensor.ndim = -1
        with self.assertRaisesRegex(ValueError, "^boxes has a shape that no array can have$"):
            nmscore.nms(lender, [], 0.5)

    def test_functions_of_the_type(self):
        """Functions of a type describe arrays without a capsule; otherwise __dlpack__ is used."""
        described, one = describing(), describing()
        arrays = [described(a) for a in (self.boxes, self.scores, self.idxs)]
        self.same(*arrays)
        self.assertEqual([a.described for a in arrays], [1, 1, 1])
        self.same(described(np.asfortranarray(self.boxes)), *arrays[1:])
        self.same(describing(major=2, previous=one)(self.boxes), *arrays[1:])
        for unfit in (describing(major=2), describing(major=0), describing(name=b"other"),
                      describing(lambda lender, tensor: -1), describing(lambda *_: 0)):
            lender = unfit(self.boxes)
            self.same(lender, *arrays[1:])
            self.assertEqual(lender.lent, 0)
        for wrong, error in ((described(self.boxes, device=lenders.CUDA), ValueError),
                             (described(self.boxes.astype(complex)), TypeError),
                             (described(self.boxes[:, :3]), ValueError)):
            with self.assertRaisesRegex(error, "^boxes "):
                nmscore.nms(wrong, self.scores, 0.5)
            self.assertEqual(wrong.described, 1)
        count = sys.getrefcount(arrays[0])
        self.same(*arrays)
        self.assertEqual(sys.getrefcount(arrays[0]), count)

    @needs_torch
    def test_torch(self):
        tensors = [torch.from_numpy(a) for a in (self.boxes, self.scores, self.idxs)]
        self.same(*tensors)
        self.same(tensors[0].T.contiguous().T, tensors[1].double(), tensors[2].to(torch.int16))
        self.same(tensors[0].expand(1, 300, 4)[0], tensors[1], tensors[2])
        np.testing.assert_array_equal(
            nmscore.nms(tensors[0], torch.ones(1).expand(300), 0.4),
            nmscore.nms(self.boxes, np.ones(300), 0.4))
        self.same(tensors[0].clone().requires_grad_(), tensors[1].clone().requires_grad_(),
                  tensors[2])
        for kind in (torch.float16, torch.bfloat16):
            boxes, scores = tensors[0].to(kind), tensors[1].to(kind)
            np.testing.assert_array_equal(nmscore.nms(boxes, scores, 0.4),
                                          nmscore.nms(boxes.float(), scores.float(), 0.4))
            np.testing.assert_array_equal(
                nmscore.nms(boxes.requires_grad_(), scores.requires_grad_(), 0.4),
                nmscore.nms(boxes.detach(), scores.detach(), 0.4))
        fused = nmscore.weighted_boxes_fusion([boxes], [scores], [tensors[2]])
        np.testing.assert_array_equal(fused[0], nmscore.weighted_boxes_fusion(
            [boxes.detach().float()], [scores.detach().float()], [tensors[2]])[0])


class Buffers(Case):
    def test_dimensions(self):
        for dims in (3, 9, 20):
            with self.assertRaisesRegex(ValueError, r"^boxes must have (shape|at most 8) .*"):
                nmscore.nms(self.boxes.reshape((1,) * (dims - 2) + (300, 4)), self.scores, 0.5)


class Rounding(unittest.TestCase):
    def rounded(self, value):
        """Converts numbers to float32 as nmscore does, by way of rows_from_xywh."""
        rows = np.zeros((len(value), 4), value.dtype)
        rows[:, 0] = value
        got = nmscore.rows_from_xywh(rows)[:, 0]
        self.assertEqual(got.dtype, np.float32)
        return got

    def test_float64_and_integers(self):
        random = np.random.default_rng(5)
        wide = random.integers(0, 2**64, 20000, np.uint64).view(np.float64)
        tie = np.float64(1) + np.arange(64) * 2.0**-25
        for values in (wide[~np.isnan(wide)], tie, np.nextafter(tie, 2), 1e-46 * np.arange(100)):
            with np.errstate(over="ignore", under="ignore"):
                np.testing.assert_array_equal(self.rounded(values), values.astype(np.float32))
        for kind in (np.int64, np.uint64, np.int32, np.uint32, np.int16, np.uint8):
            info = np.iinfo(kind)
            values = random.integers(info.min, info.max, 2000, kind, endpoint=True)
            np.testing.assert_array_equal(self.rounded(values), values.astype(np.float32))

    def test_all_halves(self):
        halves = np.arange(2**16, dtype=np.uint16)
        np.testing.assert_array_equal(self.rounded(halves.view(np.float16)).view(np.uint32) << 1,
                                      halves.view(np.float16).astype(np.float32).view(np.uint32)
                                      << 1)
        finite = halves.view(np.float16)[np.isfinite(halves.view(np.float16))]
        self.assertTrue((np.signbit(self.rounded(finite[finite != 0]))
                         == np.signbit(finite[finite != 0])).all())

    def test_all_bfloats(self):
        wanted = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
        rows = np.zeros((2**16, 4), np.float32)
        rows[:, 0] = wanted
        got = nmscore.rows_from_xywh(Lender(bfloats(rows), code=lenders.BFLOAT))[:, 0]
        np.testing.assert_array_equal(got, wanted)


class Copies(unittest.TestCase):
    """Traces the memory that a call allocates, without that of the context."""
    count = 40000

    def setUp(self):
        corner = np.arange(self.count)[:, None] * np.float32([20, 0])
        self.boxes = np.concatenate([corner, corner + 30], 1).astype(np.float32)
        self.scores = np.arange(self.count, dtype=np.float32)
        self.idxs = np.zeros(self.count, np.int64)

    def peak(self, *arrays):
        tracemalloc.start()
        try:
            nmscore.batched_nms(*arrays, 0.1, max_detections=10)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def test_none_for_what_is_read_in_place(self):
        arrays = self.boxes, self.scores, self.idxs
        self.assertLess(self.peak(*arrays), 10000)
        self.assertLess(self.peak(*map(Lender, arrays)), 20000)
        self.assertLess(self.peak(*(a[::-1] for a in arrays)), 10000)
        self.assertGreaterEqual(self.peak(self.boxes.astype(np.float64), *arrays[1:]),
                                self.boxes.nbytes)

    @needs_torch
    def test_none_for_tensors(self):
        arrays = self.boxes, self.scores, self.idxs
        self.assertLess(self.peak(*map(torch.from_numpy, arrays)), 20000)

    def test_results_are_lent(self):
        kept = nmscore.nms(self.boxes, self.scores, 0.1)
        self.assertTrue(kept.flags.writeable)
        self.assertTrue(np.shares_memory(np.from_dlpack(kept), kept))
        self.assertTrue(np.shares_memory(np.asarray(memoryview(kept)), kept))
        if torch is not None:
            self.assertEqual(torch.from_dlpack(kept).data_ptr(), kept.ctypes.data)


if __name__ == "__main__":
    if torch is None:
        print("torch is not installed: its tensors are not tested", file=sys.stderr)
    unittest.main()
