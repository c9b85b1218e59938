# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random frames for the tests of nmscore.jax, and their results by nmscore.run."""
import numpy as np

import nmscore

# sets of options of nms; iou_threshold is 0.5 where it is not given
OPTIONS = [{}, {"iou_threshold": 0.0}, {"inclusive": True}, {"score_threshold": 0.5},
           {"score_threshold": 0.5, "score_strict": True}, {"max_per_class": 2},
           {"class_agnostic": True}, {"class_agnostic": True, "max_per_class": 3},
           {"max_candidates": 11},
           {"max_candidates": 20, "class_options": {1: {"score_threshold": 1.0}}},
           {"max_per_class": 4, "class_options": {0: {"max_detections": 2}}},
           {"class_options": {1: {"iou_threshold": 0.2, "max_detections": 3},
                              -7: {"max_detections": 1}, 2: {"score_threshold": 0.4}}},
           {"iou_threshold": 0.1}, {"iou_threshold": 1.0}]


def random_frames(seed, images=500, boxes=40):
    """Returns boxes on a coarse grid and scores of few values, so that overlaps and scores tie."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 24, (images, boxes, 2))
    extents = rng.integers(0, 16, (images, boxes, 2))
    rows = np.concatenate((corners, corners + extents), axis=2).astype(np.float32)
    scores = rng.integers(0, 12, (images, boxes)).astype(np.float32) / 8
    rows[rng.random(rows.shape) < 0.002] = np.nan
    scores[rng.random(scores.shape) < 0.01] = np.nan
    return rows, scores, rng.integers(0, 3, (images, boxes)).astype(np.int32)


def random_columns(seed, classes):
    """Every second seed has class ids and excluded boxes, every third has parents."""
    columns = {"class_ids": classes, "exclude": classes == seed % 3} if seed % 2 else {}
    if seed % 3 == 0:
        near = np.random.default_rng(seed).integers(-4, 5, classes.shape)
        columns["parents"] = (np.arange(classes.shape[-1]) + near).astype(np.int32)
    return columns


def check(test, kept, rows, scores, most, columns=None, **options):
    """Compares the images of a batch with nmscore.run. `columns` has its other columns."""
    index, count = np.asarray(kept[0]), np.asarray(kept[1])
    for i in range(len(rows)):
        given = {name: column[i] for name, column in (columns or {}).items()}
        wanted = nmscore.run(rows[i], scores[i], max_detections=most, **given, **options).kept
        padded = np.pad(wanted, (0, most - len(wanted)), constant_values=-1)
        test.assertEqual(index[i].tolist(), padded.tolist(), (i, options))
        test.assertEqual(count[i], len(wanted))
