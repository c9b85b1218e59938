/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsmethods: the methods and metrics of nms_options. nmscore.h includes this file and defines the
 * words used here. docs/methods.md defines the result of each method to the bit.
 *
 * Methods soft and matrix lower scores: a box whose new score is below min_score is suppressed, and
 * kept boxes are in the order of their new scores. Methods weighted, merge, greedy-merge and
 * average make one upright box of each cluster of boxes; its best-ranked member is kept with the
 * new box and score, the others are suppressed by it. Caps count clusters.
 *
 * soft       Bodla et al. 2017, "Soft-NMS"
 * matrix     Wang et al. 2020, "SOLOv2"
 * weighted   Solovyev et al. 2021, "Weighted boxes fusion", as ensemble-boxes computes it
 * merge, greedy-merge  the NMM and GREEDYNMM of SAHI
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
