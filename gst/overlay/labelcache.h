/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelcache: renders short texts as alpha masks, and keeps them.
 *
 * The cache holds at most LABEL_CACHE_MAX_MASKS masks and LABEL_CACHE_MAX_BYTES
 * bytes; the least recently used mask is dropped first. A caller that separates the
 * parts of a label that change from those that do not ("0.91" from "person") has
 * few texts to render in each frame.
 *
 * One thread at a time may use an instance; different threads may use different instances at
 * the same time.
 */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

#define LABEL_CACHE_MAX_MASKS 512
#define LABEL_CACHE_MAX_BYTES (4 * 1024 * 1024)
/* This many masks, the most recently used ones, are kept whatever their size. */
#define LABEL_CACHE_MIN_MASKS 8

typedef struct _LabelCache LabelCache;

typedef struct
{
  PaintMask mask;
  gint baseline; /* rows from the top to the baseline */
} LabelMask;

LabelCache *label_cache_new (void);
void label_cache_free (LabelCache *cache);

/* Sets the font for frames with the size and the chroma grid of this canvas, as
 * label_font_set () does. Changing the font or the canvas empties the cache. */
void label_cache_set_font (LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas);

/* Renders the characters of ASCII for the font that is set, in about 3 ms, so that no frame
 * waits for it. They take up to 500 KB in addition to the cache. */
void label_cache_load (LabelCache *cache);

/* Return the height of a line of text and the size of the font, in pixels. */
gint label_cache_line_height (LabelCache *cache);
gint label_cache_font_size (LabelCache *cache);

/* Returns the mask of a text, never NULL. It is valid until LABEL_CACHE_MIN_MASKS
 * other texts were asked for or the font changes. Its characters are shown as
 * label_font_render () shows them. An empty text has an empty mask. */
const LabelMask *label_cache_get (LabelCache *cache, const gchar *text);

/* The masks and bytes in the cache, and the number of masks rendered since label_cache_new (). */
typedef struct
{
  guint masks;
  gsize bytes;
  guint64 rendered;
} LabelCacheUsage;

LabelCacheUsage label_cache_usage (const LabelCache *cache);

G_END_DECLS
