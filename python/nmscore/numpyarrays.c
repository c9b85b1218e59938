/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numpyarrays: see the header. */
#include "numpyarrays.h"

#include <string.h>

PyObject *
numpyarrays_new (module_state *state, PyObject *shape, PyObject *dtype, Py_buffer *view)
{
  PyObject *array = shape ? PyObject_CallFunctionObjArgs (state->empty, shape, dtype, NULL) : NULL;
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

PyObject *
numpyarrays_indices (module_state *state, const int32_t *values, size_t count)
{
  Py_buffer view;
  PyObject *array = new_row (state, count, state->int64, &view);
  if (!array)
    return NULL;
  int64_t *out = view.buf;
  for (size_t i = 0; i < count; i++)
    out[i] = values[i];
  PyBuffer_Release (&view);
  return array;
}

PyObject *
numpyarrays_counts (module_state *state, const uint32_t *values, size_t count)
{
  Py_buffer view;
  PyObject *array = new_row (state, count, state->int64, &view);
  if (!array)
    return NULL;
  int64_t *out = view.buf;
  for (size_t i = 0; i < count; i++)
    out[i] = values[i];
  PyBuffer_Release (&view);
  return array;
}

PyObject *
numpyarrays_bytes (module_state *state, const uint8_t *values, size_t count)
{
  Py_buffer view;
  PyObject *array = new_row (state, count, state->uint8, &view);
  if (!array)
    return NULL;
  if (count)
    memcpy (view.buf, values, count);
  PyBuffer_Release (&view);
  return array;
}
