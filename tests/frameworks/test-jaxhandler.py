#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The function that XLA calls checks XLA's version and the buffers and attributes of a call."""
import ctypes
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 (the variable above is read by the import)
import numpy as np  # noqa: E402

import nmscore._nmscore  # noqa: E402
import nmscore.jax  # noqa: E402

TARGET = "nmscore_nms"


def words(*values):
    """Returns a structure of XLA, all of whose fields have 8 bytes or lie in pairs in 8 bytes."""
    return (ctypes.c_size_t * len(values))(*values)


def reported(major, minor, names_itself=True):
    """Returns the version that the handler reports to an XLA of this version. `names_itself`:
    the question contains XLA's functions and version."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
        pointer(nmscore._nmscore.xla_handler(), None))
    # size, extensions, version: size, extensions, numbers
    api = words(40, 0, 24, 0, major | minor << 32)
    metadata = words(40, 0, 0, 0, 0)  # size, version, traits
    extension = words(32, 1, 0, ctypes.addressof(metadata))  # size, type, next, metadata
    frame = words(168, ctypes.addressof(extension), names_itself and ctypes.addressof(api),
                  *[0] * 18)
    assert handler(ctypes.addressof(frame)) is None
    return metadata[3] & 0xffffffff, metadata[3] >> 32


class Handler(unittest.TestCase):
    def test_version(self):
        for minor in (1, 2, 3):
            self.assertEqual(reported(0, minor), (0, minor))
        # an XLA newer than the declarations gets the newest version that they know
        for unknown in ((0, 4), (0, 0), (1, 2)):
            self.assertEqual(reported(*unknown), (0, 3))
        self.assertEqual(reported(0, 1, names_itself=False), (0, 1))

    def call(self, shapes, most=3, **attributes):
        """Calls XLA's target with zeros of the given shapes and types."""
        results = [jax.ShapeDtypeStruct((2, most), np.int32), jax.ShapeDtypeStruct((2,), np.int32)]
        call = jax.ffi.ffi_call(TARGET, results)
        return jax.block_until_ready(call(*(np.zeros(*s) for s in shapes), **attributes))

    def test_bad_calls(self):
        # (registers the target)
        nmscore.jax.nms(np.zeros((1, 4), np.float32), np.zeros(1, np.float32), 0.5, 1)
        boxes, scores = ((2, 5, 4), np.float32), ((2, 5), np.float32)
        classes, exclude = ((2, 5), np.int32), ((2, 0), np.bool_)
        good = [boxes, scores, classes, exclude, classes]
        self.assertEqual(self.call(good)[0].shape, (2, 3))
        for position, bad in ((0, ((2, 5, 3), np.float32)), (0, ((2, 5, 4), np.int32)),
                              (0, ((10, 4), np.float32)), (1, ((2, 4), np.float32)),
                              (2, ((2, 5), np.float32)), (2, ((2, 4), np.int32)),
                              (3, ((2, 5), np.int32)), (4, ((1, 5), np.int32))):
            shapes = [bad if i == position else shape for i, shape in enumerate(good)]
            with self.assertRaisesRegex(Exception, "nmscore: the buffers"):
                self.call(shapes)
        with self.assertRaisesRegex(Exception, "nmscore: the buffers"):
            self.call(good[:4])
        for attributes in ({"iou": np.float32(1)}, {"iou_threshold": np.int32(1)},
                           {"class_ids": np.float32([1, 2])},
                           {"class_ids": np.int32([1, 2]), "class_set": np.int32([1])}):
            with self.assertRaisesRegex(Exception, "nmscore: an attribute"):
                self.call(good, **attributes)
        # errors of the core have its text
        with self.assertRaisesRegex(Exception, "iou_threshold is 3"):
            self.call(good, iou_threshold=np.float32(3))


if __name__ == "__main__":
    unittest.main()
