/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelcache: renders short texts as alpha masks, and keeps them.
 *
 * A caller that separates the parts of a label that change from those that do not ("0.91" from
 * "person") has few texts to render in each frame. One thread at a time may use an instance;
 * different threads may use different instances at the same time.
 */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

/* label_cache_trim empties a cache that holds more than this. */
#define LABEL_CACHE_MAX_MASKS 512
#define LABEL_CACHE_MAX_BYTES (4 * 1024 * 1024)

typedef struct _LabelCache LabelCache;

typedef struct
{
  PaintMask mask;
  gint baseline; /* rows from the top to the baseline */
} LabelMask;

LabelCache *label_cache_new (void);
void label_cache_free (LabelCache *cache);

/* Sets the font (a pango description: family, style, size) for frames with the size and the chroma
 * grid of this canvas. Without a size in the description, the font size follows the frame size.
 * fontconfig replaces a family that is not installed. The font size is at most a quarter of the
 * frame's shorter side, but at least 6 pixels. A text is at most as wide as half of the frame, but
 * at least as wide as four font sizes; a longer one ends in an ellipsis. Changing the font or the
 * canvas empties the cache. */
void label_cache_set_font (LabelCache *cache, const gchar *font_desc, const PaintCanvas *canvas);

/* Renders the characters of ASCII for the font that is set, in about 3 ms, so that no frame
 * waits for it. They take up to 500 KB in addition to the cache. Does nothing if the font has more
 * than 64 pixels. */
void label_cache_load (LabelCache *cache);

/* Return the height of a line of text and the size of the font, in pixels. */
gint label_cache_line_height (const LabelCache *cache);
gint label_cache_font_size (const LabelCache *cache);

/* Empties the cache if it is full. */
void label_cache_trim (LabelCache *cache);

/* Returns the mask of a text, never NULL, which is valid until label_cache_trim or
 * label_cache_set_font. Bytes that are not UTF-8 are shown as U+FFFD, line breaks and other control
 * characters as spaces. An empty text has an empty mask. */
const LabelMask *label_cache_get (LabelCache *cache, const gchar *text);

/* The masks and bytes in the cache. */
typedef struct
{
  guint masks;
  gsize bytes;
} LabelCacheUsage;

LabelCacheUsage label_cache_usage (const LabelCache *cache);

G_END_DECLS
