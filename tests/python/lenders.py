# SPDX-License-Identifier: LGPL-2.1-or-later
"""lenders: arrays, made with ctypes, that share their memory by DLPack only."""
import ctypes

import numpy as np

CPU, CUDA, CUDA_HOST, ROCM_HOST = 1, 2, 3, 11
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
CODES = {"i": INT, "u": UINT, "f": FLOAT, "b": BOOL, "c": COMPLEX}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR]


class Lender:
    """Lends `array`; the other arguments override fields of its tensor. The tensor's data
    begins `offset` bytes before the first element. `lent` counts the capsules that are alive,
    unless `counted` is False: numpy frees a capsule that it refuses while an exception is set,
    and then a destructor in Python cannot run."""

    def __init__(self, array, code=None, device=CPU, lanes=1, packed=False, offset=0,
                 name=b"dltensor", counted=True):
        self.array, self.lent, self.name = array, 0, name
        dims = ctypes.c_int64 * array.ndim
        self.shape = dims(*array.shape)
        self.strides = None if packed else dims(*(s // array.itemsize for s in array.strides))
        kind = CODES[array.dtype.kind] if code is None else code
        self.managed = Managed(Tensor(array.ctypes.data - offset, device, 0, array.ndim, kind,
                                      8 * array.itemsize, lanes, self.shape, self.strides, offset))
        self.destructor = DESTRUCTOR(self.returned) if counted else DESTRUCTOR(0)
        self.step = int(counted)

    def returned(self, _):
        self.lent -= 1

    def __dlpack__(self, stream=None):
        self.lent += self.step
        return new_capsule(ctypes.addressof(self.managed), self.name, self.destructor)

    def __dlpack_device__(self):
        return self.managed.tensor.device_type, 0


VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))


class Exchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("previous", ctypes.c_void_p), ("unused", ctypes.c_void_p * 3), ("view", VIEW)]


def describing(view=None, major=1, previous=None, name=b"dlpack_exchange_api"):
    """Returns a class of lenders with a table of functions, which describe an array by `view`, or
    as its capsules do. It counts the calls of that function in `described`."""
    def called(lender, tensor):
        lender.described += 1
        if view:
            return view(lender, tensor)
        tensor[0] = lender.managed.tensor
        return 0

    table = Exchange(major, 0, previous and ctypes.addressof(previous.table), (), VIEW(called))
    return type("Describing", (Lender,), {
        "described": 0, "table": table, "kept_alive": (previous, name),
        "__dlpack_c_exchange_api__": new_capsule(ctypes.addressof(table), name, DESTRUCTOR(0))})


def bfloats(values):
    """Returns the upper halves of float32 numbers, which are bfloat16 numbers."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
