/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reportinterval: the part of the stream that one message of nmsfilter reports on. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstClockTime timestamp;       /* of its first buffer; NONE: no buffer yet */
  GstClockTime stream_time;     /* of its first buffer */
  GstClockTime running_time;    /* of its first buffer */
  GstClockTime end;             /* running time at the end of its last buffer */
  gint64 wall;                  /* monotonic us at its first buffer; 0: no buffer yet */
} ReportInterval;

/* Begins an interval with the next buffer. Call it after a report, and where the time
 * of the stream jumps. */
void report_interval_begin (ReportInterval * self);

/* Adds a buffer. Returns TRUE if the interval has reached `length` (ns). Buffers
 * without a timestamp, and those of a segment that is not in time format, are timed
 * by the monotonic clock of the machine. */
gboolean report_interval_add (ReportInterval * self, const GstSegment * segment,
    GstBuffer * buffer, GstClockTime length);

/* Returns the structure of a message, with the time fields that the messages of the
 * element `level` have. Free it. */
GstStructure *report_interval_to_structure (const ReportInterval * self);

G_END_DECLS
