/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxrank: the order in which boxes are decided when some carry no confidence:
 * scored boxes by score, then the others by what missing-score says.
 */
#pragma once

#include "boxsuppress.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble value;                /* score, neighbors, area; higher comes first */
  guint32 index;                /* of the box */
  guint32 unscored;             /* 0: comes before all with 1 */
} BoxRankKey;

/* Sorts best first. Scored boxes with equal scores: lower index first. Others
 * with equal values: by geometry, since cascade detectors report the same
 * boxes in another order from run to run. */
void box_rank_sort (BoxRankKey * keys, guint count, const Box * boxes);

G_END_DECLS
