/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlahandler: the function that XLA's CPU backend calls to run NMS inside a JAX program. */
#ifndef NMS_PYTHON_XLAHANDLER_H
#define NMS_PYTHON_XLAHANDLER_H

#include "module.h"

/* Returns a capsule with the handler, for jax.ffi.register_ffi_target with platform "cpu". */
PyObject *xlahandler_capsule (PyObject *module, PyObject *unused);

#endif
