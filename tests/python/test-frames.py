#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.run and its relatives: what fuzz-python, which compares each option and output with the
definition, does not reach; memory and manuals."""
import inspect
import pydoc
import sys
import tracemalloc
import typing
import unittest

import numpy as np

import nmscore
from nmscore import Outcome
from slow import iou, random_case


class Run(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(9)
        self.boxes, self.scores = random_case(self.random, 250)
        self.ids = self.random.integers(-2, 3, 250)

    def test_angles(self):
        rows = [[0, 4, 10, 6], [4, 0, 6, 10], [4, 0, 6, 10]]
        quarter = np.float64([np.pi / 2, 0, 0])
        self.assertEqual(nmscore.run(rows, [3, 2, 1]).kept.tolist(), [0, 1])
        self.assertEqual(nmscore.run(rows, [3, 2, 1], angles=quarter).kept.tolist(), [0])
        with_nan = nmscore.run(rows, [3, 2, 1], angles=[np.nan, 0, 0], outcome=True)
        self.assertEqual(with_nan.outcome.tolist(),
                         [Outcome.INVALID, Outcome.KEPT, Outcome.SUPPRESSED])
        self.assertEqual(with_nan.invalid_count, 1)

    def test_merged_angles(self):
        """The second box is the first one with its sides given the other way, moved by 2 in x."""
        rows, angles = [[0, 4, 10, 6], [6, 0, 8, 10]], [np.pi, np.pi / 2]
        for method, box in (("merge", [0, 4, 12, 6]), ("average", [1, 4, 11, 6])):
            merged = nmscore.run(rows, [2, 2], angles=angles, method=method)
            self.assertEqual(merged.kept.tolist(), [0])
            np.testing.assert_allclose(merged.boxes, [box], atol=1e-4)

    def test_what_is_left_out(self):
        got = nmscore.run(self.boxes)
        ranked = nmscore.nms(self.boxes, -np.arange(250), 0.5)
        np.testing.assert_array_equal(got.kept, ranked)
        self.assertIsNone(got.outcome)
        self.assertIsNone(got.suppressed_by)
        none = nmscore.run([], outcome=True, suppressed_by=True)
        self.assertEqual([len(part) for part in none[:3]], [0, 0, 0])
        self.assertEqual(none[3:8], (0, 0, 0, 0, 0))

    def test_forms_of_exclude(self):
        """Multiples of 256 have a low byte of 0."""
        exclude = self.random.random(250) < 0.3
        wanted = nmscore.run(self.boxes, self.scores, self.ids, exclude=exclude).kept
        for other in (exclude.astype(np.int64) * 256, np.repeat(exclude, 2)[::2]):
            np.testing.assert_array_equal(
                nmscore.run(self.boxes, self.scores, self.ids, exclude=other).kept, wanted)

    def test_inclusive_parents_and_groups(self):
        groups = {"class_options": {k: {"group": np.int64(2)} for k in (2, 7)}}
        rows = [[0, 0, 4, 2], [0, 0, 2, 2], [20, 0, 22, 2]]
        for options, kept in (({}, [0, 1, 2]), ({"inclusive": True}, [0, 2]),
                              ({"inclusive": True, "parents": [-1, 0, 2**40]}, [0, 1, 2]),
                              ({"inclusive": True, "class_ids": [2, 7, 2]}, [0, 1, 2]),
                              ({"inclusive": True, "class_ids": [2, 7, 2], **groups}, [0, 2])):
            self.assertEqual(nmscore.run(rows, [3, 2, 1], **options).kept.tolist(), kept)
            batch = nmscore.run_batch(rows, [0, 3], [3, 2, 1], **options)
            self.assertEqual(batch.kept.tolist(), kept)

    def test_engines(self):
        for name in ("sequential", "sorted", "spatial"):
            got = nmscore.run(self.boxes, self.scores, engine=name)
            self.assertTrue(got.engine.startswith(name), got.engine)

    def test_engine_xla(self):
        """Without a plugin a native engine runs; with xla_strict an error gives the reason."""
        options = {"engine": "xla", "xla_plugin": "/no-such-folder/plugin.so"}
        try:
            got = nmscore.run(self.boxes, self.scores, **options)
        except ValueError as error:
            self.assertIn("which this build does not have", str(error))
            return
        self.assertFalse(got.engine.startswith("xla"), got.engine)
        with self.assertRaisesRegex(RuntimeError, "no-such-folder"):
            nmscore.run(self.boxes, self.scores, xla_strict=True, **options)

    def test_wide_class_ids(self):
        wide = self.ids + 2**40
        np.testing.assert_array_equal(nmscore.run(self.boxes, self.scores, wide).kept,
                                      nmscore.run(self.boxes, self.scores, self.ids).kept)


class Neighbors(unittest.TestCase):
    def test_definition(self):
        boxes, _ = random_case(np.random.default_rng(1), 200)
        ids = np.arange(200) % 3
        overlap = np.array([iou(box, boxes) for box in boxes]) > np.float32(0.2)
        np.fill_diagonal(overlap, False)
        for agnostic in (False, True):
            wanted = (overlap & (agnostic | (ids[:, None] == ids))).sum(1)
            got = nmscore.count_neighbors(boxes, class_ids=ids, iou_threshold=0.2,
                                          class_agnostic=agnostic)
            self.assertEqual(got.dtype, np.int64)
            np.testing.assert_array_equal(got, wanted)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        similar = np.minimum.outer(area, area) >= np.float32(0.5) * np.maximum.outer(area, area)
        got = nmscore.count_neighbors(boxes, iou_threshold=0.2, min_size_ratio=0.5)
        np.testing.assert_array_equal(got, (overlap & similar).sum(1))
        best = nmscore.count_neighbors(boxes, -np.arange(200), max_candidates=20)
        wanted = nmscore.count_neighbors(boxes[:20])
        np.testing.assert_array_equal(best, np.pad(wanted, (0, 180)))
        self.assertEqual(nmscore.count_neighbors([]).tolist(), [])


class Tools(unittest.TestCase):
    def test_iou(self):
        self.assertEqual(nmscore.iou([0, 0, 4, 2], [0, 0, 2, 2]), 0.5)
        self.assertEqual(nmscore.iou((0, 0, 1, 1), np.float64([1, 0, 2, 1])), 0)
        third = nmscore.iou([0, 0, 3, 1], [0, 0, 1, 1])
        self.assertEqual(third, float(np.float32(1) / np.float32(3)))

    def test_other_forms(self):
        np.testing.assert_array_equal(nmscore.rows_from_cxcywh([[5, 6, 4, 2]]), [[3, 5, 7, 7]])
        np.testing.assert_array_equal(nmscore.rows_from_xywh([[5, 6, 4, 2]]), [[5, 6, 9, 8]])
        self.assertEqual(nmscore.rows_from_xywh([]).shape, (0, 4))


class Leaks(unittest.TestCase):
    """Calls that succeed and calls that fail at each argument leave no memory behind."""
    count = 3000
    boxes, ids = np.zeros((count, 4)), np.arange(count)
    calls = [{}, {"outcome": True, "suppressed_by": True, "class_options": {1: {}}},
             {"scores": np.ones(count, np.float16), "class_ids": np.arange(count) + 2**40},
             {"scores": [1]}, {"class_ids": [0.5]}, {"exclude": "a"}, {"parents": 1},
             {"angles": np.ones(count, bool)}, {"iou_threshold": 2}, {"max_detections": "a"},
             {"class_options": {1: {"iou_threshold": 0.5, "a": 1}}}, {"class_options": {"a": {}}},
             {"xla_plugin": "plugin", "class_ids": None, "engine": "none"}]

    def work(self):
        for call in self.calls:
            for function, more in (
                    (nmscore.run, {}), (nmscore.run_batch, {"offsets": [0, 20, self.count]}),
                    (nmscore.run_batch, {"offsets": [0, 20], "threads": 2})):
                try:
                    function(**{"boxes": self.boxes, "class_ids": self.ids, **call, **more})
                except (TypeError, ValueError):
                    pass

    def test_nothing_is_left(self):
        """Counts references to the arguments, and the bytes of arrays, which are large beside
        what numpy and tracemalloc keep."""
        self.work()
        references = sys.getrefcount(self.boxes), sys.getrefcount(self.ids)
        tracemalloc.start()
        try:
            self.work()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(30):
                self.work()
            after = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        self.assertEqual((sys.getrefcount(self.boxes), sys.getrefcount(self.ids)), references)
        self.assertLess(after - before, 40 * self.count)


class Manual(unittest.TestCase):
    def test_every_parameter_is_explained(self):
        """Each parameter begins a line of its function's text or of that of run or nms."""
        shared = nmscore.run.__doc__ + nmscore.nms.__doc__
        for name in nmscore.__all__:
            function = getattr(nmscore, name)
            if not inspect.isfunction(function):
                continue
            hints = typing.get_type_hints(function)
            self.assertIn("return", hints, name)
            for parameter in inspect.signature(function).parameters:
                self.assertIn(parameter, hints, name)
                if name != "iou":
                    self.assertRegex(function.__doc__ + shared, rf"\n *{parameter} ", name)

    def test_help_shows_all(self):
        text = pydoc.render_doc(nmscore, renderer=pydoc.plaintext)
        for name in set(nmscore.__all__) - {"__version__"}:
            self.assertIn(f"\n    {name}(", text)
        self.assertIn("score_strict     a score must exceed score_threshold", text)


if __name__ == "__main__":
    unittest.main()
