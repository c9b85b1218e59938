/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pipeoutput: writes lines to a FIFO, standard output, a terminal, a socket or another
 * device, without waiting. All elements of the process that write to one pipe share
 * one output, so that their lines do not mix.
 *
 * A line of at most PIPE_BUF bytes (4096) is written whole also beside other programs
 * that write to the pipe. A longer line is begun only if the pipe has room for all of
 * it; a line longer than the pipe (1 MiB at most) is written in parts.
 *
 * A FIFO without a reader takes lines until it is full; the first reader gets them.
 * All functions may be called from any thread.
 */
#pragma once

#include <glib.h>

#include "outputresult.h"

G_BEGIN_DECLS

typedef struct _PipeOutput PipeOutput;

/* Opens a location that is not a regular file; "-" is standard output, which may be one.
 * Returns NULL and a G_FILE_ERROR if it cannot be written. */
PipeOutput *pipe_output_open (const gchar *location, GError **error);

/* Closes the output for its last user. Returns FALSE and a G_FILE_ERROR if the reader
 * left a part of the last line (G_FILE_ERROR_AGAIN), or as close (2) does. */
gboolean pipe_output_close (PipeOutput *self, GError **error);

/* Writes one line, or nothing if the pipe has no room (OUTPUT_FULL). After
 * G_FILE_ERROR_PIPE (the reader closed the pipe), a later call opens a FIFO again. */
OutputResult pipe_output_try (PipeOutput *self, const gchar *line, gsize length, GError **error);

G_END_DECLS
