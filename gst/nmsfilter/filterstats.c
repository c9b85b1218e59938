/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterstats: the counters of nmsfilter, and their structure. */
#include "filterstats.h"

void
filter_stats_add_boxes (FilterStats * stats, const GArray * boxes)
{
  guint count[BOX_STATE_INVALID + 1] = { 0, };
  guint i, unscored = 0;

  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    count[box->state]++;
    unscored += !(box->flags & BOX_HAS_CONFIDENCE);
  }
  stats->frames++;
  stats->boxes_in += boxes->len;
  stats->boxes_out += count[BOX_STATE_NONE] + count[BOX_STATE_KEPT];
  stats->suppressed += count[BOX_STATE_SUPPRESSED];
  stats->below_score += count[BOX_STATE_BELOW_SCORE];
  stats->not_candidate += count[BOX_STATE_NOT_CANDIDATE];
  stats->over_cap += count[BOX_STATE_OVER_CAP];
  stats->too_few_neighbors += count[BOX_STATE_TOO_FEW_NEIGHBORS];
  stats->no_score += count[BOX_STATE_NO_SCORE];
  stats->invalid += count[BOX_STATE_INVALID];
  stats->not_selected += count[BOX_STATE_NONE];
  stats->unscored += unscored;
}

void
filter_stats_add (FilterStats * stats, const FilterStats * frame)
{
  stats->frames += frame->frames;
  stats->boxes_in += frame->boxes_in;
  stats->boxes_out += frame->boxes_out;
  stats->suppressed += frame->suppressed;
  stats->below_score += frame->below_score;
  stats->not_candidate += frame->not_candidate;
  stats->over_cap += frame->over_cap;
  stats->too_few_neighbors += frame->too_few_neighbors;
  stats->no_score += frame->no_score;
  stats->invalid += frame->invalid;
  stats->not_selected += frame->not_selected;
  stats->unscored += frame->unscored;
  stats->time += frame->time;
}

void
filter_stats_to_structure (const FilterStats * stats, GstStructure * structure)
{
  gst_structure_set (structure,
      "frames", G_TYPE_UINT64, stats->frames,
      "boxes-in", G_TYPE_UINT64, stats->boxes_in,
      "boxes-out", G_TYPE_UINT64, stats->boxes_out,
      "suppressed", G_TYPE_UINT64, stats->suppressed,
      "below-score", G_TYPE_UINT64, stats->below_score,
      "not-candidate", G_TYPE_UINT64, stats->not_candidate,
      "over-cap", G_TYPE_UINT64, stats->over_cap,
      "too-few-neighbors", G_TYPE_UINT64, stats->too_few_neighbors,
      "no-score", G_TYPE_UINT64, stats->no_score,
      "invalid", G_TYPE_UINT64, stats->invalid,
      "not-selected", G_TYPE_UINT64, stats->not_selected,
      "unscored", G_TYPE_UINT64, stats->unscored,
      "time", G_TYPE_UINT64, stats->time, NULL);
}
