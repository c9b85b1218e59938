/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrayview: an array of the caller, read in place. The buffer protocol is tried first (numpy
 * arrays, array.array, memoryview), then DLPack (torch, JAX): by the functions of the array's type
 * if it has them, because a call of __dlpack__ takes ten times as long. nmscore._arrays makes a
 * numpy array of any other object, such as a list, and of arrays whose elements are not plain
 * numbers in native byte order.
 */
#ifndef NMS_PYTHON_ARRAYVIEW_H
#define NMS_PYTHON_ARRAYVIEW_H

#include "module.h"

#include <stdbool.h>

#define ARRAY_MAX_DIMS 8

typedef enum number_kind {
  NUMBER_OTHER,
  NUMBER_INT,
  NUMBER_UINT,
  NUMBER_FLOAT,
  NUMBER_BFLOAT,
  NUMBER_BOOL
} number_kind;

/* A view whose fields are all zero is closed. */
typedef struct array_view {
  const char *data; /* the element with all indices 0 */
  int ndim;
  Py_ssize_t shape[ARRAY_MAX_DIMS];
  Py_ssize_t strides[ARRAY_MAX_DIMS]; /* in bytes */
  number_kind kind;
  unsigned bits; /* size of an element */
  /* the owner of the memory; one of the two is set in an open view */
  Py_buffer buffer;
  PyObject *lender; /* a capsule of DLPack, or the array itself */
} array_view;

/* Opens a closed view. `name` is the caller's parameter, for the messages of errors. Returns 0, or
 * -1 with an exception. */
int array_view_open (module_state *state, PyObject *object, const char *name, array_view *view);

/* Closes the view. Does nothing if it is closed. */
void array_view_close (array_view *view);

/* Returns the number of elements. */
Py_ssize_t array_view_size (const array_view *view);

/* Raises a ValueError about the shape; returns -1. `wanted` is a text such as "(N, 4)". */
int array_view_shape_error (const array_view *view, const char *name, const char *wanted);

/* Raises a TypeError about the kind of elements; returns -1. `wanted`: "numbers", for example. */
int array_view_kind_error (const array_view *view, const char *name, const char *wanted);

#endif
