/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfile: the frames of a recording, one after the other, whatever its
 * format. Memory is bounded by the longest line and the largest frame.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _RecordReader RecordReader;

/* The numbers are those of the property `format`. */
typedef enum
{
  RECORD_FORMAT_AUTO = 0,       /* reading only: told by the first line */
  RECORD_FORMAT_JSONL = 1,
  RECORD_FORMAT_MOT = 2,
} RecordFormat;

typedef enum
{
  RECORD_READER_FRAME,
  RECORD_READER_END,
  RECORD_READER_MALFORMED,      /* a line was passed over; the next may be fine */
  RECORD_READER_FLUSHING,       /* interrupted; call again later */
  RECORD_READER_FAILED,         /* G_FILE_ERROR, or RECORD_ERROR_UNUSABLE */
} RecordReaderResult;

/* Opens without waiting and without reading. Errors as line_reader_new. */
RecordReader *record_reader_new (const gchar * location, RecordFormat format, gsize max_line,
    GError ** error);
void record_reader_free (RecordReader * self);

/* Reads the next frame into `frame`, which keeps its memory. Frames of JSON
 * Lines count every line that is not blank, malformed ones too, so that one
 * bad line does not shift all that follow. Messages begin with line number
 * and colon where there is one. */
RecordReaderResult record_reader_next (RecordReader * self, RecordedFrame * frame, GError ** error);

/* RECORD_FORMAT_AUTO until a line has told. */
RecordFormat record_reader_format (RecordReader * self);

/* Frames so far: one more than the index of the last, malformed ones of JSON
 * Lines counted too. */
guint64 record_reader_frames (RecordReader * self);

/* MOT ground truth: boxes left out because their flag is 0. */
guint64 record_reader_ignored (RecordReader * self);

/* As those of linereader. Counting, lines are the frames of JSON Lines; the
 * frames of MOT are counted by their boxes' lines, parsed. */
gboolean record_reader_can_rewind (RecordReader * self);
gboolean record_reader_rewind (RecordReader * self, GError ** error);
guint64 record_reader_count_rest (RecordReader * self);
void record_reader_set_flushing (RecordReader * self, gboolean flushing);

G_END_DECLS
