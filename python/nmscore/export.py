# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs: NMS as StableHLO text for JAX, IREE and other compilers.

    program = nmscore.export.program("cpu", boxes=1024, max_detections=128)
    program.text                       # StableHLO
    for array in program.inputs + program.outputs:
        print(array.name, array.type, array.shape)

nmsprogram.h defines the inputs and results.
"""
from __future__ import annotations

from typing import List, NamedTuple, Tuple

from nmscore import _nmscore

PLATFORMS = ("cpu", "gpu", "tpu")


class Array(NamedTuple):
    """An input or a result of a program's function @main, row-major.

    name   "boxes", "scores", "classes", "head", "picks" or "count"
    type   "float32" or "int32", f32 or i32 in the text
    shape  its extents, () for one number
    """
    name: str
    type: str
    shape: Tuple[int, ...]


class Program(NamedTuple):
    """What nmscore.export.program returns.

    text     StableHLO: a module with one public function, @main
    inputs   its inputs, in order: boxes (N, 4) float32, rows of x1 y1 x2 y2; scores (N,)
             float32; classes (N,) int32, if `classes` is set and an option uses them. Or
             head (4 + C, N) float32. A box whose score is NaN takes no part
    outputs  its results, in order: picks (K,) int32, the indices of the kept boxes, best
             first, then -1; count () int32, the number of kept boxes. With a head also
             boxes (N, 4) float32, scores (N,) float32 and classes (N,) int32, decoded
    """
    text: str
    inputs: List[Array]
    outputs: List[Array]


def program(platform: str, boxes: int, *, head_classes: int = 0, classes: bool = False,
            iou_threshold: float = 0.5, score_threshold: float = float("-inf"),
            max_detections: int = 0, max_per_class: int = 0, inclusive: bool = False,
            score_strict: bool = False, class_agnostic: bool = False,
            tpu_memory: int = 0) -> Program:
    """Returns the program that runs NMS on N boxes, as a Program. Kept boxes are those of
    nmscore.run with the same options.

    platform       "cpu": a loop with divisions, which the device must round correctly;
                   "gpu": the same loop without divisions, for every device;
                   "tpu": a kernel for TPUs in a custom call, for libtpu
    boxes          N, the number of boxes; pad frames with boxes whose score is NaN
    head_classes   C: the input is a detector's head, (4 + C, N) float32, in the layout of
                   YOLOv8: rows cx cy w h, then a score for each of C classes; 0: the
                   inputs are boxes and scores
    classes        the boxes have classes
    max_detections K, most kept boxes; 0: N
    tpu_memory     bytes of vector memory for a TPU's kernel, at most 64 MiB on v5e, v5p
                   and v6e; 0: 16 MiB, which every TPU has

    The other options are those of nmscore.run and are constants of the program. Raises
    TypeError or ValueError, also if the boxes do not fit into a TPU's memory.
    """
    if platform not in PLATFORMS:
        raise ValueError("platform must be one of %s, not %r" % (", ".join(PLATFORMS), platform))
    text, inputs, outputs = _nmscore.program(
        PLATFORMS.index(platform), boxes, head_classes, classes, tpu_memory, iou_threshold,
        score_threshold, max_detections, max_per_class, 0, inclusive, score_strict,
        class_agnostic, False, 0.0, 0.0, None, "auto", None, "hard", "iou", "avg", None)
    return Program(text, [Array(*a) for a in inputs], [Array(*a) for a in outputs])
