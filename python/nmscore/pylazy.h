/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pylazy: the functions of the module for nmscore.lazy. */
#ifndef NMS_PYTHON_PYLAZY_H
#define NMS_PYTHON_PYLAZY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "nmslazy.h"

/* Adds the functions to the module. Returns 0, or -1 with an exception. */
int pylazy_add (PyObject *module);

/* A device with a context. One thread uses it at a time. */
typedef struct pylazy_device {
  nms_lazy_backend *backend; /* NULL for the eager executor */
  nms_lazy_cache *cache;
  nms_lazy *lz;
  int running; /* a read has released the interpreter's lock */
} pylazy_device;

/* Returns the device of a capsule, or NULL with an exception. */
pylazy_device *pylazy_device_of (PyObject *capsule);

/* Returns x as an int; or raises the context's error, which it clears, and returns NULL. */
PyObject *pylazy_result (pylazy_device *d, nms_lazy_tensor x);

/* Raises the context's error of this code, and clears it; returns NULL. */
PyObject *pylazy_raise (pylazy_device *d, int status);

/* Reads a sequence of ints. Returns their number; or -1 with an exception. */
Py_ssize_t pylazy_tensors (PyObject *sequence, nms_lazy_tensor *tensors, Py_ssize_t most);
int pylazy_dims (PyObject *sequence, int32_t *dims);

/* lazy_apply (device, name, tensors, dims, number) -> tensor; lazy_concatenate (device, tensors,
 * axis) -> tensor; lazy_while (device, tensors, cond, body) -> tensors */
PyObject *pylazy_apply (PyObject *module, PyObject *args);
PyObject *pylazy_concatenate (PyObject *module, PyObject *args);
PyObject *pylazy_while (PyObject *module, PyObject *args);

#endif
