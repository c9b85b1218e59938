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

/* What all pairs of a box share. */
typedef struct nms__rotated {
  double sin, cos;  /* of the angle; sin is 0 only if the angle is 0, because no other binary32
                     * number is a multiple of pi */
  float corners[4]; /* before the rotation */
} nms__rotated;

/* Takes f->rotations, which prepare.c fills, from the start of f->scratch. All code that uses the
 * scratch of frames with rotated boxes takes this part first. */
static inline void
nms__rotated_take (nms__arena *a, size_t boxes)
{
  nms__take (a, boxes, sizeof (nms__rotated));
}

/* Returns the rotation of a box with the ordered corners c, by `angle`, which is finite. */
nms__rotated nms__rotated_of (const float c[4], float angle);

/* Writes the corners of the upright bounding box of a box whose angle is not 0 to c. */
void nms__rotated_bounds (const nms__rotated *rotated, float c[4]);

/* nms__exceeds for the boxes a and b of the caller, in a frame with rotated boxes. */
int nms__rotated_exceeds (const nms__frame *frame, int32_t a, int32_t b, double limit);

#endif
