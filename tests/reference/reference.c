/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reference: reads a call, enters the boxes that do not take part, and runs the method. It
 * precomputes only what the definition names, so that it is easy to check by reading.
 */
#include "reference.h"

#include "refboxes.h"
#include "refmethods.h"
#include "refoverlap.h"

#include <stdlib.h>

static void
result_allocate (RefResult *result, size_t count)
{
  *result = (RefResult) { .count = count };
  result->kept = ref_allocate (count, sizeof *result->kept);
  result->outcome = ref_allocate (count, sizeof *result->outcome);
  result->suppressed_by = ref_allocate (count, sizeof *result->suppressed_by);
  result->kept_score = ref_allocate (count, sizeof *result->kept_score);
  result->kept_box = ref_allocate (count, 4 * sizeof *result->kept_box);
}

/* Enters the boxes that do not take part. */
static void
enter_dropped (const RefCall *call, RefResult *result)
{
  for (size_t n = 0; n < call->count; n++) {
    result->suppressed_by[n] = -1;
    if (call->list[n].invalid) {
      result->outcome[n] = NMS_OUTCOME_INVALID;
      result->invalid_count++;
    } else if (call->list[n].filtered) {
      result->outcome[n] = NMS_OUTCOME_FILTERED;
      result->filtered_count++;
    } else if (call->list[n].not_candidate) {
      result->outcome[n] = NMS_OUTCOME_NOT_CANDIDATE;
      result->not_candidate_count++;
    }
  }
}

#define ROW(constant, number, family, by_score, changes, name, text) [number] = ref_run_##family,
static void (*const methods[]) (const RefCall *call, RefResult *result) = { NMS_METHOD_LIST (ROW) };

void
ref_run (const nms_boxes *boxes, const nms_options *options, RefResult *result)
{
  RefCall call = ref_call_read (boxes, options);

  result_allocate (result, call.count);
  for (size_t i = 0; i < call.count; i++)
    result->rotated |= call.list[i].angle != 0.0f;
  enter_dropped (&call, result);
  methods[options->method](&call, result);
  free (call.list);
}

void
ref_result_clear (RefResult *result)
{
  free (result->kept);
  free (result->outcome);
  free (result->suppressed_by);
  free (result->kept_score);
  free (result->kept_box);
  *result = (RefResult) { 0 };
}

/* Returns whether boxes i and j overlap by more than box i's threshold. */
static bool
overlaps (const RefCall *call, size_t i, size_t j)
{
  const nms_options *o = call->options;
  float threshold = ref_rule_of (o, call->list[i].class_id).iou_threshold;
  return ref_sizes_fit (&call->list[i], &call->list[j], o)
      && ref_overlaps (&call->list[i], &call->list[j], NMS_METRIC_IOU, threshold, o->inclusive);
}

void
ref_count_neighbors (const nms_boxes *boxes, const nms_options *options, uint32_t *neighbors)
{
  RefCall call = ref_call_read (boxes, options);

  for (size_t i = 0; i < call.count; i++) {
    neighbors[i] = 0;
    for (size_t j = 0; j < call.count && ref_takes_part (&call, i); j++)
      if (j != i && ref_takes_part (&call, j) && ref_comparable (&call, i, j)
          && (overlaps (&call, i, j) || overlaps (&call, j, i)))
        neighbors[i]++;
  }
  free (call.list);
}

float
ref_iou (const float a[4], const float b[4])
{
  RefBox box_a = ref_box (a[0], a[1], a[2], a[3], 0.0f);
  RefBox box_b = ref_box (b[0], b[1], b[2], b[3], 0.0f);

  if (box_a.invalid || box_b.invalid)
    return 0.0f;
  return ref_metric (&box_a, &box_b, NMS_METRIC_IOU);
}
