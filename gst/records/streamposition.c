/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streamwalk: see the header; a few comparisons a buffer. */
#include "streamposition.h"

#include "meta/boxmeta.h"

void
stream_walk_init (StreamWalk * self)
{
  *self = (StreamWalk) {.last_time = GST_CLOCK_TIME_NONE,.first_time = GST_CLOCK_TIME_NONE };
}

void
stream_walk_set_caps (StreamWalk * self, const GstCaps * caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  box_meta_frame_size (caps, &self->width, &self->height);
  if (!gst_structure_get_fraction (s, "framerate", &self->fps_n, &self->fps_d)
      || self->fps_n <= 0 || self->fps_d <= 0)
    self->fps_n = self->fps_d = 0;
}

void
stream_walk_event (StreamWalk * self, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    self->flushed = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    self->new_segment = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    self->ended = TRUE;
}

gboolean
stream_walk_ended (const StreamWalk * self)
{
  return self->ended;
}

GstClockTime
stream_walk_time (const GstSegment * segment, GstBuffer * buffer)
{
  guint64 time;

  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer)
      || gst_segment_to_stream_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer),
          &time) != 1)
    return GST_CLOCK_TIME_NONE;
  return time;
}

static GstClockTime
frame_duration (const StreamWalk * self, GstBuffer * buffer)
{
  if (GST_BUFFER_DURATION_IS_VALID (buffer) && GST_BUFFER_DURATION (buffer) > 0)
    return GST_BUFFER_DURATION (buffer);
  if (self->fps_n > 0)
    return gst_util_uint64_scale_int (GST_SECOND, self->fps_d, self->fps_n);
  return self->gap;
}

/* The number of the frame at that time, frame 0 being where it was seen. */
static guint64
number_at (const StreamWalk * self, GstClockTime time, GstClockTime duration)
{
  GstClockTime origin = GST_CLOCK_TIME_IS_VALID (self->first_time) ? self->first_time : 0;

  time = time > origin ? time - origin : 0;
  if (self->fps_n > 0)
    return gst_util_uint64_scale_round (time, self->fps_n, self->fps_d * GST_SECOND);
  return (time + duration / 2) / duration;
}

StreamStep
stream_walk_step (StreamWalk * self, const GstSegment * segment, GstBuffer * buffer,
    gboolean by_number)
{
  gboolean had_time = GST_CLOCK_TIME_IS_VALID (self->last_time);
  StreamStep step = {
    .time = stream_walk_time (segment, buffer),
    .duration = frame_duration (self, buffer),
  };
  gboolean back, forward;

  if (!GST_CLOCK_TIME_IS_VALID (step.time))
    return step;
  back = had_time && step.time <= self->last_time;
  forward = had_time && step.time > self->last_time + 2 * step.duration;
  step.jumped = self->flushed || self->ended || (self->new_segment && (back || forward))
      || (segment->rate < 0 && back);
  if (step.jumped) {
    step.back = back || self->ended;
    step.lost = by_number && step.duration == 0;
    if (by_number && !step.lost) {
      guint64 number = number_at (self, step.time, step.duration);

      step.back |= number < self->number;
      self->number = number;
    }
  }
  self->flushed = self->new_segment = self->ended = FALSE;
  if (had_time && step.time > self->last_time)
    self->gap = step.time - self->last_time;
  if (self->number == 0)
    self->first_time = step.time;
  self->last_time = step.time;
  return step;
}
