/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterstats: the counters of nmsfilter, of one frame or since READY.
 */
#pragma once

#include <gst/gst.h>

#include "meta/box.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames;
  guint64 boxes_in;             /* boxes_out + suppressed + ... + invalid */
  guint64 boxes_out;            /* boxes that are kept or not selected */
  guint64 suppressed;
  guint64 below_score;
  guint64 not_candidate;
  guint64 over_cap;
  guint64 too_few_neighbors;
  guint64 no_score;
  guint64 invalid;
  guint64 not_selected;         /* boxes of other classes; counted in boxes_out too */
  guint64 unscored;             /* boxes without a confidence, kept or not */
  guint64 time;                 /* ns spent on the buffers */
} FilterStats;

/* Counts one frame and its boxes, by the states that box_suppress_run wrote. */
void filter_stats_add_boxes (FilterStats * stats, const GArray * boxes);

/* Adds the counters of a frame to the totals. */
void filter_stats_add (FilterStats * stats, const FilterStats * frame);

/* Sets a guint64 field of `structure` for each counter. */
void filter_stats_to_structure (const FilterStats * stats, GstStructure * structure);

G_END_DECLS
