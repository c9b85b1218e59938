/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * neighbor_pairs: counts the pairs of boxes that exceed the threshold. Equal boxes form one run,
 * and up to NMS__BLOCK runs that are near each other form a block. A block has two boxes, its
 * hull and its core: a box that does not pass the screen with the hull exceeds with no box of the
 * block, and a box that certainly exceeds with the core exceeds with every box of the block.
 * Therefore the boxes of most pairs of blocks are not tested, because the blocks are far from each
 * other or their boxes are those of one object.
 */
#ifndef NMS_NEIGHBOR_PAIRS_H
#define NMS_NEIGHBOR_PAIRS_H

#include "rotated.h"

typedef struct nms__runs {
  size_t count;
  nms__box_columns box;         /* the box of each run */
  nms__rotated_columns rotated; /* its columns for the screen, if the frame has rotated boxes */
  uint32_t *first_of;           /* frame position of the first box of each run */
  uint32_t *weight;             /* number of boxes of each run */
  uint32_t *total;              /* number of neighbors of each box of a run */

  /* an element for each block */
  nms__box_columns hull;  /* greatest extent, least scaled area; class_id of the first run */
  nms__box_columns core;  /* intersection of all boxes, greatest scaled area; class_id is 1 if all
                          * runs have one class, else 0 */
  uint32_t *block_weight; /* number of boxes */
  uint32_t *block_added;  /* number of neighbors to add to the total of each of its runs */
  uint64_t *heavy;        /* a bit for each run: its weight is above 1 */
  uint64_t *planes;       /* numbers of neighbors to add to the totals, as bit planes: bit k of
                           * plane p is bit p of the number of run k */
} nms__runs;

/* Takes the arrays for up to `boxes` runs from the arena. */
void nms__runs_take (nms__arena *a, nms__runs *runs, size_t boxes);

/* Returns whether the boxes at two frame positions exceed the threshold. Does not check whether
 * one is the parent of the other. */
int nms__are_neighbors (const nms__frame *f, size_t a, size_t b);

/* Writes `total`. The caller has set `count`, `box`, `first_of` and `weight`, with the runs of
 * each class consecutive. */
void nms__count_pairs (const nms__frame *f, const nms__runs *runs);

#endif
