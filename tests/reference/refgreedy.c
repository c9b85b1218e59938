/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refgreedy: methods greedy-merge and average. */
#include "refclusters.h"

#include <stdlib.h>

/* Replaces the box of `head` by the mean of it and of the boxes that it suppressed, along its
 * sides. */
static void
average (const RefCall *call, const int32_t *order, size_t length, const RefResult *result,
    int32_t head, float box[4])
{
  const RefBox *first = &call->list[head], own = ref_turn (first, first, false);
  float weight = ref_weight_of (first->score), total = weight;
  float sum[4] = { weight * own.x1, weight * own.y1, weight * own.x2, weight * own.y2 };
  bool alone = true;

  for (size_t n = 0; n < length; n++) {
    const RefBox member = ref_turn (first, &call->list[order[n]], false);
    if (result->suppressed_by[order[n]] != head)
      continue;
    weight = ref_weight_of (member.score);
    total += weight;
    sum[0] += weight * member.x1;
    sum[1] += weight * member.y1;
    sum[2] += weight * member.x2;
    sum[3] += weight * member.y2;
    alone = false;
  }
  if (alone)
    return;
  for (int c = 0; c < 4; c++)
    box[c] = sum[c] / total;
  ref_turn_back (first, box);
}

void
ref_run_greedy (const RefCall *call, RefResult *result)
{
  size_t length;
  int32_t *order = ref_order (call, &length);

  ref_run_hard (call, result);
  for (size_t k = 0; k < result->kept_count; k++) {
    float *box = &result->kept_box[4 * k];
    if (call->options->method == NMS_METHOD_AVERAGE)
      average (call, order, length, result, result->kept[k], box);
    else
      ref_merge (call, result->kept[k], result->suppressed_by, box);
  }
  free (order);
}
