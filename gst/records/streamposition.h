/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamwalk: where in its stream each buffer is, by time and by number, and
 * whether the stream jumped since the buffer before: a seek, a new segment
 * elsewhere, another round after the end.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  gint width, height;           /* of the caps; 0: unknown */
  gint fps_n, fps_d;            /* 0: unknown */
  guint64 index;                /* of the next buffer, from 0 */

  /* private */
  gboolean flushed, new_segment, ended;
  GstClockTime last_time;       /* of the last buffer that had one */
  GstClockTime first_time;      /* of buffer number 0 */
  GstClockTime gap;             /* between the last two buffers */
} StreamPosition;

typedef struct
{
  GstClockTime time;            /* stream time of the PTS, or GST_CLOCK_TIME_NONE */
  GstClockTime duration;        /* of the buffer, else by the frame rate, else the
                                 * distance of the buffers before; 0: unknown */
  gboolean jumped;
  gboolean rewound;             /* jumped, to somewhere it has been already */
  gboolean index_unknown;       /* jumped, and its number is not to be known */
} StreamPositionStep;

void stream_position_init (StreamPosition * self);
void stream_position_set_caps (StreamPosition * self, const GstCaps * caps);

/* To be called for FLUSH_STOP, SEGMENT and EOS; looks at no other event. */
void stream_position_event (StreamPosition * self, GstEvent * event);
gboolean stream_position_ended (const StreamPosition * self);

/* Where the buffer is. After a jump `number` follows the time if by_index,
 * given a frame rate or durations; counting on is up to the caller. */
StreamPositionStep stream_position_step (StreamPosition * self, const GstSegment * segment,
    GstBuffer * buffer, gboolean by_index);

/* Stream time of the PTS. Buffers outside their segment have one too, but for
 * a negative one: GST_CLOCK_TIME_NONE, as without PTS or segment in time. */
GstClockTime stream_position_time (const GstSegment * segment, GstBuffer * buffer);

G_END_DECLS
