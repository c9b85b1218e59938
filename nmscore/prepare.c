/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prepare: the caller's columns, of any stride and alignment, to the packed
 * columns of the boxes that take part. Every rule about single boxes is
 * applied here, once, so that engines see only valid boxes.
 */
#include "internal.h"
#include "order.h"
#include "overlap.h"

#include <math.h>

int
nms__boxes_check (nms_context *ctx, const nms_boxes *boxes, nms_boxes *checked)
{
  const size_t least = offsetof (nms_boxes, score);
  int error = nms__struct_check (ctx, "boxes", boxes, sizeof *checked, least);
  if (error)
    return error;
  memset (checked, 0, sizeof *checked);
  memcpy (checked, boxes, boxes->size < sizeof *checked ? boxes->size : sizeof *checked);
  if (checked->count > NMS_MAX_BOXES)
    return nms__fail (ctx, NMS_ERROR_TOO_MANY_BOXES, "%zu boxes, at most %zu are possible",
        checked->count, NMS_MAX_BOXES);
  if (checked->count && !(checked->x1.data && checked->y1.data && checked->x2.data
          && checked->y2.data))
    return nms__fail (ctx, NMS_ERROR_ARGUMENT, "a corner column of boxes is NULL");
  return NMS_OK;
}

static inline void
set_outcome (nms__frame *f, size_t i, nms_outcome outcome)
{
  if (f->outcome)
    f->outcome[i] = (uint8_t) outcome;
  if (f->suppressed_by)
    f->suppressed_by[i] = -1;
}

/* Needs ctx->settings, the layout, and frame.outcome and .suppressed_by. */
int
nms__prepare (nms_context *ctx, const nms_boxes *boxes, size_t *invalid, size_t *filtered)
{
  nms__frame *f = &ctx->frame;
  const nms_options *o = &ctx->settings.options;
  const int strict = o->score_strict;
  const int has_class = boxes->class_id.data != NULL;
  const int slotted = o->class_option_count > 0 || o->max_per_class > 0;
  size_t n = 0;

  f->settings = &ctx->settings;
  f->parent = boxes->parent;
  f->parent_count = boxes->count;
  f->count = boxes->count;
  f->kept_count = 0;
  f->over_cap_count = 0;
  *invalid = 0;
  *filtered = 0;
  if (slotted) {
    int error = nms__classes_fill (ctx, &f->classes, &ctx->settings);
    if (error)
      return error;
  } else
    f->slot = NULL;
  if (!has_class || o->class_agnostic)
    f->group = NULL;

  for (size_t i = 0; i < boxes->count; i++) {
    float c[4], score = 0.0f;
    int32_t id = 0;
    uint8_t exclude = 0;

    nms__load (&c[0], &boxes->x1, i, sizeof c[0]);
    nms__load (&c[1], &boxes->y1, i, sizeof c[0]);
    nms__load (&c[2], &boxes->x2, i, sizeof c[0]);
    nms__load (&c[3], &boxes->y2, i, sizeof c[0]);
    if (boxes->score.data)
      nms__load (&score, &boxes->score, i, sizeof score);
    if (!nms__order_corners (c) || isnan (score)) {
      set_outcome (f, i, NMS_INVALID);
      ++*invalid;
      continue;
    }
    if (boxes->exclude.data)
      nms__load (&exclude, &boxes->exclude, i, sizeof exclude);
    if (has_class)
      nms__load (&id, &boxes->class_id, i, sizeof id);

    uint32_t slot = slotted ? nms__class_slot (&f->classes, id) : 0;
    float least = slotted ? f->classes.entry[slot].score_threshold : o->score_threshold;
    if (exclude || (strict ? !(score > least) : !(score >= least))) {
      set_outcome (f, i, NMS_FILTERED);
      ++*filtered;
      continue;
    }
    set_outcome (f, i, NMS_SUPPRESSED); /* until an engine says otherwise */
    f->x1[n] = c[0];
    f->y1[n] = c[1];
    f->x2[n] = c[2];
    f->y2[n] = c[3];
    f->area[n] = (c[2] - c[0]) * (c[3] - c[1]);
    f->key[n] = nms__order_key (score);
    f->index[n] = (int32_t) i;
    if (f->group)
      f->group[n] = id;
    if (f->slot)
      f->slot[n] = slot;
    n++;
  }
  f->count = n;
  return NMS_OK;
}
