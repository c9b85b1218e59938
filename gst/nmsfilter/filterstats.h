/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterstats: the counters of nmsfilter, of one frame or since READY.
 */
#pragma once

#include <gst/gst.h>

#include "boxsuppress.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames;
  guint64 boxes_in;                  /* the sum of by_state */
  guint64 boxes_out;                 /* boxes that are kept or not selected */
  guint64 by_state[BOX_STATE_COUNT]; /* of BOX_STATE_NONE: boxes of other classes */
  guint64 unscored;                  /* boxes without a confidence, kept or not */
  guint64 lower_ranked;              /* boxes with BOX_RANKS_LOWER, kept or not */
  guint64 time;                      /* ns spent on the buffers */
} FilterStats;

/* Counts one frame and its boxes. */
void filter_stats_add_boxes (FilterStats *stats, const BoxSuppressCounts *counts);

/* Adds the counters of a frame to the totals. */
void filter_stats_add (FilterStats *stats, const FilterStats *frame);

/* Sets a guint64 field of `structure` for each counter. */
void filter_stats_to_structure (const FilterStats *stats, GstStructure *structure);

/* Returns the property stats. */
GParamSpec *filter_stats_spec (void);

G_END_DECLS
