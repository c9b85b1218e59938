#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Methods and metrics from Python. The tests of the core compare them with references."""
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

import nmscore
from slow import random_case

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

    def test_batch(self):
        random = np.random.default_rng(3)
        cases = [random_case(random, n) for n in (0, 40, 1, 90)]
        boxes = np.concatenate([c[0] for c in cases])
        scores = np.concatenate([c[1] for c in cases])
        offsets = np.cumsum([0] + [len(c[1]) for c in cases])
        for method in ("hard", "soft-gaussian", "weighted"):
            batch = nmscore.run_batch(boxes, offsets, scores, method=method, threads=2)
            singles = [nmscore.run(*c, method=method) for c in cases]
            np.testing.assert_array_equal(batch.kept, np.concatenate([s.kept for s in singles]))
            if method == "hard":
                self.assertIsNone(batch.scores)
                continue
            np.testing.assert_array_equal(batch.scores,
                                          np.concatenate([s.scores for s in singles]))
            np.testing.assert_array_equal(batch.boxes,
                                          np.concatenate([s.boxes for s in singles]))

    def test_errors(self):
        for error, text, options in (
                (ValueError, "method is 'soft'", {"method": "soft"}),
                (TypeError, "metric must be a string, not int", {"metric": 1}),
                (ValueError, "fused_score is 'mean'", {"fused_score": "mean"}),
                (TypeError, "sigma must be a number", {"sigma": "a"}),
                (ValueError, "sigma is -1", {"sigma": -1.0, "method": "soft-gaussian"}),
                (ValueError, "min_score", {"min_score": -1.0, "method": "soft-gaussian"}),
                (ValueError, "giou", {"method": "merge", "metric": "giou"}),
                (TypeError, "source_weights must be a sequence", {"source_weights": 1.0}),
                (TypeError, "source_weights must be a number", {"source_weights": ["a"]}),
                (ValueError, "source_weights is empty", {"source_weights": []}),
                (ValueError, "source_weights", {"source_weights": [0.0], "method": "weighted"}),
                (TypeError, "sources", {"sources": [0.5, 0.5, 0.5]}),
                (ValueError, "sources", {"sources": [0, 1]})):
            with self.assertRaisesRegex(error, text, msg=str(options)):
                nmscore.run(BOXES, SCORES, **options)

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

    def test_soft_and_matrix_nms_refuse(self):
        """Errors name the parameters of the function that was called."""
        for function, text, options in (
                (nmscore.soft_nms, "idxs must have shape", {"idxs": [1]}),
                (nmscore.soft_nms, "score_threshold must be a number", {"score_threshold": "a"}),
                (nmscore.soft_nms, "method is 'hard', must be 'gaussian'", {"method": "hard"}),
                (nmscore.soft_nms, "method must be a string, not NoneType", {"method": None}),
                (nmscore.matrix_nms, "idxs must hold whole numbers", {"idxs": [0.5, 1, 2]}),
                (nmscore.matrix_nms, "kernel is 'x', must be 'gaussian'", {"kernel": "x"}),
                (nmscore.matrix_nms, "kernel must be a string", {"kernel": np.zeros(2)})):
            with self.subTest(text), self.assertRaisesRegex((TypeError, ValueError), "^" + text):
                function(BOXES, SCORES, **options)

    def test_weighted_boxes_fusion(self):
        boxes, scores, labels = nmscore.weighted_boxes_fusion(
            [[BOXES[0]], [BOXES[1], BOXES[2]], []], [[0.9], [0.6, 0.3], []], [[7], [7, 8], []])
        np.testing.assert_allclose(boxes, [[8, 0, 88, 80], BOXES[2]], 1e-6)
        np.testing.assert_allclose(scores, [0.75 * 2 / 3, 0.3 / 3], 1e-6)
        np.testing.assert_array_equal(labels, [7, 8])
        boxes, scores, labels = nmscore.weighted_boxes_fusion([], [], [])
        self.assertEqual((boxes.shape, scores.shape, labels.shape), ((0, 4), (0,), (0,)))
        with self.assertRaisesRegex(ValueError, "conf_type"):
            nmscore.weighted_boxes_fusion([], [], [], conf_type="mean")
        with self.assertRaisesRegex(ValueError, "labels_list has 1 elements, boxes_list has 0"):
            nmscore.weighted_boxes_fusion([], [], [[1]])

    def test_weighted_boxes_fusion_refuses(self):
        """Errors name the parameter, and the model within it."""
        good = {"boxes_list": [BOXES, BOXES[:1]], "scores_list": [SCORES, SCORES[:1]],
                "labels_list": [[1, 2, 3], [1]]}
        nmscore.weighted_boxes_fusion(**good)
        masked = np.ma.masked_array
        for error, message, wrong in (
                (TypeError, "boxes_list must be a list, not None", {"boxes_list": None}),
                (TypeError, "labels_list must be a list, not None", {"labels_list": None}),
                (TypeError, r"boxes_list\[1\] must be an array, not None",
                 {"boxes_list": [BOXES, None]}),
                (TypeError, r"scores_list\[0\] must hold numbers",
                 {"scores_list": [["a", "b", "c"], [1]]}),
                (TypeError, r"boxes_list\[0\] must not be a masked array",
                 {"boxes_list": [masked(BOXES, mask=np.array(BOXES) > 20), BOXES[:1]]}),
                (TypeError, "scores_list must not be a masked array",
                 {"scores_list": masked([[.9], [.8]], mask=[[0], [1]])}),
                (ValueError, r"boxes_list\[0\] must have shape \(N, 4\), not \(4, 3\)",
                 {"boxes_list": [np.array(BOXES).T[:, :3], BOXES[:1]]}),
                (ValueError, r"scores_list\[1\] must have shape \(1,\) for 1 boxes, not \(2,\)",
                 {"scores_list": [SCORES, [.1, .2]]}),
                (TypeError, "^scores_list must be a list: .*no len", {"scores_list": 5}),
                (TypeError, "^labels_list must be a list: ", {"labels_list": {7, 8}}),
                (TypeError, "^weights must be a number, not str", {"weights": "ab"}),
                (ValueError, "^weights", {"weights": [0, 1]}),
                (ValueError, "^skip_box_thr is beyond", {"skip_box_thr": 10**400}),
                (TypeError, "^conf_type must be a string, not list", {"conf_type": ["avg"]}),
                (TypeError, "iou_thr must be a number, not None", {"iou_thr": None}),
                (ValueError, "iou_thr is 2, must be 0..1", {"iou_thr": 2}),
                (TypeError, "skip_box_thr must be a number, not str", {"skip_box_thr": "1"})):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                nmscore.weighted_boxes_fusion(**{**good, **wrong})


if __name__ == "__main__":
    unittest.main()
