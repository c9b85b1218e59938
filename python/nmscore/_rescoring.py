# SPDX-License-Identifier: LGPL-2.1-or-later
"""Methods that lower the scores of overlapping boxes, with torchvision's argument names."""
from __future__ import annotations

from typing import Optional, Tuple

from nmscore._frames import run
from nmscore._parameternames import renamed
from nmscore._types import Array, Indices, Scores


def _rescore(boxes: Array, scores: Array, idxs: Optional[Array], family: str, parameter: str,
             kernel: str, sigma: float, score_threshold: float, max_detections: int,
             iou_threshold: float = 0.5) -> Tuple[Indices, Scores]:
    """Runs method `family` with a kernel, which is the value of `parameter`."""
    if not isinstance(kernel, str):
        raise TypeError(f"{parameter} must be a string, not {type(kernel).__name__}")
    if kernel not in ("gaussian", "linear"):
        raise ValueError(f"{parameter} is {kernel!r}, must be 'gaussian' or 'linear'")
    with renamed(class_ids="idxs", min_score="score_threshold"):
        result = run(boxes, scores, idxs, iou_threshold=iou_threshold,
                     method=f"{family}-{kernel}", sigma=sigma, min_score=score_threshold,
                     max_detections=max_detections)
    assert result.scores is not None  # because the method is not "hard"
    return result.kept, result.scores


def soft_nms(boxes: Array, scores: Array, iou_threshold: float = 0.5,
             idxs: Optional[Array] = None, *, method: str = "gaussian", sigma: float = 0.5,
             score_threshold: float = 0.001, max_detections: int = 0) -> Tuple[Indices, Scores]:
    """Runs soft-NMS, and returns the indices of the kept boxes and their new scores, best first.

    The box with the best score so far is kept, and lowers the scores of the others.

    boxes            (N, 4) numbers, rows of x1 y1 x2 y2 in any unit; [] for no boxes
    scores           (N,) numbers, higher is better
    iou_threshold    0..1: method "linear" lowers the scores of boxes whose IoU exceeds it;
                     "gaussian" does not use it
    idxs             (N,) whole numbers: boxes lower only boxes with the same value; None: all
    method           "gaussian": times exp (-IoU**2 / sigma); "linear": times 1 - IoU
    sigma            above 0; that of OpenCV and mmcv. TensorFlow's soft_nms_sigma s is 2 * s
                     here
    score_threshold  least score, 0 or more: boxes that fall below it are not kept
    max_detections   the largest number of boxes kept, 0 for no limit

    Bodla et al., "Soft-NMS: improving object detection with one line of code".
    """
    return _rescore(boxes, scores, idxs, "soft", "method", method, sigma, score_threshold,
                    max_detections, iou_threshold)


def matrix_nms(boxes: Array, scores: Array, idxs: Optional[Array] = None, *,
               kernel: str = "gaussian", sigma: float = 2.0, score_threshold: float = 0.001,
               max_detections: int = 0) -> Tuple[Indices, Scores]:
    """Runs Matrix NMS, and returns the indices of the kept boxes and their new scores, best first.

    All scores are lowered at once. A box that is overlapped itself lowers others less.

    boxes            (N, 4) numbers, rows of x1 y1 x2 y2 in any unit; [] for no boxes
    scores           (N,) numbers, higher is better
    idxs             (N,) whole numbers: boxes lower only boxes with the same value; None: all
    kernel           "gaussian": by exp (-sigma * IoU**2); "linear": by 1 - IoU
    sigma            above 0; that of SOLOv2 and mmdet
    score_threshold  least score, 0 or more: boxes that fall below it are not kept
    max_detections   the largest number of boxes kept, 0 for no limit

    Wang et al., "SOLOv2: dynamic and fast instance
    segmentation".
    """
    return _rescore(boxes, scores, idxs, "matrix", "kernel", kernel, sigma, score_threshold,
                    max_detections)
