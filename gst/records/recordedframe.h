/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordedframe: the boxes of one frame as they are in a recording. The text
 * formats (jsonl, mottext) convert text to this, the elements convert it to
 * metadata; this file knows neither text nor metadata. It fits recorded boxes to
 * the frame to which they are attached.
 */
#pragma once

#include "meta/box.h"
#include "meta/labeltable.h"

G_BEGIN_DECLS

/* An error in the contents of a recording; failing to read it is a G_FILE_ERROR.
 * The message is the reason alone, without file and line. */
#define RECORD_ERROR (record_error_quark ())
GQuark record_error_quark (void);

typedef enum
{
  RECORD_ERROR_MALFORMED, /* this line is malformed; the next may be valid */
  RECORD_ERROR_UNUSABLE,  /* the whole file cannot be used */
} RecordError;

/* The formats of recordings, values of the properties `format`. */
typedef enum
{
  RECORD_FORMAT_AUTO = 0, /* for reading only: detected from the first line */
  RECORD_FORMAT_JSONL = 1,
  RECORD_FORMAT_MOT = 2,
} RecordFormat;

#define RECORDED_FRAME_NO_TIME G_MAXUINT64

typedef struct
{
  guint64 timestamp;        /* in ns of stream time, or RECORDED_FRAME_NO_TIME */
  guint64 index;            /* index of the frame in the file, from 0 */
  guint64 line;             /* number of the line where the frame begins, from 1 */
  guint64 offset;           /* position of that line in the file, in bytes */
  gint width, height;       /* size of the frame that the boxes describe; 0 if unknown */
  guint64 dropped;          /* number of frames missing directly before this one */
  gint64 stream;            /* number of its stream in the batches; -1 if it is not in a batch */
  const gchar *stream_id;   /* written if not NULL; not read, and not owned */
  gboolean outside_segment; /* a frame that is not shown; it takes no part in matching */
  LabelTable *labels;       /* for a frame that is read; NULL for no limit; not owned */
  /* Array of Box. x1 .. y2 of a box that was read from a file are pixels of that
   * frame. A box without integers in the file has w == -1 and BOX_HAS_NORMALIZED. */
  GArray *boxes;
} RecordedFrame;

/* Allocate and free the array of boxes. */
void recorded_frame_init (RecordedFrame *frame);
void recorded_frame_clear (RecordedFrame *frame);

/* Resets all fields but labels; the array keeps its memory. */
static inline void
recorded_frame_reset (RecordedFrame *frame)
{
  frame->timestamp = RECORDED_FRAME_NO_TIME;
  frame->index = 0;
  frame->line = frame->offset = 0;
  frame->width = frame->height = 0;
  frame->dropped = 0;
  frame->stream = -1;
  frame->stream_id = NULL;
  frame->outside_segment = FALSE;
  g_array_set_size (frame->boxes, 0);
}

/* Fits the boxes to a frame of width x height (0 if unknown). Normalized coordinates
 * win over integers: integers that agree with them are kept, others are computed
 * from them. A box with integers only is scaled if the sizes differ. It gets
 * normalized coordinates where integers are not exact: if it is scaled, off the
 * frame, or not of whole pixels. Returns FALSE, and changes nothing, if a box needs
 * a frame size but neither the recording nor the caller states one. */
gboolean recorded_frame_fit (RecordedFrame *frame, gint width, gint height, GError **error);

G_END_DECLS
