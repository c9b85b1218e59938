/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaicpair: prints the overlap test of a TPU kernel, exact to the bit.
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
#ifndef NMS_MOSAICPAIR_H
#define NMS_MOSAICPAIR_H

#include "mosaictext.h"

/* Boxes of one shape. */
typedef struct nms__mosaic_box {
  nms__value x1, y1, x2, y2, area;
} nms__mosaic_box;

/* The numbers of nms__mosaic_threshold_limit (). */
typedef struct nms__mosaic_limit {
  nms__value high, low, gain;
} nms__mosaic_limit;

/* Prints width times height. An extent of 2^-50 or less is not set to 0, because such a
 * box overlaps no other. */
nms__value nms__mosaic_area (nms__mosaic *m, const nms__mosaic_box *box);

/* Prints the test whether the overlap of `a` and `b` exceeds the limit; the result is an
 * I1. All values have one shape. */
nms__value nms__mosaic_exceeds (nms__mosaic *m, const nms__mosaic_box *a, const nms__mosaic_box *b,
    const nms__mosaic_limit *limit);

/* Boxes of one shape, by their indices and those of their parents. */
typedef struct nms__mosaic_relation {
  nms__value index, parent;
} nms__mosaic_relation;

/* Prints the test that neither `a` nor `b` is the parent of the other; the result is an I1. */
nms__value nms__mosaic_unrelated (nms__mosaic *m, const nms__mosaic_relation *a,
    const nms__mosaic_relation *b);

#endif
