# SPDX-License-Identifier: LGPL-2.1-or-later
"""Average precision (AP) of boxes against the ground truth, as COCO's evaluation defines it. The
results are those of pycocotools, and numpy matches all images at once."""
from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Tuple

import numpy as np
import numpy.typing as npt

LIMITS = np.linspace(0.5, 0.95, 10)     # least IoU of a hit
RECALLS = np.linspace(0.0, 1.0, 101)
MOST_BOXES = 100                        # boxes of one class in an image
PAIRS_AT_ONCE = 1 << 22                 # bounds the memory of find_pairs


class Boxes(NamedTuple):
    """The boxes of all images.

    image     (N,) int64: number of the image, 0 or more
    class_id  (N,) int64: number of the class, 0 or more
    rows      (N, 4) float64: x y w h in pixels
    score     (N,) float64; 1 for marked boxes
    crowd     (N,) bool: the marked box stands for many objects: boxes on it count as neither right
              nor wrong
    """
    image: npt.NDArray[np.int64]
    class_id: npt.NDArray[np.int64]
    rows: npt.NDArray[np.float64]
    score: npt.NDArray[np.float64]
    crowd: npt.NDArray[np.bool_]

    def take(self, which: Any) -> "Boxes":
        """Returns the boxes that `which` selects, in its order."""
        return Boxes(*(column[which] for column in self))


class Precision(NamedTuple):
    """The result of evaluate: values 0..1 for each class, NaN for a class without true boxes.

    ap, ap50    AP as the mean over IoU 0.5 to 0.95, and at IoU 0.5
    f1          greatest F1 of all score thresholds, at IoU 0.5
    f1_score    the score threshold of that F1; NaN without boxes
    all_f1      the same two figures of all classes together, with one threshold
    all_f1_score
    """
    ap: npt.NDArray[np.float64]
    ap50: npt.NDArray[np.float64]
    f1: npt.NDArray[np.float64]
    f1_score: npt.NDArray[np.float64]
    all_f1: float
    all_f1_score: float


def _rank(found: Boxes, groups: npt.NDArray[np.int64]) -> Tuple[Any, Any]:
    """Returns the best MOST_BOXES boxes of each group, by group and score, and their ranks."""
    order = np.lexsort((-found.score, groups))
    groups = groups[order]
    rank = np.arange(len(order)) - np.searchsorted(groups, groups)
    return order[rank < MOST_BOXES], rank[rank < MOST_BOXES]


def _overlap(found: Boxes, truth: Boxes) -> npt.NDArray[np.float64]:
    """Returns the IoU of each pair; for a crowd, the intersection over the found box's area."""
    a, b = found.rows, truth.rows
    size = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:]) - np.maximum(a[:, :2], b[:, :2])
    shared = np.where((size > 0).all(axis=1), size[:, 0] * size[:, 1], 0.0)
    area = a[:, 2] * a[:, 3]
    whole = np.where(truth.crowd, area, area + b[:, 2] * b[:, 3] - shared)
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)


def _find_pairs(found: Boxes, groups: Any, truth: Boxes, truth_groups: Any
                ) -> Iterator[Tuple[Any, Any, Any]]:
    """Yields the pairs of one image and class with an IoU of at least LIMITS[0]."""
    first = np.searchsorted(truth_groups, groups, "left")
    count = np.searchsorted(truth_groups, groups, "right") - first
    total = np.concatenate(([0], np.cumsum(count)))
    left, right = found.rows[:, 0].copy(), found.rows[:, 0] + found.rows[:, 2]
    its_left, its_right = truth.rows[:, 0].copy(), truth.rows[:, 0] + truth.rows[:, 2]
    begin = 0
    while begin < len(groups):
        end = max(begin + 1, int(np.searchsorted(total, total[begin] + PAIRS_AT_ONCE)) - 1)
        box = np.repeat(np.arange(begin, end), count[begin:end])
        mark = np.arange(total[begin], total[end]) - total[box] + first[box]
        beside = (left[box] < its_right[mark]) & (its_left[mark] < right[box])
        box, mark = box[beside], mark[beside]
        iou = _overlap(found.take(box), truth.take(mark))
        near = iou >= LIMITS[0]
        yield box[near], mark[near], iou[near]
        begin = end


def _match(found: Boxes, rank: Any, truth: Boxes, pairs: Tuple[Any, Any, Any]) -> Tuple[Any, Any]:
    """Gives each found box, by rank, the free marked box that it overlaps most, for each limit.

    Returns (N, limits) booleans: whether the box hit a marked one, and whether that is a crowd."""
    box, mark, iou = pairs
    # A crowd is chosen last. If several marked boxes overlap equally, the last one counts.
    order = np.lexsort((-mark, -iou, truth.crowd[mark], box, rank[box]))
    box, mark, iou = box[order], mark[order], iou[order]
    used = np.zeros((len(truth.image), len(LIMITS)), bool)
    hit = np.zeros((len(found.image), len(LIMITS)), bool)
    on_crowd = np.zeros_like(hit)
    ends = np.searchsorted(rank[box], np.arange(MOST_BOXES + 1))
    for begin, end in zip(ends, ends[1:]):
        if begin == end:
            continue
        its = mark[begin:end]
        free = ((iou[begin:end, None] >= LIMITS) & (~used[its] | truth.crowd[its, None]))
        starts = np.flatnonzero(np.diff(box[begin:end], prepend=-1))
        back = np.arange(end - begin, 0, -1)[:, None]     # the first free pair is the greatest
        best = np.maximum.reduceat(np.where(free, back, 0), starts)
        run, limit = np.nonzero(best)
        pair = end - best[run, limit]
        used[mark[pair], limit] = True
        hit[box[pair], limit] = True
        on_crowd[box[pair], limit] = truth.crowd[mark[pair]]
    return hit, on_crowd


def _average(right: Any, wrong: Any, objects: int) -> float:
    """Returns AP from the right and wrong boxes up to each score."""
    recall = right / objects
    precision = right / (right + wrong + np.spacing(1))
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, RECALLS)
    return float(np.append(precision, 0.0)[at].mean())


def _best_f1(right: Any, wrong: Any, objects: int, score: Any) -> Tuple[float, float]:
    """Returns the greatest F1 of all score thresholds, and that threshold."""
    # (a threshold cannot part equal scores: only the last of them counts)
    last = np.append(score[1:] < score[:-1], True)[:len(score)]
    f1 = np.where(last, 2 * right / (objects + right + wrong), -1.0)
    if not len(f1):
        return 0.0, float("nan")
    best = int(f1.argmax())
    return float(f1[best]), float(score[best])


def evaluate(found: Boxes, truth: Boxes, classes: int) -> Precision:
    """Compares found boxes with the ground truth.

    Class numbers are 0 to classes - 1. Of found boxes with equal scores the first one ranks first.
    """
    truth = truth.take(np.lexsort((np.arange(len(truth.image)), truth.class_id, truth.image)))
    groups = found.image * classes + found.class_id
    order, rank = _rank(found, groups)
    found, groups = found.take(order), groups[order]
    pairs = list(_find_pairs(found, groups, truth, truth.image * classes + truth.class_id))
    box, mark, iou = ((np.concatenate(parts) for parts in zip(*pairs)) if pairs else
                      (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)))
    hit, on_crowd = _match(found, rank, truth, (box, mark, iou))

    order = np.lexsort((-found.score, found.class_id))
    ends = np.searchsorted(found.class_id[order], np.arange(classes + 1))
    objects = np.bincount(truth.class_id[~truth.crowd], minlength=classes)
    columns: List[List[float]] = [[float("nan")] * classes for _ in range(4)]
    for k in np.flatnonzero(objects):
        its = order[ends[k]:ends[k + 1]]
        right = np.cumsum(hit[its] & ~on_crowd[its], axis=0, dtype=float)
        wrong = np.cumsum(~hit[its], axis=0, dtype=float)
        aps = [_average(right[:, t], wrong[:, t], objects[k]) for t in range(len(LIMITS))]
        columns[0][k], columns[1][k] = float(np.mean(aps)), aps[0]
        columns[2][k], columns[3][k] = _best_f1(right[:, 0], wrong[:, 0], objects[k],
                                                found.score[its])
    order = np.argsort(-found.score, kind="stable")
    order = order[objects[found.class_id[order]] > 0]
    together = _best_f1(np.cumsum((hit & ~on_crowd)[order, 0]), np.cumsum(~hit[order, 0]),
                        int(objects.sum()), found.score[order])
    ap, ap50, f1, f1_score = (np.array(column) for column in columns)
    return Precision(ap, ap50, f1, f1_score, *together)
