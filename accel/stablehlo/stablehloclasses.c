/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehloclasses: records one comparison and one selection for each entry of the class options,
 * because a program has few of them and a table lookup is slow on a TPU. */
#include "stablehloclasses.h"
#include "accel/tpu/tpuspec.h"
#include "nmsgraph.h"

typedef nms_lazy_tensor tensor;

int
nms__stablehlo_classes_set (const nms__stablehlo_job *job, uint32_t field)
{
  for (size_t i = 0; i < job->class_count; i++)
    if (job->classes[i].set & field)
      return 1;
  return 0;
}

/* Returns a column with number i of `values` for the boxes of class i of the options, if the class
 * sets the option `field`, and `otherwise` for all other boxes. */
static tensor
by_class (nms_lazy *lz, const nms__stablehlo_job *job, tensor class_id, uint32_t field,
    const tensor *values, tensor otherwise)
{
  tensor column = nms_lazy_broadcast (lz, otherwise, 1, &job->columns, 0);

  for (size_t i = 0; i < job->class_count; i++)
    if (job->classes[i].set & field) {
      tensor id = nms_lazy_s32 (lz, job->classes[i].class_id);
      column = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_EQ, class_id, id), values[i],
          column);
    }
  return column;
}

static tensor
least_of (nms_lazy *lz, const nms__stablehlo_job *job, float threshold)
{
  return nms_lazy_s32 (lz, nms_lazy_order_key_of (threshold) + !!job->options->score_strict);
}

tensor
nms__stablehlo_classes_least (nms_lazy *lz, const nms__stablehlo_job *job, tensor class_id)
{
  tensor values[NMS_STABLEHLO_MAX_CLASS_OPTIONS];

  for (size_t i = 0; i < job->class_count; i++)
    values[i] = least_of (lz, job, job->classes[i].score_threshold);
  return by_class (lz, job, class_id, NMS_CLASS_SCORE_THRESHOLD, values,
      least_of (lz, job, job->options->score_threshold));
}

tensor
nms__stablehlo_classes_limit (nms_lazy *lz, const nms__stablehlo_job *job, tensor class_id)
{
  const nms_options *o = job->options;
  tensor values[NMS_STABLEHLO_MAX_CLASS_OPTIONS];

  for (size_t i = 0; i < job->class_count; i++)
    values[i] = nms_lazy_f32 (lz, nms_lazy_limit_of (job->classes[i].iou_threshold, o->inclusive));
  return by_class (lz, job, class_id, NMS_CLASS_IOU_THRESHOLD, values,
      nms_lazy_f32 (lz, nms_lazy_limit_of (o->iou_threshold, o->inclusive)));
}

/* Returns the part `part` of the threshold's limit for a kernel. */
static tensor
limit_part (nms_lazy *lz, const nms__stablehlo_job *job, float threshold, int part)
{
  float limit[3];

  nms__tpu_threshold_limit (threshold, job->options->inclusive, limit);
  return nms_lazy_f32 (lz, limit[part]);
}

void
nms__stablehlo_classes_kernel_limit (nms_lazy *lz, const nms__stablehlo_job *job, tensor class_id,
    tensor limit[3])
{
  tensor values[NMS_STABLEHLO_MAX_CLASS_OPTIONS];

  for (int part = 0; part < 3; part++) {
    for (size_t i = 0; i < job->class_count; i++)
      values[i] = limit_part (lz, job, job->classes[i].iou_threshold, part);
    limit[part] = by_class (lz, job, class_id, NMS_CLASS_IOU_THRESHOLD, values,
        limit_part (lz, job, job->options->iou_threshold, part));
  }
}

/* A cap of N or more has no effect. */
static tensor
cap_of (nms_lazy *lz, const nms__stablehlo_job *job, uint64_t cap)
{
  return nms_lazy_s32 (lz, cap < (uint64_t) job->spec->boxes ? (int32_t) cap : 0);
}

tensor
nms__stablehlo_classes_cap (nms_lazy *lz, const nms__stablehlo_job *job, tensor class_id)
{
  tensor values[NMS_STABLEHLO_MAX_CLASS_OPTIONS];

  for (size_t i = 0; i < job->class_count; i++)
    values[i] = cap_of (lz, job, job->classes[i].max_detections);
  return by_class (lz, job, class_id, NMS_CLASS_MAX_DETECTIONS, values,
      cap_of (lz, job, job->options->max_per_class));
}
