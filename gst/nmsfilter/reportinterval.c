/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reportinterval: times an interval by the timestamps of its buffers where they have
 * some, because a report is about stream time. */
#include "reportinterval.h"

void
report_interval_begin (ReportInterval *self)
{
  *self = (ReportInterval) { TRUE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
    GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, 0 };
}

void
report_interval_next (ReportInterval *self)
{
  self->empty = TRUE;
  self->timestamp = self->next_timestamp;
  self->stream_time = self->next_stream_time;
  self->running_time = self->end;
  self->wall = 0;
}

/* Stores the times at which the next buffer begins. In reverse playback they are unknown, so it
 * stores the times of this buffer. */
static void
note_next (ReportInterval *self, const GstSegment *segment, GstBuffer *buffer)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer);

  self->next_timestamp = pts;
  self->next_stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts);
  if (segment->rate < 0 || !GST_BUFFER_DURATION_IS_VALID (buffer))
    return;
  self->next_timestamp += GST_BUFFER_DURATION (buffer);
  if (GST_CLOCK_TIME_IS_VALID (self->next_stream_time))
    self->next_stream_time += (GstClockTime) (GST_BUFFER_DURATION (buffer)
        * ABS (segment->applied_rate));
}

gboolean
report_interval_add (ReportInterval *self, const GstSegment *segment, GstBuffer *buffer,
    GstClockTime length)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstClockTime running = GST_CLOCK_TIME_NONE;
  gint64 now;

  if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (pts))
    running = gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts);
  if (GST_CLOCK_TIME_IS_VALID (running)) {
    if (self->empty || running < self->running_time) {
      self->empty = FALSE;
      self->timestamp = pts;
      self->stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts);
      self->running_time = running;
      self->end = running;
    }
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      running += (GstClockTime) (GST_BUFFER_DURATION (buffer) / ABS (segment->rate));
    /* a buffer with an earlier time does not shorten the interval */
    if (running >= self->end) {
      self->end = running;
      note_next (self, segment, buffer);
    }
    return self->end - self->running_time >= length;
  }
  if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (pts))
    return FALSE; /* outside of the segment */

  now = g_get_monotonic_time ();
  if (self->wall == 0)
    self->wall = now;
  return (GstClockTime) (now - self->wall) >= length / 1000;
}

GstStructure *
report_interval_to_structure (const ReportInterval *self)
{
  GstClockTime duration = GST_CLOCK_TIME_NONE;

  if (GST_CLOCK_TIME_IS_VALID (self->running_time))
    duration = self->end - self->running_time;
  return gst_structure_new ("nmsfilter", "endtime", GST_TYPE_CLOCK_TIME, self->next_stream_time,
      "timestamp", G_TYPE_UINT64, self->timestamp, "stream-time", G_TYPE_UINT64, self->stream_time,
      "running-time", G_TYPE_UINT64, self->running_time, "duration", G_TYPE_UINT64, duration, NULL);
}
