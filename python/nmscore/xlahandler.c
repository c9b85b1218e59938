/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlahandler: decides the images of one call, a few to some hundreds, in place: the arguments are
 * read where XLA has them, and the kept indices are written to XLA's results. The arguments are
 * boxes (B, N, 4) and scores (B, N), binary32, binary16 or bfloat16, and class ids (B, N), int32,
 * `exclude` (B, N), pred, and parents (B, N), int32; the last three are (B, 0) if absent. The
 * results are indices (B, K), int32, -1 after the kept ones, and counts (B), int32.
 *
 * A call makes a context of its own, because XLA may make calls on several threads at once. The
 * handler widens 16-bit numbers, because an operation of XLA before it takes longer than the call.
 */
#include "xlahandler.h"
#include "numbers.h"
#include "xlaffi.h"
#include "xlaoptions.h"

#include <stdlib.h>
#include <string.h>

enum { BOXES, SCORES, CLASSES, EXCLUDE, PARENTS, ARGUMENTS };
enum { KEPT, COUNTS, RESULTS };

typedef struct call {
  size_t images, boxes, most; /* B, N, K */
  nms_options options;
  nms_class_options *classes;
  size_t *offsets, *kept_offsets; /* images + 1 elements each, in one block */
  float *wide[2];                 /* boxes and scores, if they are not binary32 */
} call;

static xlaffi_error *
fail (const xlaffi_frame *f, int code, const char *message)
{
  xlaffi_error_args args = { .size = sizeof args, .message = message, .code = code };
  return f->api->create_error (&args);
}

/* Writes the version for which the handler was built: XLA's own if the declarations hold for it, or
 * else the newest for which they hold. XLA decides at the registration whether it supports it. The
 * XLA of jaxlib 0.8.0 and older asks without its version, which is 0.1. */
static void
write_version (const xlaffi_frame *f, xlaffi_metadata *m)
{
  static const xlaffi_version old = { .major = XLAFFI_MAJOR, .minor = XLAFFI_MINOR_LEAST };
  const xlaffi_version *v = f->api ? &f->api->version : &old;
  const int known = v->major == XLAFFI_MAJOR && v->minor >= XLAFFI_MINOR_LEAST
      && v->minor <= XLAFFI_MINOR_MOST;
  m->version.major = XLAFFI_MAJOR;
  m->version.minor = known ? v->minor : XLAFFI_MINOR_MOST;
  m->traits = 0;
}

/* Answers XLA's question for the handler's version. Returns 0 if this is another call. */
static int
is_metadata_call (const xlaffi_frame *f)
{
  for (xlaffi_extension *e = f->extensions; e; e = e->next)
    if (e->type == XLAFFI_METADATA) {
      write_version (f, ((xlaffi_metadata_extension *) e)->metadata);
      return 1;
    }
  return 0;
}

/* Checks the dimensions `dims` and the type of a buffer. */
static int
is_buffer (const xlaffi_buffer *b, int type, int64_t rank, const int64_t *dims)
{
  return b->type == type && b->rank == rank
      && !memcmp (b->dims, dims, (size_t) rank * sizeof *dims);
}

static int
is_floats (const xlaffi_buffer *b, int64_t rank, const int64_t *dims)
{
  const int known = b->type == XLAFFI_F32 || b->type == XLAFFI_F16 || b->type == XLAFFI_BF16;
  return known && is_buffer (b, b->type, rank, dims);
}

/* Does the same as is_buffer for a column, which has one number for each box, or is empty. */
static int
is_column (const xlaffi_buffer *b, int type, const int64_t *dims)
{
  const int64_t none[] = { dims[0], 0 };
  return is_buffer (b, type, 2, dims) || is_buffer (b, type, 2, none);
}

static int
read_shapes (const xlaffi_frame *f, call *c)
{
  if (f->args.count != ARGUMENTS || f->rets.count != RESULTS)
    return 0;
  xlaffi_buffer *const *a = f->args.buffers, *const *r = f->rets.buffers;
  if (a[BOXES]->rank != 3 || a[BOXES]->dims[2] != 4 || r[KEPT]->rank != 2)
    return 0;
  const int64_t b = a[BOXES]->dims[0], n = a[BOXES]->dims[1], k = r[KEPT]->dims[1];
  const int64_t rows[] = { b, n, 4 }, kept[] = { b, k };
  c->images = (size_t) b;
  c->boxes = (size_t) n;
  c->most = (size_t) k;
  return is_floats (a[BOXES], 3, rows) && is_floats (a[SCORES], 2, rows)
      && is_column (a[CLASSES], XLAFFI_S32, rows) && is_column (a[EXCLUDE], XLAFFI_PRED, rows)
      && is_column (a[PARENTS], XLAFFI_S32, rows) && is_buffer (r[KEPT], XLAFFI_S32, 2, kept)
      && is_buffer (r[COUNTS], XLAFFI_S32, 1, rows);
}

static const void *
column (const xlaffi_buffer *b)
{
  return b->dims[1] > 0 ? b->data : NULL;
}

/* Returns the numbers of a buffer, `count`, as binary32: its own or those of *wide, which is
 * allocated. Returns NULL when out of memory. */
static const float *
floats (const xlaffi_buffer *b, size_t count, float **wide)
{
  const array_view view = { .data = b->data,
    .ndim = 1,
    .shape = { (Py_ssize_t) count },
    .strides = { 2 },
    .kind = b->type == XLAFFI_F16 ? NUMBER_FLOAT : NUMBER_BFLOAT,
    .bits = 16 };

  if (b->type == XLAFFI_F32)
    return b->data;
  *wide = malloc (count * sizeof **wide + 1);
  if (*wide)
    numbers_to_floats (&view, *wide);
  return *wide;
}

/* Moves the kept indices of each image to its row and fills the row with -1. Begins with the last
 * image, because no row begins before the indices that move into it. */
static void
spread (const call *c, int32_t *kept, int32_t *counts)
{
  for (size_t i = c->images; i-- > 0;) {
    const size_t first = c->kept_offsets[i], count = c->kept_offsets[i + 1] - first;
    int32_t *row = kept + i * c->most;
    memmove (row, kept + first, count * sizeof *row);
    memset (row + count, 0xff, (c->most - count) * sizeof *row);
    counts[i] = (int32_t) count;
  }
}

static int
run (const xlaffi_frame *f, call *c, nms_context *ctx)
{
  xlaffi_buffer *const *a = f->args.buffers, *const *r = f->rets.buffers;
  nms_boxes boxes = { .size = sizeof boxes, .count = c->images * c->boxes };
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = r[KEPT]->data,
    .kept_capacity = c->images * c->most,
    .kept_offsets = c->kept_offsets };
  nms_result result = { .size = sizeof result };

  const float *rows = floats (a[BOXES], 4 * boxes.count, &c->wide[0]);
  boxes.score.data = floats (a[SCORES], boxes.count, &c->wide[1]);
  if (boxes.count > 0 && (!rows || !boxes.score.data))
    return NMS_ERROR_MEMORY;
  nms_boxes_set_rows (&boxes, rows);
  boxes.class_id.data = column (a[CLASSES]);
  boxes.exclude.data = column (a[EXCLUDE]);
  boxes.parent.data = column (a[PARENTS]);
  const int error = nms_run_batch (ctx, &boxes, c->offsets, c->images, &c->options, &arrays,
      &result);
  if (!error)
    spread (c, r[KEPT]->data, r[COUNTS]->data);
  return error;
}

static xlaffi_error *
run_call (const xlaffi_frame *f, call *c)
{
  const char *text = xlaoptions_read (&f->attributes, &c->options, &c->classes);

  if (text || !read_shapes (f, c))
    return fail (f, XLAFFI_INVALID_ARGUMENT,
        text ? text : "nmscore: the buffers of the call have wrong shapes or types");
  nms_context *ctx = nms_context_new ();
  c->offsets = calloc (2 * (c->images + 1), sizeof *c->offsets);
  if (!ctx || !c->offsets) {
    nms_context_free (&ctx);
    return fail (f, XLAFFI_RESOURCE_EXHAUSTED, "nmscore: out of memory");
  }
  c->kept_offsets = c->offsets + c->images + 1;
  for (size_t i = 0; i <= c->images; i++)
    c->offsets[i] = i * c->boxes;
  c->options.max_detections = c->most;
  const int error = run (f, c, ctx);
  xlaffi_error *failure = NULL;
  if (error == NMS_ERROR_MEMORY)
    failure = fail (f, XLAFFI_RESOURCE_EXHAUSTED, "nmscore: out of memory");
  else if (error)
    failure = fail (f, XLAFFI_INVALID_ARGUMENT, nms_context_error (ctx));
  nms_context_free (&ctx);
  return failure;
}

static xlaffi_error *
handle (xlaffi_frame *f)
{
  call c = { .images = 0 };

  if (is_metadata_call (f))
    return NULL;
  if (!XLAFFI_HAS (f, attributes) || f->stage != XLAFFI_EXECUTE)
    return fail (f, XLAFFI_INVALID_ARGUMENT, "nmscore: this version of XLA's FFI is unknown");
  xlaffi_error *failure = run_call (f, &c);
  free (c.offsets);
  free (c.wide[0]);
  free (c.wide[1]);
  free (c.classes);
  return failure;
}

PyObject *
xlahandler_capsule (PyObject *module, PyObject *unused)
{
  (void) module;
  (void) unused;
  xlaffi_error *(*const handler) (xlaffi_frame *) = handle;
  void *pointer;
  memcpy (&pointer, &handler, sizeof pointer);
  return PyCapsule_New (pointer, NULL, NULL);
}
