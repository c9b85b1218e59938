/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsmethods: the methods and metrics of nms_options. nmscore.h includes this file and defines the
 * words used here. docs/methods.md defines the result of each method to the bit.
 *
 * Methods soft and matrix lower scores: a box whose new score is below min_score is suppressed, and
 * kept boxes are in the order of their new scores. Methods weighted, merge, greedy-merge and
 * average make one box of each cluster of boxes; its best-ranked member is kept with the new box
 * and score, the others are suppressed by it. Caps count clusters. The new box has the angle of
 * that member: with merge and greedy-merge it is the least rectangle in this direction around all
 * members, with weighted and average the mean of their centres and of their extents, by score.
 *
 * soft       Bodla et al. 2017, "Soft-NMS"
 * matrix     Wang et al. 2020, "SOLOv2"
 * weighted   Solovyev et al. 2021, "Weighted boxes fusion", as ensemble-boxes computes it
 * merge, greedy-merge  the NMM and GREEDYNMM of SAHI
 * probiou    Llerena et al. 2021, "Gaussian Bounding Boxes and Probabilistic
 *            Intersection-over-Union", as Ultralytics's models of rotated boxes use it
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
 * `inclusive`). Only boxes of one class are compared, unless class_agnostic is set, and a box is
 * never compared with its parent.
 *
 *     X (NAME, number, family, by_score, changes, "name", "one line for user interfaces")
 *
 * NMS_METHOD_<NAME> is the number. With by_score 1 a method computes with the scores of the
 * boxes, with 0 it uses their order only. `changes` has the outputs that a method changes for kept
 * boxes: bits NMS_OUTPUT_SCORE and NMS_OUTPUT_BOX. The family names the file that computes it. */
#define NMS_METHOD_LIST(X) \
  /* a kept box suppresses each later box that overlaps it */ \
  X (HARD, 0, hard, 0, 0, "hard", "Drop each box that overlaps a better one too much") \
  /* a kept box multiplies the score of each box that overlaps it by 1 - v; the box with the best \
   * score so far is next */ \
  X (SOFT_LINEAR, 1, soft, 1, NMS_OUTPUT_SCORE, "soft-linear", \
      "Lower the scores of boxes that overlap a better one too much, times 1 - overlap") \
  /* like soft-linear, but multiplies by exp (-v * v / sigma), whatever the threshold is */ \
  X (SOFT_GAUSSIAN, 2, soft, 1, NMS_OUTPUT_SCORE, "soft-gaussian", \
      "Lower the scores of all boxes that overlap a better one, times exp (-overlap^2 / sigma)") \
  /* SOLOv2's Matrix NMS: all scores are lowered at once, less by boxes that are lowered too */ \
  X (MATRIX_LINEAR, 3, matrix, 1, NMS_OUTPUT_SCORE, "matrix-linear", \
      "Lower all scores at once, less by boxes that are overlapped themselves (Matrix NMS, " \
      "linear kernel)") \
  /* Matrix NMS with a gaussian factor */ \
  X (MATRIX_GAUSSIAN, 4, matrix, 1, NMS_OUTPUT_SCORE, "matrix-gaussian", \
      "As matrix-linear with the kernel exp (-sigma * overlap^2)") \
  /* weighted box fusion: boxes that overlap the fused box of a cluster join it */ \
  X (WEIGHTED, 5, weighted, 1, NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX, "weighted", \
      "Replace overlapping boxes with their mean by score, and their scores with fused-score " \
      "(weighted box fusion)") \
  /* boxes that overlap, directly or through boxes that rank between them, become their common \
   * bounding box */ \
  X (MERGE, 6, merge, 0, NMS_OUTPUT_BOX, "merge", \
      "Replace boxes that overlap, directly or through others, with the box around them") \
  /* a kept box and the boxes that it suppresses become their common bounding box */ \
  X (GREEDY_MERGE, 7, merge, 0, NMS_OUTPUT_BOX, "greedy-merge", \
      "Replace a kept box and those that overlap it with the box around them") \
  /* a kept box and the boxes that it suppresses become their mean, weighted by score */ \
  X (AVERAGE, 8, merge, 1, NMS_OUTPUT_BOX, "average", \
      "Replace a kept box and those that overlap it with their mean by score, and keep the best " \
      "score")

#define NMS__ENUM(constant, number, family, by_score, changes, name, text) \
  NMS_METHOD_##constant = number,
typedef enum nms_method {
  NMS_METHOD_LIST (NMS__ENUM) NMS__METHOD_LEAST = NMS_METHOD_HARD
} nms_method;
#undef NMS__ENUM

/* The measures of the overlap of two boxes. Boxes that do not intersect, and boxes without area,
 * never overlap.
 *
 *     X (NAME, number, "name", "one line for user interfaces") */
#define NMS_METRIC_LIST(X) \
  /* intersection / union */ \
  X (IOU, 0, "iou", "Intersection over union") \
  /* intersection / area of the smaller box */ \
  X (IOS, 1, "ios", "Intersection over the area of the smaller box") \
  /* IoU minus the squared distance of the centres divided by the squared diagonal of the common \
   * bounding box */ \
  X (DIOU, 2, "diou", "IoU, less for distant centres; method hard only") \
  /* IoU minus the part of the common bounding box that the union does not cover */ \
  X (GIOU, 3, "giou", "IoU, less for the empty part of the common bounding box; method hard only") \
  /* 1 minus the Hellinger distance of two normal distributions, with the boxes' centres and \
   * variances of w^2 / 12 and h^2 / 12 along their sides. 0 for boxes that do not intersect, \
   * whose exact value is at most 0.1248 */ \
  X (PROBIOU, 4, "probiou", \
      "Probabilistic IoU: the boxes as normal distributions, for rotated boxes")

#define NMS__ENUM(constant, number, name, text) NMS_METRIC_##constant = number,
typedef enum nms_metric {
  NMS_METRIC_LIST (NMS__ENUM) NMS__METRIC_LEAST = NMS_METRIC_IOU
} nms_metric;
#undef NMS__ENUM

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
