/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turnedref: the overlap of two turned boxes by another way than the library's,
 * slowly and in long double: the frame is cut into strips at every corner and
 * every crossing of two sides; in a strip both boxes are trapezoids, and what
 * they share is its height times the shared length along its middle line.
 */
#pragma once

/* Of valid boxes x1 y1 x2 y2 (corners in order), turned by radians, clockwise
 * where y points down. 0 for a box without area, and where the intersection is
 * below 2^-40 of the smaller box. */
long double ref_turned_iou (const float a[4], float angle_a, const float b[4], float angle_b);
