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


def slow_nms(boxes, scores, idxs, threshold, score_threshold=-np.inf, max_detections=0):
    alive = scores >= np.float32(score_threshold)
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if not alive[i] or max_detections and len(kept) == max_detections:
            continue
        kept.append(i)
        alive &= ~((iou(boxes[i], boxes) > np.float32(threshold)) & (idxs == idxs[i]))
    return np.array(kept, np.int64)


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
