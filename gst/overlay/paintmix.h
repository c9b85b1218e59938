/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* paintmix: blends a row of bytes with a colour, by the coverage of each pixel. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define PAINT_MIX_PSTRIDE 4 /* the largest number of bytes of a packed pixel */
#define PAINT_MIX_CHUNK 16  /* pixels that are blended at once */

/* A colour of packed pixels. */
typedef struct
{
  gint pstride; /* bytes of a pixel: 3, all of them components, or 4 */
  gint span;    /* bytes from the first component to the last, both included */
  guint8 value[PAINT_MIX_CHUNK * PAINT_MIX_PSTRIDE]; /* of the components of a chunk */
  guint8 used[PAINT_MIX_PSTRIDE]; /* 1: the byte is a component, 0: it is padding */
} PaintMixPixel;

/* Returns the colour of pixels of `pstride` bytes, 3 or 4, with the component
 * value[c] at byte at[c]. Pixels of 3 bytes have 3 components. */
PaintMixPixel paint_mix_pixel (gint pstride, guint n_components, const guint16 *value,
    const gint *at);

/* Blends `value` into n bytes at p, p + pstride, ...: 0 leaves a byte, 255 replaces it. */
void paint_mix_row (guint8 *p, gint pstride, gint n, const guint8 *coverage, guint8 value);

/* Blends all components of n pixels; p is the first component of the first one. */
void paint_mix_pixels (guint8 *p, gint n, const guint8 *coverage, const PaintMixPixel *pixel);

G_END_DECLS
