# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs: NMS as StableHLO text for JAX, IREE and other compilers.

    program = nmscore.export.program("cpu", boxes=1024, max_detections=128)
    program.text                       # StableHLO
    for array in program.inputs + program.outputs:
        print(array.name, array.type, array.shape)

`python -m nmscore.export --help` describes the same as a command, which also compiles for
devices that this machine does not have. nmsstablehlo.h defines the inputs and results.
"""
from __future__ import annotations

import argparse
import os
import re
import sys
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from nmscore._accel import _nmsaccel
from nmscore._types import ClassOptions

PLATFORMS = ("cpu", "gpu", "tpu")


class Array(NamedTuple):
    """An input or a result of a program's function @main, row-major.

    name   "boxes", "scores", "classes", "parents", "head", "picks" or "count"
    type   "float32", "bfloat16" or "int32", f32, bf16 or i32 in the text
    shape  its extents, () for one number
    """
    name: str
    type: str
    shape: Tuple[int, ...]


class Program(NamedTuple):
    """The result of nmscore.export.program.

    text     StableHLO: a module with one public function, @main
    inputs   its inputs, in order: boxes (N, 4) float32, rows of x1 y1 x2 y2; scores (N,)
             float32; classes (N,) int32, if `classes` is set and an option uses them;
             parents (N,) int32, if `parents` is set. Or
             head (4 + C, N) float32. A box whose score is NaN takes no part
    outputs  its results, in order: picks (K,) int32, the indices of the kept boxes, best
             first, then -1; count () int32, the number of kept boxes. With a head also
             boxes (N, 4) float32, scores (N,) float32 and classes (N,) int32, decoded
    """
    text: str
    inputs: List[Array]
    outputs: List[Array]


def program(platform: str, boxes: int, *, head_classes: int = 0, classes: bool = False,
            parents: bool = False, iou_threshold: float = 0.5,
            score_threshold: float = float("-inf"),
            max_detections: int = 0, max_per_class: int = 0, max_candidates: int = 0,
            inclusive: bool = False, score_strict: bool = False, class_agnostic: bool = False,
            class_options: Optional[Mapping[int, ClassOptions]] = None, bfloat16: bool = False,
            tpu_memory: int = 0, images: int = 1) -> Program:
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
    parents        the boxes have parents, which nmscore.run describes
    bfloat16       boxes, scores and head are bfloat16; the results are those for the same
                   numbers in float32
    max_detections  K, most kept boxes; 0: N
    class_options  as in nmscore.run, of at most 256 classes
    tpu_memory     bytes of vector memory for a TPU's kernel, at most 64 MiB on v5e, v5p
                   and v6e; 0: 16 MiB, which every TPU has
    images         B, images of one call; more than 1 only without a head. A loop decides
                   them together, a kernel for TPUs one after another. Inputs hold one
                   image after another: boxes (B * N, 4), the others (B * N,); picks are
                   (B, K), count (B,)

    The other options are those of nmscore.run and are constants of the program. Raises
    TypeError or ValueError, also if the boxes do not fit into a TPU's memory.
    """
    if platform not in PLATFORMS:
        raise ValueError("platform must be one of %s, not %r" % (", ".join(PLATFORMS), platform))
    text, inputs, outputs = _nmsaccel.program(
        PLATFORMS.index(platform), boxes, head_classes, classes, parents, bfloat16, tpu_memory,
        images, iou_threshold, score_threshold, max_detections, max_per_class, max_candidates,
        inclusive, score_strict, class_agnostic, 0.0, 0.0, 0.0, class_options, "auto", None, False,
        "hard", "iou", "avg", None)
    return Program(text, [Array(*a) for a in inputs], [Array(*a) for a in outputs])


def _refuse_old_tpu(text: str, topology: str) -> None:
    """Raises ValueError for TPUs that cannot run the kernel of a program."""
    if "tpu_custom_call" in text and re.match(r"v[23]\b", topology):
        raise ValueError("topology is %s, whose TPUs cannot run this kernel: it multiplies "
                         "matrices of bfloat16, which TPUs before v4 cannot do" % topology)


def compile_ahead(text: str, plugin: str, topology: str, target: Optional[str] = None) -> bytes:
    """Returns the serialized executable of a program's text for a device that this machine does
    not have. The same version of the plugin loads it on that device.

    plugin    path of a PJRT plugin: of libtpu or of jax-cuda13-pjrt (tools/fetch-xla.sh)
    topology  its name of the devices: "v5e:2x2" and others for TPUs, "1x1x1" for a GPU
    target    for GPUs, the text of XLA's GpuTargetConfigProto

    Raises ValueError if the text has a kernel and topology names TPUs before v4, which cannot run
    it; RuntimeError with the plugin's message. libtpu may end the process on an error, so call this
    in a process of its own.
    """
    _refuse_old_tpu(text, topology)
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    os.environ.setdefault("TPU_LOG_DIR", "disabled")
    return _nmsaccel.compile_program(plugin, topology, target, text)


def _describe(made: Program) -> str:
    lines = [(kind, *array) for kind, arrays in (("input", made.inputs), ("result", made.outputs))
             for array in arrays]
    return "".join("%-6s  %-7s  %-8s  %s\n" % (kind, name, type_, "x".join(map(str, shape)) or "1")
                   for kind, name, type_, shape in lines)


def _arguments(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m nmscore.export",
        description="Writes NMS as a program: StableHLO text, or an executable.")
    parser.add_argument("platform", choices=PLATFORMS, help="cpu: a loop with divisions; gpu: "
                        "without divisions; tpu: a kernel for TPUs")
    parser.add_argument("boxes", type=int, help="number of boxes; boxes whose score is NaN pad it")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--describe", action="store_true",
                        help="write the inputs and results instead of the program")
    parser.add_argument("--head-classes", type=int, default=0, metavar="C",
                        help="the input is the head of a YOLO detector, 4 + C rows")
    parser.add_argument("--classes", action="store_true", help="the boxes have classes")
    parser.add_argument("--parents", action="store_true", help="the boxes have parents")
    parser.add_argument("--bfloat16", action="store_true",
                        help="boxes, scores and head are bfloat16")
    for name, default in (("iou", 0.5), ("score", float("-inf"))):
        parser.add_argument("--%s-threshold" % name, type=float, default=default, metavar="X",
                            help="default: %s" % default)
    for name in ("max-detections", "max-per-class", "max-candidates"):
        parser.add_argument("--" + name, type=int, default=0, metavar="K", help="0: no limit")
    for name in ("inclusive", "score-strict", "class-agnostic"):
        parser.add_argument("--" + name, action="store_true", help="as in nmscore.run")
    parser.add_argument("--tpu-memory", type=int, default=0, metavar="BYTES",
                        help="vector memory of the kernel; default: 16 MiB")
    parser.add_argument("--images", type=int, default=1, metavar="B",
                        help="images of one call; default: 1")
    ahead = parser.add_argument_group("an executable instead of the text, for a device that is "
                                      "not here")
    ahead.add_argument("--plugin", metavar="FILE", help="a PJRT plugin, from tools/fetch-xla.sh")
    ahead.add_argument("--topology", metavar="NAME", help="the devices: v5e:2x2, 1x1x1")
    ahead.add_argument("--target", metavar="FILE", help="for GPUs: XLA's GpuTargetConfigProto")
    args = parser.parse_args(arguments)
    if bool(args.plugin) != bool(args.topology):
        parser.error("--plugin and --topology belong together")
    return args


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the command."""
    args = vars(_arguments(arguments))
    output, describe, plugin, topology, target = (
        args.pop(name) for name in ("output", "describe", "plugin", "topology", "target"))
    try:
        made = program(**args)
        data = (_describe(made) if describe else made.text).encode()
        if plugin and not describe:
            proto = None if target is None else open(target, encoding="utf-8").read()
            data = compile_ahead(made.text, plugin, topology, proto)
        with open(output, "wb") if output else sys.stdout.buffer as file:
            file.write(data)
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit("nmscore.export: %s" % error)


if __name__ == "__main__":
    main()
