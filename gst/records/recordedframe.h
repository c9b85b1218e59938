/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxframe: the boxes of one frame as a file knows them, between the text
 * formats (boxlines, motlines) and the elements. Knows neither text nor
 * metadata; its work is to fit recorded boxes to the frame they go to.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

/* What is wrong with a file's contents; failing to read it at all is a
 * G_FILE_ERROR. The message is the reason alone, without file and line. */
#define RECORD_ERROR (record_error_quark ())
GQuark record_error_quark (void);

typedef enum
{
  RECORD_ERROR_MALFORMED,       /* this line; the next may be fine */
  RECORD_ERROR_UNUSABLE,        /* the file as a whole */
} RecordError;

#define RECORDED_FRAME_NO_TIME G_MAXUINT64

typedef struct
{
  guint64 timestamp;            /* ns of stream time, RECORDED_FRAME_NO_TIME: none */
  guint64 index;                /* of the frame in the file, from 0 */
  guint64 line;                 /* where it begins, from 1 */
  gint width, height;           /* of the frame the boxes are of; 0: unknown */
  /* of Box. Read from a file: x1 .. y2 are pixels of that frame; a box that has
   * no integers there has w == -1 (then it is BOX_HAS_NORMALIZED). */
  GArray *boxes;
} RecordedFrame;

void recorded_frame_init (RecordedFrame * frame);
void recorded_frame_clear (RecordedFrame * frame);

/* Empties the frame and keeps its memory. */
void recorded_frame_reset (RecordedFrame * frame);

/* The integers of a box with normalized coordinates: position and size rounded,
 * clipped to the frame. */
void recorded_frame_derive_integers (Box * box, gint width, gint height);

/* Makes the boxes those of a frame of width x height (0: unknown). Normalized
 * coordinates win; integers that belong to them stay as they are, others are
 * derived. Boxes that have integers only are scaled where the sizes differ, and
 * get normalized coordinates where their integers cannot say all: when scaled,
 * off the frame, or not whole pixels. Fails, nothing changed, if the frame
 * size is needed but known from neither side. */
gboolean recorded_frame_fit (RecordedFrame * frame, gint width, gint height, GError ** error);

G_END_DECLS
