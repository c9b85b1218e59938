/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordsession: a few comparisons for each buffer. */
#include "recordsession.h"

#include "streamposition.h"

void
record_session_init (RecordSession *self)
{
  *self = (RecordSession) { .last = GST_CLOCK_TIME_NONE };
}

void
record_session_continue (RecordSession *self, const RecordedFrame *last)
{
  record_session_init (self);
  self->number = last->session;
  self->reverse = last->reverse;
  if (!last->outside_segment)
    self->last = last->timestamp;
  self->appended = TRUE;
}

void
record_session_event (RecordSession *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    self->jumped = TRUE;
}

/* Returns whether a buffer may be in decoding order, where times go back without a jump. */
static gboolean
may_be_reordered (GstBuffer *buffer)
{
  return GST_BUFFER_DTS_IS_VALID (buffer)
      || GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
}

/* Returns whether a buffer with a PTS is likely to be reordered. Its DTS equals the PTS, or is
 * missing, in streams without reordered frames. */
static gboolean
is_in_decoding_order (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT)
      || (GST_BUFFER_DTS_IS_VALID (buffer) && GST_BUFFER_DTS (buffer) != GST_BUFFER_PTS (buffer));
}

/* Returns whether a frame at `time` is not in the session of the frame before it. */
static gboolean
begins_session (const RecordSession *self, GstClockTime time, gboolean reverse, gboolean reordered)
{
  if (self->last == GST_CLOCK_TIME_NONE)
    return self->appended;
  if (reverse != self->reverse || (self->appended && time == self->last))
    return TRUE;
  if (reordered && !self->jumped && !self->appended)
    return FALSE;
  return reverse ? time > self->last : time < self->last;
}

static void
advance (RecordSession *self, GstClockTime time, gboolean reverse, gboolean reordered)
{
  if (begins_session (self, time, reverse, reordered)) {
    self->number++;
    self->last = GST_CLOCK_TIME_NONE;
  }
  if (self->last == GST_CLOCK_TIME_NONE || (reverse ? time < self->last : time > self->last))
    self->last = time;
  self->reverse = reverse;
  self->jumped = self->appended = FALSE;
}

void
record_session_place (RecordSession *self, const GstSegment *segment, GstBuffer *buffer,
    RecordedFrame *frame)
{
  G_STATIC_ASSERT (RECORDED_FRAME_NO_TIME == GST_CLOCK_TIME_NONE);
  frame->timestamp = stream_position_time (segment, buffer);
  frame->outside_segment = stream_position_is_outside (segment, buffer);
  if (frame->timestamp != RECORDED_FRAME_NO_TIME && !frame->outside_segment)
    advance (self, frame->timestamp, segment->rate < 0, may_be_reordered (buffer));
  frame->session = self->number;
  frame->reverse = self->reverse;
  frame->decoding_order = frame->timestamp != RECORDED_FRAME_NO_TIME
      && is_in_decoding_order (buffer);
}
