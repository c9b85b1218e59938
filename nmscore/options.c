/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options: the defaults of all options, and the checks of the caller's values. */
#include "internal.h"
#include "overlap.h"

#include <math.h>

static const nms_options defaults = {
  .size = sizeof (nms_options),
  .iou_threshold = 0.5f,
  .score_threshold = -INFINITY,
  .max_detections = 0,
  .max_per_class = 0,
  .engine = NMS_ENGINE_AUTO,
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

int
nms__struct_check (nms_context *ctx, const char *name, const void *data, const size_t *ends,
    size_t end_count)
{
  const size_t least = ends[0], known = ends[end_count - 1];
  size_t size, end = 0;

  if (!data)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s is NULL", name);
  memcpy (&size, data, sizeof size);
  if (size < least)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s: size is %zu, must be at least %zu", name, size,
        least);
  while (size < known && ends[end] < size)
    end++;
  if (size < known && ends[end] != size)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "%s: size is %zu, which ends inside a field", name,
        size);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *) data)[i])
      return nms__fail (ctx, NMS_ERROR_ARGUMENT,
          "%s: a field this version does not know is set, at byte %zu", name, i);
  return NMS_OK;
}

static int
threshold_check (nms_context *ctx, const char *name, float value)
{
  if (value >= 0.0f && value <= 1.0f)
    return NMS_OK;
  return nms__fail (ctx, NMS_ERROR_RANGE, "%s is %.8g, must be 0..1", name, (double) value);
}

static int
class_options_check (nms_context *ctx, nms__settings *settings)
{
  const nms_options *o = &settings->options;
  const char *at = (const char *) o->class_options;

  if (o->class_option_count == 0)
    return NMS_OK;
  if (!at)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT,
        "class_options is NULL but class_option_count is %zu", o->class_option_count);
  if (o->class_option_count > NMS_MAX_CLASS_OPTIONS)
    return nms__fail (ctx, NMS_ERROR_RANGE, "class_option_count is %zu, must be at most %zu",
        o->class_option_count, NMS_MAX_CLASS_OPTIONS);
  memcpy (&settings->class_option_stride, at, sizeof (size_t));
  for (size_t i = 0; i < o->class_option_count; i++, at += settings->class_option_stride) {
    nms_class_options c;
    size_t size;
    memcpy (&size, at, sizeof size);
    if (size != settings->class_option_stride)
      return nms__fail (ctx, NMS_ERROR_ARGUMENT,
          "class_options[%zu]: size differs from the first", i);
    int error = nms__struct_check (ctx, "class_options", at, (const size_t[]){ sizeof c }, 1);
    if (error)
      return error;
    memcpy (&c, at, sizeof c);
    if (c.set & ~(uint32_t) (NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD
            | NMS_CLASS_MAX_DETECTIONS))
      return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "class_options[%zu]: set has unknown bits", i);
    if (c.set & NMS_CLASS_IOU_THRESHOLD) {
      error = threshold_check (ctx, "iou_threshold of a class", c.iou_threshold);
      if (error)
        return error;
    }
    if ((c.set & NMS_CLASS_SCORE_THRESHOLD) && isnan (c.score_threshold))
      return nms__fail (ctx, NMS_ERROR_RANGE, "score_threshold of class %ld is NaN",
          (long) c.class_id);
  }
  return NMS_OK;
}

int
nms__options_check (nms_context *ctx, const nms_options *options, nms__settings *settings)
{
#define BEFORE(field) offsetof (nms_options, field)
  static const size_t ends[] = { BEFORE (score_threshold), BEFORE (max_detections),
    BEFORE (max_per_class), BEFORE (inclusive), BEFORE (score_strict), BEFORE (class_agnostic),
    BEFORE (xla_strict), BEFORE (engine), BEFORE (outputs), BEFORE (reserved2),
    BEFORE (class_options), BEFORE (class_option_count), BEFORE (xla_plugin), sizeof *options };
#undef BEFORE
  nms_options *o = &settings->options;
  int error;

  settings->class_option_stride = 0;
  memcpy (o, &defaults, sizeof *o);
  if (options) {
    error = nms__struct_check (ctx, "options", options, ends, sizeof ends / sizeof *ends);
    if (error)
      return error;
    memcpy (o, options, options->size < sizeof *o ? options->size : sizeof *o);
  }
  error = threshold_check (ctx, "iou_threshold", o->iou_threshold);
  if (error)
    return error;
  if (isnan (o->score_threshold))
    return nms__fail (ctx, NMS_ERROR_RANGE, "score_threshold is NaN");
  if (o->engine != NMS_ENGINE_AUTO && !nms_engine_name ((int) o->engine))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "engine %lu is not built in",
        (unsigned long) o->engine);
  if (o->outputs & ~(uint32_t) (NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY))
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "outputs has unknown bits");
  if (o->reserved2)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "a reserved field of options is not 0");
  error = class_options_check (ctx, settings);
  if (error)
    return error;
  settings->limit = nms__limit (o->iou_threshold, o->inclusive);
  return NMS_OK;
}
