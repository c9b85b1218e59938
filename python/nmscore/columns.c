/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* columns: opens the arrays of one call, and converts elements that the library cannot read. */
#include "columns.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

/* Opens the next view. Returns NULL with an exception. */
static array_view *
open_next (module_state *state, columns *c, PyObject *array, const char *name)
{
  array_view *view = &c->view[c->open_count];
  if (array_view_open (state, array, name, view) < 0)
    return NULL;
  c->open_count++;
  return view;
}

/* Opens the next view, and checks that it has one element for each box. Returns NULL with an
 * exception. */
static array_view *
open_column (module_state *state, columns *c, PyObject *array, const char *name)
{
  array_view *view = open_next (state, c, array, name);
  char wanted[64];

  if (!view || (view->ndim == 1 && (size_t) view->shape[0] == c->boxes.count))
    return view;
  snprintf (wanted, sizeof wanted, "(%zu,) for %zu boxes", c->boxes.count, c->boxes.count);
  array_view_shape_error (view, name, wanted);
  return NULL;
}

/* Allocates memory for the converted elements of the view that was opened last, `size` bytes for
 * each box. */
static void *
allocate (columns *c, size_t size)
{
  const size_t count = c->boxes.count;
  void *memory = count <= PY_SSIZE_T_MAX / size ? PyMem_Malloc (count * size) : NULL;
  if (!memory)
    PyErr_NoMemory ();
  c->converted[c->open_count - 1] = memory;
  return memory;
}

/* Returns whether the elements are numbers. An empty array may have any type, because numpy makes
 * float64 arrays of empty lists. */
static bool
is_real (const array_view *view)
{
  return view->kind != NUMBER_BOOL || array_view_size (view) == 0;
}

static bool
is_whole (const array_view *view)
{
  return view->kind == NUMBER_INT || view->kind == NUMBER_UINT || array_view_size (view) == 0;
}

/* Returns whether the library can read the elements in place. A stride of 0, which broadcasting
 * makes, would mean "packed" to it. */
static bool
in_place (const array_view *view, number_kind kind, unsigned bits)
{
  return view->kind == kind && view->bits == bits && (view->shape[0] <= 1 || view->strides[0] != 0);
}

/* Points *column at the elements of `view`, without a copy. */
static int
refer (const array_view *view, nms_column *column)
{
  column->data = view->data;
  column->stride = view->strides[0];
  return 0;
}

static void
set_rows (nms_boxes *boxes, const char *data, Py_ssize_t row, Py_ssize_t corner)
{
  nms_column *const corners[4] = { &boxes->x1, &boxes->y1, &boxes->x2, &boxes->y2 };
  for (int i = 0; i < 4; i++) {
    corners[i]->data = data + i * corner;
    corners[i]->stride = row;
  }
}

int
columns_open_boxes (module_state *state, columns *c, PyObject *array)
{
  array_view *view = open_next (state, c, array, "boxes");

  c->boxes.size = sizeof c->boxes;
  if (!view)
    return -1;
  if (view->ndim == 1 && view->shape[0] == 0)
    return 0;
  if (view->ndim != 2 || view->shape[1] != 4)
    return array_view_shape_error (view, "boxes", "(N, 4)");
  if (!is_real (view))
    return array_view_kind_error (view, "boxes", "numbers");
  c->boxes.count = (size_t) view->shape[0];
  if (c->boxes.count == 0)
    return 0;
  if (in_place (view, NUMBER_FLOAT, 32)) {
    set_rows (&c->boxes, view->data, view->strides[0], view->strides[1]);
    return 0;
  }
  float *rows = allocate (c, 4 * sizeof *rows);
  if (!rows)
    return -1;
  numbers_to_floats (view, rows);
  set_rows (&c->boxes, (const char *) rows, 4 * sizeof *rows, sizeof *rows);
  return 0;
}

int
columns_open_floats (module_state *state, columns *c, PyObject *array, const char *name,
    nms_column *column)
{
  const array_view *view = open_column (state, c, array, name);
  if (!view)
    return -1;
  if (!is_real (view))
    return array_view_kind_error (view, name, "numbers");
  if (in_place (view, NUMBER_FLOAT, 32) || c->boxes.count == 0)
    return refer (view, column);
  float *values = allocate (c, sizeof *values);
  if (!values)
    return -1;
  numbers_to_floats (view, values);
  column->data = values;
  return 0;
}

/* Returns whether all elements, which are int64, fit into int32. */
static bool
fits_int32 (const array_view *view)
{
  const char *at = view->data;
  int64_t wide, beyond = 0;
  for (Py_ssize_t i = 0; i < view->shape[0]; i++, at += view->strides[0]) {
    memcpy (&wide, at, sizeof wide);
    beyond |= wide ^ (int32_t) wide;
  }
  return !beyond;
}

/* Opens whole numbers as int32. Returns 0, -1 with an exception, or 1 if some do not fit; those
 * are converted to -1. */
static int
open_int32 (module_state *state, columns *c, PyObject *array, const char *name, nms_column *column)
{
  const array_view *view = open_column (state, c, array, name);
  if (!view)
    return -1;
  if (!is_whole (view))
    return array_view_kind_error (view, name, "whole numbers");
  if (in_place (view, NUMBER_INT, 32) || c->boxes.count == 0)
    return refer (view, column);
  if (in_place (view, NUMBER_INT, 64) && fits_int32 (view)) { /* numpy's default integers */
    refer (view, column);
    column->data = view->data + (PY_BIG_ENDIAN ? 4 : 0);
    return 0;
  }
  int32_t *values = allocate (c, sizeof *values);
  if (!values)
    return -1;
  column->data = values;
  return numbers_to_int32 (view, values) ? 0 : 1;
}

int
columns_open_classes (module_state *state, columns *c, PyObject *array, const char *name)
{
  int beyond = open_int32 (state, c, array, name, &c->boxes.class_id);
  if (beyond <= 0)
    return beyond;
  /* replaces ids beyond int32 by their ranks, because only their equality matters */
  c->ranked = true;
  PyObject *ranks = PyObject_CallFunction (state->ranks, "Os", array, name);
  if (!ranks)
    return -1;
  PyMem_Free (c->converted[--c->open_count]);
  c->converted[c->open_count] = NULL;
  array_view_close (&c->view[c->open_count]);
  c->boxes.class_id = (nms_column) { NULL, 0 };
  int error = open_int32 (state, c, ranks, name, &c->boxes.class_id);
  Py_DECREF (ranks); /* the view holds another reference */
  return error;
}

/* An index that does not fit into int32 is out of range and counts as -1, to which it is
 * converted. */
int
columns_open_parents (module_state *state, columns *c, PyObject *array)
{
  return open_int32 (state, c, array, "parents", &c->boxes.parent) < 0 ? -1 : 0;
}

/* A number that does not fit into int32 is converted to -1, which is no source either. */
int
columns_open_sources (module_state *state, columns *c, PyObject *array)
{
  return open_int32 (state, c, array, "sources", &c->boxes.source) < 0 ? -1 : 0;
}

int
columns_open_exclude (module_state *state, columns *c, PyObject *array)
{
  const array_view *view = open_column (state, c, array, "exclude");
  if (!view)
    return -1;
  if (view->kind != NUMBER_BOOL && !is_whole (view))
    return array_view_kind_error (view, "exclude", "booleans or whole numbers");
  if (in_place (view, NUMBER_BOOL, 8) || in_place (view, NUMBER_UINT, 8) || c->boxes.count == 0)
    return refer (view, &c->boxes.exclude);
  uint8_t *flags = allocate (c, sizeof *flags);
  if (!flags)
    return -1;
  numbers_to_flags (view, flags);
  c->boxes.exclude.data = flags;
  return 0;
}

int
columns_open_all (module_state *state, columns *c, PyObject *const *args)
{
  if (columns_open_boxes (state, c, args[0]) < 0)
    return -1;
  if (args[1] != Py_None && columns_open_floats (state, c, args[1], "scores", &c->boxes.score) < 0)
    return -1;
  if (args[2] != Py_None && columns_open_classes (state, c, args[2], "class_ids") < 0)
    return -1;
  if (args[3] != Py_None && columns_open_exclude (state, c, args[3]) < 0)
    return -1;
  if (args[4] != Py_None && columns_open_parents (state, c, args[4]) < 0)
    return -1;
  if (args[5] != Py_None && columns_open_floats (state, c, args[5], "angles", &c->boxes.angle) < 0)
    return -1;
  if (args[6] != Py_None && columns_open_sources (state, c, args[6]) < 0)
    return -1;
  return 0;
}

int
columns_check_classes (const columns *c, const nms_options *options)
{
  if (!c->ranked || !options->class_option_count)
    return 0;
  PyErr_SetString (PyExc_ValueError,
      "class_ids must be in the range of int32 where class_options"
      " are given");
  return -1;
}

void
columns_close (columns *c)
{
  for (int i = 0; i < c->open_count; i++) {
    PyMem_Free (c->converted[i]);
    array_view_close (&c->view[i]);
  }
}
