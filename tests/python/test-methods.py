#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Methods and metrics from Python. The tests of the core compare them with references."""
import unittest

import numpy as np

import nmscore

# IoU 0.6 of the first two
BOXES = [[0, 0, 80, 80], [20, 0, 100, 80], [200, 0, 240, 40]]
SCORES = [0.9, 0.6, 0.3]


class Methods(unittest.TestCase):
    def test_results(self):
        for options, kept, scores, corners in (
                ({"method": "soft-linear"}, [0, 2, 1], [0.9, 0.3, 0.24], BOXES[1]),
                ({"method": "soft-gaussian", "sigma": 1.0}, [0, 1, 2],
                 [0.9, 0.6 * np.exp(-0.36), 0.3], BOXES[1]),
                ({"method": "matrix-linear", "min_score": 0.25}, [0, 2], [0.9, 0.3], None),
                ({"method": "merge"}, [0, 2], [0.9, 0.3], [0, 0, 100, 80]),
                ({"method": "greedy-merge", "metric": "ios", "iou_threshold": 0.7}, [0, 2],
                 [0.9, 0.3], [0, 0, 100, 80]),
                ({"method": "average"}, [0, 2], [0.9, 0.3], [8, 0, 88, 80]),
                ({"method": "weighted"}, [0, 2], [0.75, 0.3], [8, 0, 88, 80]),
                ({"method": "weighted", "sources": [0, 1, 0], "source_weights": [1, 1]}, [0, 2],
                 [0.75, 0.15], [8, 0, 88, 80])):
            got = nmscore.run(BOXES, SCORES, **options)
            np.testing.assert_array_equal(got.kept, kept, str(options))
            np.testing.assert_allclose(got.scores, scores, 1e-6)
            self.assertEqual(got.scores.dtype, np.float32)
            self.assertEqual(got.boxes.shape, (len(kept), 4))
            if corners:
                at = kept.index(1) if 1 in kept else 0
                np.testing.assert_allclose(got.boxes[at], corners, 1e-6)

    def test_hard_has_no_columns(self):
        got = nmscore.run(BOXES, SCORES)
        self.assertIsNone(got.scores)
        self.assertIsNone(got.boxes)
        got = nmscore.run(BOXES, SCORES, metric="giou")
        np.testing.assert_array_equal(got.kept, [0, 2])

    def test_soft_and_matrix_nms(self):
        kept, scores = nmscore.soft_nms(BOXES, SCORES, method="linear")
        np.testing.assert_array_equal(kept, [0, 2, 1])
        np.testing.assert_allclose(scores, [0.9, 0.3, 0.24], 1e-6)
        kept, scores = nmscore.soft_nms(BOXES, SCORES, idxs=[1, 2, 3], max_detections=2)
        np.testing.assert_array_equal(kept, [0, 1])
        np.testing.assert_allclose(scores, [0.9, 0.6], 1e-6)
        kept, scores = nmscore.matrix_nms(BOXES, SCORES, score_threshold=0.25)
        np.testing.assert_array_equal(kept, [0, 2, 1])
        np.testing.assert_allclose(scores, [0.9, 0.3, 0.6 * np.exp(-0.72)], 1e-6)

    def test_weighted_boxes_fusion(self):
        boxes, scores, labels = nmscore.weighted_boxes_fusion(
            [[BOXES[0]], [BOXES[1], BOXES[2]], []], [[0.9], [0.6, 0.3], []], [[7], [7, 8], []])
        np.testing.assert_allclose(boxes, [[8, 0, 88, 80], BOXES[2]], 1e-6)
        np.testing.assert_allclose(scores, [0.75 * 2 / 3, 0.3 / 3], 1e-6)
        np.testing.assert_array_equal(labels, [7, 8])
        boxes, scores, labels = nmscore.weighted_boxes_fusion([], [], [])
        self.assertEqual((boxes.shape, scores.shape, labels.shape), ((0, 4), (0,), (0,)))


if __name__ == "__main__":
    unittest.main()
