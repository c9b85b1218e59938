# SPDX-License-Identifier: LGPL-2.1-or-later
"""slow: NMS by its definition in numpy, and random boxes."""
import numpy as np


def iou(a, others):
    """IoU of one box with others, each operation rounded to float32."""
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
