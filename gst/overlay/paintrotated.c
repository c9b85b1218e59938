/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paintturned: each side of a box is a bar, of which each row of the chroma
 * grid gets the part between where the row's middle enters and leaves it.
 */
#include "paintrotated.h"

#include <math.h>

/* Far outside any frame. */
#define TURNED_FAR 1e9

typedef struct
{
  gdouble x, y;
} Point;

gboolean
paint_turned_init (PaintTurned * turned, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gdouble rotation)
{
  *turned = (PaintTurned) { (x1 + x2) / 2, (y1 + y2) / 2, fabs (x2 - x1), fabs (y2 - y1),
    sin (rotation), cos (rotation)
  };
  /* false for NaN */
  return fabs (turned->x) < TURNED_FAR && fabs (turned->y) < TURNED_FAR
      && turned->w < TURNED_FAR && turned->h < TURNED_FAR && isfinite (rotation);
}

void
paint_turned_bounds (const PaintTurned * turned, gdouble * x1, gdouble * y1, gdouble * x2,
    gdouble * y2)
{
  gdouble w = fabs (turned->w * turned->cos) + fabs (turned->h * turned->sin);
  gdouble h = fabs (turned->w * turned->sin) + fabs (turned->h * turned->cos);

  *x1 = turned->x - w / 2;
  *y1 = turned->y - h / 2;
  *x2 = turned->x + w / 2;
  *y2 = turned->y + h / 2;
}

/* From the box's own axes, with 0, 0 at its centre. */
static Point
to_canvas (const PaintTurned * turned, gdouble u, gdouble v)
{
  return (Point) { turned->x + u * turned->cos - v * turned->sin,
    turned->y + u * turned->sin + v * turned->cos
  };
}

/* Where the line at height y meets a convex quadrangle. */
static gboolean
cross (const Point quad[4], gdouble y, gdouble * left, gdouble * right)
{
  gboolean met = FALSE;

  for (guint i = 0; i < 4; i++) {
    const Point *p = &quad[i], *q = &quad[(i + 1) % 4];
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

static void
fill (const PaintCanvas * canvas, const Point quad[4], const PaintColor * color)
{
  gdouble top = quad[0].y, bottom = quad[0].y, left, right;
  const gint step_x = canvas->step_x, step_y = canvas->step_y;

  for (guint i = 1; i < 4; i++) {
    top = MIN (top, quad[i].y);
    bottom = MAX (bottom, quad[i].y);
  }
  top = CLAMP (top, 0, canvas->height);
  bottom = CLAMP (bottom, 0, canvas->height);
  for (gint y = (gint) top / step_y * step_y; y < bottom; y += step_y) {
    PaintRect run = { 0, y, 0, y + step_y };

    if (!cross (quad, y + step_y / 2.0, &left, &right))
      continue;
    run.x1 = (gint64) floor (left / step_x + 0.5) * step_x;
    run.x2 = MAX ((gint64) floor (right / step_x + 0.5) * step_x, run.x1 + step_x);
    paint_fill (canvas, &run, color);
  }
}

/* The bar from u1 to u2 along an axis of the box and v1 to v2 across it. */
static void
fill_bar (const PaintCanvas * canvas, const PaintTurned * turned, gboolean along_x, gdouble u1,
    gdouble u2, gdouble v1, gdouble v2, const PaintColor * color)
{
  const Point quad[4] = {
    along_x ? to_canvas (turned, u1, v1) : to_canvas (turned, v1, u1),
    along_x ? to_canvas (turned, u2, v1) : to_canvas (turned, v1, u2),
    along_x ? to_canvas (turned, u2, v2) : to_canvas (turned, v2, u2),
    along_x ? to_canvas (turned, u1, v2) : to_canvas (turned, v2, u1),
  };

  fill (canvas, quad, color);
}

/* A side in dashes; only those near the frame are visited. */
static void
fill_side (const PaintCanvas * canvas, const PaintTurned * turned, gboolean along_x, gdouble v1,
    gdouble v2, gdouble dash, const PaintColor * color)
{
  gdouble half = (along_x ? turned->w : turned->h) / 2;
  gdouble reach = canvas->width + canvas->height, dx, dy, nearest, from, to;

  dx = canvas->width / 2.0 - turned->x;
  dy = canvas->height / 2.0 - turned->y;
  nearest = along_x ? dx * turned->cos + dy * turned->sin : dy * turned->cos - dx * turned->sin;
  from = MAX (-half, nearest - reach);
  to = MIN (half, nearest + reach);
  if (dash == 0) {
    if (from < to)
      fill_bar (canvas, turned, along_x, from, to, v1, v2, color);
    return;
  }
  if (from > -half)             /* dashes are counted from the corner */
    from = -half + floor ((from + half) / (2 * dash)) * 2 * dash;
  for (; from < to; from += 2 * dash)
    fill_bar (canvas, turned, along_x, from, MIN (from + dash, to), v1, v2, color);
}

void
paint_turned_outline (const PaintCanvas * canvas, const PaintTurned * box, gint thickness,
    gint dash, const PaintColor * color)
{
  /* at least as thick as a row is high, or rows between would be missed */
  gdouble thick = MAX (thickness, MAX (canvas->step_x, canvas->step_y));
  PaintTurned turned = *box;
  gdouble tx, ty;

  turned.w = MAX (turned.w, thick);     /* an empty box is seen as a dot */
  turned.h = MAX (turned.h, thick);
  tx = MIN (thick, turned.w);
  ty = MIN (thick, turned.h);
  fill_side (canvas, &turned, TRUE, -turned.h / 2, -turned.h / 2 + ty, dash, color);
  fill_side (canvas, &turned, TRUE, turned.h / 2 - ty, turned.h / 2, dash, color);
  fill_side (canvas, &turned, FALSE, -turned.w / 2, -turned.w / 2 + tx, dash, color);
  fill_side (canvas, &turned, FALSE, turned.w / 2 - tx, turned.w / 2, dash, color);
}
