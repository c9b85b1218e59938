/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unscoredorder: the order in which boxes are decided when scores alone do not state it: boxes that
 * rank lower (BOX_RANKS_LOWER) after all others, then by the priority of their source, then scored
 * boxes by score, then those without a confidence as missing-score says.
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
  gdouble value; /* score, neighbors or area; the highest comes first */
  guint32 index; /* of the box */
  guint32 group; /* see unscored_order_group; the lowest comes first */
} UnscoredOrderKey;

/* The bit of a group whose boxes have no confidence. */
#define UNSCORED_ORDER_NO_SCORE 1u

/* Returns the group of a scored box with this priority, from -32768 to 32767. `lower` says whether
 * it has BOX_RANKS_LOWER. */
static inline guint32
unscored_order_group (gboolean lower, gint priority)
{
  return (guint32) (lower != FALSE) << 17 | (guint32) (32767 - priority) << 1;
}

/* Sorts `count` keys, best first. `boxes` is the array that the keys index. Of scored
 * boxes with equal scores, the one with the lower index comes first. Unscored boxes with
 * equal values are sorted by geometry, because cascade detectors report the same boxes
 * in another order from run to run. */
void unscored_order_sort (UnscoredOrderKey *keys, guint count, const Box *boxes);

G_END_DECLS
