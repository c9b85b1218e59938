/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterstats: the counters of nmsfilter, and their structure. */
#include "filterstats.h"

void
filter_stats_add_boxes (FilterStats *stats, const BoxSuppressCounts *counts)
{
  stats->frames++;
  for (guint i = 0; i < BOX_STATE_COUNT; i++) {
    stats->by_state[i] += counts->by_state[i];
    stats->boxes_in += counts->by_state[i];
  }
  stats->boxes_out += counts->by_state[BOX_STATE_NONE] + counts->by_state[BOX_STATE_KEPT];
  stats->unscored += counts->unscored;
  stats->lower_ranked += counts->lower_ranked;
}

void
filter_stats_add (FilterStats *stats, const FilterStats *frame)
{
  guint i;

  stats->frames += frame->frames;
  stats->boxes_in += frame->boxes_in;
  stats->boxes_out += frame->boxes_out;
  for (i = 0; i < BOX_STATE_COUNT; i++)
    stats->by_state[i] += frame->by_state[i];
  stats->unscored += frame->unscored;
  stats->lower_ranked += frame->lower_ranked;
  stats->time += frame->time;
}

void
filter_stats_to_structure (const FilterStats *stats, GstStructure *structure)
{
  guint i;

  gst_structure_set (structure, "frames", G_TYPE_UINT64, stats->frames, "boxes-in", G_TYPE_UINT64,
      stats->boxes_in, "boxes-out", G_TYPE_UINT64, stats->boxes_out, NULL);
  for (i = BOX_STATE_KEPT + 1; i < BOX_STATE_COUNT; i++)
    gst_structure_set (structure, box_state_name ((BoxState) i), G_TYPE_UINT64, stats->by_state[i],
        NULL);
  gst_structure_set (structure, "not-selected", G_TYPE_UINT64, stats->by_state[BOX_STATE_NONE],
      "unscored", G_TYPE_UINT64, stats->unscored, "lower-ranked", G_TYPE_UINT64,
      stats->lower_ranked, "time", G_TYPE_UINT64, stats->time, NULL);
}

GParamSpec *
filter_stats_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames, boxes-in, boxes-out, boxes by the reason why "
      "they were dropped or tagged (suppressed, below-score, not-candidate, over-cap, "
      "too-few-neighbors, no-score, invalid, too-small, too-large, wrong-aspect-ratio, "
      "outside-roi, dropped-class, cut-by-edge), boxes of other classes (not-selected), boxes "
      "without a confidence (unscored), boxes that rank below all others because of edge-policy "
      "or a mark of boxmerge (lower-ranked), and the nanoseconds spent (time). For each stream "
      "of batches a structure stream-INDEX with the same fields and stream-id. Notifies at EOS",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}
