/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns: the arrays of one call as columns of nms_boxes. Elements that the library reads are
 * left where they are, whatever the strides; others are converted to memory of the call.
 */
#ifndef NMS_PYTHON_COLUMNS_H
#define NMS_PYTHON_COLUMNS_H

#include "arrayview.h"

#define COLUMNS_MOST 6

/* The arrays of a call; begin with all fields zero. */
typedef struct columns {
  nms_boxes boxes;
  array_view view[COLUMNS_MOST]; /* open_count are open */
  void *converted[COLUMNS_MOST];
  int open_count;
  bool ranked; /* class ids beyond int32 were replaced by their ranks */
} columns;

/* Each opens one array of the caller's parameter `name`; they return 0, or -1 with an exception.
 * columns_open_boxes sets the number of boxes and comes first; an array of shape (0,), which an
 * empty list has, is 0 boxes. */
int columns_open_boxes (module_state *state, columns *c, PyObject *array);
int columns_open_floats (module_state *state, columns *c, PyObject *array, const char *name,
    nms_column *column);
int columns_open_classes (module_state *state, columns *c, PyObject *array, const char *name);
int columns_open_parents (module_state *state, columns *c, PyObject *array);
int columns_open_exclude (module_state *state, columns *c, PyObject *array);

/* Opens `args`: boxes, scores, class_ids, exclude, parents, angles; None leaves out any but the
 * first. */
int columns_open_all (module_state *state, columns *c, PyObject *const *args);

/* Raises a ValueError and returns -1 if there are options for class ids that were replaced by
 * their ranks. */
int columns_check_classes (const columns *c, const nms_options *options);

/* Closes the arrays and frees the converted elements. */
void columns_close (columns *c);

#endif
