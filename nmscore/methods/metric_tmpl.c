/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metric_tmpl: the metric and the sizes of one box and each box of a block, compiled once per
 * instruction set.
 * Each operation is rounded to binary32, in the order that docs/methods.md defines.
 */
#include "box_blocks.h"

#include "nmscore.h"
#include "simd/rotated_tmpl.h"
#include "simd/screen.h"

INLINE vf
square (vf a)
{
  return v_mul (a, a);
}

/* Returns the extents of the common bounding boxes of the box and the boxes starting at i. */
INLINE vf
hull_width (const nms__columns *c, size_t i, const wide *b)
{
  return v_sub (v_max (v_load (c->x2 + i), b->x2), v_min (v_load (c->x1 + i), b->x1));
}

INLINE vf
hull_height (const nms__columns *c, size_t i, const wide *b)
{
  return v_sub (v_max (v_load (c->y2 + i), b->y2), v_min (v_load (c->y1 + i), b->y1));
}

/* Returns the squared distance of the centres over the squared diagonal of the common bounding
 * box. */
INLINE vf
distance_term (const nms__columns *c, size_t i, const wide *b)
{
  const vf half = v_set (0.5f);
  vf dx = v_sub (v_mul (v_add (v_load (c->x1 + i), v_load (c->x2 + i)), half),
      v_mul (v_add (b->x1, b->x2), half));
  vf dy = v_sub (v_mul (v_add (v_load (c->y1 + i), v_load (c->y2 + i)), half),
      v_mul (v_add (b->y1, b->y2), half));
  return v_div (v_add (square (dx), square (dy)),
      v_add (square (hull_width (c, i, b)), square (hull_height (c, i, b))));
}

INLINE vf
metric_lanes (const nms__columns *c, size_t i, const wide *b, vf inter, int metric)
{
  const vf area = v_load (c->scaled + i);

  if (metric == NMS_METRIC_IOS)
    return v_div (inter, v_min (area, b->scaled));
  const vf uni = v_sub (v_add (area, b->scaled), inter), iou = v_div (inter, uni);
  if (metric == NMS_METRIC_DIOU)
    return v_sub (iou, distance_term (c, i, b));
  if (metric == NMS_METRIC_GIOU) {
    const vf hull = v_mul (hull_width (c, i, b), hull_height (c, i, b));
    return v_sub (iou, v_div (v_sub (hull, uni), hull));
  }
  return iou;
}

/* Returns (a - b)^2 / (a^2 + b^2), the square of how much two sides differ, and sets *per to
 * 1 / (a^2 + b^2). */
INLINE vf
difference (vf a, vf b, vf *per)
{
  *per = v_div (v_set (1.0f), v_add (square (a), square (b)));
  return v_mul (square (v_sub (a, b)), *per);
}

/* What bounds ProbIoU. The square a of its Bhattacharyya coefficient is (1 - p) (1 - q) exp (-e),
 * with the differences p and q of the sides and a distance e (nms__probiou). So a is at most
 * alike / s, and 1 - a is at least apart / s. */
typedef struct likeness {
  vf alike; /* upper bounds of (1 - p) (1 - q) */
  vf apart; /* lower bounds of s - (1 - p) (1 - q) */
  vf s;     /* lower bounds of exp (e): (1 + u)^2 with u = e / 2 + e^2 / 8 */
} likeness;

/* Returns the likeness of the box and those starting at i. Neither bound is a difference of two
 * larger numbers: `apart` not if p, q and e are small, `alike` not if p or q is near 1. The corners
 * of boxes that intersect are at most a side apart, so that rounding adds less than 2^-11 of each
 * bound and 2^-29. */
INLINE likeness
likeness_of (const nms__columns *c, size_t i, const wide *b)
{
  const vf x1 = v_load (c->x1 + i), y1 = v_load (c->y1 + i), x2 = v_load (c->x2 + i);
  const vf y2 = v_load (c->y2 + i);
  const vf w = v_sub (x2, x1), h = v_sub (y2, y1);
  const vf other_w = v_sub (b->x2, b->x1), other_h = v_sub (b->y2, b->y1);
  vf per_w, per_h;
  const vf p = difference (w, other_w, &per_w), q = difference (h, other_h, &per_h);
  const vf dx = v_add (v_sub (x1, b->x1), v_sub (x2, b->x2)); /* twice that of the centres */
  const vf dy = v_add (v_sub (y1, b->y1), v_sub (y2, b->y2));
  const vf e = v_mul (v_set (1.5f), v_add (v_mul (square (dx), per_w), v_mul (square (dy), per_h)));
  const vf u = v_mul (e, v_add (v_set (0.5f), v_mul (v_set (0.125f), e)));
  const vf d = v_mul (u, v_add (v_set (2.0f), u));
  const vf product = v_mul (v_mul (v_mul (w, other_w), per_w), v_mul (v_mul (h, other_h), per_h));

  return (likeness) { v_mul (v_set (4.0f + 0x1p-8f), product),
    v_sub (v_mul (v_set (1.0f - 0x1p-10f), v_add (v_sub (v_add (p, q), v_mul (p, q)), d)),
        v_set (0x1p-28f)),
    v_add (v_set (1.0f), d) };
}

/* Compares the intersection with `share` times the sum of both areas, or, for IoS, times the
 * smaller area. Returns the lanes where it is at least as large: only these boxes may exceed the
 * limit. */
INLINE vm
may_exceed (const nms__columns *c, size_t i, const wide *b, vf inter, int metric,
    const nms__pair_bounds *bounds)
{
  const vf area = v_load (c->scaled + i);

  if (metric == NMS_METRIC_PROBIOU) {
    const likeness l = likeness_of (c, i, b);
    return v_ge (v_mul (v_set ((float) (1.0 - bounds->alike)), l.s), l.apart);
  }
  return v_ge (inter,
      v_mul (v_set (bounds->share),
          metric == NMS_METRIC_IOS ? v_min (area, b->scaled) : v_add (area, b->scaled)));
}

INLINE uint64_t
metric_lanes_of_block (const nms__columns *c, size_t first, size_t n, const wide *b, int metric,
    const nms__pair_bounds *bounds, int screens, float *value)
{
  const vf least = v_set (bounds->extent);
  uint64_t hits = 0;

  for (size_t i = 0; i < n; i += LANES) {
    const vf w = width_lanes (c, first + i, b), h = height_lanes (c, first + i, b);
    const vf inter = v_mul (w, h);
    vm hit = m_and (v_gt (w, least), v_gt (h, least));
    if (screens)
      hit = m_and (hit, may_exceed (c, first + i, b, inter, metric, bounds));
    uint64_t bits = m_bits (hit);
    if (!bits)
      continue;
    if (metric == NMS_METRIC_PROBIOU) { /* box_blocks.c computes it */
      hits |= bits << i;
      continue;
    }
    const vf v = metric_lanes (c, first + i, b, inter, metric);
    v_store (value + i, v);
    if (screens && (metric == NMS_METRIC_DIOU || metric == NMS_METRIC_GIOU))
      bits &= m_bits (v_ge (v, v_set (bounds->value)));
    hits |= bits << i;
  }
  return hits;
}

/* Compiles a loop for each metric. */
INLINE uint64_t
metric_lanes_by_metric (const nms__columns *c, size_t first, size_t n, const wide *b,
    const nms__pair_bounds *bounds, int screens, float *value)
{
  switch (bounds->metric) {
    case NMS_METRIC_IOS:
      return metric_lanes_of_block (c, first, n, b, NMS_METRIC_IOS, bounds, screens, value);
    case NMS_METRIC_DIOU:
      return metric_lanes_of_block (c, first, n, b, NMS_METRIC_DIOU, bounds, screens, value);
    case NMS_METRIC_GIOU:
      return metric_lanes_of_block (c, first, n, b, NMS_METRIC_GIOU, bounds, screens, value);
    case NMS_METRIC_PROBIOU:
      return metric_lanes_of_block (c, first, n, b, NMS_METRIC_PROBIOU, bounds, screens, value);
    default:
      return metric_lanes_of_block (c, first, n, b, NMS_METRIC_IOU, bounds, screens, value);
  }
}

static uint64_t
metric_block (const nms__columns *c, size_t first, size_t n, const nms__box *box,
    const nms__pair_bounds *bounds, float *value)
{
  const wide b = widen (box);

  if (n <= NMS__BLOCK / 2)
    return metric_lanes_of_block (c, first, n, &b, bounds->metric, bounds, 0, value);
  return metric_lanes_by_metric (c, first, NMS__BLOCK, &b, bounds, 0, value); /* unrolled */
}

static uint64_t
screened_block (const nms__columns *c, size_t first, size_t n, const nms__box *box,
    const nms__pair_bounds *bounds, float *value)
{
  const wide b = widen (box);
  return metric_lanes_by_metric (c, first, n, &b, bounds, 1, value);
}

static uint64_t
size_block (const nms__columns *c, size_t first, const nms__box *box, float min_size_ratio)
{
  const vf area = v_set (box->scaled), ratio = v_set (min_size_ratio);
  const vf least = v_mul (ratio, area);
  uint64_t bits = 0;

  for (size_t i = 0; i < NMS__BLOCK; i += LANES) {
    const vf other = v_load (c->scaled + first + i);
    bits |= m_bits (m_and (v_ge (other, least), v_ge (area, v_mul (ratio, other)))) << i;
  }
  return bits;
}

/* Returns upper bounds of ProbIoU, which is 1 - r = k / (1 + r) with the Bhattacharyya coefficient
 * k and r = sqrt (1 - k). `most` is larger than k by at least 2^-13 of it, and `least` a lower
 * bound of 1 - k. 1 - r loses the digits of a small ProbIoU, k / (1 + r) those of one near 1. As
 * 1 / (1 + r) is at most 1 - r / 2, no division is needed; 2^-22 is more than all rounding
 * errors. */
INLINE vf
probiou_bound (vf most, vf least)
{
  const vf one = v_set (1.0f), r = v_sqrt (v_max (least, v_set (0.0f)));

  return v_min (v_min (one, v_sub (v_set (1.0f + 0x1p-22f), r)),
      v_mul (most, v_sub (one, v_mul (v_set (0.5f), r))));
}

/* Returns upper bounds of ProbIoU of upright boxes. 1 - k is (1 - k^2) / (1 + k), and 1 / (1 + k)
 * is at least (3 - k) / 4. */
INLINE vf
upright_bound (const likeness *l)
{
  const vf one = v_set (1.0f), per = v_div (one, l->s);
  /* (the sum is above 0 even if the product underflows) */
  const vf most = v_sqrt (v_add (v_mul (l->alike, per), v_set (0x1p-120f)));
  const vf quotient = v_mul (v_set (0.25f), v_sub (v_set (3.0f), most));

  return probiou_bound (most, v_max (v_sub (one, most), v_mul (v_mul (l->apart, per), quotient)));
}

static uint64_t
bound_probiou_block (const nms__columns *c, size_t first, size_t n, const nms__box *box,
    const nms__pair_bounds *bounds, float *value)
{
  const vf least = v_set (bounds->extent);
  const wide b = widen (box);
  uint64_t hits = 0;

  for (size_t i = 0; i < n; i += LANES) {
    const uint64_t bits = m_bits (m_and (v_gt (width_lanes (c, first + i, &b), least),
        v_gt (height_lanes (c, first + i, &b), least)));
    if (!bits)
      continue;
    const likeness l = likeness_of (c, first + i, &b);
    v_store (value + i, upright_bound (&l));
    hits |= bits << i;
  }
  return hits;
}

/* What least_metric computes from an nms__decay once for all boxes. */
typedef struct wide_decay {
  const float *most_of;
  vf most, base, rest;
  int gaussian;
} wide_decay;

INLINE wide_decay
widen_decay (const nms__decay *d)
{
  const vf one = v_set (1.0f), loss = v_set (d->loss);
  const vf base = d->gaussian ? v_sqrt (loss) : v_add (one, loss);
  return (wide_decay) { d->most_of, v_set (d->most), base, v_sub (one, base), d->gaussian };
}

/* Returns the least metrics with which the LANES boxes starting at i may decide the decay, less
 * 2^-20, which is more than rounding adds to a metric and to a loss. */
INLINE vf
least_metric (const wide_decay *d, size_t i)
{
  const vf m = v_load (d->most_of + i);
  const vf lowers = d->gaussian ? v_max (d->base, m) : v_add (d->base, v_mul (d->rest, m));
  return v_max (v_sub (v_min (d->most, lowers), v_set (0x1p-20f)), v_set (0.0f));
}

/* At lesser sines, the parallelogram in which two strips cross contains more than a box. */
#define LEAST_SINE 0x1p-20f

/* Does what bound_rotated_block does for one metric. */
INLINE uint64_t
bound_rotated_by (const nms__rotated_columns *c, size_t first, size_t n,
    const nms__rotated_box *box, const nms__decay *decay, float *value, int metric)
{
  const wide_rotated b = widen_rotated (box);
  const wide_decay d = widen_decay (decay);
  uint64_t hits = 0;

  for (size_t i = 0; i < n; i += LANES) {
    const wide_rotated a = load_rotated (c, first + i);
    projection p;
    uint64_t may = project (&a, UINT64_MAX, &b, &p);
    if (!may)
      continue;
    const vf least = least_metric (&d, first + i);
    if (metric == NMS_METRIC_PROBIOU) {
      /* The square of the Bhattacharyya coefficient is product / det * exp (-2 * far / det), and
       * exp (-x) is at most 1 / (1 + x). If det is not known, product * det / (det + far)^2 is
       * greatest at far. */
      const vf product = v_mul (v_set (4.0f), v_mul (a.scaled, b.scaled));
      const vf alike = v_mul (least, v_sub (v_set (2.0f - 0x1p-14f), least));
      const vf determinant = least_determinant (&p, a.scaled, b.scaled);
      may &= m_bits (v_ge (product, v_mul (square (alike), determinant)));
      if (!may)
        continue;
      const vf far = v_min (v_mul (v_set (3.0f), least_distance (&a, &b, &p)), v_set (0x1p60f));
      const vf det = v_max (determinant, far);
      const vf above = v_mul (product, det), below = square (v_add (det, far));
      may &= m_bits (v_ge (above, v_mul (square (alike), below)));
      const vf most = v_sqrt (v_mul (v_div (above, below), v_set (1.0f + 0x1p-12f)));
      v_store (value + i, probiou_bound (most, v_sub (v_set (1.0f), most)));
    } else {
      /* A metric is at least `least` if the intersection times `times` is at least `share`. */
      const int ios = metric == NMS_METRIC_IOS;
      const vf areas = ios ? v_min (a.scaled, b.scaled) : v_add (a.scaled, b.scaled);
      const vf times = ios ? v_set (1.0f) : v_add (v_set (1.0f), least);
      const vf share = v_mul (v_mul (least, v_set (1.0f - 0x1p-14f)), areas);
      const vf crossing = squares (&a, &b);
      may &= m_bits (v_ge (v_mul (times, crossing), v_mul (share, least_sine (&p))));
      if (!may)
        continue;
      const vf most = v_min (rectangle (&a, &b, &p), rectangle (&b, &a, &p));
      may &= m_bits (m_and (v_gt (most, v_set (0.0f)), v_ge (v_mul (times, most), share)));
      /* All areas times the sine, because a division takes long. A shorter side is more than
       * LEAST_SINE times the longer one (nms__rotated_box_of), so that the lesser sines do not
       * matter. */
      const vf sine = v_max (least_sine (&p), v_set (LEAST_SINE));
      const vf lesser = v_mul (v_min (a.scaled, b.scaled), sine);
      const vf inter = v_min (v_min (v_mul (most, sine), crossing), lesser);
      const vf whole = ios ? lesser : v_sub (v_mul (areas, sine), inter);
      const vf bound = v_mul (v_div (inter, whole), v_set (1.0f + 0x1p-16f));
      v_store (value + i,
          v_min (v_set (1.0f),
              v_add (bound, v_set (0x1p-24f)))); /* more than subnormal numbers are rounded by */
    }
    hits |= may << i;
  }
  return hits;
}

static uint64_t
bound_rotated_block (const nms__rotated_columns *c, size_t first, size_t n,
    const nms__rotated_box *box, int metric, const nms__decay *decay, float *value)
{
  switch (metric) {
    case NMS_METRIC_IOS:
      return bound_rotated_by (c, first, n, box, decay, value, NMS_METRIC_IOS);
    case NMS_METRIC_PROBIOU:
      return bound_rotated_by (c, first, n, box, decay, value, NMS_METRIC_PROBIOU);
    default:
      return bound_rotated_by (c, first, n, box, decay, value, NMS_METRIC_IOU);
  }
}

static uint64_t
decay_block (const float *value, size_t first, size_t n, const nms__decay *d)
{
  const vf one = v_set (1.0f), most = v_set (d->most);
  uint64_t hits = 0;

  for (size_t i = 0; i < n; i += LANES) {
    const vf v = v_load (value + i), m = v_load (d->most_of + first + i);
    const vf left = v_mul (v_set (-d->loss * (1.0f + 0x1p-20f)), v_sub (one, m));
    const vf squares = v_mul (v_set (1.0f - 0x1p-20f), v_add (v_set (d->loss), square (m)));
    const vm lowers = d->gaussian ? v_ge (square (v), squares)
                                  : m_and (v_gt (one, m), v_ge (left, v_sub (one, v)));
    hits |= (m_bits (v_gt (v, most)) | m_bits (lowers)) << i;
  }
  return hits;
}

const nms__method_kernels CONCAT (nms__method_kernels_, ISA) = { metric_block, screened_block,
  size_block, bound_probiou_block, bound_rotated_block, decay_block };
