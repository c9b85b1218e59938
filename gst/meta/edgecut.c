/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edgecut: compares the extents of a box with a border, in a few operations for each box. */
#include "edgecut.h"

guint
edge_cut_inner_sides (const BoxRectangle *rectangle, gint width, gint height)
{
  guint sides = 0;

  if (width <= 0 || height <= 0)
    return EDGE_CUT_ALL;
  if (rectangle->x1 > 0)
    sides |= EDGE_CUT_LEFT;
  if (rectangle->y1 > 0)
    sides |= EDGE_CUT_TOP;
  if (rectangle->x2 < width)
    sides |= EDGE_CUT_RIGHT;
  if (rectangle->y2 < height)
    sides |= EDGE_CUT_BOTTOM;
  return sides;
}

gboolean
edge_cut_box (const Box *box, const EdgeCutBorder *border)
{
  const Box bounds = box_upright (box);
  const BoxRectangle *edge = &border->rectangle;
  gdouble dx = INFINITY, dy = INFINITY; /* distances from the nearest side, negative beyond it */

  if (border->sides & EDGE_CUT_LEFT)
    dx = bounds.x1 - edge->x1;
  if (border->sides & EDGE_CUT_RIGHT)
    dx = MIN (dx, edge->x2 - bounds.x2);
  if (border->sides & EDGE_CUT_TOP)
    dy = bounds.y1 - edge->y1;
  if (border->sides & EDGE_CUT_BOTTOM)
    dy = MIN (dy, edge->y2 - bounds.y2);
  return dx <= border->margin_x || dy <= border->margin_y;
}

void
edge_cut_mark_all (GArray *boxes, const EdgeCutBorder *border)
{
  for (guint i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    if (!box_state_is_drop (box->state) && edge_cut_box (box, border))
      box->flags |= BOX_CUT;
  }
}
