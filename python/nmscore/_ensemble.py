# SPDX-License-Identifier: LGPL-2.1-or-later
"""Weighted box fusion with the arguments of ensemble_boxes."""
from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy

from nmscore._frames import run
from nmscore._types import Array, Indices, Rows, Scores

_FUSED_SCORES = {"avg": "avg", "max": "max", "box_and_model_avg": "box-and-model-avg",
                 "absent_model_aware_avg": "absent-model-aware-avg"}


def _joined(arrays: Sequence[Array], dtype: type, shape: Tuple[int, ...]) -> numpy.ndarray:
    parts = [numpy.zeros(0, dtype).reshape(shape)]
    parts += [numpy.asarray(a, dtype).reshape(shape) for a in arrays]
    return numpy.concatenate(parts)


def weighted_boxes_fusion(boxes_list: Sequence[Array], scores_list: Sequence[Array],
                          labels_list: Sequence[Array],
                          weights: Optional[Sequence[float]] = None, iou_thr: float = 0.55,
                          skip_box_thr: float = 0.0,
                          conf_type: str = "avg") -> Tuple[Rows, Scores, Indices]:
    """Fuses the boxes of several models, and returns boxes (K, 4), scores (K,) and labels (K,).

    boxes_list       for each model (N, 4) numbers, rows of x1 y1 x2 y2 in any unit
    scores_list      for each model (N,) numbers above 0
    labels_list      for each model (N,) whole numbers: only boxes of one label are fused
    weights          the weight of each model, above 0; None: all weigh 1
    iou_thr          0..1: boxes whose IoU with a fused box exceeds it join it
    skip_box_thr     boxes with a lower score take no part
    conf_type        "avg", "max", "box_and_model_avg" or "absent_model_aware_avg"

    The results are those of ensemble_boxes.weighted_boxes_fusion but for roundings, best
    first. Boxes may lie outside 0..1 and are not clipped to it; everything is computed in
    float32.

    Solovyev, Wang and Gabruseva, "Weighted boxes fusion: ensembling boxes from different
    object detection models".
    """
    if conf_type not in _FUSED_SCORES:
        raise ValueError(f"conf_type is {conf_type!r}, must be one of {sorted(_FUSED_SCORES)}")
    models = len(boxes_list)
    for name, values in (("scores_list", scores_list), ("labels_list", labels_list),
                         ("weights", weights)):
        if values is not None and len(values) != models:
            raise ValueError(f"{name} has {len(values)} elements, boxes_list has {models}")
    labels = _joined(labels_list, numpy.int64, (-1,))
    sources = numpy.repeat(numpy.arange(models), [len(scores) for scores in scores_list])
    result = run(_joined(boxes_list, numpy.float32, (-1, 4)),
                 _joined(scores_list, numpy.float32, (-1,)), labels, sources=sources,
                 source_weights=weights if weights is not None else [1.0] * max(models, 1),
                 iou_threshold=iou_thr, score_threshold=skip_box_thr, method="weighted",
                 fused_score=_FUSED_SCORES[conf_type])
    return result.boxes, result.scores, labels[result.kept]
