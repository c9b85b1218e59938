/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pyoptions: converts Python values to nms_options. Every error names the parameter. */
#ifndef NMS_PYTHON_PYOPTIONS_H
#define NMS_PYTHON_PYOPTIONS_H

#include "module.h"

/* Options and the memory that they borrow. Set all fields to zero before the first use. */
typedef struct py_options {
  nms_options options;
  nms_class_options *classes;
  PyObject *plugin; /* path of the plugin of engine xla, bytes; NULL if None */
  uint8_t xla_strict;
  float *weights; /* weight of each source; NULL if no weights are given */
} py_options;

/* Raises a TypeError: the parameter `name` must be `wanted`, not of the type of `value`. Returns
 * -1. */
int py_options_type_error (const char *name, const char *wanted, PyObject *value);

/* Each of these reads one value. They return 0, or -1 with an exception. */
int py_options_read_float (PyObject *value, const char *name, float *number);
int py_options_read_count (PyObject *value, const char *name, uint64_t *count);
int py_options_read_flag (PyObject *value, const char *name, uint8_t *flag);

/* Reads iou_threshold, score_threshold and max_detections. Sets all others to their defaults. */
int py_options_read_three (PyObject *const *args, nms_options *options);

/* Reads PY_OPTIONS_COUNT values: those of the table in pyoptions.c, then class_options, engine,
 * xla_plugin, xla_strict, method, metric, fused_score and source_weights. */
#define PY_OPTIONS_COUNT 19
int py_options_read (PyObject *const *args, py_options *o);

/* Reads the parameters outcome and suppressed_by, which request these outputs. Methods other than
 * hard return the scores and corners of the kept boxes, too. */
int py_options_read_outputs (PyObject *const *args, nms_options *options);

void py_options_free (py_options *o);

#endif
