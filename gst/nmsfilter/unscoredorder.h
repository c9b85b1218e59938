/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unscoredorder: the order in which boxes are decided when some carry no
 * confidence: scored boxes by score, then the others as missing-score says. Boxes that
 * rank lower (BOX_RANKS_LOWER) follow in the same order.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

/* The values of missing-score: how boxes without a confidence are ranked. They rank
 * after all boxes with a confidence. */
typedef enum
{
  UNSCORED_ORDER_NEIGHBORS = 0, /* the number of boxes that each box overlaps */
  UNSCORED_ORDER_AREA = 1,      /* the area, largest first */
  UNSCORED_ORDER_INPUT = 2,     /* the order in which they were read */
  UNSCORED_ORDER_DROP = 3,      /* no rank: boxes without a confidence are dropped */
} UnscoredOrder;

typedef struct
{
  gdouble value;                /* score, neighbors or area; the highest comes first */
  guint32 index;                /* of the box */
  guint32 group;                /* UnscoredOrderGroup; the lowest comes first */
} UnscoredOrderKey;

/* Bits of the group of a key. */
typedef enum
{
  UNSCORED_ORDER_NO_SCORE = 1 << 0,
  UNSCORED_ORDER_LOWER = 1 << 1,
} UnscoredOrderGroup;

/* Sorts `count` keys, best first. `boxes` is the array that the keys index. Of scored
 * boxes with equal scores, the one with the lower index comes first. Unscored boxes with
 * equal values are sorted by geometry, because cascade detectors report the same boxes
 * in another order from run to run. */
void unscored_order_sort (UnscoredOrderKey * keys, guint count, const Box * boxes);

G_END_DECLS
