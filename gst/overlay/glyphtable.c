/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glyphtable: the width of a character's picture is its advance, which is whole pixels, because
 * metrics are hinted. A glyph that is wider is cut, by at most one pixel in upright fonts.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "glyphtable.h"

#include <string.h>

#define FIRST ' '
#define LAST '~'
#define MAX_FONT_SIZE 64 /* the table takes up to 500 KB */

struct _GlyphTable
{
  LabelPicture glyph[LAST - FIRST + 1]; /* data is NULL: not rendered yet */
};

GlyphTable *
glyph_table_new (void)
{
  return g_new0 (GlyphTable, 1);
}

void
glyph_table_clear (GlyphTable *table)
{
  for (guint i = 0; i < G_N_ELEMENTS (table->glyph); i++)
    g_clear_pointer (&table->glyph[i].data, g_free);
}

void
glyph_table_free (GlyphTable *table)
{
  if (table)
    glyph_table_clear (table);
  g_free (table);
}

static const LabelPicture *
get_glyph (GlyphTable *table, LabelFont *font, gchar c)
{
  LabelPicture *glyph = &table->glyph[c - FIRST];

  if (glyph->data == NULL) {
    const gchar text[2] = { c, '\0' };
    *glyph = label_font_render (font, text);
  }
  return glyph;
}

void
glyph_table_fill (GlyphTable *table, LabelFont *font)
{
  for (gchar c = FIRST; c <= LAST && label_font_size (font) <= MAX_FONT_SIZE; c++)
    get_glyph (table, font, c);
}

/* Sets all fields of the picture except data. */
static gboolean
measure (GlyphTable *table, LabelFont *font, const gchar *text, LabelPicture *picture)
{
  gint descent = 0;

  *picture = (LabelPicture) { 0 };
  for (; *text != '\0'; text++) {
    const LabelPicture *glyph;

    if (*text < FIRST || *text > LAST)
      return FALSE;
    glyph = get_glyph (table, font, *text);
    picture->width += glyph->width;
    if (picture->width > label_font_max_width (font))
      return FALSE;
    picture->baseline = MAX (picture->baseline, glyph->baseline);
    descent = MAX (descent, glyph->height - glyph->baseline);
  }
  picture->height = picture->baseline + descent;
  picture->stride = picture->width;
  return TRUE;
}

gboolean
glyph_table_compose (GlyphTable *table, LabelFont *font, const gchar *text, LabelPicture *picture)
{
  guint8 *at;

  if (label_font_size (font) > MAX_FONT_SIZE || !measure (table, font, text, picture))
    return FALSE;
  at = picture->data = g_malloc0 (MAX ((gsize) picture->stride * picture->height, 1));
  for (; *text != '\0'; text++) {
    const LabelPicture *glyph = get_glyph (table, font, *text);
    guint8 *row = at + (gsize) (picture->baseline - glyph->baseline) * picture->stride;

    for (gint y = 0; y < glyph->height; y++, row += picture->stride)
      memcpy (row, glyph->data + (gsize) y * glyph->stride, glyph->width);
    at += glyph->width;
  }
  return TRUE;
}
