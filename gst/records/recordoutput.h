/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordoutput: the file or pipe of a boxrecord: opens it, continues it, writes lines
 * as on-full and on-error say, and posts the messages about it.
 */
#pragma once

#include <gst/gst.h>

#include "outputresult.h"
#include "recordsession.h"
#include "recordsettings.h"

G_BEGIN_DECLS

typedef struct _RecordOutput RecordOutput;

/* Opens the location of the settings, which must stay unchanged until it is closed,
 * except on_full and on_error. With append, sets `session` and the index of the next
 * frame to continue the file; otherwise initializes them. Returns NULL after an error
 * message of the element. */
RecordOutput *record_output_open (GstElement *element, const RecordSettings *settings,
    RecordSession *session, guint64 *next_index);

/* Writes the collected lines, closes the output and frees it. If that fails, posts an
 * error, or with RECORD_ON_ERROR_CONTINUE a warning. */
void record_output_close (RecordOutput *self, RecordOnError on_error);

/* Writes the text of a frame; running_time is that of the frame. Returns OUTPUT_FULL if
 * on_full says that it is dropped. Before it returns OUTPUT_FAILED, posts an error or,
 * once in the life of the output, with RECORD_ON_ERROR_CONTINUE a warning. */
OutputResult record_output_write (RecordOutput *self, const GString *text,
    GstClockTime running_time, RecordOnFull on_full, RecordOnError on_error);

/* Writes the collected lines. Posts messages like record_output_write (). */
void record_output_flush (RecordOutput *self, RecordOnError on_error);

/* With TRUE, interrupts a waiting record_output_write () and makes later calls return
 * OUTPUT_FLUSHING, until it is called with FALSE. Any thread may call it. */
void record_output_set_flushing (RecordOutput *self, gboolean flushing);

G_END_DECLS
