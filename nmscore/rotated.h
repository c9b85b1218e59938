/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated: boxes that are rotated about their centres. In a frame such a box has the corners of
 * its upright bounding box and the scaled area of its own area, so that the screens of
 * overlap.h remain valid. The exact test of a pair that passes a screen is here.
 */
#ifndef NMS_ROTATED_H
#define NMS_ROTATED_H

#include "internal.h"

/* An intersection below this part of the smaller box is a rounding error and counts as empty. */
#define NMS__LEAST_PART 0x1p-40

/* Returns whether any angle differs from 0 or is NaN. */
int nms__any_rotated (const nms_boxes *boxes);

/* Replaces the ordered corners c of a box rotated by `angle`, which is finite, by those of its
 * upright bounding box. */
void nms__rotated_bounds (float c[4], float angle);

/* What all pairs of a box share. */
typedef struct nms__rotated {
  double sin, cos; /* of the angle */
  float corners[4]; /* before the rotation */
  float angle;
} nms__rotated;

/* Fills `rotations`, which has f->capacity elements, because a pair test would take most of its
 * time for the sines. Called before the first pair test of a frame with rotated boxes; does
 * nothing for other frames. */
void nms__rotated_begin (nms__frame *f, nms__rotated *rotations);

/* nms__exceeds for the boxes a and b of the caller, in a frame with rotated boxes. */
int nms__rotated_exceeds (const nms__frame *frame, int32_t a, int32_t b, double limit);

/* nms__column_exceeds for box k of the columns and box b, rotated or not. k_index and b_index
 * are their positions in the caller's columns. */
static inline int
nms__pair_exceeds (const nms__frame *f, const nms__columns *c, size_t k, int32_t k_index,
    const nms__box *b, int32_t b_index, double limit)
{
  if (f->rotated)
    return nms__rotated_exceeds (f, k_index, b_index, limit);
  return nms__column_exceeds (c, k, b, limit);
}

#endif
