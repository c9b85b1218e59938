/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * box_blocks: the boxes of a frame in spatial order, in blocks of NMS__BLOCK boxes with a bounding
 * box each, so that a row (row.h) is computed from the few blocks around its box. The boxes of a
 * class partition are consecutive. If most boxes meet each other, they lie in rank order instead.
 */
#ifndef NMS_BOX_BLOCKS_H
#define NMS_BOX_BLOCKS_H

#include "places.h"

#include "engines/engine.h"
#include "geometry/rotated.h"

/* A row that intersects more blocks of a group than this screens their boxes. The boxes of fewer
 * blocks are mostly near the box, and the screen would exclude few. */
#define NMS__CROWD 7

/* Number of boxes by which prefetches run ahead. */
#define NMS__NEXT_BOXES 24

#define NMS__TILE_BITS 12
#define NMS__TILE ((size_t) 1 << NMS__TILE_BITS)
#define NMS__TILE_MOST (2 * NMS__TILE)

/* The metric of the pairs of a frame, and lower bounds of the pairs that may overlap. */
typedef struct nms__pair_bounds {
  int metric;   /* an nms_metric */
  float extent; /* both extents of the intersection are above this */
  float share;  /* the intersection is at least this times the sum of both areas; with metric IoS
                 * times the lesser area */
  float value;  /* DIoU or GIoU is at least this */
  double alike; /* the `least_square` of nms__probiou */
} nms__pair_bounds;

/* Computes the metric, if it is not ProbIoU, of the box and each of the n boxes, or some more,
 * starting at `first`. Returns the boxes whose intersection with it has both extents above
 * bounds->extent: bit i for box first+i. Sets value[i] for these; the other values are undefined.
 * The columns' `scaled`, and the box's, is the area. */
typedef uint64_t nms__measure_block (const nms__columns *columns, size_t first, size_t n,
    const nms__box *box, const nms__pair_bounds *bounds, float *value);

typedef struct nms__box_blocks {
  size_t count;          /* number of boxes */
  nms__pair_bounds pair; /* what kernels get */
  float least_area;      /* no box has a lesser one */
  int screens; /* if nonzero, rows may leave out pairs below the bounds, which have no effect */
  int by_area; /* if nonzero, screens add the value of `least` of a block to least_inter of a row */

  /* The place of a box is its number in this order. `scaled` of `box` is the area. After the
   * last box, to the end of its block, are boxes without area. */
  nms__box_columns box;  /* the boxes, by place */
  uint32_t *position;    /* frame position, by place */
  uint32_t *place;       /* place, by frame position */
  int partitioned;       /* nonzero if boxes may be in several class partitions */
  uint32_t *begin, *end; /* the places of the box's class partition, by place, if partitioned */

  /* Bounding boxes; `scaled` is 0. A group has NMS__BLOCK blocks, a super group NMS__BLOCK groups.
   * `tile_bounds` is written by nms__tiles_begin. */
  nms__box_columns bounds, group_bounds, super_bounds, tile_bounds;

  /* pair.share times the least area of each block, and of each group; for screens only */
  float *least, *group_least;

  /* The columns as kernels read them; those by area have `least` as `scaled`. */
  nms__columns box_view, bounds_view, group_view, bounds_by_area, group_by_area;

  /* Filled only if the frame has rotated boxes; both arrays lie in the scratch of the engines. */
  nms__rotated *rotation;       /* rotation of each box, by place; in the memory of the frame's */
  nms__rotated_columns rotated; /* the screen, by place */
  double origin[2];             /* origin of the coordinates of the screen */

  /* The first place of each tile, and at last `count`; only for more than NMS__TILE_MOST boxes. A
   * tile has the boxes of one square along the Z-order curve: if the density is even, about
   * NMS__TILE, with method weighted four times as many; at most twice as many as that. Their keys
   * differ in the lowest `tile_bits` bits only. */
  uint32_t *tile;
  size_t tile_count;
  unsigned tile_bits;

  /* unused after nms__box_blocks_fill */
  uint64_t *keys, *keys2; /* packed keys of class partition and centre, and space to sort them */
  uint32_t *number;       /* class partition, by frame position */
} nms__box_blocks;

/* Lays out the arrays for up to `boxes` boxes. */
void nms__box_blocks_take (nms__arena *arena, nms__box_blocks *blocks, size_t boxes);

/* Sorts the boxes of the frame, as the caller gave them, into the blocks. The first call moves the
 * frame's rotations to `rotation`, after which frame->rotations is NULL. */
void nms__box_blocks_fill (nms__frame *frame, nms__box_blocks *blocks);

/* Replaces the corners of the box at `place`. A rotated box keeps its angle, and `corners` are
 * those without the rotation. The bounding boxes of its block and groups only grow. */
void nms__box_blocks_move (const nms__frame *frame, nms__box_blocks *blocks, size_t place,
    const float corners[4]);

/* Swaps two boxes of one block and class partition. */
void nms__box_blocks_swap (const nms__frame *frame, const nms__box_blocks *blocks, size_t place,
    size_t other);

/* Returns the first place of the class partition of the box at `place`. */
static inline size_t
nms__partition_begin (const nms__box_blocks *b, size_t place)
{
  return b->partitioned ? b->begin[place] : 0;
}

/* Returns the place after the last one of this partition. */
static inline size_t
nms__partition_end (const nms__box_blocks *b, size_t place)
{
  return b->partitioned ? b->end[place] : b->count;
}

/* Writes the corners of the box at `place` to `c`. */
static inline void
nms__box_blocks_corners (const nms__box_blocks *b, size_t place, float c[4])
{
  c[0] = b->box.x1[place];
  c[1] = b->box.y1[place];
  c[2] = b->box.x2[place];
  c[3] = b->box.y2[place];
}

/* Writes the rotations of the boxes at two places, the box that comes first in the caller's columns
 * first, as nms__rotated_exceeds and nms__rotated_metric need them. */
static inline void
nms__rotated_pair (const nms__box_blocks *b, size_t place, size_t other,
    const nms__rotated *pair[2])
{
  const int in_order = b->position[place] < b->position[other];

  pair[0] = &b->rotation[in_order ? place : other];
  pair[1] = &b->rotation[in_order ? other : place];
}

static inline float
nms__rotated_area (const nms__rotated *r)
{
  return nms__area (r->corners[0], r->corners[1], r->corners[2], r->corners[3]);
}

/* Widens `bounds` to contain `box`. */
static inline void
nms__widen (nms__box *bounds, const nms__box *box)
{
  bounds->x1 = box->x1 < bounds->x1 ? box->x1 : bounds->x1;
  bounds->y1 = box->y1 < bounds->y1 ? box->y1 : bounds->y1;
  bounds->x2 = box->x2 > bounds->x2 ? box->x2 : bounds->x2;
  bounds->y2 = box->y2 > bounds->y2 ? box->y2 : bounds->y2;
}

/* Returns the bounding box of the boxes first..end-1, at least one. */
nms__box nms__bounding_box (const nms__box_columns *boxes, size_t first, size_t end);

/* Returns the number of blocks. */
static inline size_t
nms__box_blocks_count (const nms__box_blocks *b)
{
  return (b->count + NMS__BLOCK - 1) / NMS__BLOCK;
}

/* Returns the most tiles that a frame of `boxes` boxes has: without their lowest `tile_bits` bits,
 * the keys have at most 2 * boxes / NMS__TILE values, and a full tile ends before its keys do. */
static inline size_t
nms__tiles_most (size_t boxes)
{
  return 2 * (boxes / NMS__TILE + 1) + boxes / NMS__TILE_MOST;
}

/* How method matrix lowers the score of a box, as far as its row was read. `loss` grows with the
 * decay: for the linear method it is the decay times -1, for the gaussian method the exponent of
 * the decay over -sigma. Another box decides the decay if its metric v is above `most` or its loss,
 * (v - 1) / (1 - m) or v^2 - m^2 with m = most_of[its place], is at least `loss`. */
typedef struct nms__decay {
  const float *most_of; /* greatest metric of each box and a box above it, by place */
  int gaussian;
  float most, loss; /* greatest metric so far, and loss */
  size_t by;        /* place of the box that decides `loss`; of the lowered box if none does */
} nms__decay;

/* The functions of metric_tmpl.c, which are compiled once per instruction set. */
typedef struct nms__method_kernels {
  nms__measure_block *metric_block;
  nms__measure_block *screened_block; /* leaves out boxes whose pair is below the other bounds */

  /* Returns the boxes of the block at `first` whose area is not so different from that of the box
   * that min_size_ratio keeps them from meeting: bit i for box first+i. */
  uint64_t (*size_block) (const nms__columns *columns, size_t first, const nms__box *box,
      float min_size_ratio);

  nms__measure_block *bound_probiou_block; /* sets value[i] to an upper bound of ProbIoU */

  /* Returns which of the n boxes starting at `first` the box may intersect, and which may decide
   * its decay: bit i for box first+i. Sets value[i] of these to an upper bound of the metric.
   * `scaled` of the columns, and of the box, is the area or, for ProbIoU, as for NMS__BY_SHAPE. */
  uint64_t (*bound_rotated_block) (const nms__rotated_columns *columns, size_t first, size_t n,
      const nms__rotated_box *box, int metric, const nms__decay *decay, float *value);

  /* Selects the boxes that may decide the decay: bit i for box first+i of the n boxes starting at
   * `first`, whose metric, or an upper bound of it, is value[i]. */
  uint64_t (*decay_block) (const float *value, size_t first, size_t n, const nms__decay *decay);
} nms__method_kernels;

#endif
