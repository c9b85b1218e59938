# SPDX-License-Identifier: LGPL-2.1-or-later
"""NMS of many images in one call."""
from __future__ import annotations

import os
from typing import Mapping, Optional, Sequence, Union

from nmscore import _nmscore
from nmscore._types import Array, BatchResult, ClassOptions

_ALL = float("-inf")


def run_batch(boxes: Array, offsets: Array, scores: Optional[Array] = None,
              class_ids: Optional[Array] = None, *, exclude: Optional[Array] = None,
              parents: Optional[Array] = None, angles: Optional[Array] = None,
              sources: Optional[Array] = None, iou_threshold: float = 0.5,
              method: str = "hard", metric: str = "iou", sigma: float = 0.0,
              min_score: float = 0.001, fused_score: str = "avg",
              source_weights: Optional[Sequence[float]] = None, score_threshold: float = _ALL,
              max_detections: int = 0, max_per_class: int = 0, max_candidates: int = 0,
              inclusive: bool = False, score_strict: bool = False,
              class_agnostic: bool = False, min_size_ratio: float = 0.0,
              class_options: Optional[Mapping[int, ClassOptions]] = None,
              outcome: bool = False, suppressed_by: bool = False, engine: str = "auto",
              xla_plugin: Optional[Union[str, os.PathLike[str]]] = None,
              xla_strict: bool = False, threads: int = 1) -> BatchResult:
    """Runs NMS on each of many images, as run does, and returns a BatchResult.

    boxes            (N, 4) numbers: the boxes of all images, one image after the other
    offsets          (images + 1,) whole numbers: image i has the boxes offsets[i] to
                     offsets[i + 1] - 1. The first is 0, the last N. For boxes of shape
                     (images, n, 4) pass boxes.reshape(-1, 4) and
                     range(0, images * n + 1, n)
    threads          1..1024: the number of threads that decide images at the same time,
                     including the caller's. They wait for the next call. The result
                     does not depend on the number

    The other parameters are those of run. scores, class_ids, exclude, parents, angles and
    sources have N elements; parents count from the first box of their image. The options apply to
    each image by itself.

    The BatchResult is a tuple with the fields kept, kept_offsets, outcome, suppressed_by,
    the counts of all images together, engine, scores and boxes. kept (K,) and kept_offsets
    (images + 1,) are int64: image i keeps kept[kept_offsets[i]:kept_offsets[i + 1]], best
    first, counted from its first box; images() returns these parts as a list.

        result = nmscore.run_batch(boxes, offsets, scores, labels, threads=2)
        for i, kept in enumerate(result.images()):
            use(boxes[offsets[i]:offsets[i + 1]][kept])

    Raises TypeError or ValueError, with the name of the parameter.
    """
    return BatchResult._make(_nmscore.run_batch(
        boxes, scores, class_ids, exclude, parents, angles, sources, outcome, suppressed_by,
        iou_threshold, score_threshold, max_detections, max_per_class, max_candidates,
        inclusive, score_strict, class_agnostic, sigma, min_score, min_size_ratio, class_options,
        engine, xla_plugin, xla_strict, method, metric, fused_score, source_weights, offsets,
        threads))
