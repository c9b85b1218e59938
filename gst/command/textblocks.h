/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * textblocks: reads a recording in blocks of about a megabyte that contain whole frames, so that
 * threads can parse them apart. A larger frame is a larger block.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  TEXT_FORMAT_AUTO,             /* by the first character of the file */
  TEXT_FORMAT_JSONL,            /* a frame is a line */
  TEXT_FORMAT_MOT,              /* a frame is the lines with the same first column */
} TextFormat;

/* A place in the input, between two frames. */
typedef struct
{
  guint64 offset;               /* in bytes */
  guint64 line;                 /* number of lines before it */
  guint64 frame;                /* MOT: number of the frame before it, from 1; 0: none */
} TextPlace;

typedef struct _TextBlocks TextBlocks;

/* Opens a file, or standard input for "-". Returns NULL and a G_FILE_ERROR if that fails. */
TextBlocks *text_blocks_new (const gchar * location, TextFormat format, GError ** error);
void text_blocks_free (TextBlocks * self);

/* Continues at a place that text_blocks_next () has returned. Fails for a pipe. */
gboolean text_blocks_seek (TextBlocks * self, const TextPlace * place, GError ** error);

/* Replaces the contents of `text` by the next block and writes the places where it begins and
 * ends. At the end of the file the block is empty. Returns FALSE and an error if reading
 * fails or the format is unknown. */
gboolean text_blocks_next (TextBlocks * self, GString * text, TextPlace * begin, TextPlace * end,
    GError ** error);

/* Returns the format, TEXT_FORMAT_AUTO before the first block. */
TextFormat text_blocks_format (const TextBlocks * self);

/* Returns the size of a regular file in bytes, 0 for others. */
guint64 text_blocks_size (const TextBlocks * self);

G_END_DECLS
