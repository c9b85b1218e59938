/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blockfilter: filters the frames of one block of text, as nmsfilter filters the boxes of
 * buffers. Each thread has one of its own, because it keeps scratch memory.
 */
#pragma once

#include "filterproperties.h"
#include "textblocks.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames, boxes, kept;
} BlockCounts;

/* A block on its way. The same thread of the caller makes and frees it. */
typedef struct
{
  GString *text; /* the input */
  TextPlace begin, end;
  GString *out; /* the filtered frames */
  BlockCounts counts;
  GError *error; /* "<line>: <reason>" (COCO: " entry <number>: <reason>"),
                                 * or NULL; then `out` has the frames before */
  gboolean done; /* guarded by the lock of blockqueue */
} Block;

typedef struct _BlockFilter BlockFilter;

/* `blocks` must stay valid. `to` is the format of the output, not TEXT_FORMAT_AUTO. */
BlockFilter *block_filter_new (const FilterSettings *settings, const TextBlocks *blocks,
    TextFormat to);
void block_filter_free (BlockFilter *self);

/* Fills out, counts and error of the block. */
void block_filter_run (BlockFilter *self, Block *block);

G_END_DECLS
