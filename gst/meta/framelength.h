/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * framelength: lengths and rectangles as text, in pixels ("40") or in per cent of the
 * width or the height of a frame ("12.5%").
 */
#pragma once

#include "edgecut.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble value;    /* finite, or -INFINITY pixels for no length */
  gboolean percent; /* `value` is in per cent of the width or the height, not in pixels */
} FrameLength;

typedef struct
{
  FrameLength x, y, width, height;
} FrameRegion;

/* Parses an edge margin: a length of 0 or more, with a decimal point. NULL and an empty text are
 * -INFINITY pixels, within which no box lies. Returns FALSE if the text is not a length. */
gboolean frame_length_parse (const gchar *text, FrameLength *length);

/* Describes the text that frame_length_parse accepts, for messages. */
#define FRAME_LENGTH_FORM "a number of pixels or per cent of 0 or more, as in 5 or 10%"

/* Parses "x,y,width,height"; blanks around the numbers are ignored. x and y may be negative,
 * width and height must be greater than 0. Returns FALSE if the text is not a rectangle. */
gboolean frame_region_parse (const gchar *text, FrameRegion *region);

/* Returns a length in pixels. `size` is that of the frame; 100 % are `size` pixels. */
gdouble frame_length_pixels (const FrameLength *length, gdouble size);

/* Returns whether a coordinate is in per cent, so that the size of the frame is needed. */
gboolean frame_region_needs_size (const FrameRegion *region);

/* Returns the rectangle in pixels of a frame of this size, not clipped to the frame. The size
 * is not used if frame_region_needs_size returns FALSE. */
BoxRectangle frame_region_pixels (const FrameRegion *region, gint width, gint height);

G_END_DECLS
