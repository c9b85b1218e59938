#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.run_batch: the results of a loop of nmscore.run, for any number of threads."""
import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import nmscore
from slow import random_case

COUNTS = ("suppressed_count", "over_cap_count", "not_candidate_count", "filtered_count",
          "invalid_count")


class Batch(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(8)
        sizes = [0, 40, 1, 0, 300, 7, 90, 0]
        count = sum(sizes)
        self.offsets = np.cumsum([0] + sizes)
        self.boxes, self.scores = random_case(random, count)
        self.boxes[5] = np.nan
        self.columns = {"class_ids": random.integers(0, 3, count),
                        "exclude": random.random(count) < 0.1,
                        "parents": random.integers(-1, 40, count),
                        "angles": random.random(count) * (random.random(count) < 0.3)}

    def loop(self, columns, options):
        """Returns the results of a call for each image."""
        return [nmscore.run(self.boxes[a:b], self.scores[a:b], **options,
                            **{name: column[a:b] for name, column in columns.items()})
                for a, b in zip(self.offsets, self.offsets[1:])]

    def check(self, columns, threads=1, **options):
        got = nmscore.run_batch(self.boxes, self.offsets, self.scores, threads=threads,
                                **columns, **options)
        singles = self.loop(columns, options)
        self.assertEqual(got.kept.dtype, np.int64)
        self.assertEqual(got.kept_offsets.dtype, np.int64)
        self.assertEqual(len(got.images()), len(singles))
        for kept, single in zip(got.images(), singles):
            np.testing.assert_array_equal(kept, single.kept)
        rescored = options.get("method", "hard") != "hard"
        for name, given in (("outcome", options.get("outcome")), ("scores", rescored),
                            ("suppressed_by", options.get("suppressed_by")), ("boxes", rescored)):
            if given:
                np.testing.assert_array_equal(
                    getattr(got, name), np.concatenate([getattr(s, name) for s in singles]))
            else:
                self.assertIsNone(getattr(got, name))
        for name in COUNTS:
            self.assertEqual(getattr(got, name), sum(getattr(s, name) for s in singles), name)

    def test_equals_single_calls(self):
        for threads in (1, 2, 5, 2):
            self.check({}, threads)
            self.check(self.columns, threads, outcome=True, suppressed_by=True)
            self.check(self.columns, threads, outcome=True, max_detections=9, max_per_class=4,
                       class_options={1: {"iou_threshold": 0.2}})
            self.check({}, threads, suppressed_by=True, max_candidates=20, class_agnostic=True,
                       min_size_ratio=0.5)
            for method in ("soft-gaussian", "weighted"):
                self.check({}, threads, method=method)

    def test_no_images(self):
        for boxes, offsets, images in (([], [0], 0), ([], [0, 0, 0], 2)):
            got = nmscore.run_batch(boxes, offsets, outcome=True, suppressed_by=True)
            self.assertEqual([len(part) for part in got[:4]], [0, images + 1, 0, 0])
            self.assertEqual([kept.tolist() for kept in got.images()], [[]] * images)

    def test_calls_of_several_threads(self):
        wanted = nmscore.run_batch(self.boxes, self.offsets, self.scores).kept
        with ThreadPoolExecutor(6) as pool:
            for got in pool.map(lambda threads: nmscore.run_batch(
                    self.boxes, self.offsets, self.scores, threads=threads).kept, [1, 2, 3] * 40):
                np.testing.assert_array_equal(got, wanted)

    def test_after_fork(self):
        wanted = nmscore.run_batch(self.boxes, self.offsets, self.scores, threads=3).kept
        child = os.fork()
        if child == 0:
            got = nmscore.run_batch(self.boxes, self.offsets, self.scores, threads=3).kept
            os._exit(0 if np.array_equal(got, wanted) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
