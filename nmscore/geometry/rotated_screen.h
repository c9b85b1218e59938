/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated_screen: the columns by which pairs of rotated boxes are screened. Upright bounding boxes
 * alone exclude few pairs, because those of thin rotated boxes overlap although the boxes do not.
 * Fields marked "enlarged" are increased by more than the rounding errors of binary32, so that the
 * screen excludes no pair that exceeds.
 */
#ifndef NMS_ROTATED_SCREEN_H
#define NMS_ROTATED_SCREEN_H

#include "geometry/overlap.h"

typedef struct nms__rotated_box {
  float x, y;              /* centre, relative to an origin */
  float half_w, half_h;    /* half the sides of the upright bounding box; enlarged */
  float cos, sin;          /* direction of the longer side */
  float length, thickness; /* half the longer side, half the shorter side; enlarged */
  float scaled;            /* scaled area */
} nms__rotated_box;

typedef struct nms__rotated_columns {
  float *x, *y, *half_w, *half_h, *cos, *sin, *length, *thickness, *scaled;
  int by_smaller; /* A pair may exceed the limit if its intersection is above the sum of the scaled
                   * areas, or, if this is nonzero, above the smaller scaled area. */
} nms__rotated_columns;

#endif
