/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labels: setting a text takes some 30 us, finding it again 0.1 us. Expected
 * are some dozens of class names, the scores 0.00 to 1.00, and track numbers
 * that come and go: hence a hash table and a queue in order of use.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelcache.h"

#include <pango/pangocairo.h>
#include <string.h>

/* No label that is looked at is longer; laying out megabytes takes seconds. */
#define MAX_CHARACTERS 200

typedef struct
{
  LabelMask label;              /* first: what callers see */
  gchar *text;
  guint8 *data;
  gsize bytes;
  GList link;                   /* in `used`; data is the entry */
} Entry;

struct _Labels
{
  PangoContext *context;
  PangoLayout *layout;
  gchar *font_desc;
  PaintCanvas canvas;           /* its size and grid count */
  gint font_size, line_height;

  GHashTable *entries;          /* text, owned by its entry */
  GQueue used;                  /* head: used last */
  gsize bytes;
  guint64 set;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->text);
  g_free (entry->data);
  g_free (entry);
}

Labels *
labels_new (void)
{
  Labels *labels = g_new0 (Labels, 1);
  /* Not the default map: that one is shared by all users of a thread, and
   * streams move between threads. */
  PangoFontMap *map = pango_cairo_font_map_new ();
  cairo_font_options_t *options = cairo_font_options_create ();

  labels->context = pango_font_map_create_context (map);
  g_object_unref (map);
  pango_cairo_context_set_resolution (labels->context, 96.0);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_ON);
  pango_cairo_context_set_font_options (labels->context, options);
  cairo_font_options_destroy (options);

  labels->layout = pango_layout_new (labels->context);
  pango_layout_set_single_paragraph_mode (labels->layout, TRUE);
  pango_layout_set_ellipsize (labels->layout, PANGO_ELLIPSIZE_END);

  labels->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  g_queue_init (&labels->used);
  return labels;
}

static void
labels_clear (Labels * labels)
{
  g_queue_init (&labels->used); /* the links are part of the entries */
  g_hash_table_remove_all (labels->entries);
  labels->bytes = 0;
}

void
labels_free (Labels * labels)
{
  if (labels == NULL)
    return;
  labels_clear (labels);
  g_hash_table_unref (labels->entries);
  g_object_unref (labels->layout);
  g_object_unref (labels->context);
  g_free (labels->font_desc);
  g_free (labels);
}

/* 10 pixels on small frames, 15 at 720p, 20 at 1080p, 37 at 2160p. */
static gint
labels_auto_size (gint side)
{
  return MAX (10, 4 + side / 66);
}

static gboolean
labels_suit (const Labels * labels, const gchar * font_desc, const PaintCanvas * canvas)
{
  const PaintCanvas *old = &labels->canvas;

  return labels->font_desc != NULL && strcmp (labels->font_desc, font_desc) == 0 &&
      old->width == canvas->width && old->height == canvas->height &&
      old->step_x == canvas->step_x && old->step_y == canvas->step_y;
}

void
labels_set_font (Labels * labels, const gchar * font_desc, const PaintCanvas * canvas)
{
  PangoFontDescription *desc;
  PangoFontMetrics *metrics;
  gint side = MIN (canvas->width, canvas->height);
  gdouble size = 0;

  if (labels_suit (labels, font_desc, canvas))
    return;

  labels_clear (labels);
  g_free (labels->font_desc);
  labels->font_desc = g_strdup (font_desc);
  labels->canvas = *canvas;

  desc = pango_font_description_from_string (font_desc);
  if (pango_font_description_get_set_fields (desc) & PANGO_FONT_MASK_SIZE) {
    size = pango_font_description_get_size (desc) / (gdouble) PANGO_SCALE;
    if (!pango_font_description_get_size_is_absolute (desc))
      size = size * 96.0 / 72.0;
  }
  if (!(size > 0))
    size = labels_auto_size (side);
  size = MAX (MIN (size, side / 4), 6);
  pango_font_description_set_absolute_size (desc, size * PANGO_SCALE);
  labels->font_size = (gint) (size + 0.5);

  metrics = pango_context_get_metrics (labels->context, desc, NULL);
  labels->line_height = PANGO_PIXELS_CEIL (pango_font_metrics_get_ascent (metrics)) +
      PANGO_PIXELS_CEIL (pango_font_metrics_get_descent (metrics));
  pango_font_metrics_unref (metrics);

  pango_layout_set_font_description (labels->layout, desc);
  pango_layout_set_width (labels->layout,
      MAX (canvas->width / 2, (gint) (size * 4)) * PANGO_SCALE);
  pango_font_description_free (desc);
}

gint
labels_line_height (Labels * labels)
{
  return labels->line_height;
}

gint
labels_font_size (Labels * labels)
{
  return labels->font_size;
}

/* Valid UTF-8 of one line and of a length that can be laid out. */
static gchar *
labels_clean (const gchar * text)
{
  /* Not more bytes than the characters kept can have: a torn last one is
   * mended with the rest. */
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
labels_render (Labels * labels, Entry * entry)
{
  gchar *clean = labels_clean (entry->text);
  PangoRectangle logical;
  cairo_surface_t *surface;
  cairo_t *cr;
  gsize full;
  PaintMask *mask = &entry->label.mask;

  pango_layout_set_text (labels->layout, clean, -1);
  g_free (clean);
  pango_layout_get_pixel_extents (labels->layout, NULL, &logical);

  entry->label.baseline = PANGO_PIXELS (pango_layout_get_baseline (labels->layout));
  mask->width = MAX (logical.width, 0);
  mask->height = MAX (logical.height, 0);
  mask->stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, mask->width);
  full = (gsize) mask->stride * mask->height;
  entry->bytes = full + paint_mask_sub_size (&labels->canvas, mask);
  entry->data = g_malloc0 (MAX (entry->bytes, 1));
  mask->data = entry->data;

  surface = cairo_image_surface_create_for_data (entry->data, CAIRO_FORMAT_A8, mask->width,
      mask->height, mask->stride);
  cr = cairo_create (surface);
  cairo_move_to (cr, -logical.x, -logical.y);
  pango_cairo_show_layout (cr, labels->layout);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  paint_mask_shrink (&labels->canvas, mask, entry->data + full);
  labels->set++;
}

static void
labels_evict (Labels * labels)
{
  while (labels->used.length > LABELS_HELD && (labels->used.length > LABELS_MAX_MASKS ||
          labels->bytes > LABELS_MAX_BYTES)) {
    Entry *oldest = labels->used.tail->data;

    g_queue_unlink (&labels->used, &oldest->link);
    labels->bytes -= oldest->bytes;
    g_hash_table_remove (labels->entries, oldest->text);
  }
}

const LabelMask *
labels_get (Labels * labels, const gchar * text)
{
  Entry *entry = g_hash_table_lookup (labels->entries, text);

  if (entry != NULL) {
    if (labels->used.head != &entry->link) {
      g_queue_unlink (&labels->used, &entry->link);
      g_queue_push_head_link (&labels->used, &entry->link);
    }
    return &entry->label;
  }

  entry = g_new0 (Entry, 1);
  entry->text = g_strdup (text);
  entry->link.data = entry;
  if (*text != '\0')
    labels_render (labels, entry);
  entry->bytes += sizeof *entry + strlen (text);
  labels->bytes += entry->bytes;
  g_hash_table_insert (labels->entries, entry->text, entry);
  g_queue_push_head_link (&labels->used, &entry->link);
  labels_evict (labels);
  return &entry->label;
}

LabelsUsage
labels_usage (const Labels * labels)
{
  LabelsUsage usage = { labels->used.length, labels->bytes, labels->set };

  return usage;
}
