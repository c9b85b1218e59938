/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* paintrotated: paints the outlines of rotated boxes, in rows of paint_fill (). */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

/* A box rotated about its centre, in pixels of the canvas; w and h are not negative. */
typedef struct
{
  gdouble x, y; /* the centre */
  gdouble w, h;
  gdouble sin, cos; /* sine and cosine of the angle, clockwise */
} PaintRotated;

/* Sets `rotated` to the box with these corners, in any order, rotated by `rotation`
 * radians. Returns FALSE if a value is not finite or a coordinate is 1e9 or beyond;
 * `rotated` must not be used then. */
gboolean paint_rotated_init (PaintRotated *rotated, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gdouble rotation);

/* Writes the corners of the upright rectangle around the box. */
void paint_rotated_bounds (const PaintRotated *rotated, gdouble *x1, gdouble *y1, gdouble *x2,
    gdouble *y2);

/* Paints the border inside the box; thickness and dash as in paint_outline (). */
void paint_rotated_outline (const PaintCanvas *canvas, const PaintRotated *rotated, gint thickness,
    gint dash, const PaintColor *color);

G_END_DECLS
