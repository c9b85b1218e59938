# SPDX-License-Identifier: LGPL-2.1-or-later
"""The functions of torchvision.ops, with their names, arguments and result order."""
from __future__ import annotations

from nmscore._nmscore import nms as _nms
from nmscore._types import Array, Indices

_ALL = float("-inf")


def nms(boxes: Array, scores: Array, iou_threshold: float, *,
        score_threshold: float = _ALL, max_detections: int = 0) -> Indices:
    """Returns the indices of the boxes that NMS keeps, best first, as a new int64 array (K,).

    boxes            (N, 4) numbers, rows of x1 y1 x2 y2 in any unit; [] for no boxes
    scores           (N,) numbers, higher is better
    iou_threshold    0..1: a box whose IoU with a kept box of higher score exceeds
                     it is suppressed

    Beyond torchvision's arguments:

    score_threshold  boxes with a lower score take no part: they are neither kept
                     nor suppress others
    max_detections   the largest number of boxes kept, 0 for no limit

    The overlap is compared exactly: one that equals the threshold, such as 1/10 at
    0.1, does not suppress. torchvision rounds the overlap to float32 and not the
    threshold, so that it suppresses such boxes too at 0.1, 1/3, 0.6 and others.

    Raises TypeError or ValueError, with the name of the parameter.
    """
    return _nms(boxes, scores, iou_threshold, score_threshold, max_detections)


def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float, *,
                score_threshold: float = _ALL, max_detections: int = 0) -> Indices:
    """Runs nms on boxes of several classes or images at once, and returns what nms does.

    idxs             (N,) whole numbers, such as class labels or image numbers:
                     boxes suppress only boxes with the same value

    The other parameters are those of nms; max_detections limits all classes together.
    The overlap is compared exactly; torchvision rounds it.
    """
    return _nms(boxes, scores, iou_threshold, score_threshold, max_detections, idxs)
