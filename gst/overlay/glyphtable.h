/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glyphtable: composes texts of printable ASCII characters from pictures of the characters,
 * because rendering a text takes about 30 us, and scores, track numbers and labels with
 * numbers may be new in every frame. Composed texts have no kerning and no ligatures.
 */
#pragma once

#include "labelfont.h"

G_BEGIN_DECLS

typedef struct _GlyphTable GlyphTable;

GlyphTable *glyph_table_new (void);
void glyph_table_free (GlyphTable *table);

/* Removes all pictures. Call it when the font changes. */
void glyph_table_clear (GlyphTable *table);

/* Renders all characters that are not rendered yet, in about 3 ms. Does nothing if the font
 * has more than 64 pixels. */
void glyph_table_fill (GlyphTable *table, LabelFont *font);

/* Writes the picture of a text to `picture`, which the caller frees, in about 1 us. Returns
 * FALSE, and the caller must render the text, if the text has a character that is not
 * printable ASCII or is wider than label_font_max_width (), or if the font has more than 64
 * pixels. */
gboolean glyph_table_compose (GlyphTable *table, LabelFont *font, const gchar *text,
    LabelPicture *picture);

G_END_DECLS
