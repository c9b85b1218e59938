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

const uint32_t enginecheck_engines[ENGINECHECK_ENGINES + 1] = { NMS_ENGINE_AUTO,
  NMS_ENGINE_SEQUENTIAL, NMS_ENGINE_SORTED, NMS_ENGINE_SPATIAL, NMS_ENGINE_ADDED };

const char *const enginecheck_isas[] = { "scalar", "sse2", "avx2", "avx512", "neon", NULL };

int
enginecheck_count (void)
{
  return ENGINECHECK_ENGINES + (enginecheck_add_xla && getenv ("NMS_TEST_XLA_PLUGIN"));
}

void
enginecheck_use (nms_context *ctx, nms_options *options, int number)
{
  const nms_boxes boxes = { .size = sizeof boxes };
  nms_result result = { .size = sizeof result };
  nms_options probe;

  options->engine = enginecheck_engines[number];
  if (options->engine != NMS_ENGINE_ADDED)
    return;
  nms_options_init (&probe, sizeof probe);
  probe.engine = NMS_ENGINE_ADDED;
  if (nms_run (ctx, &boxes, &probe, &result) == NMS_ERROR_UNSUPPORTED && enginecheck_add_xla (ctx))
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

char *
enginecheck_difference_of (const nms_result *result, const RefResult *expected, uint32_t outputs)
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
  return arrays_difference (result, expected, outputs);
}

char *
enginecheck_difference (const nms_result *result, const RefResult *expected)
{
  return enginecheck_difference_of (result, expected,
      NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY);
}

/* Prepends the engine, the call and the outputs to a difference. */
static char *
located (char *difference, int engine, const char *call, uint32_t outputs)
{
  char *whole;

  if (!difference)
    return NULL;
  whole = text ("engine %s, %s, outputs %u: %s", nms_engine_name (engine), call, outputs,
      difference);
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
  if (options->engine != NMS_ENGINE_AUTO && !boxes->angle.data
      && nms_context_engine (ctx) != (int) options->engine)
    return text ("ran engine %d", nms_context_engine (ctx));
  return enginecheck_difference_of (&result, expected, options->outputs);
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

/* Runs a batch of one image with the smallest arrays that nmscore.h promises to be enough. */
static char *
run_batch_once (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const RefResult *expected, uint32_t outputs)
{
  size_t n = boxes->count;
  size_t capacity = options->max_detections && options->max_detections < n ? options->max_detections
                                                                           : n;
  int32_t *kept = allocate (capacity, sizeof *kept);
  uint8_t *outcome = allocate (n, sizeof *outcome);
  int32_t *suppressed_by = allocate (n, sizeof *suppressed_by);
  float *kept_score = allocate (capacity, sizeof *kept_score);
  float *kept_box = allocate (capacity, 4 * sizeof *kept_box);
  nms_batch_arrays arrays = { .size = sizeof arrays, .kept = kept, .kept_capacity = capacity };
  nms_result result = { .size = sizeof result };
  char *difference = NULL;
  int error;

  if (outputs & NMS_OUTPUT_OUTCOME)
    arrays.outcome = outcome;
  if (outputs & NMS_OUTPUT_SUPPRESSED_BY)
    arrays.suppressed_by = suppressed_by;
  if (outputs & NMS_OUTPUT_SCORE)
    arrays.kept_score = kept_score;
  if (outputs & NMS_OUTPUT_BOX)
    arrays.kept_box = kept_box;
  error = enginecheck_batch (ctx, boxes, options, &arrays, &result);
  if (error)
    difference = text ("failed: %s (%s)", nms_strerror (error), nms_context_error (ctx));
  else if (result.kept != kept || result.outcome != arrays.outcome
      || result.suppressed_by != arrays.suppressed_by || result.kept_score != arrays.kept_score
      || result.kept_box != arrays.kept_box)
    difference = text ("the result does not point to the caller's arrays");
  else
    difference = enginecheck_difference_of (&result, expected, outputs);
  free (kept);
  free (outcome);
  free (suppressed_by);
  free (kept_score);
  free (kept_box);
  return difference;
}

static char *
check_neighbors (nms_context *ctx, const nms_boxes *boxes, const nms_options *options)
{
  uint32_t *is = allocate (boxes->count, sizeof *is);
  uint32_t *must = allocate (boxes->count, sizeof *must);
  char *difference = NULL;
  int error;

  memset (is, 0x5a, boxes->count * sizeof *is);
  error = nms_count_neighbors (ctx, boxes, options, is);
  if (error)
    difference = text ("nms_count_neighbors: %s (%s)", nms_strerror (error),
        nms_context_error (ctx));
  ref_count_neighbors (boxes, options, must);
  for (size_t i = 0; i < boxes->count && !difference; i++)
    if (is[i] != must[i])
      difference = text ("neighbors[%zu] is %u, must be %u", i, is[i], must[i]);
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

static int
has_groups (const nms_options *options)
{
  const char *at = (const char *) options->class_options;

  for (size_t i = 0; i < options->class_option_count; i++) {
    const nms_class_options *one = (const nms_class_options *) (at
        + i * options->class_options->size);
    if (one->set & NMS_CLASS_GROUP)
      return 1;
  }
  return 0;
}

char *
enginecheck_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, int how)
{
  nms_options own;
  RefResult expected;
  char *difference = NULL;

  if (options)
    own = *options;
  else
    nms_options_init (&own, sizeof own);
  ref_run (boxes, options, &expected);

  const int by_engine = own.method == NMS_METHOD_HARD && own.metric == NMS_METRIC_IOU
      && !(own.min_size_ratio > 0);
  for (int e = 0; e < (by_engine ? enginecheck_count () : 1) && !difference; e++) {
    int engine = (int) enginecheck_engines[e];
    if (engine == NMS_ENGINE_ADDED
        && (boxes->count > ENGINECHECK_XLA_BOXES || has_groups (&own))) /* which xla refuses */
      continue;
    enginecheck_use (ctx, &own, e);
    for (uint32_t combination = 0; combination < 4 && !difference; combination++) {
      own.outputs = outputs_of (combination);
      difference = located (run_once (ctx, boxes, &own, &expected), engine, "nms_run", own.outputs);
      if (!difference && how == ENGINECHECK_FULL)
        difference = located (run_batch_once (ctx, boxes, &own, &expected, own.outputs), engine,
            "nms_run_batch", own.outputs);
      if (how == ENGINECHECK_QUICK)
        break;
    }
  }
  if (!difference && how == ENGINECHECK_FULL && own.metric == NMS_METRIC_IOU)
    difference = check_neighbors (ctx, boxes, options);
  ref_result_clear (&expected);
  return difference;
}

char *
enginecheck_isas_difference (nms_context *ctx, const nms_boxes *boxes, const nms_options *options)
{
  nms_options own = *options;
  RefResult expected;
  char *difference = NULL;

  own.outputs = ENGINECHECK_ALL_OUTPUTS;
  ref_run (boxes, &own, &expected);
  for (const char *const *isa = enginecheck_isas; *isa && !difference; isa++)
    if (nms_context_set_isa (ctx, *isa) == NMS_OK)
      difference = located (run_once (ctx, boxes, &own, &expected), (int) own.engine, *isa,
          own.outputs);
  ref_result_clear (&expected);
  return difference;
}
