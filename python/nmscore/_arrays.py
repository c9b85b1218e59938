# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays that the compiled half cannot read as they are, made fit for it."""
import numpy


def _numbers(value, name):
    if value is None:
        raise TypeError(f"{name} must be an array, not None")
    try:
        array = numpy.asarray(value)
    except Exception as error:
        raise TypeError(f"{name} cannot be read as an array: {error}") from error
    # (nothing in an empty list says what it was to hold)
    if array.dtype.kind not in "fiu" and array.size:
        raise TypeError(f"{name} must hold numbers, not {array.dtype}")
    return array


def floats(value, name):
    """A float32 array of it; values beyond float32 become infinite, as in C."""
    with numpy.errstate(over="ignore"):
        array = _numbers(value, name).astype(numpy.float32, copy=False)
    return numpy.ascontiguousarray(array) if array.ndim else array


def classes(value, name):
    """An int32 array: the numbers themselves, or their ranks where they do not fit."""
    array = _numbers(value, name)
    if array.dtype.kind == "f" and array.size:
        raise TypeError(f"{name} must hold whole numbers, not {array.dtype}")
    # (beyond the range only being equal matters)
    narrow = array.astype(numpy.int32)
    if (narrow == array).all():
        return numpy.ascontiguousarray(narrow) if narrow.ndim else narrow
    return numpy.unique(array, return_inverse=True)[1].reshape(array.shape).astype(numpy.int32)
