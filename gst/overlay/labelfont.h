/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelfont: lays out and renders one line of text with pango and cairo. An instance has a
 * font map of its own. One thread at a time may use it; different threads may use different
 * instances at the same time.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _LabelFont LabelFont;

/* A rendered text: the coverage of each pixel, 0..255, in rows of `stride` bytes. */
typedef struct
{
  gint width, height, stride;
  gint baseline; /* rows from the top to the baseline */
  guint8 *data;  /* stride * height bytes; freed by the caller with g_free () */
} LabelPicture;

LabelFont *label_font_new (void);
void label_font_free (LabelFont *font);

/* Sets the font (a pango description: family, style, size) for frames of this size. Without a
 * size in the description, the font size follows the frame size. fontconfig replaces a family
 * that is not installed. The font size is at most a quarter of the frame's shorter side, but
 * at least 6 pixels. A text is at most as wide as half of the frame, but at least as wide as
 * four font sizes; a longer one ends in an ellipsis. */
void label_font_set (LabelFont *font, const gchar *font_desc, gint width, gint height);

/* Return the height of a line of text, the size of the font, and the width of the longest
 * text, in pixels. */
gint label_font_line_height (const LabelFont *font);
gint label_font_size (const LabelFont *font);
gint label_font_max_width (const LabelFont *font);

/* Renders a text in about 30 us. Bytes that are not UTF-8 are shown as U+FFFD, line breaks
 * and other control characters as spaces. */
LabelPicture label_font_render (LabelFont *font, const gchar *text);

G_END_DECLS
