/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* paintturned: outlines of boxes that are turned, by rows of paint_fill (). */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

/* A box of a canvas, turned about its centre; corners in order, in pixels. */
typedef struct
{
  gdouble x, y;                 /* the centre */
  gdouble w, h;
  gdouble sin, cos;             /* of the angle, clockwise */
} PaintRotated;

/* FALSE, and nothing to be used, if a number is none or beyond any frame. */
gboolean paint_rotated_init (PaintRotated * rotated, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gdouble rotation);

/* The corners of the upright box around it. */
void paint_rotated_bounds (const PaintRotated * rotated, gdouble * x1, gdouble * y1, gdouble * x2,
    gdouble * y2);

/* The border inside it, as paint_outline (). */
void paint_rotated_outline (const PaintCanvas * canvas, const PaintRotated * rotated,
    gint thickness, gint dash, const PaintColor * color);

G_END_DECLS
