/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classoptionsdict: reads class options. Errors name the class and the option, as in
 * "class_options[7]: iou_threshold is 1.2, must be 0..1". */
#include "classoptionsdict.h"
#include "pyoptions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int
read_id (PyObject *key, int32_t *id)
{
  PyObject *number = PyNumber_Index (key);
  int overflow = 0;
  long long wide = number ? PyLong_AsLongLongAndOverflow (number, &overflow) : -1;

  Py_XDECREF (number);
  if (!number) {
    PyErr_Format (PyExc_TypeError, "class_options must have class ids as keys, not %R", key);
    return -1;
  }
  if (overflow || wide < INT32_MIN || wide > INT32_MAX) {
    PyErr_Format (PyExc_ValueError, "class_options: class id %R is beyond the range of int32", key);
    return -1;
  }
  *id = (int32_t) wide;
  return 0;
}

static int
range_error (const char *name, PyObject *value, const char *range)
{
  PyErr_Format (PyExc_ValueError, "%s is %R, must be %s", name, value, range);
  return -1;
}

static int
read_group (const char *name, PyObject *value, int32_t *group)
{
  PyObject *number = PyNumber_Index (value);
  int overflow = 0;
  const long long wide = number ? PyLong_AsLongLongAndOverflow (number, &overflow) : -1;

  Py_XDECREF (number);
  if (!number)
    return py_options_type_error (name, "a whole number", value);
  if (overflow || wide < INT32_MIN || wide > INT32_MAX)
    return range_error (name, value, "in the range of int32");
  *group = (int32_t) wide;
  return 0;
}

/* Reads the option `option`; `name` is its full name, for errors. Returns 0, 1 if the option is
 * unknown, or -1 with an exception. */
static int
read_known (const char *name, const char *option, PyObject *value, nms_class_options *entry)
{
  if (!strcmp (option, "iou_threshold")) {
    entry->set |= NMS_CLASS_IOU_THRESHOLD;
    if (py_options_read_float (value, name, &entry->iou_threshold) < 0)
      return -1;
    return entry->iou_threshold >= 0 && entry->iou_threshold <= 1
        ? 0
        : range_error (name, value, "0..1");
  }
  if (!strcmp (option, "score_threshold")) {
    entry->set |= NMS_CLASS_SCORE_THRESHOLD;
    if (py_options_read_float (value, name, &entry->score_threshold) < 0)
      return -1;
    return isnan (entry->score_threshold) ? range_error (name, value, "a number") : 0;
  }
  if (!strcmp (option, "max_detections")) {
    entry->set |= NMS_CLASS_MAX_DETECTIONS;
    return py_options_read_count (value, name, &entry->max_detections);
  }
  if (!strcmp (option, "group")) {
    entry->set |= NMS_CLASS_GROUP;
    return read_group (name, value, &entry->group);
  }
  return 1;
}

static int
read_option (PyObject *key, PyObject *value, nms_class_options *entry)
{
  const char *option = PyUnicode_Check (key) ? PyUnicode_AsUTF8AndSize (key, NULL) : "";
  char name[80];

  if (!option)
    return -1;
  const int start = snprintf (name, sizeof name, "class_options[%ld]: ", (long) entry->class_id);
  snprintf (name + start, sizeof name - (size_t) start, "%s", option);
  const int known = read_known (name, option, value, entry);
  if (known > 0)
    PyErr_Format (PyExc_ValueError, "class_options[%ld] has the unknown option %R",
        (long) entry->class_id, key);
  return known ? -1 : 0;
}

/* Returns a list of the pairs of a mapping: a copy, because converting a value may run Python code
 * that changes the mapping. */
static PyObject *
items_of (PyObject *mapping, const char *name)
{
  PyObject *items = PyMapping_Items (mapping);
  if (!items && PyErr_ExceptionMatches (PyExc_Exception)) {
    PyErr_Clear ();
    py_options_type_error (name, "a dict", mapping);
  }
  return items;
}

/* Reads entry `i` of a list that items_of returned: what a mapping's items () returns may be no
 * pairs. The list keeps the key and the value. */
static int
read_pair (PyObject *items, Py_ssize_t i, PyObject **key, PyObject **value)
{
  PyObject *pair = PyList_GetItem (items, i);
  if (!PyTuple_Check (pair))
    return py_options_type_error ("an item of class_options", "a pair", pair);
  return PyArg_UnpackTuple (pair, "class_options", 2, 2, key, value) ? 0 : -1;
}

static int
read_entry (PyObject *key, PyObject *options, nms_class_options *entry)
{
  char name[40];

  entry->size = sizeof *entry;
  if (read_id (key, &entry->class_id) < 0)
    return -1;
  snprintf (name, sizeof name, "class_options[%ld]", (long) entry->class_id);
  PyObject *items = items_of (options, name);
  int error = items ? 0 : -1;
  for (Py_ssize_t i = 0; !error && i < PyList_Size (items); i++) {
    PyObject *option, *value;
    error = read_pair (items, i, &option, &value);
    if (!error)
      error = read_option (option, value, entry);
  }
  Py_XDECREF (items);
  return error;
}

int
class_options_read (PyObject *value, nms_class_options **entries, size_t *count)
{
  if (value == Py_None)
    return 0;
  PyObject *items = items_of (value, "class_options");
  if (!items)
    return -1;
  const Py_ssize_t size = PyList_Size (items);
  int error = 0;
  *entries = PyMem_Calloc ((size_t) size + 1, sizeof **entries);
  if (!*entries) {
    PyErr_NoMemory ();
    error = -1;
  }
  for (Py_ssize_t i = 0; !error && i < size; i++) {
    PyObject *id, *options;
    error = read_pair (items, i, &id, &options);
    if (!error)
      error = read_entry (id, options, &(*entries)[i]);
  }
  *count = error ? 0 : (size_t) size;
  Py_DECREF (items);
  return error;
}
