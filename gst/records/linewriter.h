/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linewriter: writes text to a file, pipe or standard output. Every text is handed
 * to the system at once, so that a reader of a pipe gets each line when it is
 * written. Another thread can interrupt waiting for a slow reader. If the reader
 * closes the pipe, writing fails with EPIPE and never raises SIGPIPE.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _LineWriter LineWriter;

typedef enum
{
  LINE_WRITER_OK,
  LINE_WRITER_FLUSHING,         /* interrupted; the rest is written before the next text */
  LINE_WRITER_FAILED,
} LineWriterResult;

/* Opens a file for writing without waiting: if a FIFO has no reader yet, the first
 * write waits for one. A file that exists is emptied, or with `append` continued.
 * "-" is standard output. Returns NULL and a G_FILE_ERROR if the file cannot be
 * written. */
LineWriter *line_writer_new (const gchar * location, gboolean append, GError ** error);

/* Writes `length` bytes. LINE_WRITER_FAILED comes with a G_FILE_ERROR. */
LineWriterResult line_writer_write (LineWriter * self, const gchar * text, gsize length,
    GError ** error);

/* Closes the file and frees the writer. Returns FALSE and a G_FILE_ERROR if the
 * system reports one on closing. */
gboolean line_writer_free (LineWriter * self, GError ** error);

/* With TRUE, interrupts a waiting line_writer_write () and keeps later calls from
 * waiting, until it is called with FALSE. Any thread may call it. */
void line_writer_set_flushing (LineWriter * self, gboolean flushing);

G_END_DECLS
