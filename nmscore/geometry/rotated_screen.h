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

typedef enum nms__rotated_limit {
  NMS__BY_SUM,     /* an intersection above the sum of the scaled areas */
  NMS__BY_SMALLER, /* an intersection above the smaller scaled area */
  NMS__BY_SHAPE,   /* a Bhattacharyya coefficient whose square is at least `alike`; its bound
                    * depends on the shapes and the angle */
} nms__rotated_limit;

typedef struct nms__rotated_box {
  float x, y;              /* centre, relative to an origin */
  float half_w, half_h;    /* half the sides of the upright bounding box; enlarged */
  float cos, sin;          /* direction of the longer side */
  float length, thickness; /* half the longer side, half the shorter side; enlarged */
  float scaled;            /* scaled area; for NMS__BY_SHAPE the shorter side over the longer */
} nms__rotated_box;

typedef struct nms__rotated_columns {
  float *x, *y, *half_w, *half_h, *cos, *sin, *length, *thickness, *scaled;
  int limit;   /* what a pair that may exceed the limit has: an nms__rotated_limit */
  float alike; /* least square of the Bhattacharyya coefficient; only with NMS__BY_SHAPE */
} nms__rotated_columns;

#endif
