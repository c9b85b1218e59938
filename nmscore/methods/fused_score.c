/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fused_score: the formulas of ensemble-boxes 1.0.9, in binary32 and in its order of operations. */
#include "fused_score.h"

float
nms__fused_score (const nms__method *o, const nms__cluster_sums *s, float all, float greatest)
{
  const float n = (float) s->members, mean = s->scores / n;
  const float sources = (float) nms__source_count (o);

  switch (o->fused_score) {
    case NMS_FUSED_MAX:
      return s->best / greatest;
    case NMS_FUSED_BOX_AND_MODEL_AVG:
      return mean * n / s->weights * s->found / all;
    case NMS_FUSED_ABSENT_MODEL_AWARE_AVG:
      return mean * n / (s->weights + s->absent);
    default:
      return mean * (n < sources ? n : sources) / all;
  }
}
