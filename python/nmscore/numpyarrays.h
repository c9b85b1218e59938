/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numpyarrays: makes new numpy arrays for the library's results. */
#ifndef NMS_PYTHON_NUMPYARRAYS_H
#define NMS_PYTHON_NUMPYARRAYS_H

#include "module.h"

/* Returns a new array of `shape` (an int or a tuple) and `dtype`, and opens its buffer, which the
 * caller releases. Returns NULL with an exception. */
PyObject *numpyarrays_new (module_state *state, PyObject *shape, PyObject *dtype, Py_buffer *view);

/* Each returns a new int64 array of `count` indices, counts or sizes, or NULL with an exception. */
PyObject *numpyarrays_indices (module_state *state, const int32_t *values, size_t count);
PyObject *numpyarrays_counts (module_state *state, const uint32_t *values, size_t count);
PyObject *numpyarrays_sizes (module_state *state, const size_t *values, size_t count);

/* Each returns a new float32 array, (count,) or (count, 4), or NULL with an exception. */
PyObject *numpyarrays_floats (module_state *state, const float *values, size_t count);
PyObject *numpyarrays_rows (module_state *state, const float *values, size_t count);

/* Returns a new uint8 array, and sets *bytes to its elements, which live as long as the array. */
PyObject *numpyarrays_bytes (module_state *state, size_t count, uint8_t **bytes);

#endif
