/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refsoft: the soft methods, line by line, and exp in the steps of docs/methods.md, each rounded to
 * binary32. */
#include "refmethods.h"
#include "refoverlap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

float
ref_exp (float x)
{
  static const float factors[] = { 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
    4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f };
  float n, high, low, rest, square, sum = 0.0f;

  if (x <= -87.33654f)
    return 0.0f;
  n = x * 1.44269504f;
  n = truncf (n - 0.5f);
  high = n * 0.693359375f;
  low = n * 2.12194440e-4f;
  rest = x - high;
  rest = rest + low;
  for (int i = 0; i < 6; i++) {
    sum = sum * rest;
    sum = sum + factors[i];
  }
  square = rest * rest;
  sum = sum * square;
  sum = sum + rest;
  sum = sum + 1.0f;
  return ldexpf (sum, (int) n);
}

int32_t
ref_best_of (const RefCall *call, const bool *decided, const float *score)
{
  int32_t best = -1;

  for (size_t i = 0; i < call->count; i++)
    if (!decided[i] && (best < 0 || score[i] > score[best]))
      best = (int32_t) i;
  return best;
}

/* Returns the factor by which the kept box k lowers the score of box i. */
static float
factor_of (const RefCall *call, int32_t k, size_t i)
{
  const nms_options *o = call->options;
  const RefBox *kept = &call->list[k], *box = &call->list[i];
  float v = ref_metric (kept, box, o->metric);
  float threshold = ref_rule_of (o, box->class_id).iou_threshold;

  if (!ref_comparable (call, (size_t) k, i) || !ref_sizes_fit (kept, box, o))
    return 1.0f;
  if (o->method == NMS_METHOD_SOFT_GAUSSIAN)
    return ref_exp (-(v * v) / (o->sigma > 0.0f ? o->sigma : 0.5f));
  return ref_overlaps (kept, box, o->metric, threshold, o->inclusive) ? 1.0f - v : 1.0f;
}

void
ref_run_soft (const RefCall *call, RefResult *result)
{
  bool *decided = ref_allocate (call->count, sizeof *decided);
  float *score = ref_allocate (call->count, sizeof *score);
  int32_t k;

  for (size_t i = 0; i < call->count; i++) {
    decided[i] = !ref_takes_part (call, i);
    score[i] = call->list[i].score > FLT_MAX ? FLT_MAX : call->list[i].score;
  }
  while ((k = ref_best_of (call, decided, score)) >= 0) {
    decided[k] = true;
    if (!ref_take_next (call, k, score[k], result))
      continue;
    for (size_t i = 0; i < call->count; i++) {
      if (decided[i])
        continue;
      score[i] *= factor_of (call, k, i);
      if (score[i] < call->options->min_score) {
        decided[i] = true;
        result->outcome[i] = NMS_OUTCOME_SUPPRESSED;
        result->suppressed_by[i] = k;
        result->suppressed_count++;
      }
    }
  }
  free (decided);
  free (score);
}
