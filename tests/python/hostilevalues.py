# SPDX-License-Identifier: LGPL-2.1-or-later
"""hostilevalues: arguments of wrong types and shapes, and objects that break their protocols."""
import ctypes

import numpy as np

from lenders import CUDA, Lender

ERRORS = [ValueError, TypeError, RuntimeError, AttributeError, OverflowError, KeyError,
          IndexError, StopIteration, RecursionError, BufferError, ZeroDivisionError]
METHODS = ["__len__", "__getitem__", "__iter__", "__float__", "__index__", "__int__", "__bool__",
           "__array__", "__array_interface__", "__array_struct__", "__dlpack__", "__fspath__",
           "keys", "items", "__contains__", "__eq__"]


def _raiser(random):
    """Returns an object of which a few methods raise an exception."""
    def fail(*_, **__):
        raise error("of the argument")
    error = ERRORS[random.integers(len(ERRORS))]
    chosen = random.choice(METHODS, random.integers(1, 5), replace=False)
    methods = {str(name): property(fail) if random.random() < 0.1 else fail for name in chosen}
    return type("Raising", (), methods)()


class Long(list):
    """A list whose __len__ returns more than it has."""

    def __len__(self):
        return 2**40


def _interface(random):
    """Returns an object whose __array_interface__ is wrong. numpy believes the length of the data,
    so it is enough for each shape that numpy accepts."""
    good = {"shape": (2, 4), "typestr": "<f4", "version": 3, "data": bytearray(64)}
    name = str(random.choice(list(good)))
    wrong = [None, "x", -1, (), ("a",), {}, 2**70]
    if name != "data":  # whose first number is an address
        wrong.append((-1, 4))
    good[name] = wrong[random.integers(len(wrong))]
    return type("Interface", (), {"__array_interface__": good})()


def _tensor(random, values):
    """Returns a lender whose tensor is not what it should be."""
    values = np.ascontiguousarray(values if values.size else np.zeros((2, 4), np.float32))
    choice = random.integers(6)
    if choice == 0:
        return Lender(values, device=CUDA)
    if choice == 1:
        return Lender(values, lanes=2, counted=False)
    if choice == 2:
        return Lender(values, name=b"other", counted=False)
    if choice == 3:
        return Lender(values, code=int(random.integers(3, 256)), counted=False)
    if choice == 4:  # many rows that are one row
        lender = Lender(np.zeros((1, 4), np.float32), counted=False)
        lender.shape[0], lender.strides[0] = 2**int(random.integers(40, 63)), 0
        return lender
    returned = [None, 5, "x", b"", np.zeros(4)][random.integers(5)]
    return type("Tensor", (), {"__dlpack__": lambda self, **_: returned,
                               "__dlpack_device__": lambda self: (1, 0)})()


def _reshaped(random, values):
    shapes = [values[:-1], values[None], values.ravel(), values[..., None], values[..., :3],
              np.zeros((0, 5)), np.zeros((4, 0)), np.zeros(()), np.zeros((1,) * 32),
              np.concatenate([values, values]), values.T]
    return shapes[random.integers(len(shapes))]


def _retyped(random, values):
    types = ["c8", "U3", "S2", "O", "?", "M8[s]", "m8[s]", "V4", "f8", "i8", "u8"]
    name = str(random.choice(types))
    with np.errstate(all="ignore"):
        return values.astype(name) if name != "V4" else np.zeros(values.shape, "V4")


def _special(random, values):
    released = memoryview(b"12345678")
    released.release()
    ring = []
    ring.append(ring)
    return [None, 5, -1.5, "text", b"\1\2\3\4", object(), {}, {1: 2}, {3}, iter([1, 2]), Ellipsis,
            np.ma.masked_array(values, values == values), Long([1, 2]), ring,
            [[1, 2, 3, 4], [1]], [values, None], [[None] * 4], ["a"] * 4, released, type, len,
            memoryview(b"12345678"), memoryview(b"12345678").cast("i"), ctypes.c_float(1),
            (ctypes.c_float * 4 * 2)(), np.broadcast_to(np.float32(1), (2**40, 4)),
            np.broadcast_to(np.float32(1), (2**50,)), {0: {"iou_threshold": 2}}, {0: {"x": 1}},
            {2**40: {}}, {0: None}, {0: {"max_detections": -1}}, {"a": {}}, [float("nan")] * 3,
            [0.0], [-1, -1], [2**70], np.float32(3), np.full(values.shape, np.nan),
            np.full(values.shape, 1e300), np.full(values.shape, -2**63)][random.integers(41)]


def hostile_array(random, value):
    try:
        values = np.asarray(value if not isinstance(value, Lender) else value.array)
        if values.dtype.kind not in "fiu" or values.ndim == 0:
            raise ValueError
    except (TypeError, ValueError):  # the lists of weighted_boxes_fusion, class_options
        values = np.ones((3, 4), np.float32)
    choice = random.integers(6)
    if choice == 0:
        return _raiser(random)
    if choice == 1:
        return _interface(random)
    if choice == 2:
        return _tensor(random, values)
    if choice == 3:
        return _reshaped(random, values)
    return _retyped(random, values) if choice == 4 else _special(random, values)


def hostile_scalar(random):
    values = [None, "x", "0.5", b"1", [], [1], {}, object(), 1j, np.zeros(2), np.zeros((1, 1)),
              np.array("x"), type, Ellipsis, float("nan"), float("inf"), -float("inf"), -1, 2**31,
              2**63, 2**64, 2**200, 1e300, -0.0, 1.5, True, np.float16(2), np.int8(-3)]
    return _raiser(random) if random.random() < 0.2 else values[random.integers(len(values))]


def hostile_name(random):
    names = ["", "Hard", "hard\0", "\ud800", "gaussian ", "xla", "weighted", "giou", "x" * 5000]
    return hostile_scalar(random) if random.random() < 0.5 else names[random.integers(len(names))]
