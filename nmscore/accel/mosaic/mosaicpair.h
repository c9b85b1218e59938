/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaicpair: the overlap test of a TPU kernel, exact to the bit.
 *
 * A TPU has no binary64 and its division is not known to round correctly. So a
 * quotient is not formed: whether inter / uni, rounded, lies beyond the
 * threshold is whether inter > m * uni, where m is the midpoint of overlap.h,
 * of 25 bits, and that is decided with binary32 alone. With s a power of two,
 * and m = high + low, uni * s = a + b each split in two halves of at most 12
 * bits, all four products are exact, and so is, as long as the sign is not yet
 * certain, each difference of
 *
 *     d = inter * s - high * a - high * b - low * a - low * b
 *
 * so that d has the sign of the exact value. A compiler may contract these into
 * fused operations without changing anything. inter is never m * uni but for
 * threshold 0, which does not exceed then: m times anything has 25 bits or more.
 */
#ifndef NMS_MOSAICPAIR_H
#define NMS_MOSAICPAIR_H

#include "mosaictext.h"

/* Boxes of one shape. */
typedef struct nms__mosaic_box {
  nms__value x1, y1, x2, y2, area;
} nms__mosaic_box;

/* The midpoint as nms_mosaic_limit () has it. */
typedef struct nms__mosaic_limit {
  nms__value high, low, gain;
} nms__mosaic_limit;

/* Width times height. An extent of 2^-50 or less needs no care here: such a box
 * meets no other. */
nms__value nms__mosaic_area (nms__mosaic *m, const nms__mosaic_box *box);

/* Where the overlap of `a` and `b` exceeds the limit: I1. All of one shape. */
nms__value nms__mosaic_exceeds (nms__mosaic *m, const nms__mosaic_box *a, const nms__mosaic_box *b,
    const nms__mosaic_limit *limit);

#endif
