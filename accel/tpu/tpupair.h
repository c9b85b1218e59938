/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpupair: prints the overlap test of a TPU kernel, exact to the bit.
 *
 * A TPU has no binary64, and its division is not known to round correctly. So the test
 * forms no quotient: inter / uni, rounded, exceeds the threshold if inter > m * uni,
 * where m is the midpoint of overlap.h, which has 25 bits. This is decided in binary32.
 * Let s be a power of two, and split m = high + low and uni * s = a + b in two halves
 * of at most 12 bits each. Then all four products in
 *
 *     d = inter * s - high * a - high * b - low * a - low * b
 *
 * are exact, and each difference is exact as long as the sign is not certain, so that d
 * has the sign of the exact value. A compiler may contract products and differences
 * without changing that sign. inter equals m * uni only at threshold 0, where it does
 * not exceed it, because any multiple of m has 25 bits or more.
 */
#ifndef NMS_TPUPAIR_H
#define NMS_TPUPAIR_H

#include "tputext.h"

/* Boxes of one shape. */
typedef struct nms__tpu_box {
  nms__value x1, y1, x2, y2, area;
} nms__tpu_box;

/* The numbers of nms__tpu_threshold_limit (). */
typedef struct nms__tpu_limit {
  nms__value high, low, gain;
} nms__tpu_limit;

/* Prints width times height. An extent of 2^-50 or less is not set to 0, because such a
 * box overlaps no other. */
nms__value nms__tpu_area (nms__tpu *m, const nms__tpu_box *box);

/* Prints the test whether the overlap of `a` and `b` exceeds the limit; the result is an
 * I1. All values have one shape. */
nms__value nms__tpu_exceeds (nms__tpu *m, const nms__tpu_box *a, const nms__tpu_box *b,
    const nms__tpu_limit *limit);

/* Boxes of one shape, by their indices and those of their parents. */
typedef struct nms__tpu_relation {
  nms__value index, parent;
} nms__tpu_relation;

/* Prints the test that neither `a` nor `b` is the parent of the other; the result is an I1. */
nms__value nms__tpu_unrelated (nms__tpu *m, const nms__tpu_relation *a, const nms__tpu_relation *b);

#endif
