/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxselect: a few comparisons for each box, the cheapest rule first. */
#include "boxselect.h"

#include <string.h>

#include "boxparents.h"

/* ---------------------------------------------------------------- limits of size */

static const gchar *const names[BOX_LIMIT_COUNT] = {
  [BOX_LIMIT_MIN_WIDTH] = "min-width",
  [BOX_LIMIT_MAX_WIDTH] = "max-width",
  [BOX_LIMIT_MIN_HEIGHT] = "min-height",
  [BOX_LIMIT_MAX_HEIGHT] = "max-height",
  [BOX_LIMIT_MIN_AREA] = "min-area",
  [BOX_LIMIT_MAX_AREA] = "max-area",
  [BOX_LIMIT_MIN_ASPECT_RATIO] = "min-aspect-ratio",
  [BOX_LIMIT_MAX_ASPECT_RATIO] = "max-aspect-ratio",
};

const gchar *
box_limit_name (BoxLimit limit)
{
  return names[limit];
}

BoxLimit
box_limit_from_name (const gchar *name)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    if (strcmp (name, names[i]) == 0)
      break;
  return (BoxLimit) i;
}

void
box_limits_init (BoxLimits *limits, gfloat value)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    limits->limit[i] = value;
}

gboolean
box_limits_differ (const BoxLimits *limits, gfloat value)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    if (limits->limit[i] != value)
      return TRUE;
  return FALSE;
}

BoxLimit
box_limits_contradiction (const BoxLimits *limits)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i += 2)
    if (limits->limit[i + 1] > 0 && limits->limit[i] > limits->limit[i + 1])
      break;
  return (BoxLimit) i;
}

static inline gfloat
limit_of (const BoxLimits *general, const BoxLimits *of_label, BoxLimit limit)
{
  if (of_label && of_label->limit[limit] != BOX_LIMIT_UNSET)
    return of_label->limit[limit];
  return general->limit[limit];
}

/* Compares in binary32, because the coordinates are products of the frame size: their rounding
 * errors must not drop a box that is exactly at a limit. */
static BoxState
check_limits (const BoxLimits *general, const BoxLimits *of_label, const Box *box)
{
  const gdouble width = fabs (box->x2 - box->x1), height = fabs (box->y2 - box->y1);
  const gfloat sizes[] = {
    (gfloat) width, (gfloat) height, (gfloat) (width * height),
    (gfloat) (width / height) /* NaN for a point, which no limit drops */
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gboolean ratio = 2 * i == BOX_LIMIT_MIN_ASPECT_RATIO;
    const gfloat least = limit_of (general, of_label, (BoxLimit) (2 * i));
    const gfloat most = limit_of (general, of_label, (BoxLimit) (2 * i + 1));

    if (sizes[i] < least)
      return ratio ? BOX_STATE_WRONG_ASPECT_RATIO : BOX_STATE_TOO_SMALL;
    if (most > 0 && sizes[i] > most)
      return ratio ? BOX_STATE_WRONG_ASPECT_RATIO : BOX_STATE_TOO_LARGE;
  }
  return BOX_STATE_KEPT;
}

/* ------------------------------------------------------------------------ rules */

BoxSelectRules *
box_select_rules_new (const BoxSelectRules *rules)
{
  BoxSelectRules *self = g_atomic_rc_box_dup (sizeof *rules, (BoxSelectRules *) rules);

  self->active = box_limits_differ (&rules->limits, 0) || rules->class_limits || rules->keep_classes
      || rules->drop_classes || rules->has_region || rules->drop_cut;
  class_list_ref (self->class_limits);
  class_list_ref (self->keep_classes);
  class_list_ref (self->drop_classes);
  return self;
}

static void
rules_clear (gpointer data)
{
  BoxSelectRules *rules = data;

  g_clear_pointer (&rules->class_limits, g_array_unref);
  g_clear_pointer (&rules->keep_classes, g_array_unref);
  g_clear_pointer (&rules->drop_classes, g_array_unref);
}

void
box_select_rules_unref (BoxSelectRules *rules)
{
  g_atomic_rc_box_release_full (rules, rules_clear);
}

/* ------------------------------------------------------------------------ frames */

gboolean
box_select_begin (BoxSelectFrame *frame, const BoxSelectRules *rules, gint width, gint height)
{
  *frame = (BoxSelectFrame) { .rules = rules };
  if (!rules->has_region)
    return TRUE;
  if ((width <= 0 || height <= 0) && frame_region_needs_size (&rules->region))
    return FALSE;
  frame->has_region = TRUE;
  frame->region = frame_region_pixels (&rules->region, width, height);
  return TRUE;
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
box_select_check (const BoxSelectFrame *frame, const Box *box)
{
  const BoxSelectRules *rules = frame->rules;
  const ClassLimits *of_class = NULL;
  BoxState state;

  if (!class_selection_has (rules->keep_classes, box->label)
      || (rules->drop_classes && class_selection_has (rules->drop_classes, box->label)))
    return BOX_STATE_DROPPED_CLASS;
  if (rules->class_limits)
    of_class = class_list_find (rules->class_limits, box->label);
  state = check_limits (&rules->limits, of_class ? &of_class->limits : NULL, box);
  if (state != BOX_STATE_KEPT)
    return state;
  if (frame->has_region && !center_is_in (box, &frame->region))
    return BOX_STATE_OUTSIDE_ROI;
  return rules->drop_cut && (box->flags & BOX_CUT) ? BOX_STATE_CUT_BY_EDGE : BOX_STATE_KEPT;
}

/* Gives each part of a dropped box the state of that box. */
static void
drop_parts (GArray *boxes)
{
  BoxParents *parents = box_parents_new ();

  box_parents_begin (parents, boxes);
  box_parents_drop (parents, boxes);
  box_parents_free (parents);
}

static gboolean
is_finite (const Box *box)
{
  return isfinite (box->x1) && isfinite (box->y1) && isfinite (box->x2) && isfinite (box->y2);
}

void
box_select_run (const BoxSelectFrame *frame, GArray *boxes)
{
  gboolean parts = FALSE;

  for (guint i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    parts |= box->parent >= 0;
    box->suppressed_by = -1;
    if (box->state == BOX_STATE_UNCONFIRMED
        || (box_state_is_drop (box->state) && !box_select_is_state (box->state)))
      box->state = BOX_STATE_NONE;
    else
      box->state = is_finite (box) ? box_select_check (frame, box) : BOX_STATE_KEPT;
  }
  if (parts)
    drop_parts (boxes);
}
