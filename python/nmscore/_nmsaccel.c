/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compiled module _nmsaccel of the Python package nmscore: functions that use libnmsaccel. */
#include "module.h"
#include "pylazy.h"
#include "pystablehlo.h"

#include "nmsxla.h"

static void
engine_free (PyObject *capsule)
{
  nms_added_engine *engine = PyCapsule_GetPointer (capsule, "nms_added_engine");

  if (engine->free)
    engine->free (engine->data);
  PyMem_Free (engine);
}

/* engine (plugin, strict) -> a capsule with an nms_added_engine, for xlacontext.c */
static PyObject *
engine_new (PyObject *module, PyObject *args)
{
  nms_added_engine *engine;
  const char *plugin;
  int strict;
  PyObject *capsule;

  if (!PyArg_ParseTuple (args, "zi", &plugin, &strict))
    return NULL;
  engine = PyMem_Calloc (1, sizeof *engine);
  if (!engine)
    return PyErr_NoMemory ();
  engine->size = sizeof *engine;
  if (nms_xla_engine (plugin, strict ? NMS_XLA_STRICT : 0, engine)) {
    PyMem_Free (engine);
    return PyErr_NoMemory ();
  }
  capsule = PyCapsule_New (engine, "nms_added_engine", engine_free);
  if (!capsule) {
    engine->free (engine->data);
    PyMem_Free (engine);
  }
  return capsule;
}

static PyMethodDef methods[] = {
  { "engine", engine_new, METH_VARARGS, NULL },
  { "program", (PyCFunction) (void (*) (void)) pystablehlo_make, METH_FASTCALL, NULL },
  { "compile_program", pystablehlo_compile, METH_VARARGS, NULL },
  { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots[] = {
  { Py_mod_exec, pylazy_add },
  { 0, NULL },
};

static PyModuleDef definition = {
  .m_base = PyModuleDef_HEAD_INIT,
  .m_name = "_nmsaccel",
  .m_methods = methods,
  .m_slots = slots,
};

PyMODINIT_FUNC PyInit__nmsaccel (void);

PyMODINIT_FUNC
PyInit__nmsaccel (void)
{
  return PyModuleDef_Init (&definition);
}
