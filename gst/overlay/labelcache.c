/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelcache: rendering a text takes about 30 us, composing it of known characters 1 us,
 * finding it in the cache 0.1 us. The expected load is a few dozen class names, the scores
 * 0.00 to 1.00, and track numbers that come and go. Hence a hash table, and a queue in order
 * of last use.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelcache.h"

#include "glyphtable.h"
#include "labelfont.h"

#include <string.h>

typedef struct
{
  LabelMask label; /* what callers get */
  gchar *text;
  guint8 *data, *sub; /* of the mask */
  gsize bytes;
  GList link; /* the link in `used`; its data is this entry */
} Entry;

struct _LabelCache
{
  LabelFont *font;
  GlyphTable *glyphs;
  gchar *font_desc;
  PaintCanvas canvas; /* only its size and chroma grid are used */

  GHashTable *entries; /* from text to Entry, which owns the text */
  GQueue used;         /* of Entry, the most recently used one first */
  gsize bytes;
  guint64 rendered;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->text);
  g_free (entry->data);
  g_free (entry->sub);
  g_free (entry);
}

LabelCache *
label_cache_new (void)
{
  LabelCache *cache = g_new0 (LabelCache, 1);

  cache->font = label_font_new ();
  cache->glyphs = glyph_table_new ();
  cache->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  g_queue_init (&cache->used);
  return cache;
}

static void
label_cache_clear (LabelCache *cache)
{
  g_queue_init (&cache->used); /* the links are freed with the entries */
  g_hash_table_remove_all (cache->entries);
  cache->bytes = 0;
}

void
label_cache_free (LabelCache *cache)
{
  if (cache == NULL)
    return;
  label_cache_clear (cache);
  g_hash_table_unref (cache->entries);
  glyph_table_free (cache->glyphs);
  label_font_free (cache->font);
  g_free (cache->font_desc);
  g_free (cache);
}

static gboolean
label_cache_is_current (const LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas)
{
  const PaintCanvas *old = &cache->canvas;

  return cache->font_desc != NULL && strcmp (cache->font_desc, font_desc) == 0
      && old->width == canvas->width && old->height == canvas->height
      && old->step_x == canvas->step_x && old->step_y == canvas->step_y;
}

void
label_cache_set_font (LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas)
{
  if (label_cache_is_current (cache, font_desc, canvas))
    return;
  label_cache_clear (cache);
  glyph_table_clear (cache->glyphs);
  g_free (cache->font_desc);
  cache->font_desc = g_strdup (font_desc);
  cache->canvas = *canvas;
  label_font_set (cache->font, font_desc, canvas->width, canvas->height);
}

void
label_cache_load (LabelCache *cache)
{
  glyph_table_fill (cache->glyphs, cache->font);
}

gint
label_cache_line_height (LabelCache *cache)
{
  return label_font_line_height (cache->font);
}

gint
label_cache_font_size (LabelCache *cache)
{
  return label_font_size (cache->font);
}

static void
label_cache_render (LabelCache *cache, Entry *entry)
{
  PaintMask *mask = &entry->label.mask;
  LabelPicture picture;
  gsize sub_size;

  if (!glyph_table_compose (cache->glyphs, cache->font, entry->text, &picture))
    picture = label_font_render (cache->font, entry->text);
  entry->label.baseline = picture.baseline;
  mask->width = picture.width;
  mask->height = picture.height;
  mask->stride = picture.stride;
  mask->data = entry->data = picture.data;
  entry->bytes = (gsize) mask->stride * mask->height;
  cache->rendered++;
  if (cache->canvas.step_x == 1 && cache->canvas.step_y == 1)
    return; /* painting only reads the data */
  sub_size = paint_mask_sub_size (&cache->canvas, mask);
  entry->bytes += sub_size;
  entry->sub = g_malloc (MAX (sub_size, 1));
  paint_mask_shrink (&cache->canvas, mask, entry->sub);
}

static void
label_cache_evict (LabelCache *cache)
{
  while (cache->used.length > LABEL_CACHE_MIN_MASKS
      && (cache->used.length > LABEL_CACHE_MAX_MASKS || cache->bytes > LABEL_CACHE_MAX_BYTES)) {
    Entry *oldest = cache->used.tail->data;

    g_queue_unlink (&cache->used, &oldest->link);
    cache->bytes -= oldest->bytes;
    g_hash_table_remove (cache->entries, oldest->text);
  }
}

const LabelMask *
label_cache_get (LabelCache *cache, const gchar *text)
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
label_cache_usage (const LabelCache *cache)
{
  LabelCacheUsage usage = { cache->used.length, cache->bytes, cache->rendered };

  return usage;
}
