/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pybatch: the function that decides the boxes of many images. A context with threads is kept
 * for the next batch, because starting threads takes longer than a small batch.
 */
#include "columns.h"
#include "numbers.h"
#include "numpyarrays.h"
#include "xlacontext.h"

/* A batch with its columns, options and results. Set all fields to zero before the first use. */
typedef struct py_batch {
  columns columns;
  py_options o;
  size_t *offsets; /* images + 1 elements */
  size_t images;
  unsigned threads;
  nms_batch_arrays arrays; /* `outcome` is the memory of the array below; others: allocated */
  PyObject *outcome;
} py_batch;

static int
check_offsets (const py_batch *b)
{
  const size_t last = b->offsets[b->images], count = b->columns.boxes.count;

  if (b->offsets[0] != 0) {
    PyErr_Format (PyExc_ValueError, "offsets must begin with 0, not %zu", b->offsets[0]);
    return -1;
  }
  for (size_t i = 0; i < b->images; i++)
    if (b->offsets[i] > b->offsets[i + 1]) {
      PyErr_Format (PyExc_ValueError,
          "offsets must ascend, but offsets[%zu] is %zu and"
          " offsets[%zu] is %zu",
          i, b->offsets[i], i + 1, b->offsets[i + 1]);
      return -1;
    }
  if (last == count)
    return 0;
  PyErr_Format (PyExc_ValueError, "offsets must end with the number of boxes, %zu, not %zu", count,
      last);
  return -1;
}

static int
copy_offsets (py_batch *b, const array_view *view)
{
  if (view->ndim != 1 || view->shape[0] == 0)
    return array_view_shape_error (view, "offsets", "(images + 1,)");
  if (view->kind != NUMBER_INT && view->kind != NUMBER_UINT)
    return array_view_kind_error (view, "offsets", "whole numbers");
  b->images = (size_t) view->shape[0] - 1;
  b->offsets = PyMem_Malloc ((b->images + 1) * sizeof *b->offsets);
  if (!b->offsets) {
    PyErr_NoMemory ();
    return -1;
  }
  if (numbers_to_sizes (view, b->offsets))
    return check_offsets (b);
  PyErr_SetString (PyExc_ValueError, "offsets must not be negative");
  return -1;
}

static int
open_offsets (module_state *state, py_batch *b, PyObject *array)
{
  array_view view = { .data = NULL };

  if (array_view_open (state, array, "offsets", &view) < 0)
    return -1;
  int error = copy_offsets (b, &view);
  array_view_close (&view);
  return error;
}

static int
read_threads (PyObject *value, unsigned *threads)
{
  uint64_t count;

  if (py_options_read_count (value, "threads", &count) < 0)
    return -1;
  if (count < 1 || count > NMS_MAX_THREADS) {
    PyErr_Format (PyExc_ValueError, "threads is %R, must be 1..%d", value, NMS_MAX_THREADS);
    return -1;
  }
  *threads = (unsigned) count;
  return 0;
}

/* Allocates the arrays that the batch writes. */
static int
allocate_arrays (module_state *state, py_batch *b)
{
  const size_t count = b->columns.boxes.count;
  const uint32_t outputs = b->o.options.outputs;
  nms_batch_arrays *a = &b->arrays;

  a->size = sizeof *a;
  a->kept_capacity = count;
  a->kept = PyMem_Malloc (count * sizeof *a->kept);
  a->kept_offsets = PyMem_Malloc ((b->images + 1) * sizeof *a->kept_offsets);
  if (outputs & NMS_OUTPUT_SUPPRESSED_BY)
    a->suppressed_by = PyMem_Malloc (count * sizeof *a->suppressed_by);
  if (outputs & NMS_OUTPUT_SCORE)
    a->kept_score = PyMem_Malloc (count * sizeof *a->kept_score);
  if (outputs & NMS_OUTPUT_BOX)
    a->kept_box = PyMem_Malloc (4 * count * sizeof *a->kept_box);
  if (!a->kept || !a->kept_offsets || (!a->suppressed_by && outputs & NMS_OUTPUT_SUPPRESSED_BY)
      || (!a->kept_score && outputs & NMS_OUTPUT_SCORE)
      || (!a->kept_box && outputs & NMS_OUTPUT_BOX)) {
    PyErr_NoMemory ();
    return -1;
  }
  if (outputs & NMS_OUTPUT_OUTCOME)
    b->outcome = numpyarrays_bytes (state, count, &a->outcome);
  return outputs & NMS_OUTPUT_OUTCOME && !b->outcome ? -1 : 0;
}

/* Returns the fields of nmscore.BatchResult as a tuple. */
static PyObject *
batch_tuple (module_state *state, const py_batch *b, nms_context *ctx, const nms_result *r)
{
  const nms_batch_arrays *a = &b->arrays;
  PyObject *kept = numpyarrays_indices (state, a->kept, r->kept_count);
  PyObject *offsets = numpyarrays_sizes (state, a->kept_offsets, b->images + 1);
  PyObject *by = a->suppressed_by
      ? numpyarrays_indices (state, a->suppressed_by, b->columns.boxes.count)
      : module_none ();
  PyObject *scores = a->kept_score ? numpyarrays_floats (state, a->kept_score, r->kept_count)
                                   : module_none ();
  PyObject *rows = a->kept_box ? numpyarrays_rows (state, a->kept_box, r->kept_count)
                               : module_none ();
  PyObject *tuple = NULL;

  if (kept && offsets && by && scores && rows)
    tuple = Py_BuildValue ("(OOOOnnnnnsOO)", kept, offsets, b->outcome ? b->outcome : Py_None, by,
        (Py_ssize_t) r->suppressed_count, (Py_ssize_t) r->over_cap_count,
        (Py_ssize_t) r->filtered_count, (Py_ssize_t) r->invalid_count,
        (Py_ssize_t) r->not_candidate_count, nms_context_engine_in_use (ctx), scores, rows);
  Py_XDECREF (scores);
  Py_XDECREF (rows);
  Py_XDECREF (kept);
  Py_XDECREF (offsets);
  Py_XDECREF (by);
  return tuple;
}

/* Takes the spare context with threads, or a new one, and sets its number of threads. Engine xla
 * runs one image at a time, so its context has one thread. */
static nms_context *
take_context (module_state *state, const py_options *o, unsigned threads)
{
  nms_context *ctx;

  if (threads == 1 || o->options.engine == NMS_ENGINE_ADDED)
    return xlacontext_take (state, o);
  ctx = state->batch ? state->batch : nms_context_new ();
  if (ctx == state->batch && state->batch_threads == threads) {
    state->batch = NULL;
    return ctx;
  }
  state->batch = NULL;
  if (ctx && nms_context_set_threads (ctx, threads) == NMS_OK)
    return ctx;
  nms_context_free (&ctx);
  PyErr_NoMemory ();
  return NULL;
}

static void
return_context (module_state *state, const py_options *o, nms_context *ctx, unsigned threads)
{
  if (threads == 1 || o->options.engine == NMS_ENGINE_ADDED) {
    xlacontext_return (state, o, ctx);
    return;
  }
  if (state->batch)
    nms_context_free (&state->batch);
  state->batch = ctx;
  state->batch_threads = threads;
}

static PyObject *
run (module_state *state, const py_batch *b)
{
  nms_context *ctx = take_context (state, &b->o, b->threads);
  nms_result result = { .size = sizeof result };
  PyObject *tuple = NULL;
  int error;

  if (!ctx)
    return NULL;
  Py_BEGIN_ALLOW_THREADS error = nms_run_batch (ctx, &b->columns.boxes, b->offsets, b->images,
      &b->o.options, &b->arrays, &result);
  Py_END_ALLOW_THREADS if (error) module_raise (error, ctx);
  else tuple = batch_tuple (state, b, ctx, &result);
  return_context (state, &b->o, ctx, b->threads);
  return tuple;
}

static void
close_batch (py_batch *b)
{
  columns_close (&b->columns);
  py_options_free (&b->o);
  PyMem_Free (b->offsets);
  PyMem_Free (b->arrays.kept);
  PyMem_Free (b->arrays.kept_offsets);
  PyMem_Free (b->arrays.suppressed_by);
  PyMem_Free (b->arrays.kept_score);
  PyMem_Free (b->arrays.kept_box);
  Py_XDECREF (b->outcome);
}

#define ARGUMENTS (COLUMNS_MOST + 2 + PY_OPTIONS_COUNT + 2)

/* py_batch_run (the arguments of single_run, offsets, threads) -> the fields of
 * nmscore.BatchResult */
PyObject *
py_batch_run (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  module_state *state = PyModule_GetState (module);
  py_batch b = { .images = 0 };
  PyObject *tuple = NULL;

  if (n != ARGUMENTS)
    return PyErr_Format (PyExc_TypeError, "run_batch takes %d arguments, not %zd", ARGUMENTS, n);
  if (py_options_read (args + COLUMNS_MOST + 2, &b.o) == 0
      && py_options_read_outputs (args + COLUMNS_MOST, &b.o.options) == 0
      && read_threads (args[n - 1], &b.threads) == 0
      && columns_open_all (state, &b.columns, args) == 0
      && columns_check_classes (&b.columns, &b.o.options) == 0
      && open_offsets (state, &b, args[n - 2]) == 0 && allocate_arrays (state, &b) == 0)
    tuple = run (state, &b);
  close_batch (&b);
  return tuple;
}
