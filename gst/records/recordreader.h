/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordreader: reads the frames of a recording one after the other, in either
 * format. It needs memory for the longest line and the largest frame only.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _RecordReader RecordReader;

typedef enum
{
  RECORD_READER_FRAME,
  RECORD_READER_END,
  RECORD_READER_MALFORMED,  /* a line was skipped; the next may be valid */
  RECORD_READER_UNFINISHED, /* so was the last line, which has no end: it may be growing */
  RECORD_READER_FLUSHING,   /* interrupted; call again later */
  RECORD_READER_FAILED,     /* G_FILE_ERROR, or RECORD_ERROR_UNUSABLE */
} RecordReaderResult;

/* Opens a recording without waiting or reading; location, max_line and errors as in
 * line_reader_new (). */
RecordReader *record_reader_new (const gchar *location, RecordFormat format, gsize max_line,
    GError **error);
void record_reader_free (RecordReader *self);

/* Limits the labels of JSON Lines. The caller keeps `labels` alive as long as the reader. */
void record_reader_set_labels (RecordReader *self, LabelTable *labels);

/* Reads the next frame into `frame`, which keeps its memory. The index of a frame
 * of JSON Lines counts all lines that are not blank, malformed ones too, so that a
 * malformed line does not shift the frames after it, and the frames that a line
 * states as dropped. Lines of frames outside of their segment are passed over. Error
 * messages begin with line number and colon, except those of G_FILE_ERROR. */
RecordReaderResult record_reader_next (RecordReader *self, RecordedFrame *frame, GError **error);

/* Does the same faster, without the boxes of JSON Lines, which it does not check. */
RecordReaderResult record_reader_next_header (RecordReader *self, RecordedFrame *frame,
    GError **error);

/* Returns the format; RECORD_FORMAT_AUTO until a line has been read. */
RecordFormat record_reader_format (RecordReader *self);

/* Returns the number of frames so far: one more than the index of the last frame,
 * malformed lines of JSON Lines counted. */
guint64 record_reader_frames (RecordReader *self);

/* Returns the number of boxes of MOT ground truth left out because their flag is 0. */
guint64 record_reader_ignored (RecordReader *self);

/* With TRUE, record_reader_next () waits for more lines at the end of the file, as
 * line_reader_set_follow () describes it. */
void record_reader_set_follow (RecordReader *self, gboolean follow);
gboolean record_reader_follows (RecordReader *self);

/* Do the same as line_reader_set_deadline () and line_reader_is_late (). */
void record_reader_set_deadline (RecordReader *self, gint64 deadline);
gboolean record_reader_is_late (RecordReader *self);

/* Returns whether reading may wait: the recording is a pipe, or is followed. */
gboolean record_reader_may_wait (RecordReader *self);

/* Claims the file, as line_reader_claim () describes it. */
gboolean record_reader_claim (RecordReader *self, const gchar *owner, GError **error);

/* Sets a function that is called when reading has waited for 1 s, once until data comes. */
void record_reader_set_waiting (RecordReader *self, void (*waiting) (gpointer), gpointer data);

/* Do the same as the functions of linereader. record_reader_count_rest () counts
 * frames: lines of JSON Lines that are not marked as outside of their segment, or frames of
 * MOT text that have a valid line. */
gboolean record_reader_can_rewind (RecordReader *self);
gboolean record_reader_rewind (RecordReader *self, GError **error);

/* Goes to a frame that was read before: the line `line`, from 1, at `offset` bytes of
 * the file, with frame index `index`; or, if that is in a followed file that was replaced, to the
 * start of the new one. The order of MOT text is not checked across the jump. Returns FALSE and
 * a G_FILE_ERROR if that fails. */
gboolean record_reader_seek (RecordReader *self, guint64 offset, guint64 line, guint64 index,
    GError **error);
guint64 record_reader_count_rest (RecordReader *self);

/* Do the same as line_reader_offset (), line_reader_position () and line_reader_number_at (). */
guint64 record_reader_offset (RecordReader *self);
guint64 record_reader_position (RecordReader *self);
guint64 record_reader_line_at (RecordReader *self, guint64 offset);
void record_reader_set_flushing (RecordReader *self, gboolean flushing);

G_END_DECLS
