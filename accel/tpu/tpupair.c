/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpupair: prints the overlap test (tpupair.h; tpuspec.h has the numbers of a
 * limit).
 *
 * Why the differences are exact as long as the sign is open: let m be in
 * [2^e, 2^(e+1)) and the scaled union in [1, 2), because another power of two scales
 * all numbers alike. high is a multiple of 2^(e-11) and a of 2^-11; |low| <= 2^(e-12)
 * and a multiple of 2^(e-24); |b| <= 2^-12 and a multiple of 2^-23. If the first
 * difference is below 2^-10 of the product, it is exact (its operands are within a
 * factor of two); otherwise the sign is certain, because the other three products
 * add up to half of that. The second difference is a multiple of 2^(e-34): it is exact
 * below 2^(e-10), otherwise the sign is certain. The third is a multiple of 2^(e-35):
 * it is exact below 2^(e-11), otherwise the sign is certain. The last one has the sign
 * of the exact difference, because rounding keeps signs, and is 0 or at least
 * 2^(e-47). Unions are in 2^-100..2^123 and e in -25..0, so the least product is above
 * 2^-109.
 */
#include "tpupair.h"

#include "accel/lazy/boxrules.h"

nms__value
nms__tpu_area (nms__tpu *m, const nms__tpu_box *box)
{
  return nms__tpu_op (m, "arith.mulf", nms__tpu_op (m, "arith.subf", box->x2, box->x1),
      nms__tpu_op (m, "arith.subf", box->y2, box->y1));
}

static nms__value
common (nms__tpu *m, nms__value a1, nms__value a2, nms__value b1, nms__value b2)
{
  nms__value high = nms__tpu_op (m, "arith.minimumf", a2, b2);
  nms__value low = nms__tpu_op (m, "arith.maximumf", a1, b1);

  return nms__tpu_op (m, "arith.subf", high, low);
}

/* Prints a - b * c. */
static nms__value
less_product (nms__tpu *m, nms__value a, nms__value b, nms__value c)
{
  return nms__tpu_op (m, "arith.subf", a, nms__tpu_op (m, "arith.mulf", b, c));
}

nms__value
nms__tpu_exceeds (nms__tpu *m, const nms__tpu_box *a, const nms__tpu_box *b,
    const nms__tpu_limit *limit)
{
  nms__value width = common (m, a->x1, a->x2, b->x1, b->x2);
  nms__value height = common (m, a->y1, a->y2, b->y1, b->y2);
  nms__value inter = nms__tpu_op (m, "arith.mulf", width, height);
  nms__value uni = nms__tpu_op (m, "arith.subf", nms__tpu_op (m, "arith.addf", a->area, b->area),
      inter);
  /* boxes do not overlap if their common extent is 2^-50 or less */
  nms__value least = nms__tpu_f32 (m, inter.rows, inter.cols, NMS__LEAST_EXTENT);
  nms__value overlaps = nms__tpu_compare (m, "ogt",
      nms__tpu_op (m, "arith.minimumf", width, height), least);

  /* a power of two with which no product below under- or overflows */
  nms__value small = nms__tpu_compare (m, "olt", uni, nms__tpu_f32 (m, uni.rows, uni.cols, 1.0f));
  nms__value scale = nms__tpu_select (m, small, nms__tpu_f32 (m, uni.rows, uni.cols, 0x1p64f),
      nms__tpu_f32 (m, uni.rows, uni.cols, 0x1p-32f));
  nms__value scaled = nms__tpu_op (m, "arith.mulf", uni, scale);

  /* Veltkamp's split: the nearest number of 12 bits, and the remainder */
  nms__value wide = nms__tpu_op (m, "arith.mulf", scaled,
      nms__tpu_f32 (m, uni.rows, uni.cols, 4097.0f));
  nms__value first = nms__tpu_op (m, "arith.subf", wide,
      nms__tpu_op (m, "arith.subf", wide, scaled));
  nms__value second = nms__tpu_op (m, "arith.subf", scaled, first);

  nms__value d = nms__tpu_op (m, "arith.mulf", nms__tpu_op (m, "arith.mulf", inter, limit->gain),
      scale);
  d = less_product (m, d, limit->high, first);
  d = less_product (m, d, limit->high, second);
  d = less_product (m, d, limit->low, first);
  d = less_product (m, d, limit->low, second);
  nms__value beyond = nms__tpu_compare (m, "ogt", d, nms__tpu_f32 (m, d.rows, d.cols, 0.0f));
  return nms__tpu_op (m, "arith.andi", overlaps, beyond);
}

nms__value
nms__tpu_unrelated (nms__tpu *m, const nms__tpu_relation *a, const nms__tpu_relation *b)
{
  nms__value not_part = nms__tpu_compare (m, "ne", a->parent, b->index);
  nms__value not_parent = nms__tpu_compare (m, "ne", a->index, b->parent);

  return nms__tpu_op (m, "arith.andi", not_part, not_parent);
}
