/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfile: the frames of a recording, one after the other, whatever its
 * format. Memory is bounded by the longest line and the largest frame.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _BoxFile BoxFile;

/* The numbers are those of the property `format`. */
typedef enum
{
  BOX_FORMAT_AUTO = 0,          /* reading only: told by the first line */
  BOX_FORMAT_JSONL = 1,
  BOX_FORMAT_MOT = 2,
} BoxFormat;

typedef enum
{
  BOX_FILE_FRAME,
  BOX_FILE_END,
  BOX_FILE_MALFORMED,           /* a line was passed over; the next may be fine */
  BOX_FILE_FLUSHING,            /* interrupted; call again later */
  BOX_FILE_FAILED,              /* G_FILE_ERROR, or BOX_FILE_ERROR_UNUSABLE */
} BoxFileResult;

/* Opens without waiting and without reading. Errors as line_reader_new. */
BoxFile *box_file_new (const gchar * location, BoxFormat format, gsize max_line,
    GError ** error);
void box_file_free (BoxFile * self);

/* Reads the next frame into `frame`, which keeps its memory. Frames of JSON
 * Lines count every line that is not blank, malformed ones too, so that one
 * bad line does not shift all that follow. Messages begin with line number
 * and colon where there is one. */
BoxFileResult box_file_next (BoxFile * self, BoxFrame * frame, GError ** error);

/* BOX_FORMAT_AUTO until a line has told. */
BoxFormat box_file_format (BoxFile * self);

/* Frames so far: one more than the index of the last, malformed ones of JSON
 * Lines counted too. */
guint64 box_file_frames (BoxFile * self);

/* MOT ground truth: boxes left out because their flag is 0. */
guint64 box_file_ignored (BoxFile * self);

/* As those of linereader. Counting, lines are the frames of JSON Lines; the
 * frames of MOT are counted by their boxes' lines, parsed. */
gboolean box_file_can_rewind (BoxFile * self);
gboolean box_file_rewind (BoxFile * self, GError ** error);
guint64 box_file_count_rest (BoxFile * self);
void box_file_set_flushing (BoxFile * self, gboolean flushing);

G_END_DECLS
