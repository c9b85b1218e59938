# SPDX-License-Identifier: LGPL-2.1-or-later
"""NMS as operators of torch, with the signatures of torchvision.ops.

    import nmscore.torch
    keep = nmscore.torch.nms(boxes, scores, 0.5)
    keep = nmscore.torch.batched_nms(boxes, scores, labels, 0.5)

    with nmscore.torch.replace_torchvision():    # or: replaced = ...; replaced.restore()
        results = detector(image)                # whatever calls torchvision.ops

The operators are torch.ops.nmscore.nms and torch.ops.nmscore.batched_nms. torch.compile and
torch.export (torch 2.4 and later) keep them as one node, whose result has a size that is not
known before it runs. They take tensors in the memory of the CPU: float32 is read in place, also
with strides; float64 is rounded to float32; float16 and bfloat16 are exact.

The kept boxes are those of torchvision for float32, to the last bit: an overlap is computed in
float32 and compared with a threshold that is not rounded up. These differ:
  - batched_nms compares classes. torchvision moves the boxes of a class by an offset in up to
    1,000 boxes, which rounds their coordinates, and calls nms for each class beyond that.
  - boxes with a NaN or infinite coordinate or a NaN score are never kept; flipped corners are put
    in order.
  - float64 boxes are compared after rounding, and float16 and bfloat16 are accepted.
  - a threshold outside 0..1 is a ValueError.
"""
from __future__ import annotations

import functools
import warnings
from typing import Any, Callable

import numpy
import torch
import torch.library
from torch.jit import is_scripting

import nmscore
from nmscore._nmscore import nms as _kept

try:
    from torch._C import (_are_functorch_transforms_active, _get_tracing_state,
                          _len_torch_dispatch_stack, _len_torch_function_stack)
    from torch.autograd import _profiler_enabled
    from torch.compiler import is_compiling
except ImportError:  # an old torch, in which all calls go through the dispatcher
    def is_compiling() -> bool:
        return True

__all__ = ["nms", "batched_nms", "replace_torchvision", "Replacement"]

_library = torch.library.Library("nmscore", "DEF")
_from_numpy = torch.from_numpy
_ALL = float("-inf")


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Returns the indices of the boxes that NMS keeps, best first, as a new int64 tensor (K,).

    boxes            (N, 4) floats, rows of x1 y1 x2 y2 in any unit
    scores           (N,) floats of the same type, higher is better; of equal ones the
                     first ranks higher
    iou_threshold    0..1: a box whose IoU with a kept box of higher score exceeds
                     it is suppressed

    Raises RuntimeError with torchvision's texts for shapes and types that do not fit.
    """
    if is_scripting():  # where an overload cannot be called
        return torch.ops.nmscore.nms(boxes, scores, iou_threshold)
    elif _needs_dispatcher(boxes, scores, iou_threshold):
        return _nms_operator(boxes, scores, iou_threshold)
    else:
        return _nms(boxes, scores, iou_threshold)


def batched_nms(boxes: torch.Tensor, scores: torch.Tensor, idxs: torch.Tensor,
                iou_threshold: float) -> torch.Tensor:
    """Runs nms on the boxes of several classes or images at once, and returns what nms does.

    idxs             (N,) numbers: boxes suppress only boxes with the same value

    The other parameters are those of nms.
    """
    if is_scripting():
        return torch.ops.nmscore.batched_nms(boxes, scores, idxs, iou_threshold)
    elif (_needs_dispatcher(boxes, scores, iou_threshold)
          or type(idxs) is not torch.Tensor):
        return _batched_nms_operator(boxes, scores, idxs, iou_threshold)
    else:
        return _batched_nms(boxes, scores, idxs, iou_threshold)


def _needs_dispatcher(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> bool:
    """Returns whether a call must go through torch's dispatcher, which takes longer than NMS of
    100 boxes: to be compiled, traced, transformed, intercepted or profiled, or to convert or refuse
    its arguments."""
    return (is_compiling() or type(boxes) is not torch.Tensor or type(scores) is not torch.Tensor
            or type(iou_threshold) is not float or not boxes.is_cpu
            or boxes.is_neg() or scores.is_neg() or _get_tracing_state() is not None
            or _are_functorch_transforms_active() or _len_torch_dispatch_stack() > 0
            or _len_torch_function_stack() > 0 or _profiler_enabled())


class Replacement:
    """The result of replace_torchvision. restore(), or the end of `with`, ends the replacement."""

    def __init__(self) -> None:
        from torchvision import ops

        if getattr(ops.batched_nms, "__module__", "") == __name__:
            raise RuntimeError("torchvision.ops is replaced already")
        self._kernel: Any = torch.library.Library("torchvision", "IMPL")
        with warnings.catch_warnings():  # because torch warns that a kernel is replaced
            warnings.simplefilter("ignore")
            self._kernel.impl("nms", _nms, "CPU")
        self._modules = (ops, ops.boxes)
        self._original = ops.batched_nms
        self._set(_unless_cpu(self._original))

    def _set(self, function: Callable[..., torch.Tensor]) -> None:
        for module in self._modules:
            module.batched_nms = function

    def restore(self) -> None:
        """Gives torchvision its own functions back. A second call does nothing."""
        self._set(self._original)
        self._kernel = None  # its end restores the kernel of torchvision

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, *error: Any) -> None:
        self.restore()


def replace_torchvision() -> Replacement:
    """Makes the NMS of torchvision that of nmscore for tensors in the memory of the CPU.

    The kernel of torch.ops.torchvision.nms for the CPU is replaced, so every caller of
    torchvision.ops.nms is reached, also one that imported the function before. batched_nms is
    replaced in torchvision.ops and torchvision.ops.boxes; a caller that imported the function
    before keeps torchvision's, which calls the replaced nms. Tensors of other devices
    are passed to torchvision's own functions.

    It holds for all threads of the process, until Replacement.restore.
    Raises ImportError without torchvision, RuntimeError if it is replaced already.
    """
    return Replacement()


def _unless_cpu(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns batched_nms for tensors of the CPU, `original` for others."""
    def replaced(boxes: torch.Tensor, scores: torch.Tensor, idxs: torch.Tensor,
                 iou_threshold: float) -> torch.Tensor:
        if boxes.device.type != "cpu":
            return original(boxes, scores, idxs, iou_threshold)
        return batched_nms(boxes, scores, idxs, iou_threshold)
    replaced.__doc__ = original.__doc__
    return replaced


def _raise_unless(condition: Any, message: Callable[[], str]) -> None:
    if not condition:
        raise RuntimeError(message())


# (torch._check also takes sizes that are not known before a compiled program runs)
_check = getattr(torch, "_check", _raise_unless)


def _check_boxes(boxes: torch.Tensor, scores: torch.Tensor) -> None:
    """Raises RuntimeError as torchvision's kernel does."""
    _check(boxes.dim() == 2, lambda: f"boxes should be a 2d tensor, got {boxes.dim()}D")
    _check(boxes.size(1) == 4,
           lambda: f"boxes should have 4 elements in dimension 1, got {boxes.size(1)}")
    _check(scores.dim() == 1, lambda: f"scores should be a 1d tensor, got {scores.dim()}D")
    _check(boxes.size(0) == scores.size(0),
           lambda: "boxes and scores should have same number of elements in dimension 0, got "
                   f"{boxes.size(0)} and {scores.size(0)}")
    _check(boxes.dtype == scores.dtype, lambda: "dets should have the same type as scores")
    _check(boxes.is_floating_point(), lambda: f"boxes should be floats, got {boxes.dtype}")


def _check_idxs(boxes: torch.Tensor, idxs: torch.Tensor) -> None:
    _check(idxs.dim() == 1, lambda: f"idxs should be a 1d tensor, got {idxs.dim()}D")
    _check(boxes.size(0) == idxs.size(0),
           lambda: "boxes and idxs should have same number of elements in dimension 0, got "
                   f"{boxes.size(0)} and {idxs.size(0)}")


@functools.lru_cache(maxsize=64)
def _rounded_down(threshold: float) -> float:
    """Returns the largest float32 up to the threshold: a float32 overlap exceeds both or neither.
    nmscore itself would round the threshold to the nearest float32."""
    nearest = numpy.float32(threshold)
    if float(nearest) > threshold:
        nearest = numpy.nextafter(nearest, numpy.float32(-1))
    return float(nearest)


# The kernels check beforehand only what the compiled module accepts and torchvision does not: with
# few boxes, _check_boxes takes longer than everything else.
def _nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    dtype = boxes.dtype
    if boxes.dim() != 2 or dtype is not scores.dtype or not dtype.is_floating_point:
        _check_boxes(boxes, scores)
    try:
        return _from_numpy(_kept(boxes, scores, _rounded_down(iou_threshold), _ALL, 0))
    except (TypeError, ValueError):
        _check_boxes(boxes, scores)
        raise


def _batched_nms(boxes: torch.Tensor, scores: torch.Tensor, idxs: torch.Tensor,
                 iou_threshold: float) -> torch.Tensor:
    dtype = boxes.dtype
    if boxes.dim() != 2 or dtype is not scores.dtype or not dtype.is_floating_point:
        _check_boxes(boxes, scores)
    try:
        if idxs.is_floating_point() or idxs.dtype == torch.bool:
            _check_boxes(boxes, scores)
            _check_idxs(boxes, idxs)
            idxs = torch.unique(idxs, return_inverse=True)[1]
        return _from_numpy(_kept(boxes, scores, _rounded_down(iou_threshold), _ALL, 0, idxs))
    except (TypeError, ValueError):
        _check_boxes(boxes, scores)
        _check_idxs(boxes, idxs)
        raise


def _unknown_size(boxes: torch.Tensor) -> torch.Tensor:
    """Returns the result of a fake kernel; its size is unknown until the operator runs."""
    size = torch.library.get_ctx().new_dynamic_size()
    return boxes.new_empty(size, dtype=torch.long)


def _fake_nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    _check_boxes(boxes, scores)
    return _unknown_size(boxes)


def _fake_batched_nms(boxes: torch.Tensor, scores: torch.Tensor, idxs: torch.Tensor,
                      iou_threshold: float) -> torch.Tensor:
    _check_boxes(boxes, scores)
    _check_idxs(boxes, idxs)
    return _unknown_size(boxes)


_library.define("nms(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
_library.define(
    "batched_nms(Tensor boxes, Tensor scores, Tensor idxs, float iou_threshold) -> Tensor")
_library.impl("nms", _nms, "CPU")
_library.impl("batched_nms", _batched_nms, "CPU")
if hasattr(torch.library, "register_fake"):  # since torch 2.4
    torch.library.register_fake("nmscore::nms", _fake_nms, lib=_library)
    torch.library.register_fake("nmscore::batched_nms", _fake_batched_nms, lib=_library)
# (an overload is found once here, because torch.ops finds it in every call)
_nms_operator = torch.ops.nmscore.nms.default
_batched_nms_operator = torch.ops.nmscore.batched_nms.default
