/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streamtime: the stream time of a buffer, and whether its frame is shown. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns whether no part of the buffer is inside its segment, so that sinks drop it.
 * Returns FALSE if the buffer has no PTS or the segment is not in time. */
static inline gboolean
stream_time_is_outside (const GstSegment *segment, GstBuffer *buffer)
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
stream_time_of (const GstSegment *segment, GstBuffer *buffer)
{
  guint64 time;
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_CLOCK_TIME_NONE;
  sign = gst_segment_to_stream_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  if (sign < 0 && !stream_time_is_outside (segment, buffer))
    return 0;
  return sign == 1 ? time : GST_CLOCK_TIME_NONE;
}

G_END_DECLS
