/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numpyarrays: new numpy arrays with what the library returned. */
#ifndef NMS_PYTHON_NUMPYARRAYS_H
#define NMS_PYTHON_NUMPYARRAYS_H

#include "module.h"

/* Returns a new array of `shape` (an int or a tuple) and `dtype`, and opens its buffer, which the
 * caller releases. NULL with an exception. */
PyObject *numpyarrays_new (module_state *state, PyObject *shape, PyObject *dtype, Py_buffer *view);

/* Each returns a new one-dimensional array, or NULL with an exception: int64, of `count` indices
 * or counts; uint8. */
PyObject *numpyarrays_indices (module_state *state, const int32_t *values, size_t count);
PyObject *numpyarrays_counts (module_state *state, const uint32_t *values, size_t count);
PyObject *numpyarrays_bytes (module_state *state, const uint8_t *values, size_t count);

#endif
