/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergematch: compares the running times of a buffer of a branch and a buffer of the main
 * stream. Times are signed, because a buffer before the start of its segment has a negative
 * running time.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The time of a buffer without a PTS, or of a segment that is not in time. */
#define MERGE_NO_TIME G_MININT64

/* A buffer of the main stream that waits for its branches. */
typedef struct
{
  gint64 time;      /* running time in ns, or MERGE_NO_TIME */
  gint64 previous;  /* running time of the previous main buffer, or MERGE_NO_TIME */
  gint64 tolerance; /* largest distance, in ns, of a matching buffer */
} MergeMoment;

typedef enum
{
  MERGE_EARLIER, /* neither this nor a later main buffer can match it, so it is dropped */
  MERGE_MATCHES,
  MERGE_LATER, /* the main buffer has no match in this branch */
} MergeRelation;

/* Returns the running time of the PTS of a buffer. */
gint64 merge_match_time (const GstSegment *segment, GstBuffer *buffer);

/* Returns half a frame in ns: half of the buffer's duration, else of a frame at this rate,
 * else of 40 ms. A rate of 0/1 is unknown. */
gint64 merge_match_half_frame (GstBuffer *buffer, gint rate_n, gint rate_d);

/* Marks a buffer that GstAggregator made from a GAP event. The flag GAP and the missing memory do
 * not identify it, because a real buffer may have both, and boxes. */
void merge_match_mark_gap (GstBuffer *buffer, GstEvent *event);

/* Returns the GAP event from which GstAggregator made this buffer, or NULL. */
GstEvent *merge_match_gap (GstBuffer *buffer);

/* Compares a buffer of a branch with the main buffer. A buffer matches if either of the
 * two has no time. A GAP that covers the main buffer is MERGE_LATER. */
MergeRelation merge_match_relation (const MergeMoment *moment, const GstSegment *segment,
    GstBuffer *buffer);

/* Returns whether an earlier buffer of a branch, with this running time, belongs to a main
 * buffer that has left. Otherwise no main buffer has its time. */
gboolean merge_match_is_late (const MergeMoment *moment, gint64 time);

G_END_DECLS
