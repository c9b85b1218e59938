/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run: the doors. Arguments are checked here and nowhere behind. */
#include "engines/engine.h"
#include "fpmode.h"

static int
run (nms_context *ctx, const nms_boxes *caller_boxes, const nms_options *options,
    const nms_arrays *arrays, nms_result *result)
{
  nms_boxes boxes;
  size_t invalid, filtered;
  unsigned outputs;
  int error;

  error = nms__struct_check (ctx, "result", result, sizeof *result, sizeof *result);
  if (error)
    return error;
  error = nms__boxes_check (ctx, caller_boxes, &boxes);
  if (error)
    return error;
  error = nms__options_check (ctx, options, &ctx->settings);
  if (error)
    return error;
  error = nms__context_layout (ctx, boxes.count, ctx->settings.options.class_option_count);
  if (error)
    return error;

  outputs = ctx->settings.options.outputs;
  if (arrays)
    outputs = (arrays->outcome ? NMS_OUTPUT_OUTCOME : 0)
        | (arrays->suppressed_by ? NMS_OUTPUT_SUPPRESSED_BY : 0);
  nms__frame *f = &ctx->frame;
  if (!(outputs & NMS_OUTPUT_OUTCOME))
    f->outcome = NULL;
  if (!(outputs & NMS_OUTPUT_SUPPRESSED_BY))
    f->suppressed_by = NULL;
  error = nms__prepare (ctx, &boxes, &invalid, &filtered);
  if (error)
    return error;
  int engine;
  error = nms__engine_run (ctx, &engine);
  if (error)
    return error;

  if (arrays) {
    if (arrays->kept && f->kept_count > arrays->kept_capacity)
      return nms__fail (ctx, NMS_ERROR_SPACE, "%zu boxes were kept, kept_capacity is %zu",
          f->kept_count, arrays->kept_capacity);
    if (arrays->kept && f->kept_count)
      memcpy (arrays->kept, f->kept, f->kept_count * sizeof *f->kept);
    if (f->outcome && boxes.count)
      memcpy (arrays->outcome, f->outcome, boxes.count * sizeof *f->outcome);
    if (f->suppressed_by && boxes.count)
      memcpy (arrays->suppressed_by, f->suppressed_by, boxes.count * sizeof *f->suppressed_by);
  }
  ctx->engine = engine;
  result->kept_count = f->kept_count;
  result->suppressed_count = f->count - f->kept_count - f->over_cap_count;
  result->over_cap_count = f->over_cap_count;
  result->filtered_count = filtered;
  result->invalid_count = invalid;
  result->kept = arrays ? arrays->kept : f->kept;
  result->outcome = arrays ? arrays->outcome : f->outcome;
  result->suppressed_by = arrays ? arrays->suppressed_by : f->suppressed_by;
  return NMS_OK;
}

int
nms_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options, nms_result *result)
{
  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  nms__fpmode mode = nms__fpmode_enter ();
  ctx->error[0] = '\0';
  int error = run (ctx, boxes, options, NULL, result);
  nms__fpmode_leave (mode);
  return error;
}

int
nms_run_into (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_arrays *arrays, nms_result *result)
{
  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  nms__fpmode mode = nms__fpmode_enter ();
  ctx->error[0] = '\0';
  int error = nms__struct_check (ctx, "arrays", arrays, sizeof *arrays, sizeof *arrays);
  if (!error)
    error = run (ctx, boxes, options, arrays, result);
  nms__fpmode_leave (mode);
  return error;
}
