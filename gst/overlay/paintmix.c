/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paintmix: compilers vectorize a loop over adjacent bytes only. So the coverage of pixels of
 * four bytes is spread to their bytes first, with 0 for padding, which then keeps its value.
 * Bytes and pixels with other distances are blended one by one where they are covered.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "paintmix.h"

#include <string.h>

/* Returns to * a/255 + from * (1 - a/255), rounded to nearest. All terms fit in 16
 * bits, so that the compiler vectorizes it: with x = v + 128, (x + x / 256) / 256
 * is v / 255 rounded, for every v up to 255 * 255. */
static inline guint8
mix (guint8 from, guint8 to, guint8 a)
{
  guint16 x = (guint16) (from * (255 - a) + to * a + 128);

  return (guint8) ((guint16) (x + (x >> 8)) >> 8);
}

static void
mix_bytes (guint8 *restrict p, gint n, const guint8 *restrict coverage, guint8 value)
{
  for (gint i = 0; i < n; i++)
    p[i] = mix (p[i], value, coverage[i]);
}

static inline void
mix_values (guint8 *restrict p, gint n, const guint8 *restrict coverage,
    const guint8 *restrict value)
{
  for (gint i = 0; i < n; i++)
    p[i] = mix (p[i], value[i], coverage[i]);
}

/* Writes the coverage of PAINT_MIX_CHUNK pixels of 4 bytes to those of their bytes that `used`
 * marks, and 0 to the others. */
static inline void
spread (guint8 *restrict out, const guint8 *restrict coverage, const guint8 used[PAINT_MIX_PSTRIDE])
{
  for (gint i = 0; i < PAINT_MIX_CHUNK; i++) {
    for (gint b = 0; b < 4; b++)
      out[4 * i + b] = coverage[i] * used[b];
  }
}

/* Text covers about a third of its mask, in runs. */
static inline gboolean
is_clear (const guint8 *coverage)
{
  guint64 half[2];

  memcpy (half, coverage, sizeof half);
  return (half[0] | half[1]) == 0;
}

/* Copies the coverage of the last pixels of a row and fills the chunk up with 0. */
static const guint8 *
pad_chunk (guint8 padded[PAINT_MIX_CHUNK], const guint8 *coverage, gint n)
{
  memset (padded, 0, PAINT_MIX_CHUNK);
  memcpy (padded, coverage, n);
  return padded;
}

PaintMixPixel
paint_mix_pixel (gint pstride, guint n_components, const guint16 *value, const gint *at)
{
  PaintMixPixel pixel = { .pstride = pstride };

  for (guint c = 0; c < n_components; c++) {
    for (gint i = 0; i < PAINT_MIX_CHUNK; i++)
      pixel.value[i * pstride + at[c]] = (guint8) value[c];
    pixel.used[at[c]] = 1;
    pixel.span = MAX (pixel.span, at[c] + 1);
  }
  return pixel;
}

/* Blends pixels of 4 bytes; the constant makes the compiler vectorize it. For the last
 * pixel of a row, stops at its last component, because its padding may lie beyond the frame. */
static void
mix_fours (guint8 *p, gint n, gboolean last, const guint8 *coverage, const PaintMixPixel *pixel)
{
  guint8 spaced[PAINT_MIX_CHUNK * 4];

  spread (spaced, coverage, pixel->used);
  if (last)
    mix_values (p, (n - 1) * 4 + pixel->span, spaced, pixel->value);
  else
    mix_values (p, PAINT_MIX_CHUNK * 4, spaced, pixel->value);
}

/* Returns three bytes in lanes of 16 bits, in which mix () does not overflow. */
static inline guint64
lanes_of (const guint8 *p)
{
  return p[0] | (guint64) p[1] << 16 | (guint64) p[2] << 32;
}

/* Blends pixels of 3 bytes one by one, their bytes at once, because compilers do not vectorize
 * a spread to three bytes. */
static void
mix_threes (guint8 *restrict p, gint n, const guint8 *restrict coverage,
    const guint8 *restrict value)
{
  const guint64 half = G_GUINT64_CONSTANT (0x8000800080), low = G_GUINT64_CONSTANT (0xff00ff00ff);
  const guint64 to = lanes_of (value);

  for (gint i = 0; i < n; i++, p += 3) {
    guint64 x;

    if (coverage[i] == 0)
      continue;
    x = lanes_of (p) * (255 - coverage[i]) + to * coverage[i] + half;
    x = (x + (x >> 8 & low)) >> 8;
    p[0] = (guint8) x;
    p[1] = (guint8) (x >> 16);
    p[2] = (guint8) (x >> 32);
  }
}

void
paint_mix_pixels (guint8 *p, gint n, const guint8 *coverage, const PaintMixPixel *pixel)
{
  const gint pstride = pixel->pstride;
  guint8 padded[PAINT_MIX_CHUNK];

  for (gint i = 0; i < n; i += PAINT_MIX_CHUNK, p += PAINT_MIX_CHUNK * pstride) {
    const gint part = MIN (n - i, PAINT_MIX_CHUNK);
    const guint8 *chunk = coverage + i;

    if (part < PAINT_MIX_CHUNK)
      chunk = pad_chunk (padded, chunk, part);
    if (is_clear (chunk))
      continue;
    if (pstride == 4)
      mix_fours (p, part, i + PAINT_MIX_CHUNK >= n, chunk, pixel);
    else
      mix_threes (p, part, chunk, pixel->value);
  }
}

void
paint_mix_row (guint8 *p, gint pstride, gint n, const guint8 *coverage, guint8 value)
{
  if (pstride == 1) {
    mix_bytes (p, n, coverage, value);
    return;
  }
  for (gint i = 0; i < n; i++, p += pstride) {
    if (coverage[i] != 0)
      *p = mix (*p, value, coverage[i]);
  }
}
