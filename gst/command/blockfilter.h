/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blockfilter: filters the frames of one block of text, as nmsfilter filters the boxes of
 * buffers. Each thread has one of its own, because it keeps scratch memory.
 */
#pragma once

#include "nmsfilter/boxlist.h"
#include "records/recordreader.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames, boxes, kept;
} BlockCounts;

typedef struct
{
  GString *text;         /* whole frames of the input */
  guint64 lines_before;  /* lines of the input before the block */
  guint64 frames_before; /* MOT text: number of the last frame before the block, from 1; 0: none */
  GString *out;          /* the filtered frames */
  BlockCounts counts;
  GError *error; /* "<line>: <reason>" or NULL; then `out` has the frames before */
} Block;

typedef struct _BlockFilter BlockFilter;

/* `from` and `to` are the formats of input and output, not RECORD_FORMAT_AUTO. */
BlockFilter *block_filter_new (BoxListSettings *settings, RecordFormat from, RecordFormat to);
void block_filter_free (BlockFilter *self);

/* Fills out, counts and error of the block. Writes to its text. */
void block_filter_run (BlockFilter *self, Block *block);

G_END_DECLS
