/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * row: the row of a box, which is the metric of the box and all boxes that it intersects, from the
 * blocks around it.
 *
 *     nms__row row;
 *     nms__row_begin (&row, f, &blocks, place, wanted);
 *     while (nms__row_next (&row))
 *       for (uint64_t left = row.mask; left; left &= left - 1) {
 *         const unsigned i = nms__lowest_bit (left);
 *         use (row.first + i, row.value[i]);
 *       }
 */
#ifndef NMS_ROW_H
#define NMS_ROW_H

#include "box_blocks.h"

/* The row of one box, a block at a time. */
typedef struct nms__row {
  size_t first;  /* first place of the block */
  uint64_t mask; /* the boxes of the block that are wanted, intersect the box, and may overlap it
                   * by their class, parents and sizes; never the box itself. Boxes whose overlap
                   * has no effect may be left out, unless `upright` is set. */
  /* metric of each box of `mask`, or an upper bound; not if nms__row_is_unmeasured */
  float value[NMS__BLOCK] __attribute__ ((aligned (NMS__ALIGN)));

  size_t compared; /* number of blocks that were compared so far */
  int upright; /* the caller sets this to 1 after nms__row_begin to get all boxes that intersect the
                * upright bounding box, without metrics */

  /* used by nms__row_next */
  const nms__frame *frame;
  const nms__box_blocks *blocks;
  const nms__places *wanted;
  nms__box box;
  float least_inter; /* a box that matters has a greater intersection with the box */
  size_t place, begin, end;
  size_t first_group;          /* number of the first group that was not yet tested */
  uint64_t groups;             /* bits of the groups before first_group not yet visited */
  size_t first_block;          /* number of the first block of the current group */
  uint64_t left;               /* bits of the blocks of this group not yet visited */
  nms__measure_block *measure; /* the kernel for the next block */
  int metric;
  float min_size_ratio;         /* 0 if refine compares the areas, because boxes are rotated */
  int refines;                  /* nonzero if kernels alone do not decide `mask` or `value` */
  const nms__decay *decay;      /* argument of nms__row_bound; NULL without bounds */
  nms__rotated_box rotated_box; /* the box in the columns of the screen */
} nms__row;

/* Returns whether the rows of the frame have no metrics: hard NMS by IoU with rotated boxes, which
 * decides pairs as engine sorted does. `mask` then has the boxes that may exceed the limit. */
static inline int
nms__row_is_unmeasured (const nms__frame *f)
{
  return f->rotated && f->method.method == NMS_METHOD_HARD && f->method.metric == NMS_METRIC_IOU;
}

/* Starts the row of the box at `place`. Boxes whose places
 * are not in `wanted` are left out; NULL if all boxes are wanted. The set is read when a block is
 * visited. */
void nms__row_begin (nms__row *row, const nms__frame *frame, const nms__box_blocks *blocks,
    size_t place, const nms__places *wanted);

/* Lets a row of method matrix give upper bounds instead of metrics that take long to compute, and
 * leave out boxes that do not decide *decay, which the caller changes between the blocks. Boxes
 * that do not belong to `mask` may then be in it: see nms__row_measure. */
void nms__row_bound (nms__row *row, const nms__decay *decay);

/* Goes to the next block that has a box in `mask`, and writes first, mask and value. Returns 0
 * after the last one. */
int nms__row_next (nms__row *row);

/* Replaces the upper bound value[i] by the metric. Returns 0 if this shows that the box does
 * not belong to `mask`. */
int nms__row_measure (nms__row *row, unsigned i);

#endif
