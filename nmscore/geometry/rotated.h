/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated: boxes that are rotated about their centres. In a frame such a box has the corners of
 * its upright bounding box and the scaled area of its own area, so that the screens of
 * overlap.h remain valid. The exact test of a pair that passes a screen is here.
 */
#ifndef NMS_ROTATED_H
#define NMS_ROTATED_H

#include "rotated_screen.h"

#include "frame/frame.h"

/* An intersection below this part of the smaller box is a rounding error and counts as empty. */
#define NMS__LEAST_PART 0x1p-40

/* Returns whether any angle differs from 0 or is NaN. */
int nms__any_rotated (const nms_boxes *boxes);

/* Values that the exact test needs of a box, computed once for all its pairs. */
typedef struct nms__rotated {
  double sin, cos;  /* sine and cosine of the angle; the sine is 0 only if the angle is 0, because
                     * only 0 is both a binary32 number and a multiple of pi */
  float corners[4]; /* before the rotation */
} nms__rotated;

/* Reserves the memory of f->rotations, which prepare.c fills, at the start of f->scratch. Code
 * that lays out the scratch of a frame that may have rotated boxes calls this first. */
static inline void
nms__rotated_take (nms__arena *a, size_t boxes)
{
  nms__take (a, boxes, sizeof (nms__rotated));
}

/* Returns the rotation of the box with the ordered corners `c` by `angle`, a finite number. */
nms__rotated nms__rotated_of (const float c[4], float angle);

/* Writes the corners of the box's upright bounding box to `c`. Its angle must not be 0. */
void nms__rotated_bounds (const nms__rotated *rotated, float c[4]);

/* Writes the corners of `box` in coordinates that are rotated by the angle of `head` about the
 * origin, so that `head` is upright there. With `around` they are those of the bounding box of
 * `box` in these coordinates, otherwise those of `box` after it was rotated about its centre, by at
 * most pi / 4, until its sides are parallel to those of `head`. */
void nms__rotated_turn (const nms__rotated *head, const nms__rotated *box, int around, float c[4]);

/* Replaces the corners of a box in the coordinates of nms__rotated_turn by those that it has before
 * it is rotated about its centre by the angle of `head`. */
void nms__rotated_turn_back (const nms__rotated *head, float c[4]);

/* Returns the area of the box at frame position `pos`, which its angle does not change. */
static inline float
nms__frame_area (const nms__frame *f, size_t pos)
{
  if (!f->rotated)
    return nms__area (f->x1[pos], f->y1[pos], f->x2[pos], f->y2[pos]);
  const float *c = f->rotations[f->index[pos]].corners;
  return nms__area (c[0], c[1], c[2], c[3]);
}

/* Returns what nms__exceeds returns, for two boxes that may be rotated. `first` is the one that
 * comes first in the caller's columns, because rounding errors depend on the order. */
int nms__rotated_exceeds (const nms__rotated *first, const nms__rotated *second, double limit);

/* Does the same for boxes a and b, positions in the caller's columns. */
static inline int
nms__rotations_exceed (const nms__frame *f, int32_t a, int32_t b, double limit)
{
  return nms__rotated_exceeds (&f->rotations[a < b ? a : b], &f->rotations[a < b ? b : a], limit);
}

/* Sets *value to the metric, an nms_metric, of two boxes in the order of nms__rotated_exceeds, if
 * one of them is rotated or the metric is probiou; otherwise leaves it. Returns 0 if they do not
 * intersect, or if nms__probiou returns -1. */
int nms__rotated_metric (const nms__rotated *first, const nms__rotated *second, int metric,
    double least_square, float *value);

/* Returns nms__probiou of two upright boxes with areas. */
float nms__upright_probiou (const nms__box *a, const nms__box *b, double least_square);

/* rotated_columns.c: the columns of the screen (rotated_screen.h). */
void nms__rotated_take_columns (nms__arena *a, nms__rotated_columns *c, size_t boxes);

/* Writes the centre of a box to `origin`. */
void nms__rotated_origin (const nms__rotated *rotated, double origin[2]);

/* Returns the values of a box with this scaled area. */
nms__rotated_box nms__rotated_box_of (const nms__rotated *rotated, const double origin[2],
    float scaled);

void nms__rotated_put (const nms__rotated_columns *c, size_t i, const nms__rotated_box *box);
nms__rotated_box nms__rotated_get (const nms__rotated_columns *c, size_t i);

/* Returns which of the n boxes starting at `first`, at most NMS__BLOCK, may exceed with `box`: bit
 * i for box first+i. */
uint64_t nms__rotated_block (const nms__kernels *kernels, const nms__rotated_columns *c,
    size_t first, size_t n, const nms__rotated_box *box);

#endif
