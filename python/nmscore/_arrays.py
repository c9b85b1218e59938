# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts arrays that the compiled module cannot read as they are."""
from __future__ import annotations

from typing import Any

import numpy


def refuse_masked(value: Any, name: str) -> None:
    """Raises TypeError for a masked array, as arrayview.c does, because its mask would be lost."""
    if isinstance(value, numpy.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: select the boxes that are not masked, "
                        "or pass the array's data")


def _array(value: Any, name: str) -> numpy.ndarray[Any, Any]:
    """Converts an object to a numpy array."""
    if value is None:
        raise TypeError(f"{name} must be an array, not None")
    refuse_masked(value, name)
    if getattr(value, "requires_grad", False):  # torch lends only detached tensors
        value = value.detach()
    if str(getattr(value, "dtype", None)) == "torch.bfloat16":  # numpy has no such type
        value = value.float()
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return numpy.from_dlpack(value)
        return numpy.asarray(value)
    except Exception as error:
        raise TypeError(f"{name} cannot be read as an array: {error}") from error


def plain(value: Any, name: str) -> numpy.ndarray[Any, Any]:
    """Returns an array of booleans or numbers of up to 64 bits, in native byte order.

    Longer floats are rounded to float32; values beyond its range become infinite, as in C.
    """
    array = _array(value, name)
    if array.size == 0:  # because numpy makes float64 arrays of empty lists
        return numpy.zeros(array.shape, numpy.float32)
    if array.dtype.name == "bfloat16":  # a type of the package ml_dtypes
        return array.astype(numpy.float32)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, not {array.dtype}")
    if array.dtype.itemsize > 8:
        with numpy.errstate(over="ignore"):
            return array.astype(numpy.float32)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def ranks(value: Any, name: str) -> numpy.ndarray[Any, Any]:
    """Returns an int32 array whose elements are equal where those of the array are equal."""
    array = plain(value, name)
    return numpy.unique(array, return_inverse=True)[1].reshape(array.shape).astype(numpy.int32)
