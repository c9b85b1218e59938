/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refrun: the reference of the tests behind one plain function, for Python.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Classes' options: `class_count` entries of id, threshold, most. Writes the
 * kept indices, and returns how many. */
int32_t refrun (size_t count, const float *const corners[4], const float *score,
    const int32_t *class_id, float threshold, int inclusive, int agnostic, uint64_t most,
    size_t class_count, const int32_t *class_ids, const float *class_thresholds,
    const uint64_t *class_most, int32_t *kept);

int32_t
refrun (size_t count, const float *const corners[4], const float *score, const int32_t *class_id,
    float threshold, int inclusive, int agnostic, uint64_t most, size_t class_count,
    const int32_t *class_ids, const float *class_thresholds, const uint64_t *class_most,
    int32_t *kept)
{
  nms_class_options *classes = calloc (class_count + 1, sizeof *classes);
  nms_boxes boxes = { .size = sizeof boxes, .count = count };
  nms_options options = { .size = sizeof options, .iou_threshold = threshold,
    .max_detections = most, .inclusive = (uint8_t) (inclusive != 0),
    .class_agnostic = (uint8_t) (agnostic != 0), .class_options = classes,
    .class_option_count = class_count };
  RefResult result;

  if (!classes)
    abort ();
  options.score_threshold = -__builtin_inff ();
  boxes.x1.data = corners[0];
  boxes.y1.data = corners[1];
  boxes.x2.data = corners[2];
  boxes.y2.data = corners[3];
  boxes.score.data = score;
  boxes.class_id.data = class_id;
  for (size_t i = 0; i < class_count; i++) {
    classes[i].size = sizeof classes[i];
    classes[i].class_id = class_ids[i];
    classes[i].set = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_MAX_DETECTIONS;
    classes[i].iou_threshold = class_thresholds[i];
    classes[i].max_detections = class_most[i];
  }
  ref_run (&boxes, &options, &result);
  memcpy (kept, result.kept, result.kept_count * sizeof *kept);
  int32_t n = (int32_t) result.kept_count;
  ref_result_clear (&result);
  free (classes);
  return n;
}
