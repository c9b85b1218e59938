# SPDX-License-Identifier: LGPL-2.1-or-later
"""arrayforms: the same numbers as arrays of other types, orders and owners."""
import array
import ctypes

import numpy as np

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

from lenders import Lender


class Holder:
    """Gives its array to numpy only."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return self.held.astype(dtype) if dtype else self.held


def _types(values):
    """Returns the types that hold these values exactly and that the functions accept."""
    if values.dtype.kind == "f":
        return [t for t in ("f2", "f4", "f8", ">f2", ">f4", "<f8", ">f8", "g")
                if np.array_equal(values.astype(t).astype(values.dtype), values, equal_nan=True)]
    return [t for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8", ">u2")
            if np.array_equal(values.astype(t).astype(values.dtype), values)
            and (values >= 0).all() >= (t[-2] == "u")]


def _strided(random, values):
    """Returns a view with gaps, negative strides or columns first, of one array or another."""
    choice = random.integers(5)
    if choice == 0:
        return np.asfortranarray(values)
    if choice == 1:
        return values[::-1].copy()[::-1]
    if choice == 2:
        return np.repeat(values, 3, axis=0)[::3]
    if choice == 3:  # not aligned
        memory = np.zeros(values.nbytes + 1, np.uint8)
        view = memory[1:].view(values.dtype).reshape(values.shape)
        view[...] = values
        return view
    records = np.zeros(values.shape, [("a", "u1"), ("b", values.dtype)])
    records["b"] = values
    return records["b"]


def _c_array(values):
    kinds = {"f4": ctypes.c_float, "f8": ctypes.c_double, "i4": ctypes.c_int32}
    kind = kinds.get(values.dtype.str[1:])
    if kind is None or values.ndim != 1 or not values.dtype.isnative:
        return values
    return (kind * len(values))(*values.tolist())


def _owned(random, values):
    """Returns an object of another kind with these values."""
    choice = random.integers(9)
    native = values.dtype.isnative and values.dtype.itemsize <= 8
    if choice == 0:
        return values.tolist()
    if choice == 1:
        return tuple(values.tolist())
    if choice == 2 and native and values.size:
        return memoryview(values)
    if choice == 3 and native and values.ndim == 1 and values.dtype.char in "bBhHiIlLqQfd":
        return array.array(values.dtype.char, values.tolist())
    if choice == 4 and native and not any(s % values.itemsize for s in values.strides):
        return Lender(values)
    if choice == 5:
        return Holder(values)
    if choice == 6:
        values = values.copy()
        values.flags.writeable = False
    if choice == 7:
        return _c_array(values)
    return values


def _as_bfloats(random, values):
    """Returns the values as a view of an array of bfloat16, or None if it cannot hold them."""
    if bfloat16 is None or values.dtype.kind != "f" or random.random() > 0.2:
        return None
    narrow = values.astype(bfloat16)
    same = np.array_equal(narrow.astype(values.dtype), values, equal_nan=True)
    return narrow[::-1].copy()[::-1] if same else None


def any_form(random, values):
    narrow = _as_bfloats(random, values)
    if narrow is not None:
        return narrow
    values = values.astype(random.choice(_types(values)))
    if random.random() < 0.5:
        values = _strided(random, values)
    return _owned(random, values)
