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
 * so that d has the sign of the exact value (or is 0 where that is). A compiler
 * may contract these into fused operations without changing anything.
 */
#ifndef NMS_MOSAICPAIR_H
#define NMS_MOSAICPAIR_H

#include "mosaictext.h"

/* Boxes of one shape; `area` as nmscore.h defines it. */
typedef struct nms__mosaic_box {
  nms__value x1, y1, x2, y2, area;
} nms__mosaic_box;

/* The midpoint as nms_mosaic_limit () has it: high, low, gain, tie. */
typedef struct nms__mosaic_limit {
  nms__value high, low, gain, tie;
} nms__mosaic_limit;

/* An extent as the rules count it: 0 where it is 2^-50 or less. */
nms__value nms__mosaic_extent (nms__mosaic *m, nms__value low, nms__value high);

/* Where the overlap of `a` and `b` exceeds the limit: I1. All of one shape. */
nms__value nms__mosaic_exceeds (nms__mosaic *m, const nms__mosaic_box *a, const nms__mosaic_box *b,
    const nms__mosaic_limit *limit);

#endif
