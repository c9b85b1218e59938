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
void glyph_table_free (GlyphTable * table);

/* Forgets all characters; for a change of the font. */
void glyph_table_clear (GlyphTable * table);

/* Renders all characters that are not rendered yet, in about 3 ms, unless the font is larger
 * than glyph_table_compose () takes. */
void glyph_table_fill (GlyphTable * table, LabelFont * font);

/* Writes the picture of a text to `picture`, which the caller frees, in about 1 us. Returns
 * FALSE if the text has another character or is wider than the font's longest text, or if the
 * font has more than 64 pixels; the caller then renders it. */
gboolean glyph_table_compose (GlyphTable * table, LabelFont * font, const gchar * text,
    LabelPicture * picture);

G_END_DECLS
