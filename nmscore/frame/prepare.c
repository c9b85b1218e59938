/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prepare: copies the caller's columns, of any stride and alignment, to the packed columns of
 * the boxes that take part. All rules about single boxes are applied here, so that engines get
 * valid boxes only.
 */
#include "call/call.h"
#include "prepare_kernels.h"
#include "order.h"
#include "geometry/overlap.h"
#include "geometry/rotated.h"

#include <math.h>

/* Sets every outcome to suppressed, without a suppressor; engines and the checks below
 * overwrite it. */
static void
start_outcomes (nms__frame *f, size_t count)
{
  if (f->outcome)
    memset (f->outcome, NMS_OUTCOME_SUPPRESSED, count);
  if (f->suppressed_by)
    memset (f->suppressed_by, 0xff, count * sizeof *f->suppressed_by);
}

static inline void
set_outcome (nms__frame *f, size_t i, nms_outcome outcome)
{
  if (f->outcome)
    f->outcome[i] = (uint8_t) outcome;
}

static inline float
greater (float a, float b)
{
  return a > b ? a : b;
}

/* Returns whether the method needs the sources of the boxes. */
static inline int
needs_sources (const nms__frame *f, const nms_boxes *boxes)
{
  return f->method.method == NMS_METHOD_WEIGHTED && boxes->source.data;
}

/* Returns whether the options have an entry for the source of box i. */
static inline int
has_source (const nms__frame *f, const nms_boxes *boxes, size_t i)
{
  const size_t count = f->method.source_count;
  int32_t source;

  nms__load (&source, &boxes->source, i, sizeof source);
  return source >= 0 && (size_t) source < (count ? count : 1);
}

/* Checks and copies one box of a frame with rotated boxes or with sources. */
static inline void
take_box (nms__frame *f, const nms_options *o, const nms_boxes *boxes, size_t i, nms__drops *d)
{
  float c[4], score = 0.0f, angle = 0.0f, area, least = o->score_threshold;
  uint8_t exclude = 0;
  int32_t id = 0;
  uint32_t class_entry = 0;
  size_t n = f->count;

  nms__load (&c[0], &boxes->x1, i, sizeof c[0]);
  nms__load (&c[1], &boxes->y1, i, sizeof c[0]);
  nms__load (&c[2], &boxes->x2, i, sizeof c[0]);
  nms__load (&c[3], &boxes->y2, i, sizeof c[0]);
  if (boxes->score.data)
    nms__load (&score, &boxes->score, i, sizeof score);
  if (f->rotated)
    nms__load (&angle, &boxes->angle, i, sizeof angle);
  if (!nms__order_corners (c) || isnan (score) || !isfinite (angle)
      || (needs_sources (f, boxes) && !has_source (f, boxes, i))) {
    set_outcome (f, i, NMS_OUTCOME_INVALID);
    d->invalid++;
    return;
  }
  if (boxes->exclude.data)
    nms__load (&exclude, &boxes->exclude, i, sizeof exclude);
  if (boxes->class_id.data)
    nms__load (&id, &boxes->class_id, i, sizeof id);
  if (f->class_entry) {
    class_entry = nms__class_entry (&f->classes, id);
    least = f->classes.entry[class_entry].score_threshold;
  }
  if (exclude || (o->score_strict ? !(score > least) : !(score >= least))) {
    set_outcome (f, i, NMS_OUTCOME_FILTERED);
    d->filtered++;
    return;
  }
  area = nms__area (c[0], c[1], c[2], c[3]);
  f->rotations[i] = nms__rotated_of (c, angle);
  if (angle != 0.0f)
    nms__rotated_bounds (&f->rotations[i], c);
  f->x1[n] = c[0];
  f->y1[n] = c[1];
  f->x2[n] = c[2];
  f->y2[n] = c[3];
  f->side = greater (f->side, greater (c[2] - c[0], c[3] - c[1]));
  f->scaled[n] = f->bounds.factor * area;
  f->packed[n] = nms__pack (nms__order_key (score), (uint32_t) n);
  f->index[n] = (int32_t) i;
  if (f->class_id)
    f->class_id[n] = id;
  if (f->class_entry)
    f->class_entry[n] = class_entry;
  f->count++;
}

static void
set_outcomes (nms__frame *f, size_t first, uint64_t which, nms_outcome outcome)
{
  for (; f->outcome && which; which &= which - 1)
    f->outcome[first + nms__lowest_bit (which)] = (uint8_t) outcome;
}

static void
take_block (nms__frame *f, const nms_options *o, const nms_boxes *boxes, size_t first, size_t n,
    nms__drops *d)
{
  float thresholds[NMS__BLOCK];
  uint64_t invalid, filtered;

  memset (thresholds, 0, sizeof thresholds);
  for (size_t i = 0; f->class_entry && i < n; i++) {
    int32_t id = 0;
    if (boxes->class_id.data)
      nms__load (&id, &boxes->class_id, first + i, sizeof id);
    uint32_t class_entry = nms__class_entry (&f->classes, id);
    f->class_entry[f->count + i] = class_entry;
    thresholds[i] = f->classes.entry[class_entry].score_threshold;
  }
  f->kernels->prepare->take_block (f, o, boxes, first, n, f->class_entry ? thresholds : NULL,
      &invalid, &filtered);
  set_outcomes (f, first, invalid, NMS_OUTCOME_INVALID);
  set_outcomes (f, first, filtered, NMS_OUTCOME_FILTERED);
  d->invalid += nms__count_bits (invalid);
  d->filtered += nms__count_bits (filtered);
}

static void
take_boxes (nms__frame *f, const nms_options *o, const nms_boxes *boxes, nms__drops *d)
{
  const int one_by_one = f->rotated || needs_sources (f, boxes);

  f->count = 0;
  f->side = 0.0f;
  for (size_t first = 0; first < boxes->count; first += NMS__BLOCK) {
    size_t n = boxes->count - first < NMS__BLOCK ? boxes->count - first : NMS__BLOCK;
    if (!one_by_one)
      take_block (f, o, boxes, first, n, d);
    for (size_t i = first; one_by_one && i < first + n; i++)
      take_box (f, o, boxes, i, d);
  }
}

/* Needs ctx->settings, the layout of ctx->frame, and its members outcome and suppressed_by. */
int
nms__prepare (nms_context *ctx, const nms_boxes *boxes, nms__drops *drops)
{
  nms__frame *f = &ctx->frame;
  const nms_options *o = &ctx->settings.options;

  *drops = (nms__drops) { 0, 0, 0 };
  f->limit = ctx->settings.limit;
  f->cap = o->max_detections ? o->max_detections : UINT64_MAX;
  f->method = (nms__method) { o->method, o->metric, o->sigma, o->min_score, o->min_size_ratio,
    o->fused_score, o->source_weights, o->source_count };
  f->kernels = ctx->kernels;
  f->parent = boxes->parent;
  f->parent_count = boxes->count;
  f->rotated = nms__any_rotated (boxes) ? boxes : NULL;
  f->rotations = (nms__rotated *) f->scratch;
  f->kept_count = 0;
  f->over_cap_count = 0;
  f->pairs = 0;
  f->pair_budget = UINT64_MAX;
  f->grouped = 0;
  if (o->class_option_count > 0 || o->max_per_class > 0) {
    int error = nms__class_entries_read (ctx, &ctx->settings, f->classes.entry);
    if (!error)
      error = nms__classes_fill (ctx, &f->classes, &ctx->settings, &boxes->class_id, boxes->count,
          &f->bounds, &f->grouped);
    if (error)
      return error;
  } else {
    f->class_entry = NULL;
    f->bounds = nms__bounds_of (ctx->settings.limit, ctx->settings.limit);
  }
  if (!boxes->class_id.data || o->class_agnostic)
    f->class_id = NULL;
  start_outcomes (f, boxes->count);
  take_boxes (f, o, boxes, drops);
  f->grouped &= f->class_id != NULL;
  for (size_t pos = 0; f->grouped && pos < f->count; pos++)
    f->class_id[pos] = (int32_t) f->classes.entry[f->class_entry[pos]].partition;
  f->bounds.least = nms__certain_from (f->bounds.least, f->side);
  if (o->max_candidates && o->max_candidates < f->count)
    drops->not_candidate = nms__candidates_select (f, o->max_candidates);
  return NMS_OK;
}
