/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labels: short texts as alpha masks, set by pango and cairo once and kept.
 *
 * The cache is bounded by LABEL_CACHE_MAX_MASKS and LABEL_CACHE_MAX_BYTES; the masks
 * that were used longest ago go first. A caller that splits what changes from
 * what does not ("person", "0.91") sets next to nothing anew from frame to
 * frame.
 *
 * An instance has a font map of its own and belongs to one thread at a time;
 * any number of instances may work at once.
 */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

#define LABEL_CACHE_MAX_MASKS 512
#define LABEL_CACHE_MAX_BYTES (4 * 1024 * 1024)
/* The last so many masks are kept whatever they weigh. */
#define LABEL_CACHE_MIN_MASKS 8

typedef struct _LabelCache LabelCache;

typedef struct
{
  PaintMask mask;
  gint baseline;                /* rows from the top to the baseline */
} LabelMask;

LabelCache *label_cache_new (void);
void label_cache_free (LabelCache * cache);

/* The font (a pango description: family, style, size), for frames like this
 * canvas. Without a size in it, text is as high as suits the frame. A family
 * that is not installed is replaced as fontconfig sees fit. Text is never
 * larger than a quarter of the frame's shorter side (but 6 pixels at least),
 * nor wider than half of the frame (but four letters at least): the end is
 * replaced by an ellipsis. A change empties the cache. */
void label_cache_set_font (LabelCache * cache, const gchar * font_desc, const PaintCanvas * canvas);

/* Pixels: the height of a line of ordinary text, and the size of the font. */
gint label_cache_line_height (LabelCache * cache);
gint label_cache_font_size (LabelCache * cache);

/* The mask of a text, valid until LABEL_CACHE_MIN_MASKS other texts were asked for or
 * the font changes. Bytes that are not UTF-8 are shown as U+FFFD, line breaks
 * and other control characters as spaces. Never NULL; of an empty text the
 * mask is empty. */
const LabelMask *label_cache_get (LabelCache * cache, const gchar * text);

/* What the cache holds, and how many masks were ever set. */
typedef struct
{
  guint masks;
  gsize bytes;
  guint64 rendered;
} LabelCacheUsage;

LabelCacheUsage label_cache_usage (const LabelCache * cache);

G_END_DECLS
