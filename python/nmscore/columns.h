/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns: makes columns of nms_boxes from the arrays of one call. Elements of a type that the
 * library reads stay in place, with any strides; others are converted and copied.
 */
#ifndef NMS_PYTHON_COLUMNS_H
#define NMS_PYTHON_COLUMNS_H

#include "arrayview.h"

#define COLUMNS_MOST 7

/* The arrays of a call. Set all fields to zero before the first use. */
typedef struct columns {
  nms_boxes boxes;
  array_view view[COLUMNS_MOST]; /* the first open_count are open */
  void *converted[COLUMNS_MOST];
  int open_count;
  bool ranked; /* class ids beyond int32 were replaced by their ranks */
} columns;

/* Each of these opens one array; `name` is the caller's parameter, for errors. They return 0, or
 * -1 with an exception. Call columns_open_boxes first, because it sets the number of boxes. It
 * reads an array of shape (0,), which an empty list has, as 0 boxes. */
int columns_open_boxes (module_state *state, columns *c, PyObject *array);
int columns_open_floats (module_state *state, columns *c, PyObject *array, const char *name,
    nms_column *column);
int columns_open_classes (module_state *state, columns *c, PyObject *array, const char *name);
int columns_open_parents (module_state *state, columns *c, PyObject *array);
int columns_open_sources (module_state *state, columns *c, PyObject *array);
int columns_open_exclude (module_state *state, columns *c, PyObject *array);

/* Opens boxes, scores, class_ids, exclude, parents, angles and sources, in this order in `args`.
 * All but the first may be None. Returns 0, or -1 with an exception. */
int columns_open_all (module_state *state, columns *c, PyObject *const *args);

/* Returns 0, or -1 with a ValueError if the options have class options and class ids were replaced
 * by their ranks. */
int columns_check_classes (const columns *c, const nms_options *options);

/* Closes the arrays and frees the converted elements. */
void columns_close (columns *c);

#endif
