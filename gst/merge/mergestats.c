/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergestats: sums of counts, and their form as structures. */
#include "mergestats.h"

#define FIELDS \
  "in (buffers taken from a branch: merged + too-late + without-match), merged (whose boxes " \
  "were added to the main buffer of their time), held (main buffers that got the boxes of an " \
  "earlier buffer), too-late (their main buffer had left), without-match (no main buffer has " \
  "their time), boxes (added to main buffers)"

void
merge_stats_add (MergeCounts *counts, const MergeCounts *more)
{
  counts->in += more->in;
  counts->merged += more->merged;
  counts->held += more->held;
  counts->too_late += more->too_late;
  counts->without_match += more->without_match;
  counts->boxes += more->boxes;
}

GParamSpec *
merge_stats_pad_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals of this branch since READY, all guint64: " FIELDS, GST_TYPE_STRUCTURE,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

GParamSpec *
merge_stats_element_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames (buffers of the main stream), and sums over all "
      "branches, also those that were released: " FIELDS ". A structure for each branch that is "
      "there, named after its pad. Posted as element message \"boxmerge\" at the end of the "
      "stream",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

void
merge_stats_write (const MergeCounts *counts, GstStructure *structure)
{
  gst_structure_set (structure, "in", G_TYPE_UINT64, counts->in, "merged", G_TYPE_UINT64,
      counts->merged, "held", G_TYPE_UINT64, counts->held, "too-late", G_TYPE_UINT64,
      counts->too_late, "without-match", G_TYPE_UINT64, counts->without_match, "boxes",
      G_TYPE_UINT64, counts->boxes, NULL);
}
