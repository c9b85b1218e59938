/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsmethods: the methods and metrics of nms_options, and how their results are defined. nmscore.h
 * includes this file and defines the words used here.
 *
 * Other metrics and the methods that rescore boxes
 * ------------------------------------------------
 * Metric      The number that stands for IoU in the definitions: see nms_metric. Two boxes
 *             overlap if they intersect and their metric is above the threshold (or, with
 *             `inclusive`, equal to it and at least 0). With a and b the areas, union =
 *             (a + b) - inter, w and h the extents of the common bounding box, and dx and
 *             dy the differences of the centres, (x1 + x2) * 0.5 and (y1 + y2) * 0.5, each
 *             operation rounded to binary32:
 *                 IoS  = inter / min (a, b)
 *                 DIoU = IoU - (dx * dx + dy * dy) / (w * w + h * h)
 *                 GIoU = IoU - (w * h - union) / (w * h)
 *             For a pair with a rotated box all this is computed in binary64, with the
 *             common bounding box of the two upright bounding boxes, and the result is
 *             rounded to binary32.
 * Rescoring   In methods soft and matrix boxes with a score below min_score are filtered.
 *             Scores above FLT_MAX count as FLT_MAX. A box whose new score is below
 *             min_score is suppressed. Kept boxes are in the order of their new scores,
 *             kept_score (of equal ones the lower index first), and keep their corners.
 * Soft        The undecided box with the greatest score so far (of equal ones the lower
 *             index) is next. If a cap is full it is over-cap. Otherwise it is kept, and
 *             the score of each undecided box that it meets becomes score * weight, rounded
 *             once: linear 1 - v if they overlap, gaussian exp (-(v * v) / sigma) if they
 *             intersect, v being their metric. A box is suppressed, by the kept box that
 *             lowered its score, as soon as its score is below min_score.
 * Matrix      All scores are lowered at once. Box i is above box j if it ranks higher by
 *             the original scores and they meet. comp_i is the greatest metric of box i
 *             and a box above it, 0 if there is none. The score of j is multiplied by
 *                 linear    min (1, min ((1 - v_ij) / (1 - comp_i))), without the boxes i
 *                           whose comp_i is 1
 *                 gaussian  exp (-(sigma * max (0, max (v_ij * v_ij - comp_i * comp_i))))
 *             over the boxes i above it that intersect it, v_ij being their metric. Then
 *             boxes below min_score are suppressed, and the others are kept, or over-cap,
 *             in the order of their new scores. suppressed_by is the box i that decided the
 *             factor (of equal ones the highest-ranked); it need not be kept itself. The
 *             threshold has no effect.
 * exp         exp (x) for x <= 0 is 0 if x <= -87.33654, else p * 2^n, each operation
 *             rounded to binary32. Its relative error is below 2^-23.
 *                 n = x * 1.44269504 - 0.5, without its fraction
 *                 r = (x - n * 0.693359375) + n * 2.12194440e-4
 *                 q = ((((1.9875691500e-4 * r + 1.3981999507e-3) * r + 8.3334519073e-3) * r
 *                     + 4.1665795894e-2) * r + 1.6666665459e-1) * r + 5.0000001201e-1
 *                 p = (q * (r * r) + r) + 1
 *
 * The methods that make new boxes
 * -------------------------------
 * Clusters    Methods weighted, merge, greedy-merge and average make one box of each
 *             cluster of boxes. Its best-ranked member is its head, which is kept; the
 *             others are suppressed by it, and never joined to another cluster. kept_score
 *             and kept_box are those of the cluster. The box of a cluster with one member
 *             is that member, with its corners in order. A rotated box takes part as its
 *             upright bounding box, whose corners are computed in binary64, rounded to
 *             binary32 and moved outwards by one number; the boxes of clusters are upright.
 *             All else is computed in binary32, each operation rounded, sums in the order of
 *             joining.
 * Greedy merge  The clusters are those of method hard. Their box is the common bounding
 *             box of the members, their score that of the head.
 * Average     The same with another box: each corner is sum (w * corner) / sum (w) over
 *             the members, the head first, in rank order. w is the member's score, at
 *             least 2^-64 and at most 2^32. Boxes with a score of 0 or less are filtered.
 * Merge       Each box belongs to the cluster of the best-ranked box that ranks above it
 *             and that it overlaps; a box without such a box is the head of a new cluster.
 *             So A and C are in one cluster if both overlap B and B ranks between them. Box
 *             and score are those of greedy merge. Clusters are kept in the order of their
 *             heads; one whose turn comes when a cap is full is over-cap with all members.
 * Weighted    Weighted box fusion as in ensemble-boxes. The score of a box is its score
 *             times the weight of its source, at least 2^-64 and at most 2^32. In the order
 *             of these scores (of equal ones the lower index first) each box joins the
 *             cluster whose fused box it overlaps with the greatest metric (of equal ones
 *             the cluster that began first), or begins a cluster. The fused box of several
 *             members is sum (score * corner) / sum (score). When all boxes have joined, each
 *             cluster gets its fused_score, and they are kept in the order of these (of
 *             equal ones the lower index of the head first); one whose turn comes when a cap
 *             is full is over-cap with all members. Boxes with a score of 0 or less are
 *             filtered; boxes whose source is not in 0..source_count - 1 are invalid.
 *             score_threshold and max_candidates apply to the scores before they are
 *             multiplied.
 * Parents     In all of these, a box does not join a cluster whose head is its parent or
 *             its part. With merge, the boxes that rank above a box and that it overlaps
 *             do not count if they are its parent or part, or in a cluster with such a
 *             head. A parent and its part may both join the cluster of a third box.
 * Classes     Only boxes of one class meet, unless class_agnostic is set; the cluster then
 *             has the class of its head. The threshold is that of the class of the joining
 *             box. Caps count heads.
 */
#ifndef NMSMETHODS_H
#define NMSMETHODS_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NMS_API
#define NMS_API
#endif

/* The methods: what happens to boxes that overlap. v is the metric of a pair of boxes (see
 * nms_metric), t the iou_threshold that applies to it; "overlaps" stands for v > t (v >= t with
 * `inclusive`). Only boxes of one class meet, unless class_agnostic is set, and never a box and
 * its parent. */
typedef enum nms_method {
  /* a kept box suppresses each later box that overlaps it */
  NMS_METHOD_HARD = 0,
  /* a kept box multiplies the score of each box that overlaps it by 1 - v; the box with the best
   * score so far is next */
  NMS_METHOD_SOFT_LINEAR = 1,
  /* the same by exp (-v * v / sigma), whatever the threshold */
  NMS_METHOD_SOFT_GAUSSIAN = 2,
  /* SOLOv2's Matrix NMS: all scores are lowered at once; a box that others overlap lowers less */
  NMS_METHOD_MATRIX_LINEAR = 3,
  /* the same with a gaussian factor */
  NMS_METHOD_MATRIX_GAUSSIAN = 4,
  /* weighted box fusion: boxes that overlap the fused box of a cluster join it */
  NMS_METHOD_WEIGHTED = 5,
  /* boxes that overlap, directly or through boxes that rank between them, become their common
   * bounding box */
  NMS_METHOD_MERGE = 6,
  /* a kept box and the boxes that it suppresses become their common bounding box */
  NMS_METHOD_GREEDY_MERGE = 7,
  /* a kept box and the boxes that it suppresses become their mean, weighted by score */
  NMS_METHOD_AVERAGE = 8
} nms_method;

/* The measure of the overlap of two boxes. Boxes that do not intersect, and boxes without area,
 * never overlap. */
typedef enum nms_metric {
  /* intersection / union */
  NMS_METRIC_IOU = 0,
  /* intersection / area of the smaller box */
  NMS_METRIC_IOS = 1,
  /* IoU less the squared distance of the centres, as a part of the squared diagonal of the
   * common bounding box */
  NMS_METRIC_DIOU = 2,
  /* IoU less the part of the common bounding box that the union leaves */
  NMS_METRIC_GIOU = 3
} nms_metric;

/* How method weighted computes the score of a cluster, in ensemble-boxes's words. n is the number
 * of members, mean the sum of their scores (each multiplied by the weight of its source) divided by
 * n, all the sum of the weights of all sources. Operations are done from left to right, sums over
 * sources by ascending number. */
typedef enum nms_fused_score {
  /* mean * min (n, source_count) / all */
  NMS_FUSED_AVG = 0,
  /* the head's score / the greatest weight of a source */
  NMS_FUSED_MAX = 1,
  /* mean * n / sum of the members' weights * sum of the weights of the sources that have a
   * member / all */
  NMS_FUSED_BOX_AND_MODEL_AVG = 2,
  /* mean * n / (sum of the members' weights + sum of the weights of the sources that have no
   * member) */
  NMS_FUSED_ABSENT_MODEL_AWARE_AVG = 3
} nms_fused_score;

/* Returns "hard", "soft-linear", ...; "iou", ...; "avg", "max", "box-and-model-avg", ...; NULL if
 * the number is unknown. */
NMS_API const char *nms_method_name (int method);
NMS_API const char *nms_metric_name (int metric);
NMS_API const char *nms_fused_score_name (int fused_score);

/* Returns the reason, in one line, for which nms_run refuses this pair of method and metric, or
 * NULL if it takes the pair. The string is static. */
NMS_API const char *nms_method_reason (int method, int metric);

#ifdef __cplusplus
}
#endif

#endif
