# SPDX-License-Identifier: LGPL-2.1-or-later
"""NMS of one image with all options of the C library."""
from __future__ import annotations

import os
from typing import Mapping, Optional, Sequence, Union

from nmscore import _nmscore
from nmscore._types import Array, ClassOptions, Indices, Result

_ALL = float("-inf")


def run(boxes: Array, scores: Optional[Array] = None, class_ids: Optional[Array] = None, *,
        exclude: Optional[Array] = None, parents: Optional[Array] = None,
        angles: Optional[Array] = None, sources: Optional[Array] = None,
        iou_threshold: float = 0.5, method: str = "hard", metric: str = "iou",
        sigma: float = 0.0, min_score: float = 0.001, fused_score: str = "avg",
        source_weights: Optional[Sequence[float]] = None, score_threshold: float = _ALL,
        max_detections: int = 0, max_per_class: int = 0, max_candidates: int = 0,
        inclusive: bool = False, score_strict: bool = False,
        class_agnostic: bool = False, min_size_ratio: float = 0.0,
        class_options: Optional[Mapping[int, ClassOptions]] = None,
        outcome: bool = False, suppressed_by: bool = False, engine: str = "auto",
        xla_plugin: Optional[Union[str, os.PathLike[str]]] = None,
        xla_strict: bool = False) -> Result:
    """Runs NMS on the N boxes of one image and returns a Result.

    The boxes:

    boxes            (N, 4) numbers, rows of x1 y1 x2 y2 in any unit; [] for no boxes.
                     rows_from_cxcywh and rows_from_xywh convert other forms
    scores           (N,) numbers, higher is better; None: the input order ranks
    class_ids        (N,) whole numbers: boxes suppress only boxes of the same class;
                     None: all boxes have class 0
    exclude          (N,) booleans or whole numbers: boxes with True, or not 0, take
                     no part and count as FILTERED
    parents          (N,) whole numbers: the index of the box of which this one is a
                     part, or -1. A box and its parent do not suppress each other. An
                     index out of range counts as -1
    angles           (N,) numbers, radians: each box is rotated by its angle about its
                     centre, clockwise where y points down. The overlap is then that
                     of the rotated rectangles
    sources          (N,) whole numbers: the detector that found each box, 0 or more and
                     less than the number of source_weights; for method "weighted"

    The options:

    iou_threshold    0..1: a kept box suppresses later boxes whose IoU with it
                     exceeds the threshold. Rounded to float32, as is score_threshold
    method           what happens to boxes that overlap: "hard"; "soft-linear" and
                     "soft-gaussian" (soft-NMS); "matrix-linear" and "matrix-gaussian"
                     (Matrix NMS); "weighted" (weighted box fusion); "merge",
                     "greedy-merge" (SAHI's NMM and GREEDYNMM) and "average".
                     docs/methods.md defines each
    metric           the measure of overlap: "iou", "ios" (intersection over the smaller
                     box), "probiou" (of normal distributions, for rotated boxes) or, with
                     "hard" only, "diou" and "giou"
    sigma            gaussian methods: 0 or more; 0 stands for 0.5 with soft-gaussian and 2
                     with matrix-gaussian
    min_score        soft and matrix methods: least new score of a kept box
    fused_score      method "weighted": "avg", "max", "box-and-model-avg" or
                     "absent-model-aware-avg"
    source_weights   method "weighted": the weight of each source, numbers above 0; None:
                     one source
    score_threshold  boxes with a lower score take no part
    max_detections   most kept boxes, 0 for no limit
    max_per_class    most kept boxes of each class, 0 for no limit
    max_candidates   most boxes that take part, the best of all classes together; 0 for
                     no limit. It bounds the time of a call for any boxes
    inclusive        suppress at an IoU equal to the threshold, too
    score_strict     a score must exceed score_threshold
    class_agnostic   boxes suppress boxes of other classes, too
    min_size_ratio   a box whose area is less than this part of the other one's (0..1) is no
                     duplicate of it: neither suppresses, lowers or joins the other
    class_options    {class id: {"iou_threshold": ..., "score_threshold": ...,
                     "max_detections": ..., "group": ...}}: values for single classes; a
                     missing option has the value of the call. Boxes suppress boxes of
                     all classes with the same group, a whole number; by default it is
                     the class id. Between classes the class of the box with the lower
                     rank decides. For a class that wins in its group whatever the
                     scores are, add to its scores more than they differ, as in
                     scores + (class_ids == 5) for scores from 0 to 1
    engine           "auto", "sequential", "sorted", "spatial" or "xla": changes the
                     time, never the result
    xla_plugin       path of the PJRT plugin for engine xla; None: the environment
                     variable NMS_XLA_PLUGIN names it
    xla_strict       raise an error if engine xla cannot run, instead of running another
                     engine

    The outputs beside `kept`, the indices of the kept boxes, best first, int64:

    outcome          return the Outcome of each box (uint8): 0 kept, 1 suppressed, 2 over
                     a cap, 3 not a candidate, 4 filtered, 5 invalid
    suppressed_by    return for each box the index of the best kept box that suppresses
                     it, or -1 (int64)

    The Result is a tuple with the fields kept, outcome, suppressed_by, suppressed_count,
    over_cap_count, filtered_count, invalid_count, not_candidate_count, engine, the name of
    the engine that ran, and, but for method "hard", scores (K,) and boxes (K, 4), float32:
    the new scores and corners of the kept boxes. A rotated box keeps its angle,
    angles[kept]; its corners are those without the rotation.

    Raises TypeError or ValueError, with the name of the parameter.
    """
    return Result._make(_nmscore.run(
        boxes, scores, class_ids, exclude, parents, angles, sources, outcome, suppressed_by,
        iou_threshold, score_threshold, max_detections, max_per_class, max_candidates,
        inclusive, score_strict, class_agnostic, sigma, min_score, min_size_ratio, class_options,
        engine, xla_plugin, xla_strict, method, metric, fused_score, source_weights))


def count_neighbors(boxes: Array, scores: Optional[Array] = None,
                    class_ids: Optional[Array] = None, *, exclude: Optional[Array] = None,
                    parents: Optional[Array] = None, angles: Optional[Array] = None,
                    iou_threshold: float = 0.5, score_threshold: float = _ALL,
                    max_candidates: int = 0, inclusive: bool = False, score_strict: bool = False,
                    class_agnostic: bool = False, min_size_ratio: float = 0.0,
                    class_options: Optional[Mapping[int, ClassOptions]] = None) -> Indices:
    """Returns the number of neighbors of each box, as a new int64 array (N,).

    A neighbor is a box that would suppress it if it were kept, or that it would
    suppress. Boxes that are invalid, filtered or not candidates have 0 neighbors and are
    not counted. Detectors without scores rank by this number (OpenCV's minNeighbors).

    The parameters are those of run.
    """
    return _nmscore.count_neighbors(
        boxes, scores, class_ids, exclude, parents, angles, None, iou_threshold, score_threshold,
        0, 0, max_candidates, inclusive, score_strict, class_agnostic, 0.0, 0.0,
        min_size_ratio, class_options, "auto", None, False, "hard", "iou", "avg", None)
