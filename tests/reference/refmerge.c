/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refmerge: methods merge, greedy-merge and average. */
#include "refclusters.h"

#include <stdlib.h>

/* Returns the head of box order[n]'s cluster: that of the best-ranked box above it which it
 * overlaps and whose head is neither its parent nor its part, or the box itself. */
static int32_t
head_of (const RefCall *call, const int32_t *order, size_t n, const int32_t *of)
{
  for (size_t m = 0; m < n; m++)
    if (ref_comparable (call, (size_t) order[n], (size_t) order[m])
        && ref_comparable (call, (size_t) order[n], (size_t) of[order[m]])
        && ref_joins (call, (size_t) order[n], &call->list[order[m]]))
      return of[order[m]];
  return order[n];
}

/* Returns the cluster of all boxes whose head is `head`. */
static RefCluster
cluster_of (const RefCall *call, int32_t head, const int32_t *of)
{
  const RefBox *box = &call->list[head];
  RefCluster cluster = { head, box->score, { box->x1, box->y1, box->x2, box->y2 } };

  ref_merge (call, head, of, cluster.box);
  return cluster;
}

static void
run_merge (const RefCall *call, RefResult *result)
{
  size_t length, count = 0;
  int32_t *order = ref_order (call, &length);
  int32_t *of = ref_allocate (call->count, sizeof *of);
  RefCluster *clusters = ref_allocate (call->count, sizeof *clusters);

  for (size_t i = 0; i < call->count; i++)
    of[i] = -1;
  for (size_t n = 0; n < length; n++)
    of[order[n]] = head_of (call, order, n, of);
  for (size_t n = 0; n < length; n++)
    if (of[order[n]] == order[n])
      clusters[count++] = cluster_of (call, order[n], of);
  ref_enter_clusters (call, clusters, count, of, result);
  free (clusters);
  free (of);
  free (order);
}

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

/* The clusters of hard, with another box. */
static void
run_greedy (const RefCall *call, RefResult *result)
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

void
ref_run_merge (const RefCall *call, RefResult *result)
{
  if (call->options->method == NMS_METHOD_MERGE)
    run_merge (call, result);
  else
    run_greedy (call, result);
}
