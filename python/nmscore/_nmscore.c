/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compiled module of the Python package nmscore: the table of its functions, its state, and
 * the contexts that calls share. */
#include "module.h"
#include "xlahandler.h"

#include <stdio.h>

nms_context *
module_take_context (module_state *state)
{
  nms_context *ctx = state->spares > 0 ? state->spare[--state->spares] : nms_context_new ();
  if (!ctx)
    PyErr_NoMemory ();
  return ctx;
}

void
module_return_context (module_state *state, nms_context *ctx)
{
  if (state->spares < MODULE_SPARE_CONTEXTS)
    state->spare[state->spares++] = ctx;
  else
    nms_context_free (&ctx);
}

void
module_raise (int error, const nms_context *ctx)
{
  const int of_engine = error == NMS_ERROR_ENGINE || error == NMS_ERROR_UNSUPPORTED;
  if (error == NMS_ERROR_MEMORY)
    PyErr_NoMemory ();
  else
    PyErr_SetString (of_engine ? PyExc_RuntimeError : PyExc_ValueError, nms_context_error (ctx));
}

static PyObject *
attribute (const char *module, const char *name)
{
  PyObject *m = PyImport_ImportModule (module);
  PyObject *found = m ? PyObject_GetAttrString (m, name) : NULL;
  Py_XDECREF (m);
  return found;
}

static int
setup (PyObject *module)
{
  module_state *state = PyModule_GetState (module);
  int v = nms_version ();
  char version[32];

  if (!(state->empty = attribute ("numpy", "empty"))
      || !(state->int64 = attribute ("numpy", "int64"))
      || !(state->uint8 = attribute ("numpy", "uint8"))
      || !(state->float32 = attribute ("numpy", "float32"))
      || !(state->masked = attribute ("numpy.ma", "MaskedArray"))
      || !(state->plain = attribute ("nmscore._arrays", "plain"))
      || !(state->ranks = attribute ("nmscore._arrays", "ranks"))
      || !(state->dlpack_name = PyUnicode_InternFromString ("__dlpack__"))
      || !(state->exchange_name = PyUnicode_InternFromString ("__dlpack_c_exchange_api__")))
    return -1;
  snprintf (version, sizeof version, "%d.%d.%d", v / 1000000, v / 1000 % 1000, v % 1000);
  return PyModule_AddStringConstant (module, "__version__", version);
}

static int
traverse (PyObject *module, visitproc visit, void *arg)
{
  module_state *state = PyModule_GetState (module);
  Py_VISIT (state->empty);
  Py_VISIT (state->int64);
  Py_VISIT (state->uint8);
  Py_VISIT (state->float32);
  Py_VISIT (state->masked);
  Py_VISIT (state->plain);
  Py_VISIT (state->ranks);
  return 0;
}

static int
clear (PyObject *module)
{
  module_state *state = PyModule_GetState (module);
  Py_CLEAR (state->empty);
  Py_CLEAR (state->int64);
  Py_CLEAR (state->uint8);
  Py_CLEAR (state->float32);
  Py_CLEAR (state->masked);
  Py_CLEAR (state->plain);
  Py_CLEAR (state->ranks);
  Py_CLEAR (state->dlpack_name);
  Py_CLEAR (state->exchange_name);
  return 0;
}

static void
release (void *module)
{
  module_state *state = PyModule_GetState (module);
  clear (module);
  while (state->spares > 0)
    nms_context_free (&state->spare[--state->spares]);
  nms_context_free (&state->batch);
  nms_context_free (&state->xla);
  Py_CLEAR (state->xla_plugin);
}

#define FAST(function) (PyCFunction) (void (*) (void)) function, METH_FASTCALL, NULL

static PyMethodDef methods[] = {
  { "nms", FAST (single_nms) },
  { "run", FAST (single_run) },
  { "run_batch", FAST (py_batch_run) },
  { "count_neighbors", FAST (single_neighbors) },
  { "iou", FAST (boxtools_iou) },
  { "rows_from_cxcywh", boxtools_cxcywh, METH_O, NULL },
  { "rows_from_xywh", boxtools_xywh, METH_O, NULL },
  { "xla_handler", xlahandler_capsule, METH_NOARGS, NULL },
  { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots[] = {
  { Py_mod_exec, setup },
  { 0, NULL },
};

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  "_nmscore",
  NULL,
  sizeof (module_state),
  methods,
  slots,
  traverse,
  clear,
  release,
};

PyMODINIT_FUNC PyInit__nmscore (void);

PyMODINIT_FUNC
PyInit__nmscore (void)
{
  return PyModuleDef_Init (&definition);
}
