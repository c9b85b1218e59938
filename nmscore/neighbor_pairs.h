/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * neighbor_pairs: counts the pairs of boxes that exceed the threshold. Equal boxes are one run,
 * and NMS__BLOCK runs that are near each other are a block. A block has a hull and a core, boxes
 * themselves: what does not meet the hull meets no box of the block, and what surely exceeds with
 * the core surely exceeds with each box of the block. So most pairs of blocks need no test of
 * their boxes: those far from each other, and those of boxes of one object.
 */
#ifndef NMS_NEIGHBOR_PAIRS_H
#define NMS_NEIGHBOR_PAIRS_H

#include "internal.h"

typedef struct nms__runs {
  size_t count;
  nms__box_columns box; /* the box of each run */
  uint32_t *first_of;   /* frame position of the first box of each run */
  uint32_t *weight;     /* number of boxes of each run */
  uint32_t *total;      /* number of neighbors of each of a run's boxes */

  /* of each block */
  nms__box_columns hull; /* greatest extent, least scaled area; class_id of the first run */
  nms__box_columns core; /* the part that all boxes have in common, greatest scaled area;
                          * class_id is 0 if the runs have different classes, else 1 */
  uint32_t *block_weight; /* number of boxes */
  uint32_t *block_added;  /* number of neighbors that all its boxes have, not in `total` */
  uint64_t *heavy;        /* which runs have a weight above 1 */
  uint64_t *planes;       /* a number for each bit of a count: bit k of number p is bit p of a count
                           * of run k that is not in `total` */
} nms__runs;

/* Takes the arrays for up to `boxes` runs. */
void nms__runs_take (nms__arena *a, nms__runs *runs, size_t boxes);

/* Returns whether the boxes at two frame positions are neighbors. Does not compare them with
 * their parents. */
int nms__are_neighbors (const nms__frame *f, size_t a, size_t b);

/* Writes `total`. Needs `count`, `box`, `first_of` and `weight`. The runs of a class follow each
 * other. */
void nms__count_pairs (const nms__frame *f, const nms__runs *runs);

#endif
