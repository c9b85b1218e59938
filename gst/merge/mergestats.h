/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergestats: the counters of boxmerge, of a pad or of all pads, and their structures. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 in;            /* buffers of branches: merged + too_late + without_match */
  guint64 merged;        /* buffers whose boxes went to their main buffer */
  guint64 held;          /* main buffers that got the boxes of an earlier buffer */
  guint64 too_late;      /* buffers whose main buffer had left */
  guint64 without_match; /* buffers without a main buffer of their time */
  guint64 boxes;         /* boxes added to main buffers */
} MergeCounts;

/* Adds `more` to the counts. */
void merge_stats_add (MergeCounts *counts, const MergeCounts *more);

/* Returns the property `stats` of a pad, and that of the element. */
GParamSpec *merge_stats_pad_spec (void);
GParamSpec *merge_stats_element_spec (void);

/* Sets a guint64 field of `structure` for each count. */
void merge_stats_write (const MergeCounts *counts, GstStructure *structure);

G_END_DECLS
