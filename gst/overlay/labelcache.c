/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelcache: rendering a text takes about 30 us, finding it in the cache 0.1 us.
 * The expected load is a few dozen class names, the scores 0.00 to 1.00, and track
 * numbers that come and go. Hence a hash table, and a queue in order of last use.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelcache.h"

#include <pango/pangocairo.h>
#include <string.h>

/* Longer texts are cut, because laying out a megabyte of text takes seconds. */
#define MAX_CHARACTERS 200

typedef struct
{
  LabelMask label;              /* what callers get */
  gchar *text;
  guint8 *data;
  gsize bytes;
  GList link;                   /* the link in `used`; its data is this entry */
} Entry;

struct _LabelCache
{
  PangoContext *context;
  PangoLayout *layout;
  gchar *font_desc;
  PaintCanvas canvas;           /* only its size and chroma grid are used */
  gint font_size, line_height;

  GHashTable *entries;          /* from text to Entry, which owns the text */
  GQueue used;                  /* of Entry, the most recently used one first */
  gsize bytes;
  guint64 rendered;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->text);
  g_free (entry->data);
  g_free (entry);
}

LabelCache *
label_cache_new (void)
{
  LabelCache *cache = g_new0 (LabelCache, 1);
  /* Create a font map, because all users of a thread share the default one, and one
   * stream may use several threads in turn. */
  PangoFontMap *map = pango_cairo_font_map_new ();
  cairo_font_options_t *options = cairo_font_options_create ();

  cache->context = pango_font_map_create_context (map);
  g_object_unref (map);
  pango_cairo_context_set_resolution (cache->context, 96.0);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_ON);
  pango_cairo_context_set_font_options (cache->context, options);
  cairo_font_options_destroy (options);

  cache->layout = pango_layout_new (cache->context);
  pango_layout_set_single_paragraph_mode (cache->layout, TRUE);
  pango_layout_set_ellipsize (cache->layout, PANGO_ELLIPSIZE_END);

  cache->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  g_queue_init (&cache->used);
  return cache;
}

static void
label_cache_clear (LabelCache * cache)
{
  g_queue_init (&cache->used);  /* the links are freed with the entries */
  g_hash_table_remove_all (cache->entries);
  cache->bytes = 0;
}

void
label_cache_free (LabelCache * cache)
{
  if (cache == NULL)
    return;
  label_cache_clear (cache);
  g_hash_table_unref (cache->entries);
  g_object_unref (cache->layout);
  g_object_unref (cache->context);
  g_free (cache->font_desc);
  g_free (cache);
}

/* Returns the font size in pixels for frames whose shorter side has `side` pixels:
 * 10 on small frames, 14 at 720p, 20 at 1080p, 36 at 2160p. */
static gint
label_cache_auto_size (gint side)
{
  return MAX (10, 4 + side / 66);
}

static gboolean
label_cache_is_current (const LabelCache * cache, const gchar * font_desc,
    const PaintCanvas * canvas)
{
  const PaintCanvas *old = &cache->canvas;

  return cache->font_desc != NULL && strcmp (cache->font_desc, font_desc) == 0 &&
      old->width == canvas->width && old->height == canvas->height &&
      old->step_x == canvas->step_x && old->step_y == canvas->step_y;
}

void
label_cache_set_font (LabelCache * cache, const gchar * font_desc, const PaintCanvas * canvas)
{
  PangoFontDescription *desc;
  PangoFontMetrics *metrics;
  gint side = MIN (canvas->width, canvas->height);
  gdouble size = 0;

  if (label_cache_is_current (cache, font_desc, canvas))
    return;

  label_cache_clear (cache);
  g_free (cache->font_desc);
  cache->font_desc = g_strdup (font_desc);
  cache->canvas = *canvas;

  desc = pango_font_description_from_string (font_desc);
  if (pango_font_description_get_set_fields (desc) & PANGO_FONT_MASK_SIZE) {
    size = pango_font_description_get_size (desc) / (gdouble) PANGO_SCALE;
    if (!pango_font_description_get_size_is_absolute (desc))
      size = size * 96.0 / 72.0;
  }
  if (!(size > 0))
    size = label_cache_auto_size (side);
  size = MAX (MIN (size, side / 4), 6);
  pango_font_description_set_absolute_size (desc, size * PANGO_SCALE);
  cache->font_size = (gint) (size + 0.5);

  metrics = pango_context_get_metrics (cache->context, desc, NULL);
  cache->line_height = PANGO_PIXELS_CEIL (pango_font_metrics_get_ascent (metrics)) +
      PANGO_PIXELS_CEIL (pango_font_metrics_get_descent (metrics));
  pango_font_metrics_unref (metrics);

  pango_layout_set_font_description (cache->layout, desc);
  pango_layout_set_width (cache->layout,
      MAX (canvas->width / 2, (gint) (size * 4)) * PANGO_SCALE);
  pango_font_description_free (desc);
}

gint
label_cache_line_height (LabelCache * cache)
{
  return cache->line_height;
}

gint
label_cache_font_size (LabelCache * cache)
{
  return cache->font_size;
}

/* Returns a copy of the text as one line of valid UTF-8, at most MAX_CHARACTERS
 * long; to be freed. */
static gchar *
label_cache_clean (const gchar * text)
{
  /* A character has at most 6 bytes. If the cut splits the last one,
   * g_utf8_make_valid () replaces its bytes. */
  gchar *clean = g_utf8_make_valid (text, (gssize) strnlen (text, MAX_CHARACTERS * 6));
  gchar *p = clean;
  guint n;

  for (n = 0; *p != '\0' && n < MAX_CHARACTERS; n++, p = g_utf8_next_char (p)) {
    if ((guchar) * p < 0x20 || (guchar) * p == 0x7f)
      *p = ' ';
  }
  *p = '\0';
  return clean;
}

static void
label_cache_render (LabelCache * cache, Entry * entry)
{
  gchar *clean = label_cache_clean (entry->text);
  PangoRectangle logical;
  cairo_surface_t *surface;
  cairo_t *cr;
  gsize full;
  PaintMask *mask = &entry->label.mask;

  pango_layout_set_text (cache->layout, clean, -1);
  g_free (clean);
  pango_layout_get_pixel_extents (cache->layout, NULL, &logical);

  entry->label.baseline = PANGO_PIXELS (pango_layout_get_baseline (cache->layout));
  mask->width = MAX (logical.width, 0);
  mask->height = MAX (logical.height, 0);
  mask->stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, mask->width);
  full = (gsize) mask->stride * mask->height;
  entry->bytes = full + paint_mask_sub_size (&cache->canvas, mask);
  entry->data = g_malloc0 (MAX (entry->bytes, 1));
  mask->data = entry->data;

  surface = cairo_image_surface_create_for_data (entry->data, CAIRO_FORMAT_A8, mask->width,
      mask->height, mask->stride);
  cr = cairo_create (surface);
  cairo_move_to (cr, -logical.x, -logical.y);
  pango_cairo_show_layout (cr, cache->layout);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  paint_mask_shrink (&cache->canvas, mask, entry->data + full);
  cache->rendered++;
}

static void
label_cache_evict (LabelCache * cache)
{
  while (cache->used.length > LABEL_CACHE_MIN_MASKS &&
      (cache->used.length > LABEL_CACHE_MAX_MASKS || cache->bytes > LABEL_CACHE_MAX_BYTES)) {
    Entry *oldest = cache->used.tail->data;

    g_queue_unlink (&cache->used, &oldest->link);
    cache->bytes -= oldest->bytes;
    g_hash_table_remove (cache->entries, oldest->text);
  }
}

const LabelMask *
label_cache_get (LabelCache * cache, const gchar * text)
{
  Entry *entry = g_hash_table_lookup (cache->entries, text);

  if (entry != NULL) {
    if (cache->used.head != &entry->link) {
      g_queue_unlink (&cache->used, &entry->link);
      g_queue_push_head_link (&cache->used, &entry->link);
    }
    return &entry->label;
  }

  entry = g_new0 (Entry, 1);
  entry->text = g_strdup (text);
  entry->link.data = entry;
  if (*text != '\0')
    label_cache_render (cache, entry);
  entry->bytes += sizeof *entry + strlen (text);
  cache->bytes += entry->bytes;
  g_hash_table_insert (cache->entries, entry->text, entry);
  g_queue_push_head_link (&cache->used, &entry->link);
  label_cache_evict (cache);
  return &entry->label;
}

LabelCacheUsage
label_cache_usage (const LabelCache * cache)
{
  LabelCacheUsage usage = { cache->used.length, cache->bytes, cache->rendered };

  return usage;
}
