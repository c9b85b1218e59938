/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options: the defaults of all options, and the checks of the caller's values. Each value is read
 * from the caller's memory once, because another thread may change it after the check. */
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

static int
threshold_check (nms_context *ctx, const char *name, float value)
{
  if (value >= 0.0f && value <= 1.0f)
    return NMS_OK;
  return nms__fail (ctx, NMS_ERROR_RANGE, "%s is %.8g, must be 0..1", name, (double) value);
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

/* Returns the size that a struct of class options needs for the fields that `set` names. */
static size_t
class_options_end (uint32_t set)
{
  if (set & NMS_CLASS_MAX_DETECTIONS)
    return sizeof (nms_class_options);
  if (set & NMS_CLASS_SCORE_THRESHOLD)
    return offsetof (nms_class_options, max_detections);
  return set ? offsetof (nms_class_options, score_threshold)
             : offsetof (nms_class_options, iou_threshold);
}

int
nms__class_options_read (nms_context *ctx, const nms__settings *settings, size_t i,
    nms_class_options *c)
{
  static const size_t ends[] = { offsetof (nms_class_options, iou_threshold),
    offsetof (nms_class_options, score_threshold), offsetof (nms_class_options, max_detections),
    sizeof *c };
  const char *entry
      = (const char *) settings->options.class_options + i * settings->class_option_stride;
  const uint32_t known
      = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD | NMS_CLASS_MAX_DETECTIONS;

  size_t size;

  memcpy (&size, entry, sizeof size);
  if (size != settings->class_option_stride)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "class_options[%zu]: size differs from the first",
        i);
  memset (c, 0, sizeof *c);
  int error = nms__struct_read (ctx, "class_options", entry, ends, sizeof ends / sizeof *ends, c);
  if (error)
    return error;
  if (c->set & ~known)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "class_options[%zu]: set has unknown bits", i);
  if (c->size < class_options_end (c->set))
    return nms__fail (ctx, NMS_ERROR_ARGUMENT,
        "class_options[%zu]: set names a field beyond its size, %zu", i, c->size);
  if ((c->set & NMS_CLASS_SCORE_THRESHOLD) && isnan (c->score_threshold))
    return nms__fail (ctx, NMS_ERROR_RANGE, "score_threshold of class %ld is NaN",
        (long) c->class_id);
  return c->set & NMS_CLASS_IOU_THRESHOLD
      ? threshold_check (ctx, "iou_threshold of a class", c->iou_threshold) : NMS_OK;
}

int
nms__options_check (nms_context *ctx, const nms_options *options, nms__settings *settings)
{
#define BEFORE(field) offsetof (nms_options, field)
  static const size_t ends[] = { BEFORE (score_threshold), BEFORE (max_detections),
    BEFORE (max_per_class), BEFORE (inclusive), BEFORE (score_strict), BEFORE (class_agnostic),
    BEFORE (xla_strict), BEFORE (engine), BEFORE (outputs), BEFORE (reserved2),
    BEFORE (class_options), BEFORE (class_option_count), BEFORE (xla_plugin),
    BEFORE (max_candidates), sizeof *options };
#undef BEFORE
  nms_options *o = &settings->options;
  int error;

  settings->class_option_stride = 0;
  memcpy (o, &defaults, sizeof *o);
  if (options) {
    error = nms__struct_read (ctx, "options", options, ends, sizeof ends / sizeof *ends, o);
    if (error)
      return error;
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
