/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run: the public functions that take boxes. They check all arguments; the functions they call
 * check none.
 */
#include "added.h"
#include "engines/engine.h"
#include "fpmode.h"
#include "geometry/neighbors.h"
#include "methods/method.h"

/* Prepares ctx->frame by ctx->settings. `outputs`: NMS_OUTPUT_... bits. */
static int
prepare (nms_context *ctx, const nms_boxes *boxes, unsigned outputs, nms__drops *drops)
{
  nms__frame *f = &ctx->frame;
  int error = nms__context_layout (ctx, boxes->count, ctx->settings.options.class_option_count);

  if (!error)
    error = nms__context_layout_method (ctx, outputs);
  if (error)
    return error;
  if (!(outputs & NMS_OUTPUT_OUTCOME))
    f->outcome = NULL;
  if (!(outputs & NMS_OUTPUT_SUPPRESSED_BY))
    f->suppressed_by = NULL;
  return nms__prepare (ctx, boxes, drops);
}

/* Copies the result of a run of `count` boxes to the caller's arrays. */
static void
fill_arrays (const nms__frame *f, const nms__arrays *arrays, size_t count)
{
  if (arrays->kept && f->kept_count)
    memcpy (arrays->kept, f->kept, f->kept_count * sizeof *f->kept);
  if (f->kept_score && f->kept_count)
    memcpy (arrays->kept_score, f->kept_score, f->kept_count * sizeof *f->kept_score);
  if (f->kept_box && f->kept_count)
    memcpy (arrays->kept_box, f->kept_box, f->kept_count * 4 * sizeof *f->kept_box);
  if (f->outcome && count)
    memcpy (arrays->outcome, f->outcome, count * sizeof *f->outcome);
  if (f->suppressed_by && count)
    memcpy (arrays->suppressed_by, f->suppressed_by, count * sizeof *f->suppressed_by);
}

static nms_result
result_of (const nms__frame *f, const nms__drops *drops, const nms__arrays *arrays)
{
  return (nms_result) {
    .size = sizeof (nms_result),
    .kept_count = f->kept_count,
    .suppressed_count = f->count - f->kept_count - f->over_cap_count,
    .over_cap_count = f->over_cap_count,
    .filtered_count = drops->filtered,
    .invalid_count = drops->invalid,
    .kept = arrays ? arrays->kept : f->kept,
    .outcome = arrays ? arrays->outcome : f->outcome,
    .suppressed_by = arrays ? arrays->suppressed_by : f->suppressed_by,
    .not_candidate_count = drops->not_candidate,
    .kept_score = arrays ? arrays->kept_score : f->kept_score,
    .kept_box = arrays ? arrays->kept_box : f->kept_box,
  };
}

/* Drops the class ids if all are equal, because the engines take less time for boxes without
 * classes, which suppress each other in the same way. */
static void
drop_equal_classes (nms__frame *f)
{
  if (f->class_id && !f->grouped && f->count
      && memcmp (f->class_id, f->class_id + 1, (f->count - 1) * sizeof *f->class_id) == 0)
    f->class_id = NULL;
}

/* Runs the method or the engine of the options on the prepared frame; the method or auto if the
 * added engine left it. If auto chose an engine that spent its pair budget, prepares the frame
 * again, from the caller's columns, for engine spatial. */
static int
decide (nms_context *ctx, const nms_boxes *boxes, nms__drops *drops, int *used)
{
  int asked = (int) ctx->settings.options.engine, error;

  ctx->frame.boxes = boxes;
  if (asked == NMS_ENGINE_ADDED) {
    *used = asked;
    error = nms__added_run (ctx);
    if (error != NMS__NOT_RUN)
      return error;
    asked = NMS_ENGINE_AUTO;
  }
  drop_equal_classes (&ctx->frame);
  if (nms__method_decides (&ctx->frame)) {
    *used = nms__by_method (&ctx->settings.options) ? NMS_ENGINE_SEQUENTIAL : NMS_ENGINE_SORTED;
    nms__method_run (&ctx->frame);
    return NMS_OK;
  }
  error = nms__engine_run (&ctx->frame, asked, used);
  if (error != NMS__OVER_BUDGET)
    return error;
  error = nms__prepare (ctx, boxes, drops);
  return error ? error : nms__engine_run (&ctx->frame, NMS_ENGINE_SPATIAL, used);
}

int
nms__run_checked (nms_context *ctx, const nms_boxes *boxes, const nms__arrays *arrays,
    nms_result *result)
{
  unsigned outputs = ctx->settings.options.outputs;
  nms__drops drops;
  int engine, error;

  if (arrays)
    outputs = (arrays->outcome ? NMS_OUTPUT_OUTCOME : 0)
        | (arrays->suppressed_by ? NMS_OUTPUT_SUPPRESSED_BY : 0)
        | (arrays->kept_score ? NMS_OUTPUT_SCORE : 0) | (arrays->kept_box ? NMS_OUTPUT_BOX : 0);
  error = prepare (ctx, boxes, outputs, &drops);
  if (error)
    return error;
  error = decide (ctx, boxes, &drops, &engine);
  if (error)
    return error;
  nms__method_fill (&ctx->frame, boxes);
  if (arrays)
    fill_arrays (&ctx->frame, arrays, boxes->count);
  ctx->engine = engine;
  ctx->engine_kernels = ctx->frame.kernels;
  ctx->method_in_use = nms__by_method (&ctx->settings.options)
      ? nms_method_name ((int) ctx->settings.options.method)
      : NULL;
  *result = result_of (&ctx->frame, &drops, arrays);
  return NMS_OK;
}

static int
run (nms_context *ctx, const nms_boxes *caller_boxes, const nms_options *options,
    nms_result *result)
{
  nms_boxes boxes;
  nms_result full;
  int error = nms__result_check (ctx, result);

  if (!error)
    error = nms__boxes_read (ctx, caller_boxes, NMS_MAX_BOXES, &boxes);
  if (!error)
    error = nms__options_check (ctx, options, &ctx->settings);
  if (!error)
    error = nms__run_checked (ctx, &boxes, NULL, &full);
  if (!error)
    nms__result_write (result, &full);
  return error;
}

int
nms_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, nms_result *result)
{
  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  nms__fpmode mode = nms__fpmode_enter ();
  ctx->error[0] = '\0';
  int error = run (ctx, boxes, options, result);
  nms__fpmode_leave (mode);
  return error;
}

static int
count_neighbors (nms_context *ctx, const nms_boxes *caller_boxes, const nms_options *options,
    uint32_t *neighbors)
{
  nms_boxes boxes;
  nms__drops drops;
  int error = nms__boxes_read (ctx, caller_boxes, NMS_MAX_BOXES, &boxes);

  if (error)
    return error;
  if (boxes.count && !neighbors)
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "neighbors is NULL");
  error = nms__options_check (ctx, options, &ctx->settings);
  if (!error && ctx->settings.options.metric != NMS_METRIC_IOU)
    error = nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "neighbors are counted by metric iou only");
  if (!error)
    error = prepare (ctx, &boxes, 0, &drops);
  if (!error)
    nms__neighbors (&ctx->frame, neighbors, boxes.count);
  return error;
}

int
nms_count_neighbors (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    uint32_t *neighbors)
{
  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  nms__fpmode mode = nms__fpmode_enter ();
  ctx->error[0] = '\0';
  int error = count_neighbors (ctx, boxes, options, neighbors);
  nms__fpmode_leave (mode);
  return error;
}
