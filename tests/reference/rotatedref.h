/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotatedref: the overlap of two rotated boxes, by another method than the library's,
 * slowly and in long double. The frame is cut into strips at each corner and at each
 * crossing of two sides. In a strip both boxes are trapezoids; their intersection is
 * the height of the strip times the shared length of its middle line.
 */
#pragma once

/* Returns the IoU of two valid boxes x1 y1 x2 y2 (corners in order), each rotated by an
 * angle in radians, clockwise where y points down. Returns 0 for a box without area, and
 * if the intersection is below 2^-40 of the smaller box. */
long double ref_rotated_iou (const float a[4], float angle_a, const float b[4], float angle_b);
