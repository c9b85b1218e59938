/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enginecheck: runs engines and describes the first difference. It does not use GLib, so
 * that the fuzzers can use it. */
#define _GNU_SOURCE
#include "enginecheck.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IMAGES 9

const uint32_t enginecheck_engines[ENGINECHECK_ENGINES + 1] = { NMS_ENGINE_AUTO,
  NMS_ENGINE_SEQUENTIAL, NMS_ENGINE_SORTED, NMS_ENGINE_SPATIAL, NMS_ENGINE_ADDED };

const char *const enginecheck_isas[] = { "scalar", "sse2", "avx2", "avx512", "neon", NULL };

/* Returns the number of engines to run: one more if the program adds one. */
static int
engine_count (void)
{
  return ENGINECHECK_ENGINES + (enginecheck_add_engine && enginecheck_add_engine (NULL) == NMS_OK);
}

/* Adds the engine of the program to a context that has none. */
static void
add_engine (nms_context *ctx)
{
  const nms_boxes boxes = { .size = sizeof boxes };
  nms_result result = { .size = sizeof result };
  nms_options probe;

  nms_options_init (&probe, sizeof probe);
  probe.engine = NMS_ENGINE_ADDED;
  if (nms_run (ctx, &boxes, &probe, &result) == NMS_ERROR_UNSUPPORTED
      && enginecheck_add_engine (ctx) != NMS_OK)
    abort ();
}

__attribute__ ((format (printf, 1, 2))) static char *
text (const char *format, ...)
{
  char *string;
  va_list args;

  va_start (args, format);
  if (vasprintf (&string, format, args) < 0)
    abort ();
  va_end (args);
  return string;
}

static void *
allocate (size_t count, size_t size)
{
  void *memory = calloc (count ? count : 1, size);
  if (!memory)
    abort ();
  return memory;
}

/* Returns the difference that corner c may have in a frame with rotated boxes, where the sum of
 * binary64 numbers from which it is rounded may be near 0. */
static float
slack_of (const RefResult *expected, size_t c)
{
  const float *box = &expected->kept_box[c / 4 * 4];
  float most = 0.0f;

  for (int i = 0; expected->rotated && i < 4; i++)
    most = fmaxf (most, fabsf (box[i]));
  return 1e-12f * most;
}

/* Compares the arrays of a result; `outputs` says which must be there. */
static char *
arrays_difference (const nms_result *result, const RefResult *expected, uint32_t outputs)
{
#define DIFFERENCE(array, i, format) \
  text (#array "[%zu] is " format ", must be " format, i, result->array[i], expected->array[i])
  const struct {
    const char *name;
    const void *array;
    uint32_t bit;
    size_t count;
  } arrays[] = { { "kept_score", result->kept_score, NMS_OUTPUT_SCORE, expected->kept_count },
    { "kept_box", result->kept_box, NMS_OUTPUT_BOX, expected->kept_count },
    { "outcome", result->outcome, NMS_OUTPUT_OUTCOME, expected->count },
    { "suppressed_by", result->suppressed_by, NMS_OUTPUT_SUPPRESSED_BY, expected->count } };

  for (size_t k = 0; k < expected->kept_count; k++)
    if (result->kept[k] != expected->kept[k])
      return DIFFERENCE (kept, k, "%d");
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    if (!(outputs & arrays[a].bit) != !arrays[a].array && arrays[a].count)
      return text ("%s is %p, asked for: %u", arrays[a].name, arrays[a].array, outputs);
  for (size_t k = 0; outputs & NMS_OUTPUT_SCORE && k < expected->kept_count; k++)
    if (result->kept_score[k] != expected->kept_score[k])
      return DIFFERENCE (kept_score, k, "%.9g");
  for (size_t c = 0; outputs & NMS_OUTPUT_BOX && c < 4 * expected->kept_count; c++)
    if (!(fabsf (result->kept_box[c] - expected->kept_box[c]) <= slack_of (expected, c)))
      return DIFFERENCE (kept_box, c, "%.9g");
  for (size_t i = 0; i < expected->count; i++) {
    if ((outputs & NMS_OUTPUT_OUTCOME) && result->outcome[i] != expected->outcome[i])
      return DIFFERENCE (outcome, i, "%d");
    if ((outputs & NMS_OUTPUT_SUPPRESSED_BY)
        && result->suppressed_by[i] != expected->suppressed_by[i])
      return DIFFERENCE (suppressed_by, i, "%d");
  }
  return NULL;
}

static char *
counts_difference (const nms_result *result, const RefResult *expected)
{
#define COMPARE(count) \
  if (result->count != expected->count) \
    return text (#count " is %zu, must be %zu", result->count, expected->count);
  COMPARE (kept_count)
  COMPARE (suppressed_count)
  COMPARE (over_cap_count)
  COMPARE (filtered_count)
  COMPARE (invalid_count)
  COMPARE (not_candidate_count)
  if (result->size != sizeof *result)
    return text ("the result's size became %zu", result->size);
  return NULL;
}

char *
enginecheck_difference (const nms_result *result, const RefResult *expected, uint32_t outputs)
{
  char *difference = counts_difference (result, expected);

  return difference ? difference : arrays_difference (result, expected, outputs);
}

/* Prepends an engine or instruction set, the call and the outputs to a difference. */
static char *
located (char *difference, const char *where, const char *call, uint32_t outputs)
{
  char *whole;

  if (!difference)
    return NULL;
  whole = text ("%s, %s, outputs %u: %s", where, call, outputs, difference);
  free (difference);
  return whole;
}

static char *
run_once (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const RefResult *expected)
{
  nms_result result = { .size = sizeof result };
  int error = nms_run (ctx, boxes, options, &result);

  if (error)
    return text ("failed: %s (%s)", nms_strerror (error), nms_context_error (ctx));
  if (*nms_context_error (ctx))
    return text ("error text after a success: %s", nms_context_error (ctx));
  /* frames with rotated boxes run in an engine of their own */
  const int engine = nms_context_engine (ctx), is_named = options->engine != NMS_ENGINE_AUTO;
  if (!boxes->angle.data && (engine == (int) options->engine) != is_named)
    return text ("ran engine %d", engine);
  return enginecheck_difference (&result, expected, options->outputs);
}

int
enginecheck_batch (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_batch_arrays *arrays, nms_result *result)
{
  const size_t offsets[] = { 0, boxes->count };
  size_t kept_offsets[2];
  nms_batch_arrays own = *arrays;

  own.kept_offsets = kept_offsets;
  return nms_run_batch (ctx, boxes, offsets, 1, options, &own, result);
}

static nms_column
column_from (nms_column column, size_t first, size_t size)
{
  if (column.data)
    column.data = (const char *) column.data
        + (ptrdiff_t) first * (column.stride ? column.stride : (ptrdiff_t) size);
  return column;
}

/* Returns the boxes `first` to `end` - 1. */
static nms_boxes
image_boxes (const nms_boxes *all, size_t first, size_t end)
{
  nms_boxes boxes = *all;
  nms_column *const words[] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2, &boxes.score,
    &boxes.class_id, &boxes.parent, &boxes.angle, &boxes.source };

  boxes.count = end - first;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    *words[i] = column_from (*words[i], first, 4);
  boxes.exclude = column_from (boxes.exclude, first, 1);
  return boxes;
}

/* The boxes of a call divided into the images of a batch, and what the reference gives for them. */
typedef struct {
  size_t images, offsets[MOST_IMAGES + 1], kept_offsets[MOST_IMAGES + 1];
  size_t kept_capacity; /* the least that nmscore.h allows */
  RefResult image[MOST_IMAGES], sum;
} Batch;

static void
batch_init (Batch *b, const nms_boxes *boxes, const nms_options *options)
{
  const uint64_t cap = options->max_detections;

  *b = (Batch) { .images = 1 + boxes->count % MOST_IMAGES };
  for (size_t i = 0; i < b->images; i++) {
    b->offsets[i + 1] = boxes->count * (i + 1) / b->images;
    const nms_boxes image = image_boxes (boxes, b->offsets[i], b->offsets[i + 1]);
    b->kept_capacity += cap && cap < image.count ? cap : image.count;
    ref_run (&image, options, &b->image[i]);
    b->sum.kept_count += b->image[i].kept_count;
    b->kept_offsets[i + 1] = b->sum.kept_count;
    b->sum.suppressed_count += b->image[i].suppressed_count;
    b->sum.over_cap_count += b->image[i].over_cap_count;
    b->sum.filtered_count += b->image[i].filtered_count;
    b->sum.invalid_count += b->image[i].invalid_count;
    b->sum.not_candidate_count += b->image[i].not_candidate_count;
  }
}

static void
batch_clear (Batch *b)
{
  for (size_t i = 0; i < b->images; i++)
    ref_result_clear (&b->image[i]);
}

/* Compares each image with the reference, and the sums of their counts. */
static char *
batch_difference (const Batch *b, const nms_result *result, uint32_t outputs)
{
  char *difference = counts_difference (result, &b->sum);

#define FROM(array, first) (result->array ? result->array + (first) : NULL)
  for (size_t i = 0; i < b->images && !difference; i++) {
    const size_t first = b->kept_offsets[i];
    const nms_result part = { .kept = FROM (kept, first),
      .outcome = FROM (outcome, b->offsets[i]),
      .suppressed_by = FROM (suppressed_by, b->offsets[i]),
      .kept_score = FROM (kept_score, first),
      .kept_box = FROM (kept_box, 4 * first) };
    difference = arrays_difference (&part, &b->image[i], outputs);
  }
  return difference;
}

/* Runs the batch with the smallest arrays that nmscore.h promises to be enough. */
static char *
run_batch (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, const Batch *b)
{
  const size_t n = boxes->count, capacity = b->kept_capacity;
  const uint32_t outputs = options->outputs;
  int32_t *kept = allocate (capacity, sizeof *kept);
  uint8_t *outcome = allocate (n, sizeof *outcome);
  int32_t *suppressed_by = allocate (n, sizeof *suppressed_by);
  float *kept_score = allocate (capacity, sizeof *kept_score);
  float *kept_box = allocate (capacity, 4 * sizeof *kept_box);
  size_t kept_offsets[MOST_IMAGES + 1];
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = capacity,
    .kept_offsets = kept_offsets,
    .outcome = outputs & NMS_OUTPUT_OUTCOME ? outcome : NULL,
    .suppressed_by = outputs & NMS_OUTPUT_SUPPRESSED_BY ? suppressed_by : NULL,
    .kept_score = outputs & NMS_OUTPUT_SCORE ? kept_score : NULL,
    .kept_box = outputs & NMS_OUTPUT_BOX ? kept_box : NULL };
  nms_result result = { .size = sizeof result };
  char *difference;
  int error = nms_run_batch (ctx, boxes, b->offsets, b->images, options, &arrays, &result);

  if (error)
    difference = text ("failed: %s (%s)", nms_strerror (error), nms_context_error (ctx));
  else if (memcmp (kept_offsets, b->kept_offsets, (b->images + 1) * sizeof *kept_offsets) != 0)
    difference = text ("kept_offsets are wrong");
  else if (result.kept != kept || result.outcome != arrays.outcome
      || result.suppressed_by != arrays.suppressed_by || result.kept_score != arrays.kept_score
      || result.kept_box != arrays.kept_box)
    difference = text ("the result does not point to the caller's arrays");
  else
    difference = batch_difference (b, &result, outputs);
  free (kept);
  free (outcome);
  free (suppressed_by);
  free (kept_score);
  free (kept_box);
  return difference;
}

/* Counts the neighbors on the instruction set of the context, or on each one that runs here. */
static char *
check_neighbors (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, int each)
{
  uint32_t *is = allocate (boxes->count, sizeof *is);
  uint32_t *must = allocate (boxes->count, sizeof *must);
  char *difference = NULL;

  ref_count_neighbors (boxes, options, must);
  for (const char *const *isa = enginecheck_isas; *isa && !difference; isa++) {
    if (each && nms_context_set_isa (ctx, *isa) != NMS_OK)
      continue;
    memset (is, 0x5a, boxes->count * sizeof *is);
    if (nms_count_neighbors (ctx, boxes, options, is) != NMS_OK)
      difference = text ("nms_count_neighbors: %s", nms_context_error (ctx));
    for (size_t i = 0; i < boxes->count && !difference; i++)
      if (is[i] != must[i])
        difference = text ("%s: neighbors[%zu] is %u, must be %u", nms_context_isa (ctx), i, is[i],
            must[i]);
    if (!each)
      break;
  }
  free (is);
  free (must);
  return difference;
}

/* Returns the outputs of combination 0, all, to 3, none. */
static uint32_t
outputs_of (uint32_t combination)
{
  return (combination & 1 ? 0 : NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SCORE)
      | (combination & 2 ? 0 : NMS_OUTPUT_SUPPRESSED_BY | NMS_OUTPUT_BOX);
}

int
enginecheck_native_only (const nms_boxes *boxes, const nms_options *options)
{
  int groups = 0;

  for (size_t i = 0; i < options->class_option_count; i++) {
    const nms_class_options *c = &options->class_options[i];
    groups |= (c->set & NMS_CLASS_GROUP) && c->group != c->class_id;
  }
  return boxes->angle.data || options->min_size_ratio > 0
      || (groups && boxes->class_id.data && !options->class_agnostic);
}

/* Runs each engine with all outputs or with each combination of them. */
static char *
check_engines (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const RefResult *expected, int how)
{
  const int by_engine = options->method == NMS_METHOD_HARD && options->metric == NMS_METRIC_IOU
      && !(options->min_size_ratio > 0);
  const int native_only = boxes->count > ENGINECHECK_XLA_BOXES
      || enginecheck_native_only (boxes, options);
  nms_options own = *options;
  char *difference = NULL;
  Batch batch = { 0 };

  if (how == ENGINECHECK_FULL)
    batch_init (&batch, boxes, options);
  for (int e = 0; e < (by_engine ? engine_count () : 1) && !difference; e++) {
    const int engine = (int) enginecheck_engines[e];
    if (engine == NMS_ENGINE_ADDED && native_only)
      continue;
    if (engine == NMS_ENGINE_ADDED)
      add_engine (ctx);
    own.engine = (uint32_t) engine;
    for (uint32_t combination = 0; combination < 4 && !difference; combination++) {
      own.outputs = outputs_of (combination);
      difference = located (run_once (ctx, boxes, &own, expected), nms_engine_name (engine),
          "nms_run", own.outputs);
      if (!difference && how == ENGINECHECK_FULL)
        difference = located (run_batch (ctx, boxes, &own, &batch), nms_engine_name (engine),
            "nms_run_batch", own.outputs);
      if (how == ENGINECHECK_QUICK)
        break;
    }
  }
  batch_clear (&batch);
  return difference;
}

/* Runs the call with all outputs on each instruction set that runs here. */
static char *
check_isas (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const RefResult *expected)
{
  nms_options own = *options;
  char *difference = NULL;

  own.outputs = ENGINECHECK_ALL_OUTPUTS;
  for (const char *const *isa = enginecheck_isas; *isa && !difference; isa++)
    if (nms_context_set_isa (ctx, *isa) == NMS_OK)
      difference = located (run_once (ctx, boxes, &own, expected), *isa, "nms_run", own.outputs);
  return difference;
}

char *
enginecheck_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, int how)
{
  RefResult expected;
  char *difference;

  if (how == ENGINECHECK_NEIGHBORS)
    return check_neighbors (ctx, boxes, options, 1);
  ref_run (boxes, options, &expected);
  if (how == ENGINECHECK_ISAS)
    difference = check_isas (ctx, boxes, options, &expected);
  else
    difference = check_engines (ctx, boxes, options, &expected, how);
  if (!difference && how == ENGINECHECK_FULL && options->metric == NMS_METRIC_IOU)
    difference = check_neighbors (ctx, boxes, options, 0);
  ref_result_clear (&expected);
  return difference;
}
