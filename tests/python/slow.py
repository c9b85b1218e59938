# SPDX-License-Identifier: LGPL-2.1-or-later
"""slow: NMS by its definition in numpy and in fractions, and random boxes."""
from fractions import Fraction

import numpy as np


def iou(a, others):
    """Returns the IoU of one box with others, each operation rounded to float32."""
    zero = np.float32(0)
    width = np.maximum(np.minimum(a[2], others[:, 2]) - np.maximum(a[0], others[:, 0]), zero)
    height = np.maximum(np.minimum(a[3], others[:, 3]) - np.maximum(a[1], others[:, 1]), zero)
    inter = width * height
    area = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    union = ((a[2] - a[0]) * (a[3] - a[1]) + area) - inter
    return np.where(inter > 0, inter / np.where(union > 0, union, 1), zero).astype(np.float32)


def slow_run(boxes, scores, ids, *, iou_threshold=0.5, score_threshold=-np.inf, max_detections=0,
             max_per_class=0, max_candidates=0, inclusive=False, score_strict=False,
             class_agnostic=False, min_size_ratio=0, class_options=None, exclude=None,
             parents=None):
    """Returns kept, outcome and suppressed_by of valid boxes, one box after another."""
    def option(i, name, value):
        return (class_options or {}).get(int(ids[i]), {}).get(name, value)

    def suppresses(i, j, overlap):
        if parents is not None and (parents[i] == j or parents[j] == i):
            return False
        small, large = sorted((boxes[k][2] - boxes[k][0]) * (boxes[k][3] - boxes[k][1])
                              for k in (i, j))
        if small < np.float32(min_size_ratio) * large:
            return False
        limit = np.float32(option(j, "iou_threshold", iou_threshold))
        groups = [int(option(k, "group", ids[k])) for k in (i, j)]
        return (class_agnostic or groups[0] == groups[1]) and 0 < overlap and (
            overlap > limit or inclusive and overlap == limit)

    count = len(scores)
    outcome, by = np.zeros(count, np.uint8), np.full(count, -1)
    kept, candidates, of_class = [], 0, {}
    for j in np.argsort(-scores, kind="stable"):
        least = np.float32(option(j, "score_threshold", score_threshold))
        most = option(j, "max_detections", max_per_class)
        if exclude is not None and exclude[j] or scores[j] < least or (
                score_strict and scores[j] == least):
            outcome[j] = 4
            continue
        candidates += 1
        if max_candidates and candidates > max_candidates:
            outcome[j] = 3
        elif max_detections and len(kept) >= max_detections or (
                most and of_class.get(ids[j], 0) >= most):
            outcome[j] = 2
        else:
            overlaps = iou(boxes[j], boxes[kept]) if kept else []
            first = next((i for i, overlap in zip(kept, overlaps) if suppresses(i, j, overlap)), -1)
            if first >= 0:
                outcome[j], by[j] = 1, first
            else:
                kept.append(j)
                of_class[ids[j]] = of_class.get(ids[j], 0) + 1
    return np.array(kept, np.int64), outcome, by


def random_case(random, count):
    corner = random.random((count, 2)) * 100
    boxes = np.concatenate([corner, corner + random.random((count, 2)) * 40], 1)
    return boxes.astype(np.float32), (random.integers(0, 200, count) / 200).astype(np.float32)


def exact_nms(boxes, scores, threshold):
    """Returns the kept indices for whole-number corners and a Fraction, without rounding."""
    rows, kept = [[int(value) for value in row] for row in boxes], []
    for i in np.argsort(-scores, kind="stable"):
        if not any(exceeds(rows[i], rows[j], threshold) for j in kept):
            kept.append(int(i))
    return kept


def exceeds(a, b, threshold):
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return False
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return Fraction(width * height, areas - width * height) > threshold


def integer_case(random, count, side):
    """Returns boxes with whole-number corners and sides of 1 to `side`, and scores without ties."""
    corner = random.integers(0, 2 * side, (count, 2))
    boxes = np.concatenate([corner, corner + random.integers(1, side + 1, (count, 2))], 1)
    return boxes.astype(np.float32), random.permutation(count).astype(np.float32)
