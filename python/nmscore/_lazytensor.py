# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tensors of nmscore.lazy."""
from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union, cast

import numpy

from nmscore._lazydevice import BF16, DTYPES, F32, PRED, S32, Device

Operand = Union["Tensor", int, float, bool, numpy.typing.NDArray[Any]]


class Tensor:
    """An array of at most 2 axes whose operations are recorded until its values are read.

    The operators are those of numpy arrays, with numpy's broadcasting; the results are
    float32, int32 or bool. numpy(), item(), print, bool(), float(), int() and
    numpy.asarray() read, which runs a program with all that the tensor depends on.
    """

    __array_ufunc__ = None  # numpy arrays leave operators to this class

    def __init__(self, device: Device, handle: int) -> None:
        self.device = device
        self.handle = handle
        device.hold(handle)
        self._kind, self.shape = device.shape(handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.device.release(self.handle)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        dtype: numpy.dtype[Any] = numpy.dtype(DTYPES[self._kind])
        return dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(numpy.prod(self.shape, dtype=int))

    # ------------------------------------------------------------------ reading

    def numpy(self) -> numpy.typing.NDArray[Any]:
        """Returns the values, a new array. Runs the program unless they are known."""
        values = numpy.empty(self.shape, self.dtype)
        self.device.read([self.handle], (values,))
        return values

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def item(self) -> Any:
        return self.numpy().item()

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    __index__ = __int__

    def __repr__(self) -> str:
        return "lazy." + repr(self.numpy())

    # ---------------------------------------------------------------- recording

    def apply(self, name: str, *others: "Tensor", dims: Sequence[int] = (),
              axis: int = 0) -> "Tensor":
        """Records an operation of nmslazy.h."""
        self.device.make_room()
        tensors = [self.handle, *(other.handle for other in others)]
        return Tensor(self.device, self.device.apply(name, tensors, dims, axis))

    def astype(self, dtype: Any) -> "Tensor":
        kind = kind_of(dtype)
        if kind == self._kind:
            return self
        if kind == PRED:
            return self.binary("ne", 0)
        if self._kind == PRED:
            return self.apply("to_s32").astype(dtype)
        return self.apply("to_f32" if kind == F32 else "to_s32")

    def fit(self, shape: Tuple[int, ...]) -> "Tensor":
        """Repeats the tensor to a shape by numpy's rules. Scalars stay scalars."""
        if self.shape == shape or not self.shape:
            return self
        if self.size == 1:
            return self.apply("reshape")
        if self.ndim == 1:
            return self.apply("broadcast", dims=shape, axis=len(shape) - 1)
        axis = 0 if self.shape[1] == 1 else 1
        return self.reshape(self.shape[axis]).apply("broadcast", dims=shape, axis=axis)

    def binary(self, name: str, other: Operand, swap: bool = False) -> "Tensor":
        if isinstance(other, str) or other is None:
            return cast(Tensor, NotImplemented)
        a, b = common_types(self, as_tensor(self.device, other, self._kind))
        if swap:
            a, b = b, a
        if name == "div" and a._kind != F32:
            a, b = a.astype(F32), b.astype(F32)
        elif name in ("add", "sub", "mul") and a._kind == PRED:
            a, b = a.astype(S32), b.astype(S32)
        shape = numpy.broadcast_shapes(a.shape, b.shape)
        return a.fit(shape).apply(name, b.fit(shape))

    def full(self, shape: Tuple[int, ...]) -> "Tensor":
        """Repeats a scalar."""
        return self.apply("broadcast", dims=shape)

    def __add__(self, other: Operand) -> "Tensor": return self.binary("add", other)
    def __radd__(self, other: Operand) -> "Tensor": return self.binary("add", other, True)
    def __sub__(self, other: Operand) -> "Tensor": return self.binary("sub", other)
    def __rsub__(self, other: Operand) -> "Tensor": return self.binary("sub", other, True)
    def __mul__(self, other: Operand) -> "Tensor": return self.binary("mul", other)
    def __rmul__(self, other: Operand) -> "Tensor": return self.binary("mul", other, True)
    def __truediv__(self, other: Operand) -> "Tensor": return self.binary("div", other)
    def __rtruediv__(self, other: Operand) -> "Tensor": return self.binary("div", other, True)
    def __and__(self, other: Operand) -> "Tensor": return self.binary("and", other)
    def __rand__(self, other: Operand) -> "Tensor": return self.binary("and", other, True)
    def __or__(self, other: Operand) -> "Tensor": return self.binary("or", other)
    def __ror__(self, other: Operand) -> "Tensor": return self.binary("or", other, True)
    def __xor__(self, other: Operand) -> "Tensor": return self.binary("xor", other)
    def __rxor__(self, other: Operand) -> "Tensor": return self.binary("xor", other, True)
    def __matmul__(self, other: Operand) -> "Tensor": return matmul(self, other)
    def __rmatmul__(self, other: Operand) -> "Tensor":
        return matmul(as_tensor(self.device, other, self._kind), self)
    def __lt__(self, other: Any) -> "Tensor": return self.binary("lt", other)
    def __le__(self, other: Any) -> "Tensor": return self.binary("le", other)
    def __gt__(self, other: Any) -> "Tensor": return self.binary("gt", other)
    def __ge__(self, other: Any) -> "Tensor": return self.binary("ge", other)
    def __eq__(self, other: Any) -> Any: return self.binary("eq", other)
    def __ne__(self, other: Any) -> Any: return self.binary("ne", other)
    __hash__ = object.__hash__

    def __neg__(self) -> "Tensor": return self.apply("neg")
    def __abs__(self) -> "Tensor": return self.apply("abs")

    def __invert__(self) -> "Tensor":
        return self.binary("xor", True if self._kind == PRED else -1)

    # ------------------------------------------------------------------- shapes

    @property
    def T(self) -> "Tensor":
        return self.apply("transpose") if self.ndim == 2 else self

    def reshape(self, *shape: Any) -> "Tensor":
        dims = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in dims:
            at = dims.index(-1)
            dims[at] = self.size // max(1, int(numpy.prod(dims[:at] + dims[at + 1:], dtype=int)))
        return self.apply("reshape", dims=dims)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> "Tensor":
        """x[i], x[a:b:step], x[i, a:b]; i may be a Tensor. x[indices] with a Tensor of one axis, or
        an array of whole numbers, takes rows."""
        if isinstance(key, (list, numpy.ndarray)) or isinstance(key, Tensor) and (
                key.ndim == 1 or key._kind == PRED):
            index = as_tensor(self.device, key, S32)
            if index._kind == PRED:
                raise IndexError("the length of x[mask] depends on values: use where(mask, x, y), "
                                 "x[mask] = y, or x.numpy()[mask]")
            if index._kind != S32:
                raise TypeError("indices are %s, must be whole numbers" % index.dtype)
            return self.apply("take", index)
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > self.ndim:
            raise IndexError("%d indices for %d axes" % (len(keys), self.ndim))
        starts: List[Operand] = []
        dims: List[int] = []
        steps: List[int] = []
        left: List[int] = []
        for axis, extent in enumerate(self.shape):
            k = keys[axis] if axis < len(keys) else slice(None)
            if isinstance(k, slice):
                places = range(*k.indices(extent))
                if not places:
                    raise IndexError("a slice must have at least one element")
                starts.append(min(places[0], places[-1]))
                dims.append(abs(places[-1] - places[0]) + 1)
                steps.append(places.step if len(places) > 1 else 1)
                left.append(len(places))
            else:
                if not isinstance(k, Tensor) and not -extent <= int(k) < extent:
                    raise IndexError("index %d is outside of %d elements" % (k, extent))
                starts.append(k if isinstance(k, Tensor) else int(k) % extent)
                dims.append(1)
                steps.append(1)
        at = [as_tensor(self.device, start, S32) for start in starts]
        part = self.apply("slice", *at, dims=dims) if self.shape else self
        if any(step != 1 for step in steps):
            part = part.apply("stride", dims=steps)
        return part if part.shape == tuple(left) else part.reshape(left)

    def __setitem__(self, mask: Any, value: Operand) -> None:
        """x[mask] = value replaces the elements where a mask is true, or the rows if it has one
        axis. `value` fits all of x by numpy's rules; where() computes the elements of x."""
        flags = as_tensor(self.device, mask, 0) if isinstance(
            mask, (list, numpy.ndarray, Tensor)) else None
        if flags is None or flags._kind != PRED:
            raise TypeError("only x[mask] = value replaces elements of a tensor: for indices use "
                            "nmscore.lazy.update")
        if flags.shape not in (self.shape, self.shape[:1]):
            raise IndexError("a mask of shape %s for a tensor of shape %s"
                             % (flags.shape, self.shape))
        new = as_tensor(self.device, value, self._kind).astype(self._kind)
        if numpy.broadcast_shapes(new.shape, self.shape) != self.shape:
            raise ValueError("values of shape %s do not fit a tensor of shape %s"
                             % (new.shape, self.shape))
        if flags.shape != self.shape:
            flags = flags.reshape(-1, 1)
        changed = flags.fit(self.shape).apply("select", new.fit(self.shape), self)
        self.device.hold(changed.handle)
        self.device.release(self.handle)
        self.handle = changed.handle

    # --------------------------------------------------------------- reductions

    def _reduce(self, name: str, axis: Optional[int]) -> "Tensor":
        if axis is None:
            return self.reshape(-1).apply(name) if self.ndim != 1 else self.apply(name)
        return self.apply(name, axis=axis if axis >= 0 else axis + self.ndim)

    def sum(self, axis: Optional[int] = None) -> "Tensor":
        """Adds in the order that nmslazy.h defines, which is the same on every device."""
        return (self.astype(S32) if self._kind == PRED else self)._reduce("sum", axis)

    def mean(self, axis: Optional[int] = None) -> "Tensor":
        total = self.astype(F32).sum(axis)
        return total / (self.size // total.size)

    def max(self, axis: Optional[int] = None) -> "Tensor":
        return self._reduce("reduce_max", axis)

    def min(self, axis: Optional[int] = None) -> "Tensor":
        return self._reduce("reduce_min", axis)

    def argmax(self, axis: Optional[int] = None) -> "Tensor":
        """The index of the greatest element, of equal elements the first."""
        return self._reduce("argmax", axis)

    def any(self, axis: Optional[int] = None) -> "Tensor":
        return self.astype(PRED)._reduce("reduce_or", axis)

    def all(self, axis: Optional[int] = None) -> "Tensor":
        return self.astype(PRED)._reduce("reduce_and", axis)


# ------------------------------------------------------------------- conversions

def kind_of(dtype: Any) -> int:
    """The type of nmslazy.h for a dtype: floats, whole numbers and bool."""
    if isinstance(dtype, int):
        return dtype
    letter = numpy.dtype(dtype).kind
    if letter not in "fiub":
        raise TypeError("a tensor cannot hold %s" % numpy.dtype(dtype))
    return {"f": F32, "b": PRED}.get(letter, S32)


def from_array(device: Device, values: Any) -> Tensor:
    """Copies an array. bfloat16 of ml_dtypes is converted on the device."""
    array = numpy.asarray(values)
    if array.dtype.name == "bfloat16":
        bits = numpy.ascontiguousarray(array).view(numpy.uint16)
        return Tensor(device, device.apply("to_f32", [device.input(bits, BF16)], (), 0))
    kind = kind_of(array.dtype)
    if kind == S32 and array.size and not (-2**31 <= array.min() and array.max() < 2**31):
        raise ValueError("a whole number is outside of int32")
    with numpy.errstate(over="ignore"):
        array = array.astype(DTYPES[kind], order="C", copy=False)
    return Tensor(device, device.input(array, kind))


def as_tensor(device: Device, value: Any, kind: int) -> Tensor:
    """Converts an operand. A Python number becomes a constant, of the other operand's type if
    that can hold it."""
    if isinstance(value, Tensor):
        if value.device is not device:
            raise ValueError("a tensor is of another device")
        return value
    if isinstance(value, (bool, int, float)):
        own = PRED if isinstance(value, bool) else S32 if isinstance(value, int) else F32
        if own == S32 and not -2**31 <= value < 2**31:
            own = F32
        if kind == F32 or (kind == S32 and own == PRED):
            own = kind
        return Tensor(device, device.constant(own, value))
    return from_array(device, value)


def common_types(a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]:
    """Converts both to the type of the two that comes later in bool, int32, float32."""
    for kind in (F32, S32):
        if kind in (a._kind, b._kind):
            return a.astype(kind), b.astype(kind)
    return a, b


# ------------------------------------------------------------------- functions

def while_loop(cond: Callable[..., Tensor], body: Callable[..., Sequence[Operand]],
               state: Sequence[Tensor]) -> List[Tensor]:
    """Repeats state = body(*state) while cond(*state), inside the program.

    Both functions are called once and record one pass. cond returns a bool scalar, body a
    state of the same types and shapes. They may use other tensors, and must not read.
    """
    device = state[0].device

    def tensors(handles: Sequence[int]) -> List[Tensor]:
        return [Tensor(device, handle) for handle in handles]

    def record_cond(handles: List[int]) -> int:
        return cond(*tensors(handles)).handle

    def record_body(handles: List[int]) -> List[int]:
        now = tensors(handles)
        return [as_tensor(device, x, s._kind).handle for x, s in zip(body(*now), now)]

    return tensors(device.loop([x.handle for x in state], record_cond, record_body))


def matmul(a: Tensor, b: Operand) -> Tensor:
    """Multiplies vectors or matrices; numpy.matmul. Each element is (row * column).sum(), in the
    order of sum, which is the same on every device. Two matrices are a loop over the rows of `a`
    or the columns of `b`, whichever are fewer."""
    x, y = common_types(a, as_tensor(a.device, b, a._kind))
    if not x.ndim or not y.ndim:
        raise ValueError("matmul: an operand is a scalar")
    if x.shape[-1] != y.shape[0]:
        raise ValueError("matmul: shapes %s and %s do not fit" % (x.shape, y.shape))
    if x._kind == PRED:
        return matmul(x.astype(S32), y.astype(S32)) > 0
    if y.ndim == 1:
        return (x * y).sum(-1)
    if x.ndim == 1:
        return (x.reshape(-1, 1) * y).sum(0)
    rows, columns = x.shape[0], y.shape[1]
    by_rows = rows < columns

    def more(i: Tensor, result: Tensor) -> Tensor:
        return i < min(rows, columns)

    def step(i: Tensor, result: Tensor) -> Sequence[Operand]:
        part = (x[i].reshape(-1, 1) * y).sum(0).reshape(1, -1) if by_rows else (
            x * y[:, i]).sum(1).reshape(-1, 1)
        zero = as_tensor(x.device, 0, S32)
        return i + 1, result.apply("update", part, *((i, zero) if by_rows else (zero, i)))

    start = as_tensor(x.device, 0, S32), as_tensor(x.device, 0, x._kind).full((rows, columns))
    return while_loop(more, step, start)[1]
