/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * textblocks: reads a recording in blocks of about a megabyte that contain whole frames, so that
 * threads can parse them apart. A larger frame is a larger block.
 */
#pragma once

#include "records/csvtext.h"
#include "textformat.h"

G_BEGIN_DECLS

/* A place in the input, between two frames. */
typedef struct
{
  guint64 offset; /* in bytes */
  guint64 line;   /* number of lines (COCO: entries) before it */
  guint64 frame;  /* all but JSON Lines: number of the frame before it, from 1;
                                 * 0: none */
} TextPlace;

typedef struct _TextBlocks TextBlocks;

/* Opens a file, or standard input for "-", and reads its beginning. Returns NULL and an error if
 * that fails or the text does not begin as one of the format. An empty file is JSON Lines for
 * TEXT_FORMAT_AUTO. */
TextBlocks *text_blocks_new (const gchar *location, TextFormat format, GError **error);
void text_blocks_free (TextBlocks *self);

/* Continues at a place that text_blocks_next () has returned. Fails for a pipe. */
gboolean text_blocks_seek (TextBlocks *self, const TextPlace *place, GError **error);

/* Replaces the contents of `text` by the next block and writes the places where it begins and
 * ends. Entries of COCO results are a line each. At the end of the file the block is empty.
 * Returns FALSE and an error if reading fails or a COCO array is not one of objects. */
gboolean text_blocks_next (TextBlocks *self, GString *text, TextPlace *begin, TextPlace *end,
    GError **error);

/* Returns the format, which is not TEXT_FORMAT_AUTO. */
TextFormat text_blocks_format (const TextBlocks *self);

/* Returns the columns of CSV text, NULL for other formats. Owned by `self`. */
const CsvColumns *text_blocks_columns (const TextBlocks *self);

/* Returns the size of a regular file in bytes, 0 for others. */
guint64 text_blocks_size (const TextBlocks *self);

G_END_DECLS
