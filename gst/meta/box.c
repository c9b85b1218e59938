/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* box: the names of the states, and functions that compare and round extents. */
#include "box.h"

#include <string.h>

static const gchar *const state_names[] = {
  [BOX_STATE_NONE] = NULL,
  [BOX_STATE_KEPT] = "kept",
  [BOX_STATE_SUPPRESSED] = "suppressed",
  [BOX_STATE_BELOW_SCORE] = "below-score",
  [BOX_STATE_NOT_CANDIDATE] = "not-candidate",
  [BOX_STATE_OVER_CAP] = "over-cap",
  [BOX_STATE_TOO_FEW_NEIGHBORS] = "too-few-neighbors",
  [BOX_STATE_NO_SCORE] = "no-score",
  [BOX_STATE_INVALID] = "invalid",
  [BOX_STATE_TOO_SMALL] = "too-small",
  [BOX_STATE_TOO_LARGE] = "too-large",
  [BOX_STATE_WRONG_ASPECT_RATIO] = "wrong-aspect-ratio",
  [BOX_STATE_OUTSIDE_ROI] = "outside-roi",
  [BOX_STATE_DROPPED_CLASS] = "dropped-class",
  [BOX_STATE_CUT_BY_EDGE] = "cut-by-edge",
  [BOX_STATE_UNCONFIRMED] = "unconfirmed",
};

const gchar *
box_state_name (BoxState state)
{
  return (guint) state < G_N_ELEMENTS (state_names) ? state_names[state] : NULL;
}

BoxState
box_state_from_name (const gchar *name)
{
  guint i;

  for (i = BOX_STATE_NONE + 1; name && i < G_N_ELEMENTS (state_names); i++)
    if (strcmp (name, state_names[i]) == 0)
      return (BoxState) i;
  return BOX_STATE_NONE;
}

gboolean
box_extent_agrees_clipped (gdouble a, gdouble b, gint64 start, gint64 length, gint size)
{
  gdouble a_clip, b_clip;
  gint64 first, last;

  if (!isfinite (a) || !isfinite (b))
    return FALSE;
  a_clip = CLAMP (MIN (a, b), 0, size);
  b_clip = CLAMP (MAX (a, b), 0, size);
  first = CLAMP (start, 0, size);
  last = CLAMP (start + length, 0, size);
  return fabs (a_clip - first) <= 1.0 && fabs ((b_clip - a_clip) - (last - first)) <= 1.0;
}

/* Rounds the extent a..b, limited to 32 bits. NaN becomes 0. */
static void
place_extent (gdouble a, gdouble b, gint64 *start, gint64 *length)
{
  a = isnan (a) ? 0 : CLAMP (a, G_MININT32, G_MAXINT32);
  b = isnan (b) ? 0 : CLAMP (b, G_MININT32, G_MAXINT32);
  *start = (gint64) round (a);
  *length = (gint64) round (b) - *start;
  if (*length == 0 && b > a) {
    *start = (gint64) floor (a);
    *length = 1;
  }
}

void
box_place (Box *box, gint width, gint height)
{
  place_extent (box->x1, box->x2, &box->x, &box->w);
  place_extent (box->y1, box->y2, &box->y, &box->h);
  if (width <= 0 || height <= 0) {
    box->flags &= ~BOX_HAS_NORMALIZED;
    return;
  }
  box->flags |= BOX_HAS_NORMALIZED;
  box->x_min = box->x1 / width;
  box->x_max = box->x2 / width;
  box->y_min = box->y1 / height;
  box->y_max = box->y2 / height;
}

Box
box_upright (const Box *box)
{
  Box upright = *box;

  if (box->rotation == 0) {
    upright.x1 = MIN (box->x1, box->x2);
    upright.x2 = MAX (box->x1, box->x2);
    upright.y1 = MIN (box->y1, box->y2);
    upright.y2 = MAX (box->y1, box->y2);
  } else {
    const gdouble x = (box->x1 + box->x2) / 2, y = (box->y1 + box->y2) / 2;
    const gdouble w = fabs (box->x2 - box->x1) / 2, h = fabs (box->y2 - box->y1) / 2;
    const gdouble c = fabs (cos (box->rotation)), s = fabs (sin (box->rotation));

    upright.x1 = x - (w * c + h * s);
    upright.x2 = x + (w * c + h * s);
    upright.y1 = y - (w * s + h * c);
    upright.y2 = y + (w * s + h * c);
    upright.rotation = 0;
  }
  return upright;
}
