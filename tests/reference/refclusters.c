/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refclusters: what the cluster methods have in common. */
#include "refclusters.h"

#include "refoverlap.h"

#include <stdlib.h>

typedef struct {
  float score;
  int32_t number;
} Ranked;

static int
by_rank (const void *a, const void *b)
{
  const Ranked *x = a, *y = b;

  return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                              : (x->number > y->number) - (x->number < y->number);
}

int32_t *
ref_order (const RefCall *call, size_t *length)
{
  Ranked *list = ref_allocate (call->count, sizeof *list);
  int32_t *order = ref_allocate (call->count, sizeof *order);
  size_t n = 0;

  for (size_t i = 0; i < call->count; i++)
    if (ref_takes_part (call, i))
      list[n++] = (Ranked) { call->list[i].score, (int32_t) i };
  qsort (list, n, sizeof *list, by_rank);
  for (size_t k = 0; k < n; k++)
    order[k] = list[k].number;
  free (list);
  *length = n;
  return order;
}

bool
ref_joins (const RefCall *call, size_t i, const RefBox *other)
{
  const nms_options *o = call->options;
  float threshold = ref_rule_of (o, call->list[i].class_id).iou_threshold;

  return ref_sizes_fit (&call->list[i], other, o)
      && ref_overlaps (&call->list[i], other, o->metric, threshold, o->inclusive);
}

float
ref_weight_of (float score)
{
  return score < 0x1p-64f ? 0x1p-64f : score > 0x1p32f ? 0x1p32f : score;
}

void
ref_widen (float box[4], const RefBox *member)
{
  box[0] = member->x1 < box[0] ? member->x1 : box[0];
  box[1] = member->y1 < box[1] ? member->y1 : box[1];
  box[2] = member->x2 > box[2] ? member->x2 : box[2];
  box[3] = member->y2 > box[3] ? member->y2 : box[3];
}

void
ref_make_upright (RefCall *call)
{
  for (size_t i = 0; i < call->count; i++)
    if (ref_takes_part (call, i))
      call->list[i] = ref_upright (&call->list[i]);
}

/* Gives every member of a cluster its outcome. Returns the number of members. */
static size_t
enter_members (const RefCall *call, int32_t head, const int32_t *of, bool over_cap,
    RefResult *result)
{
  size_t members = 0;

  for (size_t i = 0; i < call->count; i++) {
    if (of[i] != head)
      continue;
    members++;
    result->outcome[i] = over_cap ? NMS_OUTCOME_OVER_CAP
        : (int32_t) i == head     ? NMS_OUTCOME_KEPT
                                  : NMS_OUTCOME_SUPPRESSED;
    if (result->outcome[i] == NMS_OUTCOME_SUPPRESSED)
      result->suppressed_by[i] = head;
  }
  return members;
}

static void
enter_kept (const RefCluster *cluster, RefResult *result)
{
  size_t k = result->kept_count++;

  result->kept[k] = cluster->head;
  result->kept_score[k] = cluster->score;
  for (int c = 0; c < 4; c++)
    result->kept_box[4 * k + c] = cluster->box[c];
}

void
ref_enter_clusters (const RefCall *call, const RefCluster *clusters, size_t count,
    const int32_t *of, RefResult *result)
{
  for (size_t c = 0; c < count; c++) {
    int32_t head = clusters[c].head;
    bool over_cap = ref_cap_is_full (call, result, call->list[head].class_id);
    size_t members = enter_members (call, head, of, over_cap, result);

    if (over_cap) {
      result->over_cap_count += members;
    } else {
      enter_kept (&clusters[c], result);
      result->suppressed_count += members - 1;
    }
  }
}
