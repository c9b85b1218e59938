/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reportinterval: the part of the stream that one message of nmsfilter reports on. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean empty;              /* it has no buffer yet, and the times are those of its start */
  GstClockTime timestamp;      /* time of its first buffer; NONE if unknown */
  GstClockTime stream_time;    /* time of its first buffer */
  GstClockTime running_time;   /* time of its first buffer */
  GstClockTime end;            /* running time at the end of its last buffer */
  GstClockTime next_timestamp; /* expected timestamp of the next buffer, if there is no gap */
  GstClockTime next_stream_time;
  gint64 wall; /* monotonic time in us of its first buffer; 0 if it has none */
} ReportInterval;

/* Begins an interval with the next buffer. Call it where the time of the stream jumps. */
void report_interval_begin (ReportInterval *self);

/* Begins an interval where this one ends, with a length of 0 until a buffer is added. Call it
 * after a report. */
void report_interval_next (ReportInterval *self);

/* Adds a buffer. Returns TRUE if the interval has reached `length` (ns). Buffers
 * without a timestamp, and those of a segment that is not in time format, are timed
 * by the monotonic clock of the machine. Those outside of their segment are left out. */
gboolean report_interval_add (ReportInterval *self, const GstSegment *segment, GstBuffer *buffer,
    GstClockTime length);

/* Returns the structure of a message, to be freed. It has the same time fields as the messages of
 * the element `level`. */
GstStructure *report_interval_to_structure (const ReportInterval *self);

G_END_DECLS
