/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turned: boxes that are turned about their centre. They take part in a frame
 * as the upright boxes around them, with the share of their own area, so that
 * the screens of overlap.h hold; what passes those is decided here.
 */
#ifndef NMS_ROTATED_H
#define NMS_ROTATED_H

#include "internal.h"

/* An intersection below this part of the smaller box is what rounding leaves of
 * none. */
#define NMS__LEAST_PART 0x1p-40

/* Whether any box of the angle column is turned (or its angle is no number). */
int nms__any_rotated (const nms_boxes *boxes);

/* The upright box around corners c (in order) turned by angle (finite). */
void nms__rotated_bounds (float c[4], float angle);

/* nms__exceeds for the caller's boxes a and b, of a frame with turned boxes. */
int nms__rotated_exceeds (const nms__frame *frame, int32_t a, int32_t b, double limit);

/* nms__column_exceeds, turned or not, for the pair of a column's box k and box
 * b, the caller's k_index and b_index. */
static inline int
nms__pair_exceeds (const nms__frame *f, const nms__columns *c, size_t k, int32_t k_index,
    const nms__box *b, int32_t b_index, double limit)
{
  if (f->rotated)
    return nms__rotated_exceeds (f, k_index, b_index, limit);
  return nms__column_exceeds (c, k, b, limit);
}

#endif
