/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelcache: a pango layout, whose text is replaced for each picture, and two tables. Rendering a
 * text takes about 30 us, and scores, track numbers and labels with numbers may be new in every
 * frame, so texts of printable ASCII characters are composed of pictures of the characters in 1 us.
 * Composed texts have no kerning and no ligatures. Finding a mask takes 0.1 us. The expected load
 * is a few dozen class names, the scores 0.00 to 1.00, and track numbers that come and go.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelcache.h"

#include <pango/pangocairo.h>
#include <string.h>

/* Longer texts are cut, because laying out a megabyte of text takes seconds. */
#define MAX_CHARACTERS 200

#define FIRST_GLYPH ' '
#define LAST_GLYPH '~'
#define MAX_GLYPH_SIZE 64 /* largest font size whose glyphs are kept; they take up to 500 KB */

/* A rendered text: the coverage of each pixel, 0..255, in rows of `stride` bytes. The width of a
 * character's picture is its advance, which is whole pixels, because metrics are hinted. A glyph
 * that is wider is cut, by at most one pixel in upright fonts. */
typedef struct
{
  gint width, height, stride;
  gint baseline; /* rows from the top to the baseline */
  guint8 *data;  /* owned */
} Picture;

struct _LabelCache
{
  gchar *font_desc;
  PaintCanvas canvas;  /* only its size and chroma grid are used */
  PangoLayout *layout; /* with the font; its font map is not shared */
  gint size, line_height, max_width;

  Picture glyphs[LAST_GLYPH - FIRST_GLYPH + 1]; /* data is NULL before a glyph is rendered */
  GHashTable *masks;                            /* from text to LabelMask, which owns its data */
  gsize bytes;
};

static void
mask_free (gpointer data)
{
  LabelMask *label = data;

  g_free ((gpointer) label->mask.data);
  g_free ((gpointer) label->mask.sub);
  g_free (label);
}

LabelCache *
label_cache_new (void)
{
  LabelCache *cache = g_new0 (LabelCache, 1);
  /* Create a font map, because all users of a thread share the default one, and one
   * stream may use several threads in turn. */
  PangoFontMap *map = pango_cairo_font_map_new ();
  PangoContext *context = pango_font_map_create_context (map);
  cairo_font_options_t *options = cairo_font_options_create ();

  pango_cairo_context_set_resolution (context, 96.0);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_ON);
  pango_cairo_context_set_font_options (context, options);
  cairo_font_options_destroy (options);

  cache->layout = pango_layout_new (context);
  pango_layout_set_single_paragraph_mode (cache->layout, TRUE);
  pango_layout_set_ellipsize (cache->layout, PANGO_ELLIPSIZE_END);
  g_object_unref (context);
  g_object_unref (map);
  cache->masks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, mask_free);
  return cache;
}

static void
clear (LabelCache *cache)
{
  g_hash_table_remove_all (cache->masks);
  cache->bytes = 0;
}

static void
clear_glyphs (LabelCache *cache)
{
  for (guint i = 0; i < G_N_ELEMENTS (cache->glyphs); i++)
    g_clear_pointer (&cache->glyphs[i].data, g_free);
}

void
label_cache_free (LabelCache *cache)
{
  clear_glyphs (cache);
  g_hash_table_unref (cache->masks);
  g_object_unref (cache->layout);
  g_free (cache->font_desc);
  g_free (cache);
}

/* ----------------------------------------------------------------------- font */

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

static gboolean
is_current (const LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas)
{
  const PaintCanvas *old = &cache->canvas;

  return cache->font_desc != NULL && strcmp (cache->font_desc, font_desc) == 0
      && old->width == canvas->width && old->height == canvas->height
      && old->step_x == canvas->step_x && old->step_y == canvas->step_y;
}

void
label_cache_set_font (LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas)
{
  PangoContext *context = pango_layout_get_context (cache->layout);
  PangoFontDescription *desc;
  PangoFontMetrics *metrics;
  gdouble size;

  if (is_current (cache, font_desc, canvas))
    return;
  clear (cache);
  clear_glyphs (cache);
  g_free (cache->font_desc);
  cache->font_desc = g_strdup (font_desc);
  cache->canvas = *canvas;

  desc = pango_font_description_from_string (font_desc);
  size = size_of (desc, MIN (canvas->width, canvas->height));
  pango_font_description_set_absolute_size (desc, size * PANGO_SCALE);
  metrics = pango_context_get_metrics (context, desc, NULL);
  cache->line_height = PANGO_PIXELS_CEIL (pango_font_metrics_get_ascent (metrics))
      + PANGO_PIXELS_CEIL (pango_font_metrics_get_descent (metrics));
  pango_font_metrics_unref (metrics);

  cache->size = (gint) (size + 0.5);
  cache->max_width = MAX (canvas->width / 2, (gint) (size * 4));
  pango_layout_set_font_description (cache->layout, desc);
  pango_layout_set_width (cache->layout, cache->max_width * PANGO_SCALE);
  pango_font_description_free (desc);
}

gint
label_cache_line_height (const LabelCache *cache)
{
  return cache->line_height;
}

gint
label_cache_font_size (const LabelCache *cache)
{
  return cache->size;
}

/* ------------------------------------------------------------------- pictures */

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

static Picture
render (LabelCache *cache, const gchar *text)
{
  gchar *clean = clean_text (text);
  Picture picture;
  PangoRectangle logical;
  cairo_surface_t *surface;
  cairo_t *cr;

  pango_layout_set_text (cache->layout, clean, -1);
  g_free (clean);
  pango_layout_get_pixel_extents (cache->layout, NULL, &logical);
  picture.baseline = PANGO_PIXELS (pango_layout_get_baseline (cache->layout));
  picture.width = MAX (logical.width, 0);
  picture.height = MAX (logical.height, 0);
  picture.stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, picture.width);
  picture.data = g_malloc0 (MAX ((gsize) picture.stride * picture.height, 1));

  surface = cairo_image_surface_create_for_data (picture.data, CAIRO_FORMAT_A8, picture.width,
      picture.height, picture.stride);
  cr = cairo_create (surface);
  cairo_move_to (cr, -logical.x, -logical.y);
  pango_cairo_show_layout (cr, cache->layout);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  return picture;
}

static const Picture *
get_glyph (LabelCache *cache, gchar c)
{
  Picture *glyph = &cache->glyphs[c - FIRST_GLYPH];

  if (glyph->data == NULL)
    *glyph = render (cache, (const gchar[]) { c, '\0' });
  return glyph;
}

void
label_cache_load (LabelCache *cache)
{
  for (gchar c = FIRST_GLYPH; c <= LAST_GLYPH && cache->size <= MAX_GLYPH_SIZE; c++)
    get_glyph (cache, c);
}

/* Sets all fields of the picture of a composed text except data. Returns FALSE if the text cannot
 * be composed, or is wider than the widest text. */
static gboolean
measure (LabelCache *cache, const gchar *text, Picture *picture)
{
  gint descent = 0;

  *picture = (Picture) { 0 };
  for (; *text != '\0'; text++) {
    const Picture *glyph;

    if (*text < FIRST_GLYPH || *text > LAST_GLYPH)
      return FALSE;
    glyph = get_glyph (cache, *text);
    picture->width += glyph->width;
    if (picture->width > cache->max_width)
      return FALSE;
    picture->baseline = MAX (picture->baseline, glyph->baseline);
    descent = MAX (descent, glyph->height - glyph->baseline);
  }
  picture->height = picture->baseline + descent;
  picture->stride = picture->width;
  return TRUE;
}

static Picture
make_picture (LabelCache *cache, const gchar *text)
{
  Picture picture;
  guint8 *at;

  if (cache->size > MAX_GLYPH_SIZE || !measure (cache, text, &picture))
    return render (cache, text);
  at = picture.data = g_malloc0 (MAX ((gsize) picture.stride * picture.height, 1));
  for (; *text != '\0'; text++) {
    const Picture *glyph = get_glyph (cache, *text);
    guint8 *row = at + (gsize) (picture.baseline - glyph->baseline) * picture.stride;

    for (gint y = 0; y < glyph->height; y++, row += picture.stride)
      memcpy (row, glyph->data + (gsize) y * glyph->stride, glyph->width);
    at += glyph->width;
  }
  return picture;
}

/* ---------------------------------------------------------------------- masks */

void
label_cache_trim (LabelCache *cache)
{
  if (g_hash_table_size (cache->masks) > LABEL_CACHE_MAX_MASKS
      || cache->bytes > LABEL_CACHE_MAX_BYTES)
    clear (cache);
}

const LabelMask *
label_cache_get (LabelCache *cache, const gchar *text)
{
  LabelMask *label = g_hash_table_lookup (cache->masks, text);

  if (label)
    return label;
  label = g_new0 (LabelMask, 1);
  cache->bytes += sizeof *label + strlen (text);
  if (*text != '\0') {
    const Picture picture = make_picture (cache, text);

    label->mask = (PaintMask) { .width = picture.width,
      .height = picture.height,
      .stride = picture.stride,
      .data = picture.data };
    label->baseline = picture.baseline;
    cache->bytes += (gsize) picture.stride * picture.height;
    cache->bytes += paint_mask_shrink (&cache->canvas, &label->mask);
  }
  g_hash_table_insert (cache->masks, g_strdup (text), label);
  return label;
}

LabelCacheUsage
label_cache_usage (const LabelCache *cache)
{
  return (LabelCacheUsage) { g_hash_table_size (cache->masks), cache->bytes };
}
