/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linereader: the lines of a text file, pipe or device, one at a time, in
 * memory no larger than the longest line met. Ends of line may be LF or CRLF;
 * a byte-order mark is skipped; the last line may lack its end. Waiting for a
 * pipe can be interrupted from another thread.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _LineReader LineReader;

typedef enum
{
  LINE_READER_LINE,
  LINE_READER_EOF,
  LINE_READER_TOO_LONG,         /* longer than max_line; the next call passes over it */
  LINE_READER_FLUSHING,         /* interrupted; nothing is lost */
  LINE_READER_FAILED,           /* the error tells */
} LineReaderResult;

/* Opens a file (a path in the encoding of the file system; "-" is standard
 * input). Never waits: a FIFO without a writer opens. NULL and a G_FILE_ERROR
 * ("No such file or directory") if it cannot be read or is a directory. */
LineReader *line_reader_new (const gchar * location, gsize max_line, GError ** error);
void line_reader_free (LineReader * self);

/* The next line, without its end: NUL-terminated, `length` bytes (which may
 * include NULs), writable, valid until the next call. */
LineReaderResult line_reader_next (LineReader * self, gchar ** line, gsize * length,
    GError ** error);

/* The number of the line that the last call gave, from 1; 0 before. */
guint64 line_reader_number (LineReader * self);

/* Whether line_reader_rewind can work: a regular file or block device. */
gboolean line_reader_can_rewind (LineReader * self);

/* Back to the first line. */
gboolean line_reader_rewind (LineReader * self, GError ** error);

/* Reads on to the end and returns how many lines are not blank; 0 for what
 * cannot be rewound, which may never end. For counting what is left over. */
guint64 line_reader_count_rest (LineReader * self);

/* TRUE: makes a waiting line_reader_next return and later ones not wait,
 * until FALSE. From any thread. */
void line_reader_set_flushing (LineReader * self, gboolean flushing);

G_END_DECLS
