/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linewriter: writes lines to a file, to numbered files, to a pipe or to standard
 * output. A line is written whole or not at all. Another thread can interrupt waiting
 * for a slow reader. If the reader closes the pipe, writing fails with EPIPE and never
 * raises SIGPIPE.
 */
#pragma once

#include "filesequence.h"

G_BEGIN_DECLS

typedef struct _LineWriter LineWriter;

/* Opens the location without waiting. "-" is standard output. The settings after
 * `owner` are for regular files only. Returns NULL and a G_FILE_ERROR if it cannot be
 * written. */
LineWriter *line_writer_new (const FileSequenceSettings *settings, GError **error);

/* Writes one line. If a pipe has no room, waits for its reader for up to `timeout` ns
 * (GST_CLOCK_TIME_NONE: without a limit) and then returns OUTPUT_FULL. running_time is
 * that of the frame. OUTPUT_FAILED comes with a G_FILE_ERROR. */
OutputResult line_writer_write (LineWriter *self, const gchar *line, gsize length,
    GstClockTime running_time, GstClockTime timeout, GError **error);

/* Writes lines that FILE_FLUSH_BUFFER collected; waits for up to `timeout` ns for the
 * reader of a pipe to take the rest of a line that is longer than the pipe. Returns FALSE
 * and a G_FILE_ERROR if writing fails. */
gboolean line_writer_flush (LineWriter *self, GstClockTime timeout, GError **error);

/* Closes the file and frees the writer. Returns FALSE and a G_FILE_ERROR as
 * file_sequence_close () and pipe_output_close () do. */
gboolean line_writer_free (LineWriter *self, GError **error);

/* Returns the path of the regular file that is open; NULL for a pipe or another device. */
const gchar *line_writer_path (LineWriter *self);

/* With TRUE, interrupts a waiting line_writer_write () and makes later calls return
 * OUTPUT_FLUSHING, until it is called with FALSE. Any thread may call it. */
void line_writer_set_flushing (LineWriter *self, gboolean flushing);

G_END_DECLS
