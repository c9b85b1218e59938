/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * edgecut: whether a border cuts a box. A detector that sees only a part of the picture (a
 * tile, a crop) reports the visible part of an object that its border cuts.
 * The box of that part ends at the border.
 */
#pragma once

#include "box.h"

G_BEGIN_DECLS

/* A rectangle in pixels of the frame; x1 <= x2 and y1 <= y2. It may extend beyond the frame. */
typedef struct
{
  gdouble x1, y1, x2, y2;
} BoxRectangle;

typedef enum
{
  EDGE_CUT_LEFT = 1 << 0,
  EDGE_CUT_TOP = 1 << 1,
  EDGE_CUT_RIGHT = 1 << 2,
  EDGE_CUT_BOTTOM = 1 << 3,
  EDGE_CUT_ALL = 15,
} EdgeCutSides;

/* A border, and the distance from it within which a box counts as cut. */
typedef struct
{
  BoxRectangle rectangle;
  guint sides;      /* EdgeCutSides that cut boxes */
  gdouble margin_x; /* largest distance from the left and right side, in pixels */
  gdouble margin_y; /* largest distance from the top and bottom side; both are 0 or more */
} EdgeCutBorder;

/* Returns the sides (EdgeCutSides) of `rectangle` that lie inside a frame of this size, in
 * pixels. The sides at or beyond the edge of the frame are not among them, because no other
 * tile shows the rest of the object there. All sides if width or height is 0 (unknown). */
guint edge_cut_inner_sides (const BoxRectangle *rectangle, gint width, gint height);

/* Returns whether the border cuts the box: whether it comes within the margin of a side
 * (exactly that distance counts) or extends beyond that side. The upright rectangle around a
 * rotated box counts. The coordinates of the box must be finite; they may be in either
 * order. */
gboolean edge_cut_box (const Box *box, const EdgeCutBorder *border);

/* Sets the flag BOX_CUT of each box that the border cuts, except boxes that are dropped already
 * (box_state_is_drop). `boxes` is a GArray of Box. */
void edge_cut_mark_all (GArray *boxes, const EdgeCutBorder *border);

G_END_DECLS
