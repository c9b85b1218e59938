/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterstats: what nmsfilter counts, and when it is time to report it.
 */
#pragma once

#include <gst/gst.h>

#include "meta/box.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames;
  guint64 boxes_in;             /* boxes_out + all that follow up to invalid */
  guint64 boxes_out;
  guint64 suppressed;
  guint64 below_score;
  guint64 over_cap;
  guint64 too_few_neighbors;
  guint64 no_score;
  guint64 invalid;
  guint64 not_selected;         /* in boxes_out too */
  guint64 unscored;             /* boxes without a confidence, whatever became of them */
  guint64 time;                 /* ns */
} FilterStats;

/* Counts one frame and its boxes, by the states that box_suppress_run wrote. */
void filter_stats_add_boxes (FilterStats * stats, const GArray * boxes);

void filter_stats_add (FilterStats * stats, const FilterStats * frame);

/* Sets a field of `structure` for each, as guint64. */
void filter_stats_to_structure (const FilterStats * stats, GstStructure * structure);

/* The span of stream that a report is about. */
typedef struct
{
  GstClockTime timestamp;       /* of its first buffer; NONE: no buffer yet */
  GstClockTime stream_time;
  GstClockTime running_time;
  GstClockTime end;             /* running time of its last buffer's end */
  gint64 wall;                  /* monotonic us of its first buffer; 0: none yet */
} FilterSpan;

/* A new span begins with the next buffer: after a report, and where the time
 * of the stream jumps. */
void filter_span_begin (FilterSpan * span);

/* Takes a buffer in; TRUE when the span has become as long as the interval.
 * Buffers without a timestamp, or of a segment not in time, go by the clock of
 * the machine. */
gboolean filter_span_add (FilterSpan * span, const GstSegment * segment, GstBuffer * buffer,
    GstClockTime interval);

/* The structure of a message: the fields that `level` has, and the statistics. */
GstStructure *filter_span_report (const FilterSpan * span, const FilterStats * stats);

G_END_DECLS
