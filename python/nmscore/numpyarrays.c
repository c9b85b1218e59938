/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numpyarrays: makes new numpy arrays and fills them through their buffers. */
#include "numpyarrays.h"

#include <string.h>

PyObject *
numpyarrays_new (module_state *state, PyObject *shape, PyObject *dtype, Py_buffer *view)
{
  PyObject *array = shape ? PyObject_CallFunctionObjArgs (state->empty, shape, dtype, NULL) : NULL;
  if (!array && PyErr_ExceptionMatches (PyExc_ValueError)) /* more bytes than memory can have */
    PyErr_NoMemory ();
  if (array && PyObject_GetBuffer (array, view, PyBUF_WRITABLE) < 0)
    Py_CLEAR (array);
  return array;
}

static PyObject *
new_row (module_state *state, size_t count, PyObject *dtype, Py_buffer *view)
{
  PyObject *length = PyLong_FromSize_t (count);
  PyObject *array = numpyarrays_new (state, length, dtype, view);
  Py_XDECREF (length);
  return array;
}

#define DEFINE_INT64(name, type) \
  PyObject *name (module_state *state, const type *values, size_t count) \
  { \
    Py_buffer view; \
    PyObject *array = new_row (state, count, state->int64, &view); \
    if (!array) \
      return NULL; \
    int64_t *out = view.buf; \
    for (size_t i = 0; i < count; i++) \
      out[i] = (int64_t) values[i]; \
    PyBuffer_Release (&view); \
    return array; \
  }

DEFINE_INT64 (numpyarrays_indices, int32_t)
DEFINE_INT64 (numpyarrays_counts, uint32_t)
DEFINE_INT64 (numpyarrays_sizes, size_t)

static PyObject *
new_floats (module_state *state, PyObject *shape, const float *values, size_t count)
{
  Py_buffer view;
  PyObject *array = numpyarrays_new (state, shape, state->float32, &view);
  Py_XDECREF (shape);
  if (!array)
    return NULL;
  if (count)
    memcpy (view.buf, values, count * sizeof *values);
  PyBuffer_Release (&view);
  return array;
}

PyObject *
numpyarrays_floats (module_state *state, const float *values, size_t count)
{
  return new_floats (state, PyLong_FromSize_t (count), values, count);
}

PyObject *
numpyarrays_rows (module_state *state, const float *values, size_t count)
{
  return new_floats (state, Py_BuildValue ("(ni)", (Py_ssize_t) count, 4), values, 4 * count);
}

PyObject *
numpyarrays_bytes (module_state *state, size_t count, uint8_t **bytes)
{
  Py_buffer view;
  PyObject *array = new_row (state, count, state->uint8, &view);
  if (!array)
    return NULL;
  *bytes = view.buf;
  PyBuffer_Release (&view);
  return array;
}
