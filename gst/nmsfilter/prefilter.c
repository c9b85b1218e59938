/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prefilter: a few comparisons for each box, the cheapest rule first. */
#include "prefilter.h"

void
prefilter_copy (const Prefilter *self, Prefilter *copy)
{
  *copy = *self;
  class_selection_ref (copy->keep_classes);
  class_selection_ref (copy->drop_classes);
}

void
prefilter_clear (Prefilter *self)
{
  class_selection_unref (self->keep_classes);
  class_selection_unref (self->drop_classes);
}

gboolean
prefilter_is_active (const Prefilter *self, const ClassOptions *options)
{
  return box_limits_differ (&self->limits, 0) || (options && options->limits) || self->keep_classes
      || self->drop_classes || self->has_region || self->edge_policy != EDGE_POLICY_NONE;
}

gboolean
prefilter_needs_size (const Prefilter *self)
{
  if (self->has_region)
    return frame_region_needs_size (&self->region);
  return self->edge_policy != EDGE_POLICY_NONE;
}

/* Sets the border that cuts boxes. Only the sides of a region of interest that lie inside of
 * the frame cut, because beyond the others no detector sees the rest of the object. Boxes of
 * other regions may be among its boxes. If there is no region of interest, the frame itself
 * is a part of a larger picture. */
static void
begin_border (PrefilterFrame *frame, gint width, gint height)
{
  const Prefilter *rules = frame->rules;
  EdgeCutBorder *border = &frame->border;
  BoxRectangle *edges = &border->rectangle;

  frame->has_border = TRUE;
  border->sides = rules->edge_sides;
  border->shared = frame->has_region;
  if (frame->has_region) {
    *edges = frame->region;
    border->sides &= edge_cut_inner_sides (edges, width, height);
  } else {
    *edges = (BoxRectangle) { 0, 0, width, height };
  }
  border->margin_x = frame_length_pixels (&rules->edge_margin, edges->x2 - edges->x1);
  border->margin_y = frame_length_pixels (&rules->edge_margin, edges->y2 - edges->y1);
}

void
prefilter_begin (PrefilterFrame *frame, const Prefilter *rules, const ClassOptions *options,
    gint width, gint height)
{
  const gboolean known = width > 0 && height > 0;

  *frame = (PrefilterFrame) { .rules = rules, .options = options };
  if (!known && prefilter_needs_size (rules))
    return;
  frame->has_region = rules->has_region;
  if (frame->has_region)
    frame->region = frame_region_pixels (&rules->region, width, height);
  if (rules->edge_policy != EDGE_POLICY_NONE)
    begin_border (frame, width, height);
}

/* Returns whether the center of a box is in a rectangle, with its left and top sides and
 * without its right and bottom sides, so that adjacent regions share no box. */
static gboolean
center_is_in (const Box *box, const BoxRectangle *region)
{
  const gdouble x = (box->x1 + box->x2) / 2, y = (box->y1 + box->y2) / 2;

  return x >= region->x1 && x < region->x2 && y >= region->y1 && y < region->y2;
}

BoxState
prefilter_check (const PrefilterFrame *frame, Box *box)
{
  const Prefilter *rules = frame->rules;
  BoxState state;

  if (!class_selection_has (rules->keep_classes, box->label)
      || (rules->drop_classes && class_selection_has (rules->drop_classes, box->label)))
    return BOX_STATE_DROPPED_CLASS;
  state = box_limits_check (&rules->limits,
      class_options_limits (frame->options, CLASS_ID_OF_LABEL (box->label)), box);
  if (state != BOX_STATE_KEPT)
    return state;
  if (frame->has_region && !center_is_in (box, &frame->region))
    return BOX_STATE_OUTSIDE_ROI;
  if (frame->has_border && edge_cut_box (box, &frame->border)) {
    if (rules->edge_policy == EDGE_POLICY_DROP)
      return BOX_STATE_CUT_BY_EDGE;
    box->flags |= BOX_RANKS_LOWER;
  }
  return BOX_STATE_KEPT;
}
