/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refgreedy: methods greedy-merge and average. */
#include "refclusters.h"

#include <stdlib.h>

/* Writes the mean of the corners of box `head` and of the boxes that it suppressed. */
static void
average (const RefCall *call, const int32_t *order, size_t length, const RefResult *result,
    int32_t head, float box[4])
{
  const RefBox *first = &call->list[head];
  float weight = ref_weight_of (first->score), total = weight;
  float sum[4] = { weight * first->x1, weight * first->y1, weight * first->x2, weight * first->y2 };
  bool alone = true;

  for (size_t n = 0; n < length; n++) {
    const RefBox *member = &call->list[order[n]];
    if (result->suppressed_by[order[n]] != head)
      continue;
    weight = ref_weight_of (member->score);
    total += weight;
    sum[0] += weight * member->x1;
    sum[1] += weight * member->y1;
    sum[2] += weight * member->x2;
    sum[3] += weight * member->y2;
    alone = false;
  }
  for (int c = 0; c < 4 && !alone; c++)
    box[c] = sum[c] / total;
}

/* Widens the box of `head` to the boxes that it suppressed. */
static void
merge (const RefCall *call, const RefResult *result, int32_t head, float box[4])
{
  for (size_t i = 0; i < call->count; i++)
    if (result->suppressed_by[i] == head)
      ref_widen (box, &call->list[i]);
}

void
ref_run_greedy (const RefCall *given, RefResult *result)
{
  RefCall call = *given;
  size_t length;
  int32_t *order = ref_order (&call, &length);

  ref_make_upright (&call);
  ref_run_hard (&call, result);
  for (size_t k = 0; k < result->kept_count; k++) {
    float *box = &result->kept_box[4 * k];
    if (call.options->method == NMS_METHOD_AVERAGE)
      average (&call, order, length, result, result->kept[k], box);
    else
      merge (&call, result, result->kept[k], box);
  }
  free (order);
}
