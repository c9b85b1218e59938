# SPDX-License-Identifier: LGPL-2.1-or-later
"""The options of a JAX program: numbers that are known when the program is traced."""
from __future__ import annotations

import math
import operator
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy

from nmscore._types import ClassOptions

# The bits of nms_class_options.set, in the order of nmscore.h.
_CLASS_FIELDS = ("iou_threshold", "score_threshold", "max_detections")


class Options(NamedTuple):
    """The options of nms, checked. `classes` has (class id, bits of the options that are set,
    iou_threshold, score_threshold, max_detections) for each class with options."""
    iou_threshold: float
    score_threshold: float
    max_per_class: int
    max_candidates: int
    inclusive: bool
    score_strict: bool
    class_agnostic: bool
    classes: Tuple[Tuple[int, int, float, float, int], ...]

    def attributes(self) -> Dict[str, Any]:
        """Returns the options as attributes of the call on the CPU."""
        named: Dict[str, Any] = {
            "iou_threshold": numpy.float32(self.iou_threshold),
            "score_threshold": numpy.float32(self.score_threshold),
            "max_per_class": numpy.int64(self.max_per_class),
            "max_candidates": numpy.int64(self.max_candidates),
            "inclusive": numpy.bool_(self.inclusive),
            "score_strict": numpy.bool_(self.score_strict),
            "class_agnostic": numpy.bool_(self.class_agnostic)}
        types = {"ids": numpy.int32, "set": numpy.int32, "iou_threshold": numpy.float32,
                 "score_threshold": numpy.float32, "max_detections": numpy.int64}
        if self.classes:
            for (name, kind), values in zip(types.items(), zip(*self.classes)):
                named["class_" + name] = numpy.array(values, kind)
        return named

    def of_program(self) -> Dict[str, Any]:
        """Returns the options as parameters of nmscore.export.program."""
        given = self._asdict()
        del given["classes"]
        given["class_options"] = {
            key: {name: value for i, (name, value) in enumerate(zip(_CLASS_FIELDS, values))
                  if bits >> i & 1} for key, bits, *values in self.classes}
        return given


def number(value: Any, name: str) -> float:
    """Returns the number, rounded to float32."""
    try:
        return float(numpy.float32(float(value)))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number that is known when the program is traced, not "
                        f"{type(value).__name__}") from error


def count(value: Any, name: str, least: int = 0) -> int:
    """Returns the whole number, at least `least` and below 2**31."""
    try:
        whole = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name} must be a whole number that is known when the program is traced, "
                        f"not {type(value).__name__}") from error
    if not least <= whole < 2**31:
        raise ValueError(f"{name} is {whole}, must be {least} or more, below 2**31")
    return whole


def _iou(value: Any, name: str) -> float:
    threshold = number(value, name)
    if not 0 <= threshold <= 1:
        raise ValueError(f"{name} is {value}, must be 0..1")
    return threshold


def _score(value: Any, name: str) -> float:
    threshold = number(value, name)
    if math.isnan(threshold):
        raise ValueError(f"{name} is NaN, must be a number")
    return threshold


def _class_entry(key: Any, given: Mapping[str, Any]) -> Tuple[int, int, float, float, int]:
    name = f"class_options[{key}]"
    unknown = set(given) - set(_CLASS_FIELDS)
    if unknown:
        raise ValueError(f"{name} has the unknown option {sorted(unknown)[0]!r}")
    bits = sum(1 << i for i, field in enumerate(_CLASS_FIELDS) if field in given)
    iou, score, most = (read(given.get(field, 0), f"{name}: {field}")
                        for field, read in zip(_CLASS_FIELDS, (_iou, _score, count)))
    return operator.index(key), bits, iou, score, int(most)


def read_options(iou_threshold: Any, score_threshold: Any, max_per_class: Any,
                 max_candidates: Any, inclusive: Any, score_strict: Any, class_agnostic: Any,
                 class_options: Optional[Mapping[int, ClassOptions]]) -> Options:
    """Checks the parameters of nms. Raises TypeError or ValueError, with the parameter's name."""
    classes = tuple(_class_entry(key, given) for key, given in (class_options or {}).items())
    return Options(_iou(iou_threshold, "iou_threshold"),
                   _score(score_threshold, "score_threshold"),
                   count(max_per_class, "max_per_class"), count(max_candidates, "max_candidates"),
                   bool(inclusive), bool(score_strict), bool(class_agnostic), classes)
