/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refhard: method hard, line by line. */
#include "refclusters.h"
#include "refoverlap.h"

#include <stdlib.h>

static size_t
kept_of_class (const RefCall *call, const RefResult *result, int32_t class_id)
{
  size_t n = 0;

  for (size_t k = 0; k < result->kept_count; k++)
    n += call->list[result->kept[k]].class_id == class_id;
  return n;
}

bool
ref_cap_is_full (const RefCall *call, const RefResult *result, int32_t class_id)
{
  uint64_t all = call->options->max_detections;
  uint64_t own = ref_rule_of (call->options, class_id).max;

  return (all && result->kept_count >= all)
      || (own && kept_of_class (call, result, class_id) >= own);
}

/* Returns the first kept box that suppresses box i, or -1. */
static int32_t
suppressor_of (const RefCall *call, int32_t i, const RefResult *result)
{
  const nms_options *o = call->options;
  const RefBox *box = &call->list[i];
  float threshold = ref_rule_of (o, box->class_id).iou_threshold;

  for (size_t k = 0; k < result->kept_count; k++) {
    int32_t j = result->kept[k];
    if (ref_comparable (call, (size_t) i, (size_t) j) && ref_sizes_fit (box, &call->list[j], o)
        && ref_overlaps (box, &call->list[j], o->metric, threshold, o->inclusive))
      return j;
  }
  return -1;
}

/* Enters box i as kept, with its own corners. */
static void
keep (const RefCall *call, int32_t i, float score, RefResult *result)
{
  const RefBox *box = &call->list[i];
  const float corners[4] = { box->x1, box->y1, box->x2, box->y2 };
  size_t k = result->kept_count++;

  result->kept[k] = i;
  result->kept_score[k] = score;
  for (int c = 0; c < 4; c++)
    result->kept_box[4 * k + c] = corners[c];
}

bool
ref_take_next (const RefCall *call, int32_t i, float score, RefResult *result)
{
  const bool full = ref_cap_is_full (call, result, call->list[i].class_id);

  result->outcome[i] = full ? NMS_OUTCOME_OVER_CAP : NMS_OUTCOME_KEPT;
  if (full)
    result->over_cap_count++;
  else
    keep (call, i, score, result);
  return !full;
}

void
ref_run_hard (const RefCall *call, RefResult *result)
{
  size_t length;
  int32_t *order = ref_order (call, &length);

  for (size_t n = 0; n < length; n++) {
    const int32_t i = order[n];
    const bool full = ref_cap_is_full (call, result, call->list[i].class_id);
    const int32_t by = full ? -1 : suppressor_of (call, i, result);
    if (by < 0) {
      ref_take_next (call, i, call->list[i].score, result);
    } else {
      result->outcome[i] = NMS_OUTCOME_SUPPRESSED;
      result->suppressed_by[i] = by;
      result->suppressed_count++;
    }
  }
  free (order);
}
