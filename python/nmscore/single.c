/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* single: the functions that decide the boxes of one image. */
#include "columns.h"
#include "numpyarrays.h"
#include "xlacontext.h"

#include <string.h>

/* Runs NMS. Releases the interpreter's lock while it runs if the frame is large, or if the engine
 * may wait for a device. */
static int
run_boxes (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, nms_result *result)
{
  int error;

  if (boxes->count < MODULE_RELEASE_FROM && options->engine != NMS_ENGINE_ADDED)
    return nms_run (ctx, boxes, options, result);
  Py_BEGIN_ALLOW_THREADS error = nms_run (ctx, boxes, options, result);
  Py_END_ALLOW_THREADS return error;
}

static PyObject *
kept_of (module_state *state, const nms_boxes *boxes, const nms_options *options)
{
  nms_context *ctx = module_take_context (state);
  nms_result result = { .size = sizeof result };
  PyObject *kept = NULL;

  if (!ctx)
    return NULL;
  int error = run_boxes (ctx, boxes, options, &result);
  if (error)
    module_raise (error, ctx);
  else
    kept = numpyarrays_indices (state, result.kept, result.kept_count);
  module_return_context (state, ctx);
  return kept;
}

/* single_nms (boxes, scores, iou_threshold, score_threshold, max_detections[, idxs]) -> kept */
PyObject *
single_nms (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  columns c = { .open_count = 0 };
  nms_options options;
  PyObject *kept = NULL;

  if (n != 5 && n != 6)
    return PyErr_Format (PyExc_TypeError, "nms takes 5 or 6 arguments, not %zd", n);
  if (py_options_read_three (args + 2, &options) == 0
      && columns_open_boxes (state, &c, args[0]) == 0
      && columns_open_floats (state, &c, args[1], "scores", &c.boxes.score) == 0
      && (n == 5 || columns_open_classes (state, &c, args[5], "idxs") == 0))
    kept = kept_of (state, &c.boxes, &options);
  columns_close (&c);
  return kept;
}

static PyObject *
outcome_array (module_state *state, const uint8_t *outcome, size_t count)
{
  uint8_t *bytes;
  PyObject *array = numpyarrays_bytes (state, count, &bytes);
  if (array && count)
    memcpy (bytes, outcome, count);
  return array;
}

/* Returns the fields of nmscore.Result as a tuple. */
static PyObject *
result_tuple (module_state *state, nms_context *ctx, unsigned outputs, const nms_result *r,
    size_t count)
{
  PyObject *kept = numpyarrays_indices (state, r->kept, r->kept_count);
  PyObject *outcome = outputs & NMS_OUTPUT_OUTCOME ? outcome_array (state, r->outcome, count)
                                                   : module_none ();
  PyObject *by = outputs & NMS_OUTPUT_SUPPRESSED_BY
      ? numpyarrays_indices (state, r->suppressed_by, count)
      : module_none ();
  PyObject *scores = r->kept_score ? numpyarrays_floats (state, r->kept_score, r->kept_count)
                                   : module_none ();
  PyObject *rows = r->kept_box ? numpyarrays_rows (state, r->kept_box, r->kept_count)
                               : module_none ();
  PyObject *tuple = NULL;

  if (kept && outcome && by && scores && rows)
    tuple = Py_BuildValue ("(OOOnnnnnsOO)", kept, outcome, by, (Py_ssize_t) r->suppressed_count,
        (Py_ssize_t) r->over_cap_count, (Py_ssize_t) r->filtered_count,
        (Py_ssize_t) r->invalid_count, (Py_ssize_t) r->not_candidate_count,
        nms_context_engine_in_use (ctx), scores, rows);
  Py_XDECREF (scores);
  Py_XDECREF (rows);
  Py_XDECREF (kept);
  Py_XDECREF (outcome);
  Py_XDECREF (by);
  return tuple;
}

static PyObject *
tuple_of (module_state *state, const nms_boxes *boxes, const py_options *o)
{
  nms_context *ctx = xlacontext_take (state, o);
  nms_result result = { .size = sizeof result };
  PyObject *tuple = NULL;

  if (!ctx)
    return NULL;
  int error = run_boxes (ctx, boxes, &o->options, &result);
  if (error)
    module_raise (error, ctx);
  else
    tuple = result_tuple (state, ctx, o->options.outputs, &result, boxes->count);
  xlacontext_return (state, o, ctx);
  return tuple;
}

/* single_run (the arrays of columns_open_all, outcome, suppressed_by, the options of
 * py_options_read) -> the fields of nmscore.Result */
PyObject *
single_run (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  columns c = { .open_count = 0 };
  py_options o = { .classes = NULL };
  PyObject *tuple = NULL;

  if (n != COLUMNS_MOST + 2 + PY_OPTIONS_COUNT)
    return PyErr_Format (PyExc_TypeError, "run takes %d arguments, not %zd",
        COLUMNS_MOST + 2 + PY_OPTIONS_COUNT, n);
  if (py_options_read (args + COLUMNS_MOST + 2, &o) == 0
      && py_options_read_outputs (args + COLUMNS_MOST, &o.options) == 0
      && columns_open_all (state, &c, args) == 0 && columns_check_classes (&c, &o.options) == 0)
    tuple = tuple_of (state, &c.boxes, &o);
  columns_close (&c);
  py_options_free (&o);
  return tuple;
}

/* Counts the neighbors of each box into `neighbors`, which has an element for each box. */
static PyObject *
counts_of (module_state *state, const nms_boxes *boxes, const nms_options *options,
    uint32_t *neighbors)
{
  nms_context *ctx = module_take_context (state);
  PyObject *counts = NULL;
  int error;

  if (!ctx)
    return NULL;
  Py_BEGIN_ALLOW_THREADS error = nms_count_neighbors (ctx, boxes, options, neighbors);
  Py_END_ALLOW_THREADS if (error) module_raise (error, ctx);
  else counts = numpyarrays_counts (state, neighbors, boxes->count);
  module_return_context (state, ctx);
  return counts;
}

static PyObject *
neighbors_of (module_state *state, const nms_boxes *boxes, const nms_options *options)
{
  uint32_t *neighbors = PyMem_Malloc (boxes->count * sizeof *neighbors);
  if (!neighbors)
    return PyErr_NoMemory ();
  PyObject *counts = counts_of (state, boxes, options, neighbors);
  PyMem_Free (neighbors);
  return counts;
}

/* single_neighbors (the arrays of columns_open_all, the options of py_options_read) -> counts */
PyObject *
single_neighbors (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  columns c = { .open_count = 0 };
  py_options o = { .classes = NULL };
  PyObject *counts = NULL;

  if (n != COLUMNS_MOST + PY_OPTIONS_COUNT)
    return PyErr_Format (PyExc_TypeError, "count_neighbors takes %d arguments, not %zd",
        COLUMNS_MOST + PY_OPTIONS_COUNT, n);
  if (py_options_read (args + COLUMNS_MOST, &o) == 0 && columns_open_all (state, &c, args) == 0
      && columns_check_classes (&c, &o.options) == 0)
    counts = neighbors_of (state, &c.boxes, &o.options);
  columns_close (&c);
  py_options_free (&o);
  return counts;
}
