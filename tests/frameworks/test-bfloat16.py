#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bfloat16, the type of detectors on TPUs: arrays of ml_dtypes and programs in StableHLO give the
results of the same numbers in float32."""
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 (the variable above is read by the import)
import numpy as np  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from ml_dtypes import bfloat16  # noqa: E402

import nmscore  # noqa: E402
import nmscore.export  # noqa: E402


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


def execute(program, *arguments):
    """Compiles the program with XLA and returns its results for the arguments."""
    client = jax.devices()[0].client
    executable = client.compile_and_load(program.text, client.local_devices()[:1],
                                         xla_client.CompileOptions())
    results = executable.execute_sharded([jax.device_put(a) for a in arguments])
    return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]


class Case(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def same(self, got, wanted):
        for ours, theirs in zip(got, wanted):
            np.testing.assert_array_equal(ours, theirs)
        self.assertEqual(len(got), len(wanted))


class Arrays(Case):
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


class Programs(Case):
    def test_rows(self):
        options = {"iou_threshold": 0.4, "max_detections": 30, "score_threshold": 0.1}
        for platform in "cpu", "gpu":
            program = nmscore.export.program(platform, 120, classes=True, bfloat16=True, **options)
            self.assertEqual([a.type for a in program.inputs], ["bfloat16", "bfloat16", "int32"])
            for _ in range(5):
                frame = random_frame(self.rng)
                picks, count = execute(program, *frame)
                self.same([picks[:count]], [nmscore.run(*map(wide, frame), **options).kept])

    def test_head(self):
        program = nmscore.export.program("cpu", 150, head_classes=4, bfloat16=True,
                                         max_detections=40)
        head = np.concatenate([self.rng.random((2, 150)) * 60, self.rng.random((6, 150)) * 20])
        head = head.astype(bfloat16)
        picks, count, boxes, scores, classes = execute(program, head)
        self.same((boxes, scores, classes), (nmscore.rows_from_cxcywh(wide(head[:4].T)),
                                             wide(head[4:].max(0)), wide(head[4:]).argmax(0)))
        self.same([picks[:count]], [nmscore.run(boxes, scores, classes, max_detections=40).kept])


if __name__ == "__main__":
    unittest.main()
