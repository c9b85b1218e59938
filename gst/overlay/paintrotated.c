/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paintrotated: each side of an outline is a rectangle at an angle. It is filled
 * row by row of the chroma grid, from where the middle of the row enters the
 * rectangle to where it leaves it.
 */
#include "paintrotated.h"

#include <math.h>

/* Far outside any frame: boxes beyond it are refused. */
#define ROTATED_FAR 1e9

typedef struct
{
  gdouble x, y;
} Point;

gboolean
paint_rotated_init (PaintRotated *rotated, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gdouble rotation)
{
  *rotated = (PaintRotated) { (x1 + x2) / 2, (y1 + y2) / 2, fabs (x2 - x1), fabs (y2 - y1),
    sin (rotation), cos (rotation) };
  /* all comparisons are false for NaN */
  return fabs (rotated->x) < ROTATED_FAR && fabs (rotated->y) < ROTATED_FAR
      && rotated->w < ROTATED_FAR && rotated->h < ROTATED_FAR && isfinite (rotation);
}

void
paint_rotated_bounds (const PaintRotated *rotated, gdouble *x1, gdouble *y1, gdouble *x2,
    gdouble *y2)
{
  gdouble w = fabs (rotated->w * rotated->cos) + fabs (rotated->h * rotated->sin);
  gdouble h = fabs (rotated->w * rotated->sin) + fabs (rotated->h * rotated->cos);

  *x1 = rotated->x - w / 2;
  *y1 = rotated->y - h / 2;
  *x2 = rotated->x + w / 2;
  *y2 = rotated->y + h / 2;
}

/* Converts a point from the axes of the box, with 0, 0 at its centre, to the canvas. */
static Point
to_canvas (const PaintRotated *rotated, gdouble u, gdouble v)
{
  return (Point) { rotated->x + u * rotated->cos - v * rotated->sin,
    rotated->y + u * rotated->sin + v * rotated->cos };
}

/* Finds where the horizontal line at `y` crosses a convex quadrangle. Returns FALSE
 * if it does not. */
static gboolean
cross (const Point corners[4], gdouble y, gdouble *left, gdouble *right)
{
  gboolean met = FALSE;

  for (guint i = 0; i < 4; i++) {
    const Point *p = &corners[i], *q = &corners[(i + 1) % 4];
    gdouble x;

    if ((p->y <= y) == (q->y <= y))
      continue;
    x = p->x + (y - p->y) / (q->y - p->y) * (q->x - p->x);
    *left = met ? MIN (*left, x) : x;
    *right = met ? MAX (*right, x) : x;
    met = TRUE;
  }
  return met;
}

/* Fills a convex quadrangle, at least one chroma column wide in each row. */
static void
fill (const PaintCanvas *canvas, const Point corners[4], const PaintColor *color)
{
  gdouble top = corners[0].y, bottom = corners[0].y, left, right;
  const gint step_x = canvas->step_x, step_y = canvas->step_y;

  for (guint i = 1; i < 4; i++) {
    top = MIN (top, corners[i].y);
    bottom = MAX (bottom, corners[i].y);
  }
  top = CLAMP (top, 0, canvas->height);
  bottom = CLAMP (bottom, 0, canvas->height);
  for (gint y = (gint) top / step_y * step_y; y < bottom; y += step_y) {
    PaintRect run = { 0, y, 0, y + step_y };

    if (!cross (corners, y + step_y / 2.0, &left, &right))
      continue;
    run.x1 = (gint64) floor (left / step_x + 0.5) * step_x;
    run.x2 = MAX ((gint64) floor (right / step_x + 0.5) * step_x, run.x1 + step_x);
    paint_fill (canvas, &run, color);
  }
}

/* Fills the rectangle from u1 to u2 along an axis of the box, and from v1 to v2 across it. */
static void
fill_bar (const PaintCanvas *canvas, const PaintRotated *rotated, gboolean along_x, gdouble u1,
    gdouble u2, gdouble v1, gdouble v2, const PaintColor *color)
{
  const Point corners[4] = {
    along_x ? to_canvas (rotated, u1, v1) : to_canvas (rotated, v1, u1),
    along_x ? to_canvas (rotated, u2, v1) : to_canvas (rotated, v1, u2),
    along_x ? to_canvas (rotated, u2, v2) : to_canvas (rotated, v2, u2),
    along_x ? to_canvas (rotated, u1, v2) : to_canvas (rotated, v2, u1),
  };

  fill (canvas, corners, color);
}

/* Fills one side, solid if `dash` is 0. Visits only the dashes near the frame. */
static void
fill_side (const PaintCanvas *canvas, const PaintRotated *rotated, gboolean along_x, gdouble v1,
    gdouble v2, gdouble dash, const PaintColor *color)
{
  gdouble half = (along_x ? rotated->w : rotated->h) / 2;
  gdouble reach = canvas->width + canvas->height, dx, dy, nearest, from, to;

  dx = canvas->width / 2.0 - rotated->x;
  dy = canvas->height / 2.0 - rotated->y;
  nearest = along_x ? dx * rotated->cos + dy * rotated->sin : dy * rotated->cos - dx * rotated->sin;
  from = MAX (-half, nearest - reach);
  to = MIN (half, nearest + reach);
  if (dash == 0) {
    if (from < to)
      fill_bar (canvas, rotated, along_x, from, to, v1, v2, color);
    return;
  }
  if (from > -half) /* begin at the start of a dash, counted from the corner */
    from = -half + floor ((from + half) / (2 * dash)) * 2 * dash;
  for (; from < to; from += 2 * dash)
    fill_bar (canvas, rotated, along_x, from, MIN (from + dash, to), v1, v2, color);
}

void
paint_rotated_outline (const PaintCanvas *canvas, const PaintRotated *box, gint thickness,
    gint dash, const PaintColor *color)
{
  /* at least as thick as a row, because a thinner bar could lie between the middles of two rows */
  gdouble thick = MAX (thickness, MAX (canvas->step_x, canvas->step_y));
  PaintRotated rotated = *box;
  gdouble tx, ty;

  rotated.w = MAX (rotated.w, thick); /* an empty box is visible as a dot */
  rotated.h = MAX (rotated.h, thick);
  tx = MIN (thick, rotated.w);
  ty = MIN (thick, rotated.h);
  fill_side (canvas, &rotated, TRUE, -rotated.h / 2, -rotated.h / 2 + ty, dash, color);
  fill_side (canvas, &rotated, TRUE, rotated.h / 2 - ty, rotated.h / 2, dash, color);
  fill_side (canvas, &rotated, FALSE, -rotated.w / 2, -rotated.w / 2 + tx, dash, color);
  fill_side (canvas, &rotated, FALSE, rotated.w / 2 - tx, rotated.w / 2, dash, color);
}
