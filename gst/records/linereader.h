/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linereader: reads the lines of a text file, pipe or device one at a time, with a
 * buffer no larger than the longest line needs. Lines end in LF or CRLF; the last
 * one may lack its end. A byte-order mark is skipped. Another thread can interrupt
 * waiting for a pipe.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _LineReader LineReader;

typedef enum
{
  LINE_READER_LINE,
  LINE_READER_EOF,
  LINE_READER_TOO_LONG, /* longer than max_line; the next call skips it */
  LINE_READER_FLUSHING, /* interrupted; no data is lost */
  LINE_READER_FAILED,   /* the error says why */
} LineReaderResult;

/* Opens a file. `location` is a path in the encoding of the file system; "-" is
 * standard input. Lines longer than `max_line` bytes are refused. Claims the file for the element
 * named `owner` until line_reader_free (); NULL claims nothing. Does not wait,
 * even for a FIFO without a writer. Returns NULL and a G_FILE_ERROR ("No such file
 * or directory") if the file is a directory, cannot be read, or another element of this process
 * reads the same pipe or replaces the same file. */
LineReader *line_reader_new (const gchar *location, gsize max_line, const gchar *owner,
    GError **error);

/* Makes a reader of a text that is a part of a file, behind line number `line`. Takes the text,
 * which has a NUL behind its `length` bytes. */
LineReader *line_reader_new_text (gchar *text, gsize length, guint64 line);

void line_reader_free (LineReader *self);

/* Reads the next line. `line` has no end of line, is NUL-terminated, has `length`
 * bytes, NULs included, and is valid until the next call. */
LineReaderResult line_reader_next (LineReader *self, gchar **line, gsize *length, GError **error);

/* Returns the number in its file, from 1, of the line that the last call returned or refused; 0
 * before the first call, and after line_reader_seek (), which does not know it. */
guint64 line_reader_number (LineReader *self);

/* Returns the number of that line after line_reader_seek () too; then it reads the file up to the
 * line to count. */
guint64 line_reader_count (LineReader *self);

/* If called with TRUE, line_reader_next () waits at the end of the file for further lines instead
 * of returning LINE_READER_EOF, and returns complete lines only. It looks for them every 50 ms. If
 * the location then leads to another file that is not empty, or the file has become
 * shorter, reading goes on at the start of the new contents. The default is FALSE. */
void line_reader_set_follow (LineReader *self, gboolean follow);

/* Returns whether reading may wait: the recording is a pipe, or is followed. */
gboolean line_reader_may_wait (LineReader *self);

/* Sets a function that line_reader_next () calls when it has waited for 1 s, and not again
 * until data has come. */
void line_reader_set_waiting (LineReader *self, void (*waiting) (gpointer), gpointer data);

/* Sets the time (g_get_monotonic_time ()) at which line_reader_next () stops waiting: it
 * returns LINE_READER_FLUSHING, and line_reader_is_late () returns TRUE until it is called
 * again. `waiting` is not called then. 0, the default, sets no limit. */
void line_reader_set_deadline (LineReader *self, gint64 deadline);
gboolean line_reader_is_late (LineReader *self);

/* Returns whether the line that the last call returned has no end of line, because the
 * file ends there. */
gboolean line_reader_is_unfinished (LineReader *self);

/* Returns the position, in bytes, of the line that the last call returned or refused. Positions go
 * on from one followed file to the next one. */
guint64 line_reader_offset (LineReader *self);

/* Returns the position of the start of the open file, which is 0 for the first file. Lines before
 * it can no longer be read. */
guint64 line_reader_base (LineReader *self);

/* Returns whether line_reader_seek () is possible: TRUE for a regular file or block device. */
gboolean line_reader_can_rewind (LineReader *self);

/* Goes to the line that begins at `offset`, which is not before line_reader_base (). Nothing is
 * read again if the line is in the buffer. Returns FALSE and a G_FILE_ERROR if that fails. */
gboolean line_reader_seek (LineReader *self, guint64 offset, GError **error);

/* If called with TRUE, interrupts a waiting line_reader_next () and keeps later calls from
 * waiting, until it is called with FALSE. Any thread may call it. */
void line_reader_set_flushing (LineReader *self, gboolean flushing);

G_END_DECLS
