# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays that are used like numpy's and run as compiled programs.

    from nmscore import lazy
    lazy.debug(True)                        # prints trace, hash, cache hits, compile times
    x = lazy.array([3.0, 1.0, 2.0])
    y = lazy.exp(x - x.max())               # computes nothing: records
    print((y / y.sum()).numpy())            # runs all of it as one program

The same operations on the same shapes run the same program, compiled once. Without a plugin
a program is interpreted in C; lazy.use("/path/of/plugin.so") compiles it with XLA for the
plugin's device. Both give the same bits, but for quotients and square roots on GPUs: each
operation is rounded separately, and exp, log and sums are defined (nmslazy.h).

Values   array() copies values to the device's inputs; a later call with other values and the
         same shape runs the same program. Python numbers are constants of the program; those
         that change are inputs of a second one, which then runs for all their values.
Reading  numpy(), item(), print, float(), bool() run what a tensor depends on and wait for it.
         compute() starts to run it for several tensors, which it leaves on the device, and
         returns: Python records what comes next meanwhile. A tensor that stays on the
         device is not copied again. After about 2,000 operations without a read the tensors in
         use are computed; a device has room for 4,096 of them and what is recorded.
Loops    a Python loop records each pass; while_loop() records one pass, and the
         program repeats it. cond() records both branches, and the program runs one.
Errors   ValueError names the operation, the types and the shapes. RuntimeError: the device.
Threads  each thread has its own default device; one thread uses a device at a time.

The method is that of Suhan et al., "LazyTensor: combining eager execution with
domain-specific compilers".
"""
from __future__ import annotations

import os
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy

from nmscore._lazydevice import F32, PRED, S32, Device
from nmscore._lazytensor import (Operand, Tensor, as_tensor, common_types, from_array, matmul,
                                 while_loop)

__all__ = ["Device", "Tensor", "use", "debug", "default_device", "array", "arange", "exp", "log",
           "sqrt", "maximum", "minimum", "where", "argsort", "top_k", "concatenate", "matmul",
           "update", "while_loop", "cond", "compute", "trace"]

_defaults = threading.local()


def default_device() -> Device:
    """Returns the device of this thread: initially the one that runs programs in C."""
    if not hasattr(_defaults, "device"):
        _defaults.device = Device()
    device: Device = _defaults.device
    return device


def use(plugin: Union[None, str, os.PathLike[str], Device]) -> Device:
    """Sets the default device of this thread: a PJRT plugin's path, a Device, or None for C."""
    _defaults.device = plugin if isinstance(plugin, Device) else Device(plugin)
    return default_device()


def debug(on: Union[bool, str] = True) -> None:
    """Sets what the default device prints to stderr for each run; see Device."""
    default_device().debug = on


def array(values: Any, device: Optional[Device] = None) -> Tensor:
    """Returns a tensor with a copy of the values, of at most 2 axes and at least one element.

    Floats become float32, whole numbers int32; bfloat16 (of ml_dtypes) is sent as it is and
    becomes float32 on the device.
    """
    if isinstance(values, Tensor):
        return values
    return from_array(device or default_device(), values)


def arange(count: int, device: Optional[Device] = None) -> Tensor:
    """Returns 0, 1, ..., count - 1 as int32."""
    own = device or default_device()
    own.make_room()
    return Tensor(own, own.apply("iota", [], [count], 0))


def _float(x: Operand) -> Tensor:
    return array(x).astype(F32)


def exp(x: Operand) -> Tensor:
    """Returns the exponential, by the polynomial of nmslazy.h."""
    return _float(x).apply("exp")


def log(x: Operand) -> Tensor:
    """Returns the natural logarithm, by the polynomial of nmslazy.h."""
    return _float(x).apply("log")


def sqrt(x: Operand) -> Tensor:
    """Returns the square root, correctly rounded."""
    return _float(x).apply("sqrt")


def _pair(a: Operand, b: Operand) -> Tuple[Tensor, Tensor]:
    first = a if isinstance(a, Tensor) else b
    if not isinstance(first, Tensor):
        first = array(first)
    x, y = (as_tensor(first.device, v, first._kind) for v in (a, b))
    return common_types(x, y)


def maximum(a: Operand, b: Operand) -> Tensor:
    """Returns the greater of two elements; numpy.maximum."""
    x, y = _pair(a, b)
    return x.binary("max", y)


def minimum(a: Operand, b: Operand) -> Tensor:
    """Returns the lesser of two elements; numpy.minimum."""
    x, y = _pair(a, b)
    return x.binary("min", y)


def where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """Returns the elements of `a` where the condition is true, and those of `b` elsewhere."""
    x, y = _pair(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else common_types(
        *(as_tensor(condition.device, v, 0) for v in (a, b)))
    shape = numpy.broadcast_shapes(condition.shape, x.shape, y.shape)
    full = condition.full(shape) if not condition.shape else condition.fit(shape)
    return full.astype(bool).apply("select", x.fit(shape), y.fit(shape))


def argsort(x: Tensor, descending: bool = False) -> Tensor:
    """Returns the indices that sort a vector; equal elements remain in order, NaN is last."""
    if descending:
        return x.apply("order")
    if x._kind == S32:
        return (~x).apply("order")
    return (-x).apply("order")


def top_k(x: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    """Returns the k greatest elements of a vector, the greatest first, and their indices."""
    index = x.apply("order")[:k]
    return x[index], index


def update(x: Tensor, part: Operand, *start: Operand) -> Tensor:
    """Returns x with the elements from `start` on, an index for each axis, replaced by
    `part`. With a scalar part one element is replaced."""
    new = as_tensor(x.device, part, x._kind).astype(x._kind)
    if not new.shape:
        new = new.reshape([1] * x.ndim)
    return x.apply("update", new, *(as_tensor(x.device, s, S32) for s in start))


def cond(condition: Operand, then: Callable[..., Any], otherwise: Callable[..., Any],
         *operands: Tensor) -> Any:
    """Returns then(*operands) if the condition, a scalar, is true, and otherwise(*operands) if it
    is not. The program runs only the one that is needed.

    Both functions record operations and return a tensor or a sequence of tensors, of the same
    types and shapes. What they compute from other tensors than the operands may be computed in any
    case. `then` is called twice, because its first call finds out the types and shapes.
    """
    if not isinstance(condition, Tensor):
        return (then if condition else otherwise)(*operands)
    if condition.shape:
        raise ValueError("cond: the condition has shape %s, must be a scalar"
                         % (condition.shape,))
    device, flag = condition.device, condition.astype(bool)
    is_one, kinds = [], []  # whether `then` returns a single tensor; types and shapes

    def outputs(result: Any) -> List[Tensor]:
        single = not isinstance(result, (tuple, list))
        new = [as_tensor(device, x, 0) for x in ([result] if single else result)]
        is_one.append(single)
        kinds.append([(x.dtype, x.shape) for x in new])
        return new

    def once(function: Callable[..., Any]) -> Callable[..., Sequence[Operand]]:
        def body(go: Tensor, *state: Tensor) -> Sequence[Operand]:
            inputs = state[:len(operands)]
            new = outputs(function(*inputs))
            if kinds[-1] != kinds[0] or is_one[-1] != is_one[0]:
                raise ValueError("cond: one function returns %s, the other %s"
                                 % tuple(", ".join("%s%s" % k for k in each)
                                         for each in (kinds[0], kinds[-1])))
            return [False, *inputs, *(new if is_probed else state[len(operands):])]
        return body

    def more(go: Tensor, *_: Tensor) -> Tensor:
        return go

    is_probed = False
    while_loop(more, once(then), [flag, *operands])  # no result is used: it is not computed
    is_probed = True
    zeros = [(as_tensor(device, dtype.type().item(), 0), shape) for dtype, shape in kinds[0]]
    state = [zero.full(shape) if shape else zero for zero, shape in zeros]
    for go, function in ((flag, then), (~flag, otherwise)):
        state = while_loop(more, once(function), [go, *operands, *state])[1 + len(operands):]
    return state[0] if is_one[0] else state


def concatenate(tensors: Sequence[Operand], axis: Optional[int] = 0) -> Tensor:
    """Joins tensors along an axis; numpy.concatenate. With axis None they are flattened."""
    own = next((x.device for x in tensors if isinstance(x, Tensor)), None) or default_device()
    parts = [as_tensor(own, x, 0) for x in tensors]
    if not parts:
        raise ValueError("concatenate: no tensors")
    if axis is None:
        parts, axis = [x.reshape(-1) for x in parts], 0
    if not -parts[0].ndim <= axis < parts[0].ndim:
        raise ValueError("concatenate: axis %d of a tensor with %d axes" % (axis, parts[0].ndim))
    kind = next(k for k in (F32, S32, PRED) if any(x._kind == k for x in parts))
    handles = [x.astype(kind) for x in parts]
    own.make_room()
    return Tensor(own, own.concatenate([x.handle for x in handles], axis % parts[0].ndim))


def compute(*tensors: Tensor) -> None:
    """Starts to compute tensors in one program, which leaves their values on the device, and
    returns. numpy() waits for them. Errors are raised by numpy(), too."""
    for device in {x.device for x in tensors}:
        device.start([x.handle for x in tensors if x.device is device])


def trace(*tensors: Tensor) -> str:
    """Returns the program that would compute the tensors, as StableHLO text."""
    return tensors[0].device.dump([x.handle for x in tensors])[0]
