/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refrun: runs the reference of the tests on standard input, for Python.
 *
 * Reads 6 int32 (boxes, inclusive, agnostic, 1 if there are classes + 2 if there are
 * parents, most kept boxes, number of class options), the threshold, then packed columns
 * x1 y1 x2 y2 score [class] [parent], then for each class option: id, threshold, most.
 * Writes the kept indices, int32 each.
 */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>

static void *
take (size_t count, size_t size)
{
  void *data = calloc (count + 1, size);

  if (!data || fread (data, size, count, stdin) != count) {
    fprintf (stderr, "refrun: the input ends early\n");
    exit (1);
  }
  return data;
}

int
main (void)
{
  int32_t *head = take (6, sizeof *head);
  float *threshold = take (1, sizeof *threshold);
  nms_boxes boxes = { .size = sizeof boxes, .count = (size_t) head[0] };
  nms_options options = { .size = sizeof options,
    .iou_threshold = *threshold,
    .score_threshold = -__builtin_inff (),
    .inclusive = head[1] != 0,
    .class_agnostic = head[2] != 0,
    .max_detections = (uint64_t) head[4],
    .class_option_count = (size_t) head[5] };
  nms_column *columns[] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2, &boxes.score };
  nms_class_options *classes = calloc (options.class_option_count + 1, sizeof *classes);
  RefResult result;

  if (!classes)
    return 1;
  for (int i = 0; i < 5; i++)
    columns[i]->data = take (boxes.count, sizeof (float));
  if (head[3] & 1)
    boxes.class_id.data = take (boxes.count, sizeof (int32_t));
  if (head[3] & 2)
    boxes.parent.data = take (boxes.count, sizeof (int32_t));
  for (size_t i = 0; i < options.class_option_count; i++) {
    int32_t *id = take (1, sizeof *id);
    float *limit = take (1, sizeof *limit);
    int32_t *most = take (1, sizeof *most);
    classes[i] = (nms_class_options) { .size = sizeof classes[i],
      .class_id = *id,
      .set = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_MAX_DETECTIONS,
      .iou_threshold = *limit,
      .max_detections = (uint64_t) *most };
    free (id);
    free (limit);
    free (most);
  }
  options.class_options = classes;

  ref_run (&boxes, &options, &result);
  size_t written = fwrite (result.kept, sizeof *result.kept, result.kept_count, stdout);
  int failed = written != result.kept_count || fflush (stdout);
  ref_result_clear (&result);
  for (int i = 0; i < 5; i++)
    free ((void *) columns[i]->data);
  free ((void *) boxes.class_id.data);
  free ((void *) boxes.parent.data);
  free (classes);
  free (threshold);
  free (head);
  return failed;
}
