/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* box: the names of the states, and the clipped comparison of extents. */
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
};

const gchar *
box_state_name (BoxState state)
{
  return (guint) state < G_N_ELEMENTS (state_names) ? state_names[state] : NULL;
}

BoxState
box_state_from_name (const gchar * name)
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
