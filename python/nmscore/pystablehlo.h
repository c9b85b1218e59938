/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pystablehlo: the functions of the module _nmsaccel for nmscore.export. */
#ifndef NMS_PYTHON_PYSTABLEHLO_H
#define NMS_PYTHON_PYSTABLEHLO_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *pystablehlo_make (PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *pystablehlo_compile (PyObject *module, PyObject *args);

#endif
