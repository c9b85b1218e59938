/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * visits: the order in which a method visits the boxes. Rank order jumps through space, so that in
 * a large frame each row waits for memory. A box depends only on the boxes that rank above it and
 * that it intersects. Therefore the tiles of box_blocks are visited one by one, the boxes of a tile
 * in rank order, and a box at the border of a tile after those of other tiles on which it depends.
 *
 * Of two boxes that do not intersect the lower-ranked one may be visited first. What depends on the
 * order of two such boxes is decided by their ranks.
 *
 * With method weighted, two boxes depend on each other if some fused box overlaps both by more than
 * the threshold. If the two boxes are apart along an axis, the width w of that fused box bounds the
 * gap between them, and the widest box bounds w (nms__tiles_hold checks it):
 *
 * - With IoU each box has a share s of the area of the fused box in common with it. An end of a
 *   rectangle, at any angle, with this share is at least s * w wide: the gap is at most
 *   (1 - 2 * s) * w. Any part with this share, and so each box, is at least (1 - sqrt (1 - s)) * w
 *   wide, and s * w if no box is rotated.
 * - With ProbIoU w stands for the standard deviation of the projection to the axis. If that of a
 *   box is r * w and the distance of the centres d * w, the square of the Bhattacharyya coefficient
 *   is at most 2 * r / (1 + r^2 + 6 * d^2). If it is above 1 / c, twice d - r / 2 is at most
 *   sqrt (5 / 3 * (c^2 - 1)) - c, which bounds the gap over w, and r at least c - sqrt (c^2 - 1).
 * - With IoS, a box has a share of the lesser area in common with it, so that their ends overlap by
 *   at least s, the same share or, of rotated boxes, at most half, times the lesser width. The gap
 *   is at most w without s times the widths of both boxes.
 *
 * A fused box that moves towards its new member still overlaps it, unless rounding errors are large
 * or the boxes have different angles; the method checks it with nms__tiles_hold.
 */
#ifndef NMS_VISITS_H
#define NMS_VISITS_H

#include "box_blocks.h"

/* The current tile, and those that its boxes may depend on. */
typedef struct nms__tiles {
  const nms__frame *frame;
  const nms__box_blocks *blocks;
  size_t first, end; /* the places of the current tile */
  size_t near_count; /* tiles that intersect it; `near` has the first NMS__BLOCK of them */
  float near[5][NMS__BLOCK]
      __attribute__ ((aligned (NMS__ALIGN))); /* bounding boxes of these tiles */

  /* Only with method weighted. Two boxes of which one may depend on the other are apart by at most
   * `reach` times the width or height of either, and by at most `farthest` without `part` times
   * it. */
  float reach;    /* INFINITY if not bounded by the extents */
  float farthest; /* `longest` without `part` times the shortest side of all boxes */
  float longest;  /* most extent of a box or fused box; 0 with other methods */
  float limit;    /* a fused box overlaps a member by at least this, as the metric measures it */
  float part;     /* the share s of the lesser width with metric IoS; 0 with others */

  uint64_t compared; /* comparisons of a box with a block so far, counted by the caller */
} nms__tiles;

/* Returns whether a total cap or a cap of a class may be filled. Methods in which a box over a cap
 * affects no other box then visit the boxes in rank order. */
int nms__tiles_are_capped (const nms__frame *frame);

/* Finds the bounding boxes. Returns 0 if the frame is so small that its boxes stay in the cache, or
 * seems crowded. The method then visits them in rank order. */
int nms__tiles_begin (nms__tiles *tiles, const nms__frame *frame, const nms__box_blocks *blocks);

/* Makes tile `tile` the current one. */
void nms__tiles_enter (nms__tiles *tiles, size_t tile);

/* Returns whether the box at `place` may depend on a box of another tile than the current one. */
int nms__tiles_cross (const nms__tiles *tiles, size_t place);

/* Returns whether the fused box at `head`, after it got the member at `place`, is as the reach
 * assumes: it is not longer than `longest`, and overlaps the member by `limit`. */
int nms__tiles_hold (const nms__tiles *tiles, size_t head, size_t place);

/* Returns whether the frame is crowded, as the number of comparisons shows: most boxes depend on
 * boxes of other tiles, so that the method visits the boxes in rank order. */
int nms__tiles_crowded (const nms__tiles *tiles);

typedef struct nms__visits {
  uint32_t *rank; /* indexed by place; `count` elements of the method's own follow */
  /* Only if the method moves boxes: place by place at the start, and the reverse. */
  uint32_t *at, *was;

  /* used by nms__visits_next */
  nms__tiles tiles;
  const uint64_t *ranked;
  const nms__places *waiting;
  uint32_t *list;        /* boxes, by place at the start, sorted by tile, then rank */
  size_t next, list_end; /* the next element of `list`, and the end of the current tile in it */
  size_t tile;           /* number of the next tile */
  uint32_t *stack;       /* boxes, by place at the start, that are visited before the next box of
                          * `list`; the boxes on which a box depends lie above it */
  size_t depth;
} nms__visits;

/* Starts the visits of a frame whose blocks are filled, or returns 0 as nms__tiles_begin does.
 * `ranked` are the packed keys in rank order, `spare` an array of the same size that the visits use
 * from now on, as they use `keys2` and `number` of the blocks. Puts all places into
 * `waiting`: the method removes those of a box that it visits, or that needs no visit any more. */
int nms__visits_begin (nms__visits *visits, const nms__frame *frame, const nms__box_blocks *blocks,
    const uint64_t *ranked, uint64_t *spare, const nms__places *waiting);

/* Lets the method move boxes. `at` and `was` have space for an element for each box. */
void nms__visits_track (nms__visits *visits, uint32_t *at, uint32_t *was);

/* Swaps two boxes of one block and class partition, in the blocks and in the visits. */
void nms__visits_swap (nms__visits *visits, size_t place, size_t other);

/* Writes the next waiting place to *place. Returns 0 after the last one. Also returns 0 as soon as
 * nms__tiles_crowded holds: the method then begins again in rank order. */
int nms__visits_next (nms__visits *visits, size_t *place);

#endif
