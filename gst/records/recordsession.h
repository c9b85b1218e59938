/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordsession: numbers the sessions of a recording. A session is a run of frames
 * whose times go in one direction; docs/recording.md defines it.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 number;    /* of the session, from 0 */
  gboolean reverse;  /* times descend in it */
  GstClockTime last; /* the furthest time in it; GST_CLOCK_TIME_NONE: none yet */

  /* private */
  gboolean jumped;   /* an event came since the last frame, so the time may jump */
  gboolean appended; /* no frame with a time came since the file was continued */
} RecordSession;

/* Begins session 0 of an empty recording. */
void record_session_init (RecordSession *self);

/* Continues a recording that ends with the frame `last`. */
void record_session_continue (RecordSession *self, const RecordedFrame *last);

/* Handles FLUSH_STOP, SEGMENT and STREAM_START; ignores all other events. */
void record_session_event (RecordSession *self, GstEvent *event);

/* Sets timestamp, session, reverse, decoding_order and outside_segment of `frame` for a
 * buffer. */
void record_session_place (RecordSession *self, const GstSegment *segment, GstBuffer *buffer,
    RecordedFrame *frame);

G_END_DECLS
