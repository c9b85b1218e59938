/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paint: filled rectangles, outlines and alpha masks, written straight into
 * the planes of a mapped video frame.
 *
 * One code path serves every format whose components are bytes or 16-bit
 * words of their own: a component is a base address, a row stride, a pixel
 * stride and a subsampling. Blending a composition of rectangles instead costs
 * 50 to 100 times as much.
 *
 * Coordinates are frame pixels. Where chroma is subsampled, rectangles and
 * masks have to lie on the chroma grid (multiples of step_x and step_y), so
 * that a chroma sample is never shared with the picture around; paint_snap ()
 * puts them there. Everything is clipped to the frame.
 */
#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 *data;                 /* the sample at 0, 0 */
  gint stride, pstride;         /* bytes */
  gint width, height;           /* samples */
  guint w_sub, h_sub;           /* log2 of the subsampling */
  guint shift;                  /* of the value in its word; words only */
  gboolean word, swap;          /* 16 bits; in the other byte order */
} PaintPlane;

/* A mapped frame to paint on. Holds while the frame stays mapped. */
typedef struct
{
  gint width, height;
  gint step_x, step_y;          /* the chroma grid: 1, 2 or 4 */
  gboolean packed;              /* whole pixels of bytes, one after the other */
  guint n_planes;               /* one per component */
  PaintPlane planes[GST_VIDEO_MAX_COMPONENTS];
  /* RGB to component values */
  gboolean luma;                /* the first component is a luma */
  gdouble kr, kb;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
} PaintCanvas;

/* A colour as component values of one canvas; alpha is opaque. */
typedef struct
{
  guint16 value[GST_VIDEO_MAX_COMPONENTS];
} PaintColor;

/* Half open, x1 <= x < x2; may lie outside the frame. */
typedef struct
{
  gint64 x1, y1, x2, y2;
} PaintRect;

/* Coverage 0..255, row by row; and its mean over each block of the chroma grid
 * (see paint_mask_shrink ()), not needed where the grid is 1 x 1. */
typedef struct
{
  gint width, height;
  gint stride, sub_stride;
  const guint8 *data, *sub;
} PaintMask;

/* Whether a canvas can be made from frames of this format: not for tiled,
 * palette or bit-packed ones. */
gboolean paint_can_paint (const GstVideoFormatInfo * finfo);

/* Of a frame that is mapped for writing; FALSE: see paint_can_paint (). */
gboolean paint_canvas_init (PaintCanvas * canvas, GstVideoFrame * frame);

/* 0xRRGGBB (full range, as a screen shows it) in the matrix and the range of
 * the frame's colorimetry. */
PaintColor paint_color (const PaintCanvas * canvas, guint32 rgb);

/* A value rounded up to the grid. */
gint paint_ceil_x (const PaintCanvas * canvas, gint x);
gint paint_ceil_y (const PaintCanvas * canvas, gint y);

/* The rectangle on the grid that is nearest to these corners (in any order;
 * any size), at least `thickness` (>= 1) wide and high so that an empty box is
 * seen as a dot. FALSE, and nothing written, if a corner is no number. */
gboolean paint_snap (const PaintCanvas * canvas, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gint thickness, PaintRect * rect);

/* The part of `rect` on the frame; FALSE: none. `out` may be `rect`. */
gboolean paint_clip (const PaintCanvas * canvas, const PaintRect * rect, PaintRect * out);

void paint_fill (const PaintCanvas * canvas, const PaintRect * rect, const PaintColor * color);

/* The border inside `rect`, `thickness` pixels wide, rounded up to the grid;
 * in dashes of `dash` pixels (rounded up likewise) and gaps as long, counted
 * from the top left corner of the rectangle; dash 0: solid. */
void paint_outline (const PaintCanvas * canvas, const PaintRect * rect, gint thickness, gint dash,
    const PaintColor * color);

/* The bytes of a mask's `sub` on this canvas, and the writing of it from
 * width, height, stride and data; sets sub and sub_stride. */
gsize paint_mask_sub_size (const PaintCanvas * canvas, const PaintMask * mask);
void paint_mask_shrink (const PaintCanvas * canvas, PaintMask * mask, guint8 * sub);

/* What paint_outline () paints when it is solid: top, bottom, left, right, of
 * the height and width of `rect`; not clipped. */
void paint_outline_bars (const PaintCanvas * canvas, const PaintRect * rect, gint thickness,
    PaintRect bars[4]);

/* Blends the colour through the mask, its top left at x, y, on the grid. */
void paint_mask (const PaintCanvas * canvas, gint x, gint y, const PaintMask * mask,
    const PaintColor * color);

G_END_DECLS
