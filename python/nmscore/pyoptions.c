/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pyoptions: reads the options from Python values. */
#include "pyoptions.h"
#include "classoptionsdict.h"

#include <stddef.h>

typedef enum option_kind { OPTION_FLOAT, OPTION_COUNT, OPTION_FLAG } option_kind;

/* The options that are one number each, in the order of the parameters. */
static const struct {
  const char *name;
  option_kind kind;
  size_t offset;
} fields[] = {
#define FIELD(name, kind) \
  { \
#name, kind, offsetof(nms_options, name) \
  }
  FIELD (iou_threshold, OPTION_FLOAT),
  FIELD (score_threshold, OPTION_FLOAT),
  FIELD (max_detections, OPTION_COUNT),
  FIELD (max_per_class, OPTION_COUNT),
  FIELD (max_candidates, OPTION_COUNT),
  FIELD (inclusive, OPTION_FLAG),
  FIELD (score_strict, OPTION_FLAG),
  FIELD (class_agnostic, OPTION_FLAG),
  FIELD (sigma, OPTION_FLOAT),
  FIELD (min_score, OPTION_FLOAT),
  FIELD (min_size_ratio, OPTION_FLOAT),
#undef FIELD
};
#define FIELD_COUNT ((int) (sizeof fields / sizeof *fields))

int
py_options_type_error (const char *name, const char *wanted, PyObject *value)
{
  PyObject *type = value == Py_None
      ? PyUnicode_FromString ("None")
      : PyObject_GetAttrString ((PyObject *) Py_TYPE (value), "__name__");
  if (type)
    PyErr_Format (PyExc_TypeError, "%s must be %s, not %S", name, wanted, type);
  Py_XDECREF (type);
  return -1;
}

/* Replaces the pending exception of a failed conversion of `value` by a TypeError that names the
 * parameter. Leaves MemoryError and KeyboardInterrupt as they are. */
static int
type_error (const char *name, const char *wanted, PyObject *value)
{
  if (!PyErr_ExceptionMatches (PyExc_Exception) || PyErr_ExceptionMatches (PyExc_MemoryError))
    return -1;
  PyErr_Clear ();
  return py_options_type_error (name, wanted, value);
}

int
py_options_read_float (PyObject *value, const char *name, float *number)
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

int
py_options_read_count (PyObject *value, const char *name, uint64_t *count)
{
  PyObject *number = PyNumber_Index (value);
  if (!number)
    return type_error (name, "a whole number", value);
  *count = PyLong_AsUnsignedLongLong (number);
  Py_DECREF (number);
  if (!PyErr_Occurred ())
    return 0;
  if (PyErr_ExceptionMatches (PyExc_OverflowError))
    PyErr_Format (PyExc_ValueError, "%s must be 0 or more, below 2**64", name);
  return -1;
}

int
py_options_read_flag (PyObject *value, const char *name, uint8_t *flag)
{
  const int truth = PyObject_IsTrue (value);
  if (truth < 0)
    return type_error (name, "True or False", value);
  *flag = (uint8_t) truth;
  return 0;
}

static int
read_field (int field, PyObject *value, nms_options *options)
{
  void *target = (char *) options + fields[field].offset;

  switch (fields[field].kind) {
    case OPTION_FLOAT:
      return py_options_read_float (value, fields[field].name, target);
    case OPTION_COUNT:
      return py_options_read_count (value, fields[field].name, target);
    default: {
      uint8_t flag = 0;
      if (py_options_read_flag (value, fields[field].name, &flag) < 0)
        return -1;
      *(uint32_t *) target = flag;
      return 0;
    }
  }
}

int
py_options_read_three (PyObject *const *args, nms_options *options)
{
  nms_options_init (options, sizeof *options);
  for (int i = 0; i < 3; i++)
    if (read_field (i, args[i], options) < 0)
      return -1;
  return 0;
}

/* Reads a name of an enumeration, whose values 0, 1, ... have the names that `name_of` returns. */
static int
read_name (PyObject *value, const char *parameter, const char *(*name_of) (int), uint32_t *number)
{
  const char *name;

  if (!PyUnicode_Check (value))
    return py_options_type_error (parameter, "a string", value);
  for (int i = 0; (name = name_of (i)); i++)
    if (PyUnicode_CompareWithASCIIString (value, name) == 0) {
      *number = (uint32_t) i;
      return 0;
    }
  PyErr_Format (PyExc_ValueError, "%s is %R, which this build does not have", parameter, value);
  return -1;
}

static int
read_weights (PyObject *value, py_options *o)
{
  if (value == Py_None)
    return 0;
  PyObject *list = PySequence_List (value);
  if (!list)
    return type_error ("source_weights", "a sequence of numbers or None", value);
  const Py_ssize_t count = PyList_Size (list);
  int error = 0;
  if (count == 0) {
    Py_DECREF (list);
    PyErr_SetString (PyExc_ValueError, "source_weights is empty");
    return -1;
  }
  o->weights = PyMem_Malloc ((size_t) count * sizeof *o->weights);
  if (!o->weights)
    PyErr_NoMemory ();
  for (Py_ssize_t i = 0; o->weights && !error && i < count; i++)
    error = py_options_read_float (PyList_GetItem (list, i), "source_weights", &o->weights[i]);
  Py_DECREF (list);
  o->options.source_weights = o->weights;
  o->options.source_count = (size_t) count;
  return o->weights ? error : -1;
}

/* Reads method, metric, fused_score and source_weights. */
static int
read_method (PyObject *const *args, py_options *o)
{
  nms_options *options = &o->options;

  if (read_name (args[0], "method", nms_method_name, &options->method) < 0
      || read_name (args[1], "metric", nms_metric_name, &options->metric) < 0
      || read_name (args[2], "fused_score", nms_fused_score_name, &options->fused_score) < 0)
    return -1;
  const char *reason = nms_method_reason ((int) options->method, (int) options->metric);
  if (reason) {
    PyErr_Format (PyExc_ValueError, "method is %R with metric %R: %s", args[0], args[1], reason);
    return -1;
  }
  return read_weights (args[3], o);
}

/* Reads the name of an engine. "xla" selects the added engine of the context. */
static int
read_engine (PyObject *value, py_options *o)
{
  o->options.engine = NMS_ENGINE_ADDED;
  if (PyUnicode_Check (value) && PyUnicode_CompareWithASCIIString (value, "xla") == 0)
    return 0;
  return read_name (value, "engine", nms_engine_name, &o->options.engine);
}

static int
read_plugin (PyObject *value, py_options *o)
{
  if (value == Py_None)
    return 0;
  if (!PyUnicode_FSConverter (value, &o->plugin))
    return type_error ("xla_plugin", "a path or None", value);
  return 0;
}

int
py_options_read (PyObject *const *args, py_options *o)
{
  nms_options_init (&o->options, sizeof o->options);
  for (int i = 0; i < FIELD_COUNT; i++)
    if (read_field (i, args[i], &o->options) < 0)
      return -1;
  args += FIELD_COUNT;
  if (class_options_read (args[0], &o->classes, &o->options.class_option_count) < 0)
    return -1;
  o->options.class_options = o->classes;
  if (read_engine (args[1], o) < 0 || read_plugin (args[2], o) < 0
      || py_options_read_flag (args[3], "xla_strict", &o->xla_strict) < 0)
    return -1;
  return read_method (args + 4, o);
}

int
py_options_read_outputs (PyObject *const *args, nms_options *options)
{
  uint8_t outcome = 0, suppressed_by = 0;

  if (py_options_read_flag (args[0], "outcome", &outcome) < 0
      || py_options_read_flag (args[1], "suppressed_by", &suppressed_by) < 0)
    return -1;
  options->outputs = (outcome ? NMS_OUTPUT_OUTCOME : 0)
      | (suppressed_by ? NMS_OUTPUT_SUPPRESSED_BY : 0)
      | (options->method != NMS_METHOD_HARD ? NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX : 0);
  return 0;
}

void
py_options_free (py_options *o)
{
  PyMem_Free (o->classes);
  PyMem_Free (o->weights);
  Py_XDECREF (o->plugin);
}
