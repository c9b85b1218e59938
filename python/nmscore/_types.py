# SPDX-License-Identifier: LGPL-2.1-or-later
"""The types of parameters and results."""
import enum
from typing import Any, List, NamedTuple, Optional, Protocol, TypedDict, Union

import numpy
import numpy.typing


class SupportsDLPack(Protocol):
    """An array that shares its memory by DLPack, such as a torch tensor."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...


Array = Union[numpy.typing.ArrayLike, SupportsDLPack]
Indices = numpy.typing.NDArray[numpy.int64]
Bytes = numpy.typing.NDArray[numpy.uint8]
Scores = numpy.typing.NDArray[numpy.float32]
Rows = numpy.typing.NDArray[numpy.float32]


class Outcome(enum.IntEnum):
    """The outcome of a box: the last of these that applies.

    KEPT 0           it is in `kept`
    SUPPRESSED 1     a kept box overlaps it by more than the threshold
    OVER_CAP 2       a cap was full when its turn came
    NOT_CANDIDATE 3  it ranks below the best max_candidates boxes
    FILTERED 4       by its score, or by `exclude`
    INVALID 5        NaN, or a coordinate that is infinite or beyond 1e18
    """
    KEPT = 0
    SUPPRESSED = 1
    OVER_CAP = 2
    NOT_CANDIDATE = 3
    FILTERED = 4
    INVALID = 5


class ClassOptions(TypedDict, total=False):
    """Options of one class. A missing option has the value of the call.

    iou_threshold    0..1
    score_threshold  any number but NaN
    max_detections   most kept boxes of this class, 0 for no limit
    group            a whole number: boxes suppress boxes of all classes with the same group;
                     by default a class's group is its id. Programs (jax, export) do not
                     have this option
    """
    iou_threshold: float
    score_threshold: float
    max_detections: int
    group: int


class Result(NamedTuple):
    """The result of nmscore.run: K kept boxes of N.

    kept              (K,) int64: the indices of the kept boxes, best first
    outcome           (N,) uint8: the Outcome of each box; None unless requested
    suppressed_by     (N,) int64: the index of the best kept box that suppresses the box,
                      -1 if it is not SUPPRESSED; None unless requested
    suppressed_count  the number of boxes with each other outcome; the counts and K sum
    over_cap_count    to N
    filtered_count
    invalid_count
    not_candidate_count
    engine            the engine and instruction set that ran, such as "sorted/avx2"
    scores            (K,) float32: the new scores of the kept boxes; None for method "hard"
    boxes             (K, 4) float32: their new corners; None for method "hard". A rotated
                      box keeps its angle, angles[kept]; these are its corners without it
    """
    kept: Indices
    outcome: Optional[Bytes]
    suppressed_by: Optional[Indices]
    suppressed_count: int
    over_cap_count: int
    filtered_count: int
    invalid_count: int
    not_candidate_count: int
    engine: str
    scores: Optional[Scores]
    boxes: Optional[Rows]


class BatchResult(NamedTuple):
    """The result of nmscore.run_batch: K kept boxes of all N.

    kept              (K,) int64: the indices of the kept boxes, those of the first image
                      first, best first; an index counts from the first box of its image
    kept_offsets      (images + 1,) int64: the kept boxes of image i are
                      kept[kept_offsets[i]:kept_offsets[i + 1]]
    outcome           as in Result, the boxes of all images
    suppressed_by     as in Result; an index counts from the first box of its image
    suppressed_count  the number of boxes of all images with each other outcome; the
    over_cap_count    counts and K sum to N
    filtered_count
    invalid_count
    not_candidate_count
    engine            the engine and instruction set that ran last
    scores            (K,) and (K, 4) float32, in the order of `kept`: the new scores and
    boxes             corners of the kept boxes, as in Result; None for method "hard"
    """
    kept: Indices
    kept_offsets: Indices
    outcome: Optional[Bytes]
    suppressed_by: Optional[Indices]
    suppressed_count: int
    over_cap_count: int
    filtered_count: int
    invalid_count: int
    not_candidate_count: int
    engine: str
    scores: Optional[Scores]
    boxes: Optional[Rows]

    def images(self) -> List[Indices]:
        """Returns the kept indices of each image: views of `kept`."""
        ends = self.kept_offsets.tolist()
        return [self.kept[first:end] for first, end in zip(ends, ends[1:])]
