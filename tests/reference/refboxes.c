/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refboxes: reads the columns of a call, and applies the rules about single boxes. */
#include "refboxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COORDINATE_LIMIT 1e18f

void *
ref_allocate (size_t count, size_t size)
{
  void *memory = calloc (count ? count : 1, size);
  if (!memory) {
    fprintf (stderr, "reference: out of memory\n");
    abort ();
  }
  return memory;
}

static void
fetch (const nms_column *column, size_t i, void *value, size_t size)
{
  ptrdiff_t stride = column->stride ? column->stride : (ptrdiff_t) size;
  memcpy (value, (const char *) column->data + (ptrdiff_t) i * stride, size);
}

static float
fetch_float (const nms_column *column, size_t i)
{
  float value;
  fetch (column, i, &value, sizeof value);
  return value;
}

static void
put_in_order (float *low, float *high)
{
  if (*low > *high) {
    float t = *low;
    *low = *high;
    *high = t;
  }
}

static bool
is_bad_coordinate (float v)
{
  return isnan (v) || isinf (v) || v > COORDINATE_LIMIT || v < -COORDINATE_LIMIT;
}

RefBox
ref_box (float x1, float y1, float x2, float y2, float score)
{
  RefBox box = { .score = score, .parent = -1 };

  box.invalid = is_bad_coordinate (x1) || is_bad_coordinate (y1) || is_bad_coordinate (x2)
      || is_bad_coordinate (y2) || isnan (score);
  put_in_order (&x1, &x2);
  put_in_order (&y1, &y2);
  box.x1 = x1;
  box.y1 = y1;
  box.x2 = x2;
  box.y2 = y2;
  return box;
}

RefRule
ref_rule_of (const nms_options *options, int32_t class_id)
{
  RefRule rule = { options->iou_threshold, options->score_threshold, options->max_per_class,
    class_id };

  for (size_t i = 0; i < options->class_option_count; i++) {
    const nms_class_options *c = &options->class_options[i];
    if (c->class_id != class_id)
      continue;
    if (c->set & NMS_CLASS_IOU_THRESHOLD)
      rule.iou_threshold = c->iou_threshold;
    if (c->set & NMS_CLASS_SCORE_THRESHOLD)
      rule.score_threshold = c->score_threshold;
    if (c->set & NMS_CLASS_MAX_DETECTIONS)
      rule.max = c->max_detections;
    if (c->set & NMS_CLASS_GROUP)
      rule.group = c->group;
  }
  return rule;
}

bool
ref_rescores (uint32_t method)
{
  return method == NMS_METHOD_SOFT_LINEAR || method == NMS_METHOD_SOFT_GAUSSIAN
      || method == NMS_METHOD_MATRIX_LINEAR || method == NMS_METHOD_MATRIX_GAUSSIAN;
}

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

/* Reads box i and decides whether its own values let it take part. */
static RefBox
read_box (const nms_boxes *boxes, size_t i, const nms_options *options)
{
  /* absent scores are all 0, so that all boxes rank equal */
  float score = boxes->score.data ? fetch_float (&boxes->score, i) : 0.0f;
  RefBox box = ref_box (fetch_float (&boxes->x1, i), fetch_float (&boxes->y1, i),
      fetch_float (&boxes->x2, i), fetch_float (&boxes->y2, i), score);

  uint32_t method = options->method;
  size_t sources = options->source_count ? options->source_count : 1;

  if (boxes->angle.data) {
    box.angle = fetch_float (&boxes->angle, i);
    box.invalid = box.invalid || isnan (box.angle) || isinf (box.angle);
  }
  if (boxes->class_id.data)
    fetch (&boxes->class_id, i, &box.class_id, sizeof box.class_id);
  if (boxes->source.data)
    fetch (&boxes->source, i, &box.source, sizeof box.source);
  if (boxes->parent.data) {
    int32_t parent;
    fetch (&boxes->parent, i, &parent, sizeof parent);
    if (parent >= 0 && (size_t) parent < boxes->count)
      box.parent = parent;
  }
  if (boxes->exclude.data) {
    uint8_t exclude;
    fetch (&boxes->exclude, i, &exclude, sizeof exclude);
    box.filtered = exclude != 0;
  }

  if (method == NMS_METHOD_WEIGHTED && (box.source < 0 || (size_t) box.source >= sources))
    box.invalid = true;
  if (method == NMS_METHOD_WEIGHTED || method == NMS_METHOD_AVERAGE)
    box.filtered = box.filtered || !(score > 0.0f);
  if (ref_rescores (method))
    box.filtered = box.filtered || score < options->min_score;

  RefRule rule = ref_rule_of (options, box.class_id);
  box.group = rule.group;
  bool passes = options->score_strict ? score > rule.score_threshold
                                      : score >= rule.score_threshold;
  box.filtered = box.filtered || !passes;
  return box;
}

RefCall
ref_call_read (const nms_boxes *boxes, const nms_options *options)
{
  RefCall call = { ref_allocate (boxes->count, sizeof (RefBox)), boxes->count, options };

  for (size_t i = 0; i < boxes->count; i++)
    call.list[i] = read_box (boxes, i, options);
  if (options->max_candidates) {
    size_t length;
    int32_t *order = ref_order (&call, &length);
    for (size_t k = 0; k < length; k++)
      call.list[order[k]].not_candidate = k >= options->max_candidates;
    free (order);
  }
  return call;
}

bool
ref_comparable (const RefCall *call, size_t i, size_t j)
{
  const RefBox *a = &call->list[i], *b = &call->list[j];

  if (a->parent == (int32_t) j || b->parent == (int32_t) i)
    return false;
  return call->options->class_agnostic || a->group == b->group;
}

bool
ref_takes_part (const RefCall *call, size_t i)
{
  const RefBox *box = &call->list[i];
  return !box->invalid && !box->filtered && !box->not_candidate;
}
