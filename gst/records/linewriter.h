/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linewriter: text to a file, pipe or standard output, handed to the system at
 * once: a reader at the other end of a pipe sees every line when it is
 * written. Waiting for a slow reader can be interrupted from another thread; a
 * reader that left is an error (EPIPE) and never the signal SIGPIPE.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _LineWriter LineWriter;

typedef enum
{
  LINE_WRITER_OK,
  LINE_WRITER_FLUSHING,         /* interrupted; the rest goes out before the next text */
  LINE_WRITER_FAILED,
} LineWriterResult;

/* Opens for writing, never waiting: a FIFO may still lack its reader, the first
 * write then waits for one. A file is emptied, or with `append` continued,
 * after an end of line should its last line lack one. "-" is standard output.
 * NULL and a G_FILE_ERROR if it cannot be written. */
LineWriter *line_writer_new (const gchar * location, gboolean append, GError ** error);

LineWriterResult line_writer_write (LineWriter * self, const gchar * text, gsize length,
    GError ** error);

/* Closes and frees; FALSE if the system has an error left to tell. */
gboolean line_writer_free (LineWriter * self, GError ** error);

/* As line_reader_set_flushing. */
void line_writer_set_flushing (LineWriter * self, gboolean flushing);

/* The last bytes, up to 4096, of a regular file, to be freed; "" if there is
 * no such file or it is no regular one. */
gchar *line_writer_tail (const gchar * location);

G_END_DECLS
