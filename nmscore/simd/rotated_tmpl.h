/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated_tmpl: the screen of pairs of rotated boxes, and the areas that bound them. Only
 * kernels_tmpl.c and metric_tmpl.c include it.
 *
 * Pairs whose upright bounding boxes are disjoint are excluded first. The others are projected to
 * two axes, along the longer side of box b and across it; each box has an interval on each axis.
 * The intersection is empty if the intervals on an axis are disjoint. Its area is at most the
 * product of the lengths that the intervals have in common on the two axes. It is also at most
 * the area of the parallelogram in which the strips along both longer sides cross: the product of
 * both shorter sides, divided by the sine of the angle between the boxes.
 *
 * For ProbIoU the shapes are compared instead of the areas. Divided by the squares of both longer
 * sides, the determinant of nms__probiou is at least s^2 (1 - q^2) (1 - r^2) + (q + r)^2, and the
 * product of all four sides is q r, where q and r are the shorter side of each box divided by the
 * longer one and s is the sine of the angle between the boxes.
 */
#ifndef NMS_ROTATED_TMPL_H
#define NMS_ROTATED_TMPL_H

#include "screen.h"

#include "geometry/rotated_screen.h"

/* An upper bound of the rounding error of a sine that is computed from two directions. */
#define SINE_ERROR 0x1p-20f

typedef struct wide_rotated {
  vf x, y, half_w, half_h, cos, sin, length, thickness, scaled;
} wide_rotated;

INLINE wide_rotated
widen_rotated (const nms__rotated_box *b)
{
  return (wide_rotated) { v_set (b->x), v_set (b->y), v_set (b->half_w), v_set (b->half_h),
    v_set (b->cos), v_set (b->sin), v_set (b->length), v_set (b->thickness), v_set (b->scaled) };
}

/* Returns the length that the intervals -half..half and centre-reach..centre+reach have in common;
 * negative if they are disjoint. */
INLINE vf
common_length (vf half, vf reach, vf centre)
{
  const vf shorter = v_min (half, reach);
  return v_min (v_add (shorter, shorter), v_sub (v_add (half, reach), centre));
}

/* Where the LANES boxes starting at i lie in the coordinates of box b. */
typedef struct projection {
  vf dx, dy;               /* centre less that of b, not turned */
  vf sin;                  /* absolute value for the angle between the boxes */
  vf across, reach_across; /* the interval across b */
} projection;

/* Returns a mask of those of the LANES boxes starting at i that are in the mask `present` and whose
 * bounding box and interval across b meet those of b. Sets *p if there are any. */
INLINE uint64_t
project_lanes (const nms__rotated_columns *c, size_t i, uint64_t present, const wide_rotated *b,
    projection *p)
{
  p->dx = v_sub (v_load (c->x + i), b->x);
  p->dy = v_sub (v_load (c->y + i), b->y);
  vm may = m_and (v_gt (v_add (v_load (c->half_w + i), b->half_w), v_abs (p->dx)),
      v_gt (v_add (v_load (c->half_h + i), b->half_h), v_abs (p->dy)));
  if (!(m_bits (may) & present))
    return 0;
  p->sin = v_abs (v_sub (v_mul (v_load (c->sin + i), b->cos), v_mul (v_load (c->cos + i), b->sin)));
  p->across = v_abs (v_sub (v_mul (p->dy, b->cos), v_mul (p->dx, b->sin)));
  p->reach_across = v_add (v_mul (v_load (c->length + i), p->sin), v_load (c->thickness + i));
  return m_bits (m_and (may, v_gt (v_add (b->thickness, p->reach_across), p->across))) & present;
}

/* Returns an upper bound of the intersections: the product of the lengths in common; negative or 0
 * if the boxes do not meet. */
INLINE vf
rectangle_lanes (const nms__rotated_columns *c, size_t i, const wide_rotated *b,
    const projection *p)
{
  const vf cos = v_abs (
      v_add (v_mul (v_load (c->cos + i), b->cos), v_mul (v_load (c->sin + i), b->sin)));
  const vf along = v_abs (v_add (v_mul (p->dx, b->cos), v_mul (p->dy, b->sin)));
  const vf reach_along = v_add (v_mul (v_load (c->length + i), cos),
      v_mul (v_load (c->thickness + i), p->sin));

  return v_mul (common_length (b->thickness, p->reach_across, p->across),
      common_length (b->length, reach_along, along));
}

/* Returns a lower bound of the sines. */
INLINE vf
least_sine (const projection *p)
{
  return v_sub (p->sin, v_set (SINE_ERROR));
}

/* Returns the products of the shorter side of b and those of the LANES boxes starting at i. */
INLINE vf
squares_lanes (const nms__rotated_columns *c, size_t i, const wide_rotated *b)
{
  return v_mul (v_mul (v_set (4.0f), b->thickness), v_load (c->thickness + i));
}

/* Returns a lower bound of the determinants over the squares of the longer sides. */
INLINE vf
determinant_lanes (const projection *p, vf q, vf r)
{
  const vf one = v_set (1.0f), sum = v_add (q, r), sine = v_max (least_sine (p), v_set (0.0f));
  const vf thin = v_mul (v_sub (one, v_mul (q, q)), v_sub (one, v_mul (r, r)));

  return v_add (v_mul (v_mul (sine, sine), thin), v_mul (sum, sum));
}

/* Returns a mask of those of the LANES boxes starting at i that are in the mask `present` and may
 * exceed the limit with b. The others may be uninitialized. */
INLINE uint64_t
rotated_lanes (const nms__rotated_columns *c, size_t i, uint64_t present, const wide_rotated *b,
    int limit)
{
  const vf other = v_load (c->scaled + i);
  projection p;
  uint64_t may = project_lanes (c, i, present, b, &p);

  if (!may)
    return 0;
  if (limit == NMS__BY_SHAPE) {
    const vf least = v_mul (v_set (c->alike * (1.0f - 0x1p-18f)),
        determinant_lanes (&p, other, b->scaled));
    return may & m_bits (v_ge (v_mul (v_set (4.0f), v_mul (other, b->scaled)), least));
  }
  const vf least = limit == NMS__BY_SMALLER ? v_min (other, b->scaled) : v_add (other, b->scaled);
  may &= m_bits (v_gt (squares_lanes (c, i, b), v_mul (least_sine (&p), least)));
  return may ? may & m_bits (v_gt (rectangle_lanes (c, i, b, &p), least)) : 0;
}

INLINE size_t
find_rotated_by (const nms__rotated_columns *c, size_t first, size_t end,
    const nms__rotated_box *box, uint64_t *mask, int limit)
{
  const wide_rotated b = widen_rotated (box);

  for (size_t i = first; i < end; i += LANES) {
    const uint64_t present = end - i < LANES ? ((uint64_t) 1 << (end - i)) - 1 : UINT64_MAX;
    const uint64_t bits = rotated_lanes (c, i, present, &b, limit);
    if (bits) {
      *mask = bits;
      return i;
    }
  }
  return end;
}

INLINE size_t
find_rotated (const nms__rotated_columns *c, size_t first, size_t end, const nms__rotated_box *box,
    uint64_t *mask)
{
  switch (c->limit) {
    case NMS__BY_SMALLER:
      return find_rotated_by (c, first, end, box, mask, NMS__BY_SMALLER);
    case NMS__BY_SHAPE:
      return find_rotated_by (c, first, end, box, mask, NMS__BY_SHAPE);
    default:
      return find_rotated_by (c, first, end, box, mask, NMS__BY_SUM);
  }
}

#endif
