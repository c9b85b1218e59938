/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refmatrix: the matrix methods, line by line. */
#include "refmethods.h"
#include "refoverlap.h"

#include <float.h>
#include <stdlib.h>

static float
clamped (float score)
{
  return score > FLT_MAX ? FLT_MAX : score;
}

/* Returns whether box i ranks above box j by the given scores. */
static bool
above (float score_i, size_t i, float score_j, size_t j)
{
  return score_i > score_j || (score_i == score_j && i < j);
}

/* Returns the metric of box j and box i, or 0 unless i ranks above j and may lower its score. */
static float
metric_from_above (const RefCall *call, size_t i, size_t j)
{
  const RefBox *a = &call->list[i], *b = &call->list[j];

  if (i == j || !ref_takes_part (call, i) || !ref_comparable (call, i, j)
      || !ref_sizes_fit (a, b, call->options) || !above (a->score, i, b->score, j))
    return 0.0f;
  return ref_metric (a, b, call->options->metric);
}

/* Returns the greatest metric of box i and a box above it. */
static float
compensation (const RefCall *call, size_t i)
{
  float most = 0.0f;

  for (size_t k = 0; k < call->count; k++) {
    float v = metric_from_above (call, k, i);
    most = v > most ? v : most;
  }
  return most;
}

/* Returns the factor of box j, and the box that decides it: of all boxes above j the one with the
 * least factor (linear) or exponent (gaussian). */
static float
decay_of (const RefCall *call, size_t j, const float *comp, int32_t *by)
{
  const bool gaussian = call->options->method == NMS_METHOD_MATRIX_GAUSSIAN;
  float sigma = call->options->sigma > 0.0f ? call->options->sigma : 2.0f;
  float least = gaussian ? 0.0f : 1.0f;

  for (size_t i = 0; i < call->count; i++) {
    float v = metric_from_above (call, i, j);
    if (v == 0.0f || (!gaussian && comp[i] == 1.0f))
      continue;
    float decay = gaussian ? comp[i] * comp[i] - v * v : (1.0f - v) / (1.0f - comp[i]);
    if (decay < least
        || (*by >= 0 && decay == least
            && above (call->list[i].score, i, call->list[*by].score, (size_t) *by))) {
      least = decay;
      *by = (int32_t) i;
    }
  }
  return gaussian ? ref_exp (sigma * least) : least;
}

/* Computes all new scores, and marks the boxes below min_score as suppressed. */
static void
rescore (const RefCall *call, float *score, bool *decided, RefResult *result)
{
  float *comp = ref_allocate (call->count, sizeof *comp);

  for (size_t i = 0; i < call->count; i++)
    comp[i] = ref_takes_part (call, i) ? compensation (call, i) : 0.0f;
  for (size_t j = 0; j < call->count; j++) {
    int32_t by = -1;
    decided[j] = !ref_takes_part (call, j);
    if (decided[j])
      continue;
    score[j] = clamped (call->list[j].score) * decay_of (call, j, comp, &by);
    if (score[j] < call->options->min_score) {
      decided[j] = true;
      result->outcome[j] = NMS_OUTCOME_SUPPRESSED;
      result->suppressed_by[j] = by;
      result->suppressed_count++;
    }
  }
  free (comp);
}

void
ref_run_matrix (const RefCall *call, RefResult *result)
{
  float *score = ref_allocate (call->count, sizeof *score);
  bool *decided = ref_allocate (call->count, sizeof *decided);
  int32_t best;

  rescore (call, score, decided, result);
  while ((best = ref_best_of (call, decided, score)) >= 0) {
    decided[best] = true;
    ref_take_next (call, best, score[best], result);
  }
  free (score);
  free (decided);
}
