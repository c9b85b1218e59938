/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streamposition: makes a few comparisons for each buffer. */
#include "streamposition.h"

#include "framesize.h"

#define UNKNOWN_FRAME_DURATION (40 * GST_MSECOND)

void
stream_position_init (StreamPosition *self)
{
  *self = (StreamPosition) { .last_time = GST_CLOCK_TIME_NONE, .first_time = GST_CLOCK_TIME_NONE };
}

void
stream_position_set_caps (StreamPosition *self, const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  frame_size_from_caps (caps, &self->width, &self->height);
  if (!gst_structure_get_fraction (s, "framerate", &self->fps_n, &self->fps_d) || self->fps_n <= 0
      || self->fps_d <= 0)
    self->fps_n = self->fps_d = 0;
}

void
stream_position_event (StreamPosition *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    self->flushed = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    self->new_segment = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    self->ended = TRUE;
}

gboolean
stream_position_ended (const StreamPosition *self)
{
  return self->ended;
}

GstClockTime
stream_position_half_frame (const StreamPositionStep *step)
{
  return step->duration > 0 ? step->duration / 2 : UNKNOWN_FRAME_DURATION / 2;
}

static GstClockTime
frame_duration (const StreamPosition *self, GstBuffer *buffer)
{
  if (GST_BUFFER_DURATION_IS_VALID (buffer) && GST_BUFFER_DURATION (buffer) > 0)
    return GST_BUFFER_DURATION (buffer);
  if (self->fps_n > 0)
    return gst_util_uint64_scale_int (GST_SECOND, self->fps_d, self->fps_n);
  return self->gap;
}

/* Returns the index of the frame at `time`; the frame at first_time has index 0. */
static guint64
index_at (const StreamPosition *self, GstClockTime time, GstClockTime duration)
{
  GstClockTime origin = GST_CLOCK_TIME_IS_VALID (self->first_time) ? self->first_time : 0;

  time = time > origin ? time - origin : 0;
  if (self->fps_n > 0)
    return gst_util_uint64_scale_round (time, self->fps_n, self->fps_d * GST_SECOND);
  return (time + duration / 2) / duration;
}

StreamPositionStep
stream_position_step (StreamPosition *self, const GstSegment *segment, GstBuffer *buffer)
{
  gboolean had_time = GST_CLOCK_TIME_IS_VALID (self->last_time);
  StreamPositionStep step = {
    .time = stream_position_time (segment, buffer),
    .duration = frame_duration (self, buffer),
  };
  gboolean backward, forward;

  if (!GST_CLOCK_TIME_IS_VALID (step.time)) {
    step.index = self->index++;
    return step;
  }
  backward = had_time && step.time <= self->last_time;
  forward = had_time && step.time > self->last_time + 2 * step.duration;
  step.jumped = self->flushed || self->ended || (self->new_segment && (backward || forward))
      || (segment->rate < 0 && (backward || !had_time));
  if (step.jumped) {
    step.rewound = backward || self->ended;
    step.index_unknown = step.duration == 0;
    if (!step.index_unknown) {
      guint64 index = index_at (self, step.time, step.duration);

      step.index_back = index < self->index;
      self->index = index;
    }
  }
  self->flushed = self->new_segment = self->ended = FALSE;
  if (had_time && step.time > self->last_time)
    self->gap = step.time - self->last_time;
  if (self->index == 0)
    self->first_time = step.time;
  self->last_time = step.time;
  step.index = self->index++;
  return step;
}
