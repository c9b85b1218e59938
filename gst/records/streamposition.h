/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamposition: the stream time of a buffer, and whether its frame is shown. Tracks the position
 * of each buffer in its stream, by time and by index, and detects jumps: a seek, a segment that
 * starts elsewhere, another round after the end of the stream.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns whether no part of the buffer is inside its segment, so that sinks drop it.
 * Returns FALSE if the buffer has no PTS or the segment is not in time. */
static inline gboolean
stream_position_is_outside (const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime start = GST_BUFFER_PTS (buffer), stop = start;

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (start))
    return FALSE;
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    stop += GST_BUFFER_DURATION (buffer);
  return !gst_segment_clip (segment, GST_FORMAT_TIME, start, stop, NULL, NULL);
}

/* Returns the stream time of the PTS, also of a buffer outside the segment; 0 if it is
 * negative and a part of the buffer is inside the segment. Returns GST_CLOCK_TIME_NONE
 * if the buffer has no PTS, the segment is not in time, or the stream time is negative. */
static inline GstClockTime
stream_position_time (const GstSegment *segment, GstBuffer *buffer)
{
  guint64 time;
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_CLOCK_TIME_NONE;
  sign = gst_segment_to_stream_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  if (sign < 0 && !stream_position_is_outside (segment, buffer))
    return 0;
  return sign == 1 ? time : GST_CLOCK_TIME_NONE;
}

typedef struct
{
  gint width, height; /* frame size of the caps; 0 if unknown */
  gint fps_n, fps_d;  /* frame rate of the caps; 0 if unknown */
  guint64 index;      /* index of the next buffer, from 0 */

  /* private */
  gboolean flushed, new_segment, ended; /* such an event came since the last buffer */
  GstClockTime last_time;               /* time of the last buffer that has one */
  GstClockTime first_time;              /* time of the buffer with index 0 */
  GstClockTime gap;                     /* between the last two times */
} StreamPosition;

typedef struct
{
  GstClockTime time;     /* stream time of the PTS, or GST_CLOCK_TIME_NONE */
  GstClockTime duration; /* duration of the buffer, or that of a frame at the frame rate, or the
                                 * distance to the buffer before; 0 if unknown */
  guint64 index;         /* index of the buffer */
  gboolean jumped;
  gboolean rewound;       /* jumped to a time at or before that of an earlier buffer */
  gboolean index_back;    /* jumped to an index below that of the next buffer */
  gboolean index_unknown; /* jumped, and the index cannot be computed */
} StreamPositionStep;

/* Resets the position to before the first buffer. */
void stream_position_init (StreamPosition *self);
void stream_position_set_caps (StreamPosition *self, const GstCaps *caps);

/* Handles FLUSH_STOP, SEGMENT and EOS; ignores all other events. */
void stream_position_event (StreamPosition *self, GstEvent *event);

/* Returns whether the stream is at its end: after EOS, before the next buffer. */
gboolean stream_position_ended (const StreamPosition *self);

/* Returns the position of a buffer. After a jump its index is computed, which needs a frame rate or
 * durations; otherwise it is one more than that of the buffer before. */
StreamPositionStep stream_position_step (StreamPosition *self, const GstSegment *segment,
    GstBuffer *buffer);

/* Returns half of the duration of a frame in ns, or 20 ms if that is unknown. */
GstClockTime stream_position_half_frame (const StreamPositionStep *step);

G_END_DECLS
