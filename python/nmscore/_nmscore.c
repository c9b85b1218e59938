/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The compiled half of the Python package nmscore: reads arrays through the
 * buffer protocol where they are, with whatever strides, runs nms_run, and
 * returns a new numpy array. What it cannot read, nmscore._arrays converts.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <string.h>

#include "nmscore.h"

/* From so many boxes on a call is long enough to let other threads in. */
#define RELEASE_FROM 512
#define SPARE_CONTEXTS 8

typedef struct
{
  PyObject *empty, *int64;            /* numpy.empty, numpy.int64 */
  PyObject *floats, *classes;         /* nmscore._arrays */
  PyObject *masked;                   /* numpy.ma.MaskedArray */
  nms_context *spare[SPARE_CONTEXTS]; /* of no call at the moment; under the
                                       * interpreter's lock */
  int spares;
} module_state;

static int
shape_error (const char *name, const char *wanted, const Py_buffer *view)
{
  PyObject *shape = PyTuple_New (view->ndim);
  for (int i = 0; shape && i < view->ndim; i++)
    PyTuple_SET_ITEM (shape, i, PyLong_FromSsize_t (view->shape[i]));
  if (shape)
    PyErr_Format (PyExc_ValueError, "%s must have shape %s, not %R", name, wanted, shape);
  Py_XDECREF (shape);
  return -1;
}

/* Can the library read these elements? (A stride of 0 would mean "packed" to it,
 * and broadcasting makes one that does not.) */
static bool
readable (const Py_buffer *view, const char *formats)
{
  return view->format && view->format[0] && !view->format[1]
      && strchr (formats, view->format[0])
      && (view->ndim == 0 || view->shape[0] <= 1 || view->strides[0] != 0);
}

/* Opens `array` if it is of one of `formats`; else what `convert` makes of it.
 * Masked arrays are refused because their buffer does not contain the mask. */
static int
open_view (module_state *state, PyObject *array, const char *name, const char *formats,
    PyObject *convert, Py_buffer *view)
{
  if (PyObject_TypeCheck (array, (PyTypeObject *) state->masked)) {
    PyErr_Format (PyExc_TypeError, "%s must not be a masked array: select the boxes that are not"
        " masked, or pass the array's data", name);
    return -1;
  }
  if (PyObject_CheckBuffer (array)) {
    if (PyObject_GetBuffer (array, view, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0) {
      if (readable (view, formats))
        return 0;
      PyBuffer_Release (view);
    } else {
      PyErr_Clear ();
    }
  }
  PyObject *fit = PyObject_CallFunction (convert, "Os", array, name);
  if (!fit)
    return -1;
  int rc = PyObject_GetBuffer (fit, view, PyBUF_STRIDED_RO | PyBUF_FORMAT);
  Py_DECREF (fit); /* the view keeps it */
  return rc;
}

static int
open_column (module_state *state, PyObject *array, const char *name, const char *formats,
    PyObject *convert, size_t count, Py_buffer *view, nms_column *column)
{
  char wanted[64];
  if (open_view (state, array, name, formats, convert, view) < 0)
    return -1;
  if (view->ndim != 1 || (size_t) view->shape[0] != count) {
    snprintf (wanted, sizeof wanted, "(%zu,) for %zu boxes", count, count);
    shape_error (name, wanted, view);
    PyBuffer_Release (view);
    return -1;
  }
  column->data = view->buf;
  column->stride = view->strides[0];
  return 0;
}

/* 64-bit numbers, numpy's default, are read by their low halves where they fit. */
static bool
narrow (const Py_buffer *view, nms_column *column)
{
  const char *p = view->buf;
  int64_t wide, beyond = 0;
  for (Py_ssize_t i = 0; i < view->shape[0]; i++, p += view->strides[0]) {
    memcpy (&wide, p, sizeof wide);
    beyond |= wide ^ (int32_t) wide;
  }
  if (PY_BIG_ENDIAN)
    column->data = (const char *) view->buf + 4;
  return !beyond;
}

static int
open_classes (module_state *state, PyObject *array, size_t count, Py_buffer *view,
    nms_column *column)
{
  const char *formats = sizeof (long) == 8 ? "il" : "iq";
  if (open_column (state, array, "idxs", formats, state->classes, count, view, column) < 0)
    return -1;
  if (view->itemsize == 4 || narrow (view, column))
    return 0;
  PyObject *fit = PyObject_CallFunction (state->classes, "Os", array, "idxs");
  PyBuffer_Release (view);
  int rc = fit ? open_column (state, fit, "idxs", "i", state->classes, count, view, column) : -1;
  Py_XDECREF (fit);
  return rc;
}

static PyObject *
indices (module_state *state, const nms_result *result)
{
  PyObject *array = PyObject_CallFunction (state->empty, "nO", (Py_ssize_t) result->kept_count,
      state->int64);
  Py_buffer view;
  if (!array)
    return NULL;
  if (PyObject_GetBuffer (array, &view, PyBUF_WRITABLE) < 0) {
    Py_DECREF (array);
    return NULL;
  }
  int64_t *out = view.buf;
  for (size_t k = 0; k < result->kept_count; k++)
    out[k] = result->kept[k];
  PyBuffer_Release (&view);
  return array;
}

static PyObject *
suppress (module_state *state, const nms_boxes *boxes, const nms_options *options)
{
  nms_context *ctx = state->spares > 0 ? state->spare[--state->spares] : nms_context_new ();
  nms_result result = { .size = sizeof result };
  PyObject *kept = NULL;
  int rc;

  if (!ctx)
    return PyErr_NoMemory ();
  if (boxes->count >= RELEASE_FROM) {
    Py_BEGIN_ALLOW_THREADS
    rc = nms_run (ctx, boxes, options, &result);
    Py_END_ALLOW_THREADS
  } else {
    rc = nms_run (ctx, boxes, options, &result);
  }
  if (rc == NMS_OK)
    kept = indices (state, &result);
  else if (rc == NMS_ERROR_MEMORY)
    PyErr_NoMemory ();
  else
    PyErr_SetString (PyExc_ValueError, nms_context_error (ctx));
  if (state->spares < SPARE_CONTEXTS)
    state->spare[state->spares++] = ctx;
  else
    nms_context_free (&ctx);
  return kept;
}

/* Replaces the pending exception of a failed conversion of `value` by a TypeError
 * that names the parameter; MemoryError and KeyboardInterrupt stay. */
static int
type_error (const char *name, const char *wanted, PyObject *value)
{
  if (PyErr_ExceptionMatches (PyExc_Exception) && !PyErr_ExceptionMatches (PyExc_MemoryError))
    PyErr_Format (PyExc_TypeError, "%s must be %s, not %s", name, wanted,
        value == Py_None ? "None" : Py_TYPE (value)->tp_name);
  return -1;
}

static int
read_float (PyObject *value, const char *name, float *number)
{
  double wide = PyFloat_AsDouble (value);
  if (wide == -1 && PyErr_Occurred ()) {
    if (!PyErr_ExceptionMatches (PyExc_OverflowError))
      return type_error (name, "a number", value);
    PyErr_Format (PyExc_ValueError, "%s is beyond the range of a float", name);
    return -1;
  }
  *number = (float) wide;
  return 0;
}

static int
read_cap (PyObject *value, uint64_t *cap)
{
  PyObject *number = PyNumber_Index (value);
  if (!number)
    return type_error ("max_detections", "a whole number", value);
  *cap = PyLong_AsUnsignedLongLong (number);
  Py_DECREF (number);
  if (!PyErr_Occurred ())
    return 0;
  if (PyErr_ExceptionMatches (PyExc_OverflowError))
    PyErr_SetString (PyExc_ValueError, "max_detections must be 0 or more, below 2**64");
  return -1;
}

static int
read_options (PyObject *const *args, nms_options *options)
{
  nms_options_init (options, sizeof *options);
  if (read_float (args[0], "iou_threshold", &options->iou_threshold) < 0
      || read_float (args[1], "score_threshold", &options->score_threshold) < 0
      || read_cap (args[2], &options->max_detections) < 0)
    return -1;
  return 0;
}

/* Opens the rows of x1 y1 x2 y2; shape (0,), which an empty list has, is 0 boxes. */
static int
open_rows (module_state *state, PyObject *array, Py_buffer *view, nms_boxes *boxes)
{
  nms_column *const corners[4] = { &boxes->x1, &boxes->y1, &boxes->x2, &boxes->y2 };

  if (open_view (state, array, "boxes", "f", state->floats, view) < 0)
    return -1;
  if (view->ndim == 1 && view->shape[0] == 0)
    return 0;
  if (view->ndim != 2 || view->shape[1] != 4) {
    shape_error ("boxes", "(N, 4)", view);
    PyBuffer_Release (view);
    return -1;
  }
  boxes->count = (size_t) view->shape[0];
  for (int c = 0; c < 4; c++) {
    corners[c]->data = (const char *) view->buf + c * view->strides[1];
    corners[c]->stride = view->strides[0];
  }
  return 0;
}

/* run (boxes, scores, iou_threshold, score_threshold, max_detections[, idxs]) */
static PyObject *
run (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  nms_boxes boxes = { .size = sizeof boxes };
  nms_options options;
  Py_buffer rows, scores, idxs;
  PyObject *kept = NULL;

  if (n != 5 && n != 6)
    return PyErr_Format (PyExc_TypeError, "run takes 5 or 6 arguments, not %zd", n);
  if (read_options (args + 2, &options) < 0)
    return NULL;
  if (open_rows (state, args[0], &rows, &boxes) < 0)
    return NULL;
  if (open_column (state, args[1], "scores", "f", state->floats, boxes.count, &scores,
          &boxes.score) < 0)
    goto close_rows;
  if (n == 6 && open_classes (state, args[5], boxes.count, &idxs, &boxes.class_id) < 0)
    goto close_scores;
  kept = suppress (state, &boxes, &options);
  if (n == 6)
    PyBuffer_Release (&idxs);
close_scores:
  PyBuffer_Release (&scores);
close_rows:
  PyBuffer_Release (&rows);
  return kept;
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
      || !(state->floats = attribute ("nmscore._arrays", "floats"))
      || !(state->classes = attribute ("nmscore._arrays", "classes"))
      || !(state->masked = attribute ("numpy.ma", "MaskedArray")))
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
  Py_VISIT (state->floats);
  Py_VISIT (state->classes);
  Py_VISIT (state->masked);
  return 0;
}

static int
clear (PyObject *module)
{
  module_state *state = PyModule_GetState (module);
  Py_CLEAR (state->empty);
  Py_CLEAR (state->int64);
  Py_CLEAR (state->floats);
  Py_CLEAR (state->classes);
  Py_CLEAR (state->masked);
  return 0;
}

static void
release (void *module)
{
  module_state *state = PyModule_GetState (module);
  clear (module);
  while (state->spares > 0)
    nms_context_free (&state->spare[--state->spares]);
}

static PyMethodDef methods[] = {
  { "run", (PyCFunction) (void (*) (void)) run, METH_FASTCALL, NULL },
  { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots[] = {
  { Py_mod_exec, setup },
  { 0, NULL },
};

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "_nmscore", NULL, sizeof (module_state), methods, slots, traverse,
  clear, release,
};

PyMODINIT_FUNC PyInit__nmscore (void);

PyMODINIT_FUNC
PyInit__nmscore (void)
{
  return PyModuleDef_Init (&definition);
}
