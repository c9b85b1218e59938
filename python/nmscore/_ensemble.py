# SPDX-License-Identifier: LGPL-2.1-or-later
"""Weighted box fusion with the arguments of ensemble_boxes."""
from __future__ import annotations

import math
import numbers
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy

from nmscore._arrays import plain, refuse_masked
from nmscore._frames import run
from nmscore._parameternames import renamed
from nmscore._types import Array, Indices, Rows, Scores

_FUSED_SCORES = {"avg": "avg", "max": "max", "box_and_model_avg": "box-and-model-avg",
                 "absent_model_aware_avg": "absent-model-aware-avg"}


def _count_models(name: str, values: Any) -> int:
    """Returns the number of elements of an argument that has one for each model."""
    if values is None:
        raise TypeError(f"{name} must be a list, not None")
    refuse_masked(values, name)
    try:
        return len(values)
    except Exception as error:
        raise TypeError(f"{name} must be a list: {error}") from error


def _elements(name: str, values: Any, count: int) -> List[Any]:
    try:
        return [values[model] for model in range(count)]
    except Exception as error:
        raise TypeError(f"{name} must be a list: {error}") from error


def _check_number(name: str, value: Any, least: float, most: float) -> None:
    if not isinstance(value, numbers.Real):
        kind = "None" if value is None else type(value).__name__
        raise TypeError(f"{name} must be a number, not {kind}")
    if value < least or not value <= most:  # (NaN too)
        raise ValueError(f"{name} is {value}, must be {least}..{most}")


def _boxes(array: Array, name: str) -> Rows:
    """Returns the boxes of one model as (N, 4); [] is no boxes."""
    boxes = plain(array, name)
    if boxes.shape == (0,):
        boxes = boxes.reshape(0, 4)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"{name} must have shape (N, 4), not {boxes.shape}")
    return boxes.astype(numpy.float32)


def _column(array: Array, name: str, count: int, dtype: type) -> Any:
    """Returns the scores or labels of the `count` boxes of one model."""
    column = plain(array, name)
    if column.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},) for {count} boxes, not {column.shape}")
    return column.astype(dtype)


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
    if not isinstance(conf_type, str):
        raise TypeError(f"conf_type must be a string, not {type(conf_type).__name__}")
    if conf_type not in _FUSED_SCORES:
        raise ValueError(f"conf_type is {conf_type!r}, must be one of {sorted(_FUSED_SCORES)}")
    models = _count_models("boxes_list", boxes_list)
    given: Dict[str, Any] = {"boxes_list": boxes_list, "scores_list": scores_list,
                             "labels_list": labels_list}
    if weights is not None:
        given["weights"] = weights
    for name, values in given.items():  # all before the elements of one are read
        count = _count_models(name, values)
        if count != models:
            raise ValueError(f"{name} has {count} elements, boxes_list has {models}")
    lists = {name: _elements(name, values, models) for name, values in given.items()}
    _check_number("iou_thr", iou_thr, 0, 1)
    _check_number("skip_box_thr", skip_box_thr, -math.inf, math.inf)
    # (an empty part each, because numpy cannot join no arrays)
    boxes = [numpy.zeros((0, 4), numpy.float32)]
    scores, labels = [numpy.zeros(0, numpy.float32)], [numpy.zeros(0, numpy.int64)]
    parts = zip(lists["boxes_list"], lists["scores_list"], lists["labels_list"])
    for model, (part, part_scores, part_labels) in enumerate(parts):
        boxes.append(_boxes(part, f"boxes_list[{model}]"))
        count = len(boxes[-1])
        scores.append(_column(part_scores, f"scores_list[{model}]", count, numpy.float32))
        labels.append(_column(part_labels, f"labels_list[{model}]", count, numpy.int64))
    sources = numpy.repeat(numpy.arange(models), [len(part) for part in boxes[1:]])
    all_labels = numpy.concatenate(labels)
    with renamed(source_weights="weights", score_threshold="skip_box_thr"):
        result = run(numpy.concatenate(boxes), numpy.concatenate(scores), all_labels,
                     sources=sources,
                     source_weights=lists.get("weights", [1.0] * models) or [1.0],
                     iou_threshold=iou_thr, score_threshold=skip_box_thr, method="weighted",
                     fused_score=_FUSED_SCORES[conf_type])
    assert result.boxes is not None and result.scores is not None  # because of the method
    return result.boxes, result.scores, all_labels[result.kept]
