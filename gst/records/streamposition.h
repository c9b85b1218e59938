/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamposition: tracks the position of each buffer in its stream, by time and by
 * index, and detects jumps: a seek, a segment that starts elsewhere, another round
 * after the end of the stream.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  gint width, height; /* frame size of the caps; 0: unknown */
  gint fps_n, fps_d;  /* frame rate of the caps; 0: unknown */
  guint64 index;      /* of the next buffer, from 0; the caller counts it up */

  /* private */
  gboolean flushed, new_segment, ended; /* such an event came since the last buffer */
  GstClockTime last_time;               /* of the last buffer with a time */
  GstClockTime first_time;              /* of the buffer with index 0 */
  GstClockTime gap;                     /* between the last two times */
} StreamPosition;

typedef struct
{
  GstClockTime time;     /* of the PTS, in stream time, or GST_CLOCK_TIME_NONE */
  GstClockTime duration; /* of the buffer, else of one frame at the frame rate, else the
                                 * gap; 0: unknown */
  gboolean jumped;
  gboolean rewound;       /* jumped to a position at or before an earlier buffer */
  gboolean index_unknown; /* jumped, and the index cannot be computed */
} StreamPositionStep;

/* Resets the position to before the first buffer. */
void stream_position_init (StreamPosition *self);
void stream_position_set_caps (StreamPosition *self, const GstCaps *caps);

/* Handles FLUSH_STOP, SEGMENT and EOS; ignores all other events. */
void stream_position_event (StreamPosition *self, GstEvent *event);

/* Returns whether the stream is at its end: after EOS, before the next buffer. */
gboolean stream_position_ended (const StreamPosition *self);

/* Returns the position of a buffer. After a jump, if by_index, sets `index` to that
 * of the buffer, which needs a frame rate or durations. The caller adds 1 to
 * `index` after each buffer. */
StreamPositionStep stream_position_step (StreamPosition *self, const GstSegment *segment,
    GstBuffer *buffer, gboolean by_index);

/* Returns half of the duration of a frame in ns, or 20 ms if that is unknown. */
GstClockTime stream_position_half_frame (const StreamPositionStep *step);

G_END_DECLS
