/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordreader: reads the frames of a recording one after the other, in either
 * format. It needs memory for the longest line and the largest frame only.
 */
#pragma once

#include "linereader.h"
#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _RecordReader RecordReader;

typedef enum
{
  RECORD_READER_FRAME,
  RECORD_READER_END,
  RECORD_READER_MALFORMED,  /* a line was skipped; the next may be valid */
  RECORD_READER_UNFINISHED, /* the last line was skipped; it has no end of line and may grow */
  RECORD_READER_FLUSHING,   /* interrupted; call again later */
  RECORD_READER_FAILED,     /* G_FILE_ERROR, or RECORD_ERROR_UNUSABLE */
} RecordReaderResult;

/* Makes a reader, which owns `lines` and claims nothing else. `max_line` is the limit of `lines`.
 * `labels` limits the labels of JSON Lines (NULL for no limit); the caller keeps it alive as long
 * as the reader. */
RecordReader *record_reader_new (LineReader *lines, RecordFormat format, gsize max_line,
    LabelTable *labels);
void record_reader_free (RecordReader *self);

/* Guesses the type of a file that is not a recording from its first bytes. Returns the end of an
 * error message, which names the type and says what to do with the file. */
const gchar *record_reader_guess (const gchar *text);

/* Returns the lines, which the reader owns. */
LineReader *record_reader_lines (RecordReader *self);

/* Says that the lines continue a recording. `frame` is the number of the last frame of MOT text
 * before them, from 1, or 0 without MOT text. Then lines of frames outside of their segment are
 * returned too, and the number of columns of MOT text may change. */
void record_reader_continue (RecordReader *self, guint64 frame);

/* Reads the next frame into `frame`, which keeps its memory. The index of a frame
 * of JSON Lines counts all lines that are not blank, malformed ones too, so that a
 * malformed line does not shift the frames after it, and the frames that a line
 * states as dropped. Lines of frames outside of their segment are passed over. Error
 * messages begin with line number and colon, except those of G_FILE_ERROR. */
RecordReaderResult record_reader_next (RecordReader *self, RecordedFrame *frame, GError **error);

/* Reads the next frame as record_reader_next () does, but faster: it neither reads nor
 * checks the boxes of JSON Lines. */
RecordReaderResult record_reader_next_header (RecordReader *self, RecordedFrame *frame,
    GError **error);

/* Returns the format; RECORD_FORMAT_AUTO until a line has been read. */
RecordFormat record_reader_format (RecordReader *self);

/* Returns the number of boxes of MOT ground truth left out because their flag is 0. */
guint64 record_reader_ignored (RecordReader *self);

/* Goes to a frame of a regular file that was read before, at `offset` bytes. The index of frames
 * and the order of MOT text are not known then. Returns FALSE and a G_FILE_ERROR if that fails. */
gboolean record_reader_seek (RecordReader *self, guint64 offset, GError **error);

/* Goes to the start of the file, which is the current one of several followed files. Returns FALSE
 * and a G_FILE_ERROR if that fails. */
gboolean record_reader_rewind (RecordReader *self, GError **error);

G_END_DECLS
