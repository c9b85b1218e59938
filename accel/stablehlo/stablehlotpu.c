/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlotpu: computes the arguments of a kernel for TPUs, and counts its picks. */
#include "stablehlotpu.h"
#include "stablehlocandidates.h"
#include "stablehloclasses.h"

#include "accel/tpu/tpu.h"

typedef nms_lazy_tensor tensor;

static nms__tpu_spec
spec_of (const nms__stablehlo_job *job)
{
  return (nms__tpu_spec) { .boxes = job->spec->boxes,
    .picks = job->picks,
    .images = job->images,
    .memory = job->spec->tpu_memory,
    .classes = job->uses_classes || job->uses_caps,
    .class_agnostic = !job->uses_classes,
    .class_caps = (uint8_t) job->uses_caps,
    .box_limits = (uint8_t) job->uses_limits,
    .parents = job->spec->parents != 0 };
}

/* Computes nms__tpu_parameters (): row r has the number r of the limit, or K. */
static tensor
parameters (nms_lazy *lz, const nms__stablehlo_job *job)
{
  const int32_t dims[] = { NMS__TPU_PARAMETERS / NMS__TPU_LANES, NMS__TPU_LANES };
  float limit[3], number[NMS__TPU_PARAMETERS];
  tensor row = nms_lazy_iota (lz, 2, dims, 0);
  tensor p = nms_lazy_broadcast (lz, nms_lazy_f32 (lz, 0.0f), 2, dims, 0);

  nms__tpu_threshold_limit (job->options->iou_threshold, job->options->inclusive, limit);
  nms__tpu_parameters (limit, job->picks, number);
  for (int32_t r = 0; r < dims[0]; r++) {
    const float value = number[r * NMS__TPU_LANES];
    if (value != 0.0f)
      p = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_EQ, row, nms_lazy_s32 (lz, r)),
          nms_lazy_f32 (lz, value), p);
  }
  return p;
}

/* Returns the number of picks of each image: the position of the first -1, or K if none is -1. */
static tensor
count_of (nms_lazy *lz, const nms__stablehlo_job *job, tensor picks)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, picks);
  const int axis = shape.rank - 1;
  tensor kept = nms_lazy_binary (lz, NMS_LAZY_GE, picks, nms_lazy_s32 (lz, 0));

  return nms_lazy_reduce (lz, NMS_LAZY_MIN,
      nms_lazy_select (lz, kept, nms_lazy_s32 (lz, job->picks),
          nms_lazy_iota (lz, shape.rank, shape.dims, axis)),
      axis);
}

nms_lazy_kept
nms__stablehlo_tpu (nms_lazy *lz, const nms__stablehlo_job *job, const nms_lazy_boxes *b)
{
  const nms__tpu_spec spec = spec_of (job);
  nms__tpu_columns columns = { b->x1, b->y1, b->x2, b->y2, nms__stablehlo_keys (lz, b),
    parameters (lz, job), .parent = b->parent };

  if (spec.classes)
    columns.class_id = b->class_id;
  if (spec.box_limits)
    nms__stablehlo_classes_kernel_limit (lz, job, b->class_id, columns.limit);
  if (spec.class_caps)
    columns.class_most = nms__stablehlo_classes_cap (lz, job, b->class_id);
  const tensor picks = nms__tpu_picks (lz, &spec, &columns);
  return (nms_lazy_kept) { .picks = picks, .count = count_of (lz, job, picks) };
}
