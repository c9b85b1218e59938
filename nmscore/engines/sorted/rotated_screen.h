/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated_screen: the boxes of a frame with rotated boxes, in the form that vectors screen. The
 * upright bounding boxes of thin rotated boxes overlap although the boxes do not, so they would
 * screen few pairs. All bounds here are enlarged by more than the rounding errors of binary32.
 */
#ifndef NMS_ROTATED_SCREEN_H
#define NMS_ROTATED_SCREEN_H

#include "overlap.h"

typedef struct nms__rotated_box {
  float x, y;              /* centre, relative to that of the frame's first box */
  float half_w, half_h;    /* half the sides of the upright bounding box; enlarged */
  float cos, sin;          /* direction of the longer side */
  float length, thickness; /* half the longer side, half the shorter side; enlarged */
  float scaled;            /* scaled area */
} nms__rotated_box;

typedef struct nms__rotated_columns {
  float *x, *y, *half_w, *half_h, *cos, *sin, *length, *thickness, *scaled;
} nms__rotated_columns;

#endif
