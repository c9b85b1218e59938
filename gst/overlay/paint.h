/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paint: paints filled rectangles, outlines and alpha masks straight into the
 * planes of a mapped video frame.
 *
 * One code path serves every format that stores each component in a byte or a
 * 16-bit word of its own: a component is a base address, a row stride, a pixel
 * stride and a subsampling. Blending a GstVideoOverlayComposition would cost 50 to
 * 100 times as much. In other formats, such as v210 and RGB16, GStreamer unpacks the
 * rows that are painted on to such a format, and packs them at the end, which takes
 * 10 us for a row of 1920 pixels.
 *
 * Coordinates are frame pixels. In formats with subsampled chroma, rectangles and
 * masks must lie on the chroma grid (multiples of step_x and step_y), because one
 * chroma sample colours a whole block of pixels; paint_snap () rounds to that grid.
 * Every function clips to the frame.
 */
#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 *data;         /* the sample at 0, 0 */
  gint stride, pstride; /* bytes */
  gint offset;          /* bytes from the beginning of a pixel to this component */
  guint w_sub, h_sub;   /* log2 of the subsampling */
  guint shift;          /* bits by which a value is shifted left in its word; 0 for bytes */
  gboolean word, swap;  /* 16-bit words instead of bytes; words not in native byte order */
} PaintPlane;

/* A mapped frame to paint on. Valid while the frame is mapped. */
typedef struct
{
  GstVideoFrame *frame;
  guint8 *unpacked;    /* the rows that were painted on, NULL if the frame itself is painted on */
  gboolean *touched;   /* whether a row of the frame was unpacked */
  gint width, height;  /* size of the frame, including left and top */
  gint step_x, step_y; /* the chroma grid: 1, 2 or 4 */
  gint left, top;      /* the first pixel of the picture; below step_x and step_y, and
                                 * 0 unless a crop begins off the chroma grid */
  gboolean packed;     /* one plane of whole pixels, each component a byte */
  guint n_planes;      /* number of planes, one per component */
  PaintPlane planes[GST_VIDEO_MAX_COMPONENTS];
  /* for the conversion of RGB to component values */
  gboolean luma; /* the first component is a luma */
  gdouble kr, kb;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
} PaintCanvas;

/* A colour as component values of one canvas, with an opaque alpha. */
typedef struct
{
  guint16 value[GST_VIDEO_MAX_COMPONENTS];
} PaintColor;

/* The pixels with x1 <= x < x2 and y1 <= y < y2; they may lie off the frame. */
typedef struct
{
  gint64 x1, y1, x2, y2;
} PaintRect;

/* An alpha mask: the coverage of each pixel, 0..255, in rows of `stride` bytes; and
 * in `sub` the mean coverage of each block of the chroma grid (see
 * paint_mask_shrink ()), which is not read if the grid is 1 x 1. */
typedef struct
{
  gint width, height;
  gint stride, sub_stride;
  const guint8 *data, *sub;
} PaintMask;

/* Returns whether frames of this format can be painted on: FALSE for formats with tiles or a
 * palette. */
gboolean paint_can_paint (const GstVideoFormatInfo *finfo);

/* Sets the size and the chroma grid of a canvas for frames of this format, nothing else: it
 * must not be painted on. Returns FALSE if paint_can_paint () refuses the format. */
gboolean paint_canvas_measure (PaintCanvas *canvas, const GstVideoInfo *info);

/* Makes a canvas of a frame that is mapped for writing. Returns FALSE if
 * paint_can_paint () refuses its format. */
gboolean paint_canvas_init (PaintCanvas *canvas, GstVideoFrame *frame);

/* Packs the unpacked rows into the frame. The canvas must not be used afterwards. */
void paint_canvas_finish (PaintCanvas *canvas);

/* Limits a canvas of a whole frame to the part of this rectangle on the frame. The
 * canvas then begins at the point of the chroma grid at or before x, y; left and top
 * say how far before, and only chroma samples that the picture shares are painted
 * there. Returns FALSE if no part is on the frame; the canvas must not be used then. */
gboolean paint_canvas_crop (PaintCanvas *canvas, guint x, guint y, guint width, guint height);

/* Converts 0xRRGGBB (full range, as a screen shows it) to the matrix and the range
 * of the frame's colorimetry. */
PaintColor paint_color (const PaintCanvas *canvas, guint32 rgb);

/* Return a value rounded up to the chroma grid. */
gint paint_ceil_x (const PaintCanvas *canvas, gint x);
gint paint_ceil_y (const PaintCanvas *canvas, gint y);

/* Rounds a rectangle to the chroma grid. The corners may come in any order and lie
 * anywhere. The result is at least `thickness` (>= 1) wide and high, so that an
 * empty box is visible as a dot. Returns FALSE, and leaves `rect` unchanged, if a
 * coordinate is NaN. */
gboolean paint_snap (const PaintCanvas *canvas, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gint thickness, PaintRect *rect);

/* Sets `out`, which may be `rect`, to the part of `rect` on the frame. Returns
 * FALSE if that is empty. */
gboolean paint_clip (const PaintCanvas *canvas, const PaintRect *rect, PaintRect *out);

/* Fills a rectangle. */
void paint_fill (const PaintCanvas *canvas, const PaintRect *rect, const PaintColor *color);

/* Paints the border inside `rect`, `thickness` pixels wide, rounded up to the
 * chroma grid. It consists of dashes and gaps of `dash` pixels each (rounded up
 * likewise), counted from the top left corner of the rectangle; if `dash` is 0, it
 * is solid. */
void paint_outline (const PaintCanvas *canvas, const PaintRect *rect, gint thickness, gint dash,
    const PaintColor *color);

/* Sets `sub`, in memory that the caller frees, and sub_stride from the other fields of the mask.
 * Does nothing if the chroma grid is 1 x 1. Returns the bytes of `sub`. */
gsize paint_mask_shrink (const PaintCanvas *canvas, PaintMask *mask);

/* Sets `bars` to the four rectangles that a solid paint_outline () fills: top and
 * bottom as wide as `rect`, left and right as high, not clipped. */
void paint_outline_bars (const PaintCanvas *canvas, const PaintRect *rect, gint thickness,
    PaintRect bars[4]);

/* Blends the colour into the frame through the mask, whose top left corner is at x,
 * y on the chroma grid. */
void paint_mask (const PaintCanvas *canvas, gint x, gint y, const PaintMask *mask,
    const PaintColor *color);

G_END_DECLS
