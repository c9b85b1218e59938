/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options: the defaults of all options, and the checks of the caller's values. */
#include "call.h"
#include "geometry/overlap.h"

#include <math.h>

#define OUTPUTS (NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY | NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX)

static const nms_options defaults = {
  .size = sizeof (nms_options),
  .iou_threshold = 0.5f,
  .score_threshold = -INFINITY,
  .max_detections = 0,
  .max_per_class = 0,
  .engine = NMS_ENGINE_AUTO,
  .method = NMS_METHOD_HARD,
  .metric = NMS_METRIC_IOU,
  .min_score = 0.001f,
  .fused_score = NMS_FUSED_AVG,
};

void
nms_options_init (nms_options *options, size_t size)
{
  size_t known = size < sizeof defaults ? size : sizeof defaults;

  if (!options || size < sizeof options->size)
    return;
  memset (options, 0, size);
  memcpy (options, &defaults, known);
  options->size = size;
}

static int
share_check (nms_context *ctx, const char *name, float value)
{
  if (value >= 0.0f && value <= 1.0f)
    return NMS_OK;
  return nms__fail (ctx, NMS_ERROR_RANGE, "%s is %.8g, must be 0..1", name, (double) value);
}

/* Checks a method and a metric that are not both the defaults. */
static int
pair_check (nms_context *ctx, const nms_options *o)
{
  if (!nms_method_name ((int) o->method))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "method %lu is unknown",
        (unsigned long) o->method);
  if (!nms_metric_name ((int) o->metric))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "metric %lu is unknown",
        (unsigned long) o->metric);
  const char *reason = nms_method_reason ((int) o->method, (int) o->metric);
  if (reason)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "%s", reason);
  return NMS_OK;
}

/* Checks the options of methods. */
static int
method_check (nms_context *ctx, const nms_options *o)
{
  int error = nms__by_method (o) ? pair_check (ctx, o) : NMS_OK;

  if (error)
    return error;
  if (!nms_fused_score_name ((int) o->fused_score))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "fused_score %lu is unknown",
        (unsigned long) o->fused_score);
  if (!(o->sigma >= 0.0f && o->sigma <= FLT_MAX))
    return nms__fail (ctx, NMS_ERROR_RANGE, "sigma is %.8g, must be 0 or more and finite",
        (double) o->sigma);
  if (!(o->min_score >= 0.0f && o->min_score <= FLT_MAX))
    return nms__fail (ctx, NMS_ERROR_RANGE, "min_score is %.8g, must be 0 or more and finite",
        (double) o->min_score);
  return NMS_OK;
}

/* Checks the number and the weights of the sources. */
static int
sources_check (nms_context *ctx, const nms_options *o)
{
  const size_t count = o->source_count ? o->source_count : 1;

  if (count > NMS_MAX_SOURCES)
    return nms__fail (ctx, NMS_ERROR_RANGE, "source_count is %zu, must be at most %d", count,
        NMS_MAX_SOURCES);
  for (size_t i = 0; o->source_weights && i < count; i++)
    if (!(o->source_weights[i] > 0.0f && o->source_weights[i] <= 0x1p32f))
      return nms__fail (ctx, NMS_ERROR_RANGE,
          "source_weights[%zu] is %.8g, must be above 0 and at most 2^32", i,
          (double) o->source_weights[i]);
  return NMS_OK;
}

/* Returns the least score with which a box takes part, given the score threshold of its class: the
 * method may require more. */
static float
least_score (const nms_options *o, float score_threshold)
{
  float least;

  if (o->method == NMS_METHOD_WEIGHTED || o->method == NMS_METHOD_AVERAGE)
    least = FLT_TRUE_MIN;
  else if (o->method >= NMS_METHOD_SOFT_LINEAR && o->method <= NMS_METHOD_MATRIX_GAUSSIAN)
    least = o->min_score;
  else
    return score_threshold;
  if (o->score_strict)
    least = nextafterf (least, -INFINITY); /* above it is at least the method's least score */
  return score_threshold > least ? score_threshold : least;
}

/* Checks the pointer and the count of the class options, and reads their common size. */
static int
class_options_check (nms_context *ctx, nms__settings *settings)
{
  const nms_options *o = &settings->options;

  if (o->class_option_count == 0)
    return NMS_OK;
  if (!o->class_options)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT,
        "class_options is NULL but class_option_count is %zu", o->class_option_count);
  if (o->class_option_count > NMS_MAX_CLASS_OPTIONS)
    return nms__fail (ctx, NMS_ERROR_RANGE, "class_option_count is %zu, must be at most %zu",
        o->class_option_count, NMS_MAX_CLASS_OPTIONS);
  memcpy (&settings->class_option_stride, o->class_options, sizeof (size_t));
  return NMS_OK;
}

int
nms__class_options_read (nms_context *ctx, const nms__settings *settings, size_t i,
    nms_class_options *c)
{
  const char *entry = (const char *) settings->options.class_options
      + i * settings->class_option_stride;
  const uint32_t known = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD
      | NMS_CLASS_MAX_DETECTIONS | NMS_CLASS_GROUP;

  size_t size;

  memcpy (&size, entry, sizeof size);
  if (size != settings->class_option_stride)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "class_options[%zu]: size differs from the first",
        i);
  int error = nms__struct_read (ctx, "class_options", entry, sizeof *c, c);
  if (error)
    return error;
  if (c->set & ~known)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "class_options[%zu]: set has unknown bits", i);
  if ((c->set & NMS_CLASS_SCORE_THRESHOLD) && isnan (c->score_threshold))
    return nms__fail (ctx, NMS_ERROR_RANGE, "score_threshold of class %ld is NaN",
        (long) c->class_id);
  return c->set & NMS_CLASS_IOU_THRESHOLD
      ? share_check (ctx, "iou_threshold of a class", c->iou_threshold)
      : NMS_OK;
}

int
nms__class_entries_read (nms_context *ctx, const nms__settings *settings, nms__class *entries)
{
  const nms_options *o = &settings->options;
  const uint64_t none = UINT64_MAX;
  nms_class_options options;

  entries[0] = (nms__class) { .score_threshold = o->score_threshold,
    .limit = settings->limit,
    .cap = o->max_per_class ? o->max_per_class : none };
  for (size_t i = 0; i < o->class_option_count; i++) {
    int error = nms__class_options_read (ctx, settings, i, &options);
    if (error)
      return error;
    nms__class *entry = &entries[i + 1];
    *entry = entries[0];
    entry->id = options.class_id;
    entry->partition = (uint32_t) (options.set & NMS_CLASS_GROUP ? options.group : entry->id);
    if (options.set & NMS_CLASS_IOU_THRESHOLD)
      entry->limit = nms__limit (options.iou_threshold, o->inclusive);
    if (options.set & NMS_CLASS_SCORE_THRESHOLD)
      entry->score_threshold = least_score (o, options.score_threshold);
    if (options.set & NMS_CLASS_MAX_DETECTIONS)
      entry->cap = options.max_detections ? options.max_detections : none;
  }
  return NMS_OK;
}

int
nms__options_check (nms_context *ctx, const nms_options *options, nms__settings *settings)
{
  nms_options *o = &settings->options;
  int error;

  settings->class_option_stride = 0;
  memcpy (o, &defaults, sizeof *o);
  if (options) {
    error = nms__struct_read (ctx, "options", options, sizeof *o, o);
    if (error)
      return error;
  }
  error = share_check (ctx, "iou_threshold", o->iou_threshold);
  if (error)
    return error;
  if (isnan (o->score_threshold))
    return nms__fail (ctx, NMS_ERROR_RANGE, "score_threshold is NaN");
  if (!nms_engine_name ((int) o->engine))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "engine %lu is unknown",
        (unsigned long) o->engine);
  if (o->engine == NMS_ENGINE_ADDED && !ctx->added)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "no engine was added to the context");
  if (o->outputs & ~(uint32_t) OUTPUTS)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "outputs has unknown bits");
  error = share_check (ctx, "min_size_ratio", o->min_size_ratio);
  if (!error)
    error = method_check (ctx, o);
  if (!error)
    error = sources_check (ctx, o);
  if (!error)
    error = class_options_check (ctx, settings);
  if (error)
    return error;
  o->score_threshold = least_score (o, o->score_threshold);
  settings->limit = nms__limit (o->iou_threshold, o->inclusive);
  return NMS_OK;
}
