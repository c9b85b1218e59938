/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reference: the definition of NMS, line by line; see reference.h. It precomputes only
 * what the definition names, so that it is easy to check by reading.
 */
#include "reference.h"

#include "rotatedref.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "the definition rounds every operation to binary32; this target keeps more"
#endif
#ifdef __FAST_MATH__
#error "the definition needs IEEE arithmetic"
#endif

#define COORDINATE_LIMIT 1e18f
#define SMALLEST_EXTENT 0x1p-50f
#define SMALLEST_THRESHOLD 0x1p-24f

typedef struct {
  float x1, y1, x2, y2; /* in order */
  float score;
  float angle; /* radians; 0: upright */
  int32_t class_id;
  int32_t parent; /* -1: none */
  bool invalid;
  bool filtered;
  bool not_candidate;
} RefBox;

/* The options of one box: those of its class, else the global ones. */
typedef struct {
  float iou_threshold;
  float score_threshold;
  uint64_t max;
} RefRule;

static void *
allocate (size_t count, size_t size)
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

static RefBox
make_box (float x1, float y1, float x2, float y2, float score)
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

static RefRule
rule_of (const nms_options *options, int32_t class_id)
{
  RefRule rule = { 0.5f, -INFINITY, 0 };

  if (!options)
    return rule;
  rule.iou_threshold = options->iou_threshold;
  rule.score_threshold = options->score_threshold;
  rule.max = options->max_per_class;
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
  }
  return rule;
}

/* Returns the rank of box i by score among the boxes that are neither invalid nor filtered. */
static size_t
rank_of (const RefBox *list, size_t count, size_t i)
{
  size_t rank = 0;

  for (size_t j = 0; j < count; j++)
    if (!list[j].invalid && !list[j].filtered)
      rank += list[j].score > list[i].score || (list[j].score == list[i].score && j < i);
  return rank;
}

/* Marks the boxes that are not among the best max_candidates. */
static void
choose_candidates (RefBox *list, size_t count, const nms_options *options)
{
  for (size_t i = 0; i < count; i++)
    if (options && options->max_candidates && !list[i].invalid && !list[i].filtered)
      list[i].not_candidate = rank_of (list, count, i) >= options->max_candidates;
}

/* Reads all boxes and decides which take part. */
static RefBox *
read_boxes (const nms_boxes *boxes, const nms_options *options)
{
  RefBox *list = allocate (boxes->count, sizeof (RefBox));

  for (size_t i = 0; i < boxes->count; i++) {
    /* absent scores are all 0, so that all boxes rank equal */
    float score = boxes->score.data ? fetch_float (&boxes->score, i) : 0.0f;
    RefBox box = make_box (fetch_float (&boxes->x1, i), fetch_float (&boxes->y1, i),
        fetch_float (&boxes->x2, i), fetch_float (&boxes->y2, i), score);

    if (boxes->angle.data) {
      box.angle = fetch_float (&boxes->angle, i);
      box.invalid = box.invalid || isnan (box.angle) || isinf (box.angle);
    }
    if (boxes->class_id.data)
      fetch (&boxes->class_id, i, &box.class_id, sizeof box.class_id);
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

    RefRule rule = rule_of (options, box.class_id);
    bool passes = options && options->score_strict ? score > rule.score_threshold
                                                   : score >= rule.score_threshold;
    if (!passes)
      box.filtered = true;
    list[i] = box;
  }
  choose_candidates (list, boxes->count, options);
  return list;
}

static float
extent (float low, float high)
{
  float difference = high - low;
  return difference <= SMALLEST_EXTENT ? 0.0f : difference;
}

static float
area (const RefBox *box)
{
  return extent (box->x1, box->x2) * extent (box->y1, box->y2);
}

static float
intersection (const RefBox *a, const RefBox *b)
{
  float left = a->x1 > b->x1 ? a->x1 : b->x1;
  float top = a->y1 > b->y1 ? a->y1 : b->y1;
  float right = a->x2 < b->x2 ? a->x2 : b->x2;
  float bottom = a->y2 < b->y2 ? a->y2 : b->y2;
  return extent (left, right) * extent (top, bottom);
}

static float
iou (const RefBox *a, const RefBox *b)
{
  float inter = intersection (a, b);
  float sum = area (a) + area (b);
  float rest = sum - inter;
  return inter == 0.0f ? 0.0f : inter / rest;
}

/* Returns whether the overlap of the two boxes is above `threshold`, or equal if
 * inclusive. */
static bool
beyond (const RefBox *a, const RefBox *b, float threshold, bool inclusive)
{
  if (threshold < SMALLEST_THRESHOLD)
    threshold = 0.0f;
  if (a->angle != 0.0f || b->angle != 0.0f) {
    const float p[4] = { a->x1, a->y1, a->x2, a->y2 }, q[4] = { b->x1, b->y1, b->x2, b->y2 };
    float overlap = (float) ref_rotated_iou (p, a->angle, q, b->angle);
    return overlap > 0.0f && (inclusive ? overlap >= threshold : overlap > threshold);
  }
  if (intersection (a, b) == 0.0f || area (a) == 0.0f || area (b) == 0.0f)
    return false;
  return inclusive ? iou (a, b) >= threshold : iou (a, b) > threshold;
}

/* Returns whether boxes i and j are compared: their classes and parents must allow it. */
static bool
comparable (const RefBox *list, size_t i, size_t j, const nms_options *options)
{
  if (list[i].parent == (int32_t) j || list[j].parent == (int32_t) i)
    return false;
  return (options && options->class_agnostic) || list[i].class_id == list[j].class_id;
}

/* Returns the first undecided box in the order of scores, or -1. */
static int32_t
first_of (const RefBox *list, const bool *decided, size_t count)
{
  int32_t best = -1;

  for (size_t i = 0; i < count; i++)
    if (!decided[i] && (best < 0 || list[i].score > list[best].score))
      best = (int32_t) i;
  return best;
}

static size_t
kept_of_class (const RefBox *list, const RefResult *result, int32_t class_id)
{
  size_t n = 0;

  for (size_t k = 0; k < result->kept_count; k++)
    n += list[result->kept[k]].class_id == class_id;
  return n;
}

/* Decides box i, the next one in the order of scores. */
static nms_outcome
decide (const RefBox *list, int32_t i, const nms_options *options, RefResult *result)
{
  RefRule rule = rule_of (options, list[i].class_id);

  if (options && options->max_detections && result->kept_count >= options->max_detections)
    return NMS_OVER_CAP;
  if (rule.max && kept_of_class (list, result, list[i].class_id) >= rule.max)
    return NMS_OVER_CAP;
  for (size_t k = 0; k < result->kept_count; k++) {
    int32_t j = result->kept[k];
    if (comparable (list, (size_t) i, (size_t) j, options)
        && beyond (&list[i], &list[j], rule.iou_threshold, options && options->inclusive)) {
      result->suppressed_by[i] = j;
      return NMS_SUPPRESSED;
    }
  }
  return NMS_KEPT;
}

void
ref_run (const nms_boxes *boxes, const nms_options *options, RefResult *result)
{
  size_t count = boxes->count;
  RefBox *list = read_boxes (boxes, options);
  bool *decided = allocate (count, sizeof *decided);
  int32_t i;

  *result = (RefResult){ .count = count };
  result->kept = allocate (count, sizeof *result->kept);
  result->outcome = allocate (count, sizeof *result->outcome);
  result->suppressed_by = allocate (count, sizeof *result->suppressed_by);

  for (size_t n = 0; n < count; n++) {
    result->suppressed_by[n] = -1;
    if (list[n].invalid) {
      result->outcome[n] = NMS_INVALID;
      result->invalid_count++;
      decided[n] = true;
    } else if (list[n].filtered) {
      result->outcome[n] = NMS_FILTERED;
      result->filtered_count++;
      decided[n] = true;
    } else if (list[n].not_candidate) {
      result->outcome[n] = NMS_NOT_CANDIDATE;
      result->not_candidate_count++;
      decided[n] = true;
    }
  }

  while ((i = first_of (list, decided, count)) >= 0) {
    nms_outcome outcome = decide (list, i, options, result);
    decided[i] = true;
    result->outcome[i] = (uint8_t) outcome;
    if (outcome == NMS_KEPT)
      result->kept[result->kept_count++] = i;
    else if (outcome == NMS_SUPPRESSED)
      result->suppressed_count++;
    else
      result->over_cap_count++;
  }

  free (decided);
  free (list);
}

void
ref_result_clear (RefResult *result)
{
  free (result->kept);
  free (result->outcome);
  free (result->suppressed_by);
  *result = (RefResult){ 0 };
}

void
ref_count_neighbors (const nms_boxes *boxes, const nms_options *options, uint32_t *neighbors)
{
  RefBox *list = read_boxes (boxes, options);
  bool inclusive = options && options->inclusive;

  for (size_t i = 0; i < boxes->count; i++) {
    neighbors[i] = 0;
    if (list[i].invalid || list[i].filtered || list[i].not_candidate)
      continue;
    for (size_t j = 0; j < boxes->count; j++) {
      if (j == i || list[j].invalid || list[j].filtered || list[j].not_candidate
          || !comparable (list, i, j, options))
        continue;
      if (beyond (&list[i], &list[j], rule_of (options, list[i].class_id).iou_threshold, inclusive)
          || beyond (&list[i], &list[j], rule_of (options, list[j].class_id).iou_threshold,
              inclusive))
        neighbors[i]++;
    }
  }
  free (list);
}

float
ref_iou (const float a[4], const float b[4])
{
  RefBox box_a = make_box (a[0], a[1], a[2], a[3], 0.0f);
  RefBox box_b = make_box (b[0], b[1], b[2], b[3], 0.0f);

  return box_a.invalid || box_b.invalid ? 0.0f : iou (&box_a, &box_b);
}
