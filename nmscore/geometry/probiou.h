/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probiou: the overlap of two boxes as normal distributions (Llerena et al., "Gaussian Bounding
 * Boxes and Probabilistic Intersection-over-Union", 2021). A box stands for the distribution with
 * its centre and with the variances w^2 / 12 and h^2 / 12 along its sides, and ProbIoU is 1 minus
 * the Hellinger distance of two distributions. docs/methods.md defines the operations.
 */
#ifndef NMS_PROBIOU_H
#define NMS_PROBIOU_H

/* Boxes that do not intersect have a ProbIoU of at most 0.1248, whatever their shapes are: a line
 * between them separates their projections to its normal, each of which reaches at least sqrt (3)
 * standard deviations from its centre. */
#define NMS__PROBIOU_APART 0.125

/* A pair of boxes in the coordinates of one of them. */
typedef struct nms__probiou_pair {
  double w, h;             /* extents of the box whose coordinates these are */
  double other_w, other_h; /* extents of the other box */
  double x, y;             /* centre of the other box less that of the first one */
  double cos, sin;         /* cosine and sine of the other box's angle */
} nms__probiou_pair;

/* Returns ProbIoU, 0..1, of two boxes whose extents are above NMS__LEAST_EXTENT. May return -1 if
 * the square of their Bhattacharyya coefficient is below `least_square`. */
double nms__probiou (const nms__probiou_pair *pair, double least_square);

/* Returns a `least_square` with which pairs whose ProbIoU exceeds a limit, 0..1, are measured. */
static inline double
nms__probiou_least_square (double limit)
{
  const double alike = limit * (2.0 - limit);
  return alike * alike * (1.0 - 0x1p-40);
}

#endif
