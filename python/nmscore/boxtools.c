/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxtools: computes the IoU of two boxes, and converts other forms of boxes to corners. */
#include "numbers.h"
#include "numpyarrays.h"

/* Reads the four numbers of a box. */
static int
read_box (module_state *state, PyObject *array, const char *name, float box[4])
{
  array_view view = { .data = NULL };

  if (array_view_open (state, array, name, &view) < 0)
    return -1;
  int error = 0;
  if (view.ndim != 1 || view.shape[0] != 4)
    error = array_view_shape_error (&view, name, "(4,)");
  else if (view.kind == NUMBER_BOOL)
    error = array_view_kind_error (&view, name, "numbers");
  else
    numbers_to_floats (&view, box);
  array_view_close (&view);
  return error;
}

/* boxtools_iou (a, b) -> float */
PyObject *
boxtools_iou (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  float a[4], b[4];

  if (n != 2)
    return PyErr_Format (PyExc_TypeError, "iou takes 2 arguments, not %zd", n);
  if (read_box (state, args[0], "a", a) < 0 || read_box (state, args[1], "b", b) < 0)
    return NULL;
  return PyFloat_FromDouble ((double) nms_iou (a, b));
}

typedef void (*convert_rows) (const float *in, size_t count, float *out);

static PyObject *
convert_view (module_state *state, const array_view *view, convert_rows convert)
{
  const Py_ssize_t count = view->shape[0];
  PyObject *shape = Py_BuildValue ("(nn)", count, (Py_ssize_t) 4);
  Py_buffer buffer;
  PyObject *out = numpyarrays_new (state, shape, state->float32, &buffer);

  Py_XDECREF (shape);
  if (!out)
    return NULL;
  if (array_view_size (view)) {
    numbers_to_floats (view, buffer.buf);
    convert (buffer.buf, (size_t) count, buffer.buf);
  }
  PyBuffer_Release (&buffer);
  return out;
}

static PyObject *
converted (PyObject *module, PyObject *rows, convert_rows convert)
{
  module_state *state = PyModule_GetState (module);
  array_view view = { .data = NULL };
  PyObject *out = NULL;

  if (array_view_open (state, rows, "rows", &view) < 0)
    return NULL;
  const bool empty = view.ndim == 1 && view.shape[0] == 0;
  if (!empty && (view.ndim != 2 || view.shape[1] != 4))
    array_view_shape_error (&view, "rows", "(N, 4)");
  else if (view.kind == NUMBER_BOOL && !empty)
    array_view_kind_error (&view, "rows", "numbers");
  else
    out = convert_view (state, &view, convert);
  array_view_close (&view);
  return out;
}

/* boxtools_cxcywh (rows) -> rows x1 y1 x2 y2 */
PyObject *
boxtools_cxcywh (PyObject *module, PyObject *rows)
{
  return converted (module, rows, nms_rows_from_cxcywh);
}

/* boxtools_xywh (rows) -> rows x1 y1 x2 y2 */
PyObject *
boxtools_xywh (PyObject *module, PyObject *rows)
{
  return converted (module, rows, nms_rows_from_xywh);
}
