/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * palette: 72 colours of three lightnesses (0.72, 0.82 and 0.64 of OKLCh, hues 15
 * degrees apart, chroma as large as sRGB allows), so that each is visible on dark
 * and on bright pictures and a label on it is legible. They are a table because
 * powers and cosines differ in the last bit between machines.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "palette.h"

#include <math.h>

static const guint32 colors[] = { 0xff6a95, 0xff7076, 0xff7553, 0xfe7802, 0xe88c03, 0xd59801,
  0xc2a205, 0xabac01, 0x8bb700, 0x3dc403, 0x00c471, 0x04c097, 0x08beaf, 0x04bbc3, 0x02b8d6,
  0x04b4ec, 0x3cacff, 0x6da4ff, 0x8b9bfe, 0xa491ff, 0xc082ff, 0xe365ff, 0xfc54e1, 0xff61b7,
  0xffa9b2, 0xffaba0, 0xffad8d, 0xffb074, 0xffb344, 0xf2bc05, 0xdac700, 0xbbd300, 0x87e103,
  0x03eb5d, 0x05e7a1, 0x05e3c3, 0x07e0dc, 0x09ddf2, 0x53d6ff, 0x81ceff, 0x99c8ff, 0xabc3ff,
  0xbbbdff, 0xcbb6ff, 0xe0acff, 0xff98fd, 0xffa1db, 0xffa6c4, 0xfe1361, 0xff2628, 0xe65801,
  0xcf6f00, 0xbe7c03, 0xad8604, 0x9c8e01, 0x869701, 0x5fa100, 0x03a940, 0x02a672, 0x02a38b,
  0x05a19e, 0x069eae, 0x059bc0, 0x0496d6, 0x018cfd, 0x5981ff, 0x7f74ff, 0x9f63ff, 0xbe4af5,
  0xd63cd7, 0xe82cb4, 0xf61d8d };

/* Hashes by FNV-1a and two rounds of mixing, because short texts such as "1", "2",
 * "3" differ in few bits and the choice of the colour needs all bits. The start
 * value was chosen so that person, car, face, bicycle, truck, bus, dog, cat and
 * motorcycle, which often appear together, get very different colours. */
static guint32
palette_hash (const gchar *text)
{
  guint32 h = 9545;

  for (; *text != '\0'; text++)
    h = (h ^ (guint8) *text) * 16777619u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

guint32
palette_color (const gchar *text)
{
  return colors[palette_hash (text) % G_N_ELEMENTS (colors)];
}

/* Converts the lowest 8 bits from sRGB to linear light, 0..1. */
static gdouble
palette_linear (guint32 byte)
{
  gdouble v = (byte & 0xff) / 255.0;

  return v <= 0.04045 ? v / 12.92 : pow ((v + 0.055) / 1.055, 2.4);
}

guint32
palette_text_color (guint32 background)
{
  gdouble luminance = 0.2126 * palette_linear (background >> 16)
      + 0.7152 * palette_linear (background >> 8) + 0.0722 * palette_linear (background);

  /* WCAG: contrast is (lighter + 0.05) / (darker + 0.05). */
  return (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05 ? 0x000000 : 0xffffff;
}
