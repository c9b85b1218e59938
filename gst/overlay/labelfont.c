/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* labelfont: a pango context and one layout, whose text is replaced for each picture. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelfont.h"

#include <pango/pangocairo.h>
#include <string.h>

/* Longer texts are cut, because laying out a megabyte of text takes seconds. */
#define MAX_CHARACTERS 200

struct _LabelFont
{
  PangoContext *context;
  PangoLayout *layout;
  gint size, line_height, max_width;
};

LabelFont *
label_font_new (void)
{
  LabelFont *font = g_new0 (LabelFont, 1);
  /* Create a font map, because all users of a thread share the default one, and one
   * stream may use several threads in turn. */
  PangoFontMap *map = pango_cairo_font_map_new ();
  cairo_font_options_t *options = cairo_font_options_create ();

  font->context = pango_font_map_create_context (map);
  g_object_unref (map);
  pango_cairo_context_set_resolution (font->context, 96.0);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_ON);
  pango_cairo_context_set_font_options (font->context, options);
  cairo_font_options_destroy (options);

  font->layout = pango_layout_new (font->context);
  pango_layout_set_single_paragraph_mode (font->layout, TRUE);
  pango_layout_set_ellipsize (font->layout, PANGO_ELLIPSIZE_END);
  return font;
}

void
label_font_free (LabelFont *font)
{
  if (font == NULL)
    return;
  g_object_unref (font->layout);
  g_object_unref (font->context);
  g_free (font);
}

/* Returns the font size in pixels for frames whose shorter side has `side` pixels:
 * 10 on small frames, 14 at 720p, 20 at 1080p, 36 at 2160p. */
static gint
auto_size (gint side)
{
  return MAX (10, 4 + side / 66);
}

/* Returns the size of the description in pixels, at most a quarter of `side`. */
static gdouble
size_of (const PangoFontDescription *desc, gint side)
{
  gdouble size = 0;

  if (pango_font_description_get_set_fields (desc) & PANGO_FONT_MASK_SIZE) {
    size = pango_font_description_get_size (desc) / (gdouble) PANGO_SCALE;
    if (!pango_font_description_get_size_is_absolute (desc))
      size = size * 96.0 / 72.0;
  }
  if (!(size > 0))
    size = auto_size (side);
  return MAX (MIN (size, side / 4), 6);
}

void
label_font_set (LabelFont *font, const gchar *font_desc, gint width, gint height)
{
  PangoFontDescription *desc = pango_font_description_from_string (font_desc);
  const gdouble size = size_of (desc, MIN (width, height));
  PangoFontMetrics *metrics;

  pango_font_description_set_absolute_size (desc, size * PANGO_SCALE);
  metrics = pango_context_get_metrics (font->context, desc, NULL);
  font->line_height = PANGO_PIXELS_CEIL (pango_font_metrics_get_ascent (metrics))
      + PANGO_PIXELS_CEIL (pango_font_metrics_get_descent (metrics));
  pango_font_metrics_unref (metrics);

  font->size = (gint) (size + 0.5);
  font->max_width = MAX (width / 2, (gint) (size * 4));
  pango_layout_set_font_description (font->layout, desc);
  pango_layout_set_width (font->layout, font->max_width * PANGO_SCALE);
  pango_font_description_free (desc);
}

gint
label_font_line_height (const LabelFont *font)
{
  return font->line_height;
}

gint
label_font_size (const LabelFont *font)
{
  return font->size;
}

gint
label_font_max_width (const LabelFont *font)
{
  return font->max_width;
}

/* Returns a copy of the text as one line of valid UTF-8, at most MAX_CHARACTERS
 * long; to be freed. */
static gchar *
clean_text (const gchar *text)
{
  /* A character has at most 6 bytes. If the cut splits the last one,
   * g_utf8_make_valid () replaces its bytes. */
  gchar *clean = g_utf8_make_valid (text, (gssize) strnlen (text, MAX_CHARACTERS * 6));
  gchar *p = clean;
  guint n;

  for (n = 0; *p != '\0' && n < MAX_CHARACTERS; n++, p = g_utf8_next_char (p)) {
    if ((guchar) *p < 0x20 || (guchar) *p == 0x7f)
      *p = ' ';
  }
  *p = '\0';
  return clean;
}

LabelPicture
label_font_render (LabelFont *font, const gchar *text)
{
  gchar *clean = clean_text (text);
  LabelPicture picture;
  PangoRectangle logical;
  cairo_surface_t *surface;
  cairo_t *cr;

  pango_layout_set_text (font->layout, clean, -1);
  g_free (clean);
  pango_layout_get_pixel_extents (font->layout, NULL, &logical);
  picture.baseline = PANGO_PIXELS (pango_layout_get_baseline (font->layout));
  picture.width = MAX (logical.width, 0);
  picture.height = MAX (logical.height, 0);
  picture.stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, picture.width);
  picture.data = g_malloc0 (MAX ((gsize) picture.stride * picture.height, 1));

  surface = cairo_image_surface_create_for_data (picture.data, CAIRO_FORMAT_A8, picture.width,
      picture.height, picture.stride);
  cr = cairo_create (surface);
  cairo_move_to (cr, -logical.x, -logical.y);
  pango_cairo_show_layout (cr, font->layout);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  return picture;
}
