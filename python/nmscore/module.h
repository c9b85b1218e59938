/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* module: declares the state of the compiled module, and its functions for Python. */
#ifndef NMS_PYTHON_MODULE_H
#define NMS_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "nmscore.h"

/* A call with at least this many boxes releases the interpreter's lock. */
#define MODULE_RELEASE_FROM 512
#define MODULE_SPARE_CONTEXTS 8

typedef struct module_state {
  PyObject *empty, *int64, *uint8, *float32; /* functions and types of numpy */
  PyObject *masked;                          /* numpy.ma.MaskedArray */
  PyObject *plain, *ranks;                   /* functions of nmscore._arrays */
  PyObject *dlpack_name, *exchange_name;     /* the names of DLPack's attributes */
  nms_context *spare[MODULE_SPARE_CONTEXTS]; /* contexts that no call uses at the moment; guarded
                                              * by the interpreter's lock */
  int spares;
  nms_context *batch; /* a spare context with batch_threads threads, or NULL */
  unsigned batch_threads;
  nms_context *xla;     /* a spare context with engine xla, or NULL; see xlacontext.c */
  PyObject *xla_plugin; /* bytes, or NULL */
  int xla_strict;
} module_state;

/* Takes a spare context or a new one. Returns NULL with a MemoryError. */
nms_context *module_take_context (module_state *state);
void module_return_context (module_state *state, nms_context *ctx);

/* Raises an exception for the error code of a call with `ctx`: MemoryError, or with the text of
 * the context RuntimeError (NMS_ERROR_ENGINE, _UNSUPPORTED) or ValueError (any other error). */
void module_raise (int error, const nms_context *ctx);

static inline PyObject *
module_none (void)
{
  Py_RETURN_NONE;
}

/* The functions of the module; the Python files name their arguments. */
PyObject *single_nms (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *single_run (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *single_neighbors (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *py_batch_run (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *boxtools_iou (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *boxtools_cxcywh (PyObject *module, PyObject *rows);
PyObject *boxtools_xywh (PyObject *module, PyObject *rows);

#endif
