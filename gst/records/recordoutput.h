/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordoutput: the file, FIFO or standard output that boxrecord writes lines to. A line is
 * written whole or not at all:
 *
 * - A regular file has complete lines only. If the disk is full, it is truncated behind the last
 *   complete line, and the line counts as failed.
 * - A line is written to a pipe only if the pipe has room for all of it. Otherwise the stream waits
 *   for the reader; a flush or a state change ends the wait, and the line is not written. A line
 *   longer than the pipe is begun in an empty pipe; its rest precedes the next line.
 * - If the reader closes the pipe, lines fail, and no SIGPIPE is raised. A FIFO may get another
 *   reader, which begins with a whole line.
 *
 * Used by the streaming thread, except where a function says otherwise.
 */
#pragma once

#include "recordsettings.h"

G_BEGIN_DECLS

typedef struct _RecordOutput RecordOutput;

typedef enum
{
  OUTPUT_OK,
  OUTPUT_FLUSHING, /* interrupted; nothing of the line was written */
  OUTPUT_DROPPED,  /* not written, and the stream goes on */
  OUTPUT_FAILED,   /* not written, and an error was posted */
} OutputResult;

/* Opens the location of the settings, without waiting; "-" is standard output. Sets *next_index to
 * the index of the next frame: one more than that of the last frame of MOT text which is
 * continued. Without `append`, a file is emptied by the first line or the end of the stream,
 * because an element that fails to start must not destroy it. Returns NULL after an error message,
 * also if another element of the process writes to the file or reads what would be lost.
 * `element` and `settings` are not owned. */
RecordOutput *record_output_open (GstElement *element, const RecordSettings *settings,
    guint64 *next_index);

/* Writes what is left and closes the output; NULL is ignored. Posts an error, or with
 * RECORD_ON_ERROR_CONTINUE a warning, if that fails. */
void record_output_close (RecordOutput *self);

/* Writes the text of a frame, one or more lines. If that fails, posts an error and returns
 * OUTPUT_FAILED; or, with RECORD_ON_ERROR_CONTINUE, posts a warning once in the life of the output
 * and returns OUTPUT_DROPPED. */
OutputResult record_output_write (RecordOutput *self, const GString *text);

/* Handles the end of the stream: writes what was collected. Posts messages as record_output_write
 * () does. */
void record_output_flush (RecordOutput *self);

/* If called with TRUE, interrupts a wait for the reader of a pipe and makes later writes return
 * OUTPUT_FLUSHING, until it is called with FALSE. Any thread may call it. */
void record_output_set_flushing (RecordOutput *self, gboolean flushing);

G_END_DECLS
