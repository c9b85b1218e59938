/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * batch: runs many images in one call. Each thread repeatedly takes the next image and runs it
 * with its own context, as a single call would. Each image has a part of the caller's array
 * `kept` with space for the most boxes that it can keep; -1 marks the end of its indices there.
 * The gaps between the parts are closed when all images are done.
 */
#include "fpmode.h"
#include "threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct batch {
  nms_boxes boxes; /* boxes of all images */
  const size_t *offsets;
  size_t images;
  nms__settings settings;
  nms_batch_arrays arrays; /* kept_offsets: start of each image's part of `kept`, until the gaps
                            * are closed */
  atomic_size_t next;      /* image that no thread has taken yet */
  pthread_mutex_t lock;    /* guards the members below */
  nms_result total;
  size_t failed;           /* first image that failed; SIZE_MAX if none failed */
  int error;               /* error code of that image */
  char text[192];          /* error text of that image; as long as nms_context.error */
  const nms_context *last; /* context that ran the last image */
} batch;

/* ----------------------------------------------------------------- checks */

static int
arrays_read (nms_context *ctx, const nms_batch_arrays *arrays, nms_batch_arrays *copy)
{
  int error = nms__struct_read (ctx, "arrays", arrays, sizeof *copy, copy);

  if (error)
    return error;
  if (!copy->kept_offsets)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "kept_offsets is NULL");
  return NMS_OK;
}

/* Checks the offsets. Sets *largest to the number of boxes of the largest image. */
static int
offsets_check (nms_context *ctx, const batch *b, size_t *largest)
{
  *largest = 0;
  if (!b->offsets)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "offsets is NULL");
  if (b->offsets[0] != 0)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "offsets[0] is %zu, must be 0", b->offsets[0]);
  for (size_t i = 0; i < b->images; i++) {
    if (b->offsets[i + 1] < b->offsets[i])
      return nms__fail (ctx, NMS_ERROR_ARGUMENT,
          "image %zu: offsets[%zu] is %zu, less than the offset before it, %zu", i, i + 1,
          b->offsets[i + 1], b->offsets[i]);
    const size_t count = b->offsets[i + 1] - b->offsets[i];
    if (count > NMS_MAX_BOXES)
      return nms__fail (ctx, NMS_ERROR_TOO_MANY_BOXES,
          "image %zu: %zu boxes, at most %zu are possible", i, count, NMS_MAX_BOXES);
    *largest = count > *largest ? count : *largest;
  }
  if (b->offsets[b->images] != b->boxes.count)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "the last offset is %zu, boxes.count is %zu",
        b->offsets[b->images], b->boxes.count);
  return NMS_OK;
}

/* Divides the caller's array `kept` into a part for each image, and writes the starts of the
 * parts to kept_offsets. */
static int
divide_kept (nms_context *ctx, const batch *b)
{
  const uint64_t cap = b->settings.options.max_detections;
  size_t sum = 0;

  for (size_t i = 0; i < b->images; i++) {
    const size_t count = b->offsets[i + 1] - b->offsets[i];
    sum += cap && cap < count ? (size_t) cap : count;
  }
  if (sum > b->arrays.kept_capacity)
    return nms__fail (ctx, NMS_ERROR_SPACE, "kept_capacity is %zu, must be at least %zu",
        b->arrays.kept_capacity, sum);
  if (sum && !b->arrays.kept)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "kept is NULL");
  b->arrays.kept_offsets[0] = 0;
  for (size_t i = 0; i < b->images; i++) {
    const size_t count = b->offsets[i + 1] - b->offsets[i];
    b->arrays.kept_offsets[i + 1] = b->arrays.kept_offsets[i]
        + (cap && cap < count ? (size_t) cap : count);
  }
  return NMS_OK;
}

/* Allocates the scratch of all threads' contexts, and sets their instruction set to that of
 * `ctx`. */
static int
prepare_threads (nms_context *ctx, const batch *b, size_t largest)
{
  const size_t class_options = b->settings.options.class_option_count;
  nms_context *other;
  int error = nms__context_layout (ctx, largest, class_options);

  for (unsigned i = 0; !error && (other = nms__threads_context (ctx->threads, i)); i++) {
    other->kernels = ctx->kernels;
    other->added = ctx->added;
    error = nms__context_layout (other, largest, class_options);
    if (error)
      nms__fail (ctx, error, "%s", other->error);
  }
  return error;
}

/* -------------------------------------------------------------------- run */

static nms_column
column_from (nms_column column, size_t first, size_t size)
{
  const ptrdiff_t stride = column.stride ? column.stride : (ptrdiff_t) size;

  if (column.data)
    column.data = (const char *) column.data + (ptrdiff_t) first * stride;
  return column;
}

static nms_boxes
boxes_of (const batch *b, size_t image)
{
  const size_t first = b->offsets[image];
  nms_boxes boxes = { .size = sizeof boxes, .count = b->offsets[image + 1] - first };

#define FROM(name, type) boxes.name = column_from (b->boxes.name, first, sizeof (type))
  FROM (x1, float);
  FROM (y1, float);
  FROM (x2, float);
  FROM (y2, float);
  FROM (score, float);
  FROM (class_id, int32_t);
  FROM (exclude, uint8_t);
  FROM (parent, int32_t);
  FROM (angle, float);
  FROM (source, int32_t);
#undef FROM
  return boxes;
}

static void
add_counts (nms_result *total, const nms_result *result)
{
  total->kept_count += result->kept_count;
  total->suppressed_count += result->suppressed_count;
  total->over_cap_count += result->over_cap_count;
  total->filtered_count += result->filtered_count;
  total->invalid_count += result->invalid_count;
  total->not_candidate_count += result->not_candidate_count;
}

/* Runs an image and adds its counts to *total. */
static int
run_image (nms_context *ctx, const batch *b, size_t image, nms_result *total)
{
  const size_t first = b->offsets[image], start = b->arrays.kept_offsets[image];
  const size_t capacity = b->arrays.kept_offsets[image + 1] - start;
  const nms_boxes boxes = boxes_of (b, image);
  const nms__arrays arrays = { .kept = capacity ? b->arrays.kept + start : NULL,
    .outcome = b->arrays.outcome ? b->arrays.outcome + first : NULL,
    .suppressed_by = b->arrays.suppressed_by ? b->arrays.suppressed_by + first : NULL,
    .kept_score = b->arrays.kept_score ? b->arrays.kept_score + start : NULL,
    .kept_box = b->arrays.kept_box ? b->arrays.kept_box + 4 * start : NULL };
  nms_result result;
  int error = nms__run_checked (ctx, &boxes, &arrays, &result);

  if (error)
    return error;
  if (result.kept_count < capacity)
    arrays.kept[result.kept_count] = -1;
  add_counts (total, &result);
  return NMS_OK;
}

/* Records the error of an image, unless an earlier image failed too, and stops the threads from
 * taking more. Images are taken in order, so all before the first faulty one are run and the error
 * names the same image with any number of threads. */
static void
record_failure (batch *b, size_t image, int error, const char *text)
{
  atomic_store (&b->next, b->images);
  pthread_mutex_lock (&b->lock);
  if (image < b->failed) {
    b->failed = image;
    b->error = error;
    snprintf (b->text, sizeof b->text, "%s", text);
  }
  pthread_mutex_unlock (&b->lock);
}

static void
add_total (batch *b, const nms_result *own, const nms_context *last)
{
  pthread_mutex_lock (&b->lock);
  add_counts (&b->total, own);
  b->last = last ? last : b->last;
  pthread_mutex_unlock (&b->lock);
}

/* Runs images until all are taken or one fails; the task of each thread. */
static void
run_images (nms_context *ctx, void *data)
{
  batch *b = data;
  const nms__fpmode mode = nms__fpmode_enter ();
  nms_result total = { 0 };
  const nms_context *last = NULL;
  size_t image;
  int error = NMS_OK;

  ctx->settings = b->settings;
  ctx->error[0] = '\0';
  while (!error && (image = atomic_fetch_add (&b->next, 1)) < b->images) {
    error = run_image (ctx, b, image, &total);
    if (error)
      record_failure (b, image, error, ctx->error);
    else if (image + 1 == b->images)
      last = ctx;
  }
  add_total (b, &total, last);
  nms__fpmode_leave (mode);
}

/* Moves the index, the score and the corners of a kept box. */
static void
move_kept (const nms_batch_arrays *a, size_t to, size_t from)
{
  a->kept[to] = a->kept[from];
  if (a->kept_score)
    a->kept_score[to] = a->kept_score[from];
  if (a->kept_box)
    memmove (a->kept_box + 4 * to, a->kept_box + 4 * from, 4 * sizeof *a->kept_box);
}

/* Closes the gaps between the images' kept boxes, and writes their final offsets. */
static void
close_gaps (const nms_batch_arrays *a, size_t images)
{
  size_t to = 0, from = 0;

  for (size_t i = 0; i < images; i++) {
    const size_t end = a->kept_offsets[i + 1];
    for (; from < end && a->kept[from] >= 0; from++)
      move_kept (a, to++, from);
    from = end;
    a->kept_offsets[i + 1] = to;
  }
}

static void
take_engine (nms_context *ctx, const nms_context *last)
{
  if (!last || last == ctx)
    return;
  ctx->engine = last->engine;
  ctx->engine_kernels = last->engine_kernels;
  ctx->method_in_use = last->method_in_use;
  memcpy (ctx->in_use, last->in_use, sizeof ctx->in_use);
}

static int
run_batch (nms_context *ctx, batch *b, const nms_boxes *boxes, const nms_options *options,
    const nms_batch_arrays *arrays, nms_result *result)
{
  size_t largest;
  int error = nms__result_check (ctx, result);

  if (!error)
    error = nms__boxes_read (ctx, boxes, SIZE_MAX, &b->boxes);
  if (!error)
    error = arrays_read (ctx, arrays, &b->arrays);
  if (!error)
    error = nms__options_check (ctx, options, &b->settings);
  if (!error)
    error = offsets_check (ctx, b, &largest);
  if (!error)
    error = prepare_threads (ctx, b, largest);
  if (!error)
    error = divide_kept (ctx, b);
  if (error)
    return error;
  nms__threads_run (ctx, run_images, b);
  if (b->error)
    return nms__fail (ctx, b->error, "image %zu: %s", b->failed, b->text);
  close_gaps (&b->arrays, b->images);
  take_engine (ctx, b->last);
  b->total.kept = b->arrays.kept;
  b->total.outcome = b->arrays.outcome;
  b->total.suppressed_by = b->arrays.suppressed_by;
  b->total.kept_score = b->arrays.kept_score;
  b->total.kept_box = b->arrays.kept_box;
  nms__result_write (result, &b->total);
  return NMS_OK;
}

int
nms_run_batch (nms_context *ctx, const nms_boxes *boxes, const size_t *offsets, size_t images,
    const nms_options *options, const nms_batch_arrays *arrays, nms_result *result)
{
  batch b = { .offsets = offsets, .images = images, .failed = SIZE_MAX };

  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  ctx->error[0] = '\0';
  atomic_init (&b.next, 0);
  pthread_mutex_init (&b.lock, NULL);
  const nms__fpmode mode = nms__fpmode_enter (); /* for the checks; each thread enters it too */
  const int error = run_batch (ctx, &b, boxes, options, arrays, result);
  nms__fpmode_leave (mode);
  pthread_mutex_destroy (&b.lock);
  return error;
}
