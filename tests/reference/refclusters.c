/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refclusters: what the cluster methods have in common. */
#include "refclusters.h"

#include "refoverlap.h"

#include <math.h>
#include <stdlib.h>

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

/* The C library's sine may differ from the core's in the last bit, which changes a corner of one in
 * some 1e8 rotated boxes. */
RefBox
ref_turn (const RefBox *head, const RefBox *member, bool around)
{
  RefBox turned = *member;
  if (head->angle == 0.0f && member->angle == 0.0f)
    return turned;

  long double x = ((long double) member->x1 + member->x2) / 2,
              w = (long double) member->x2 - member->x1;
  long double y = ((long double) member->y1 + member->y2) / 2,
              h = (long double) member->y2 - member->y1;
  long double to = ref_radians (head), between = ref_radians (member) - to;
  long double u = cosl (to) * x + sinl (to) * y, v = cosl (to) * y - sinl (to) * x;
  long double c = fabsl (cosl (between)), s = fabsl (sinl (between));
  bool crossed = c < s;
  long double across = around ? c * w + s * h : crossed ? h : w;
  long double down = around ? s * w + c * h : crossed ? w : h;

  turned.angle = 0.0f;
  turned.x1 = (float) (u - across / 2);
  turned.y1 = (float) (v - down / 2);
  turned.x2 = (float) (u + across / 2);
  turned.y2 = (float) (v + down / 2);
  return turned;
}

void
ref_turn_back (const RefBox *head, float box[4])
{
  if (head->angle == 0.0f)
    return;

  long double by = ref_radians (head), w = (long double) box[2] - box[0];
  long double u = ((long double) box[0] + box[2]) / 2, v = ((long double) box[1] + box[3]) / 2;
  long double h = (long double) box[3] - box[1];
  long double x = cosl (by) * u - sinl (by) * v, y = sinl (by) * u + cosl (by) * v;

  box[0] = (float) (x - w / 2);
  box[1] = (float) (y - h / 2);
  box[2] = (float) (x + w / 2);
  box[3] = (float) (y + h / 2);
}

static void
widen (float box[4], const RefBox *member)
{
  box[0] = member->x1 < box[0] ? member->x1 : box[0];
  box[1] = member->y1 < box[1] ? member->y1 : box[1];
  box[2] = member->x2 > box[2] ? member->x2 : box[2];
  box[3] = member->y2 > box[3] ? member->y2 : box[3];
}

void
ref_merge (const RefCall *call, int32_t head, const int32_t *of, float box[4])
{
  const RefBox *first = &call->list[head], own = ref_turn (first, first, true);
  float all[4] = { own.x1, own.y1, own.x2, own.y2 };
  bool alone = true;

  for (size_t i = 0; i < call->count; i++) {
    if (of[i] != head || (int32_t) i == head)
      continue;
    const RefBox member = ref_turn (first, &call->list[i], true);
    widen (all, &member);
    alone = false;
  }
  if (alone)
    return;
  ref_turn_back (first, all);
  for (int c = 0; c < 4; c++)
    box[c] = all[c];
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
