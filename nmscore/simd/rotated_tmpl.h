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

/* Rotated boxes: the same one in all lanes, or LANES of the columns. */
typedef struct wide_rotated {
  vf x, y, half_w, half_h, cos, sin, length, thickness, scaled;
} wide_rotated;

INLINE wide_rotated
widen_rotated (const nms__rotated_box *b)
{
  return (wide_rotated) { v_set (b->x), v_set (b->y), v_set (b->half_w), v_set (b->half_h),
    v_set (b->cos), v_set (b->sin), v_set (b->length), v_set (b->thickness), v_set (b->scaled) };
}

INLINE wide_rotated
load_rotated (const nms__rotated_columns *c, size_t i)
{
  return (wide_rotated) { v_load (c->x + i), v_load (c->y + i), v_load (c->half_w + i),
    v_load (c->half_h + i), v_load (c->cos + i), v_load (c->sin + i), v_load (c->length + i),
    v_load (c->thickness + i), v_load (c->scaled + i) };
}

/* Returns the length that the intervals -half..half and centre-reach..centre+reach have in common;
 * negative if they are disjoint. */
INLINE vf
common_length (vf half, vf reach, vf centre)
{
  const vf shorter = v_min (half, reach);
  return v_min (v_add (shorter, shorter), v_sub (v_add (half, reach), centre));
}

/* How boxes a lie relative to box b. */
typedef struct projection {
  vf dx, dy; /* centre less that of b, not turned */
  vf sin;    /* absolute value for the angle between the boxes */
} projection;

/* Returns the distances of the centres across the longer side of `box`, which is a or b. */
INLINE vf
distance_across (const wide_rotated *box, const projection *p)
{
  return v_abs (v_sub (v_mul (p->dy, box->cos), v_mul (p->dx, box->sin)));
}

/* Returns how far `boxes`, which is a or b, reach from their centres across the longer side of the
 * other. */
INLINE vf
reach_across (const wide_rotated *boxes, const projection *p)
{
  return v_add (v_mul (boxes->length, p->sin), boxes->thickness);
}

/* Returns a mask of those of boxes a that are in the mask `present` and whose bounding box and
 * interval across b meet those of b. Sets *p if there are any. */
INLINE uint64_t
project (const wide_rotated *a, uint64_t present, const wide_rotated *b, projection *p)
{
  p->dx = v_sub (a->x, b->x);
  p->dy = v_sub (a->y, b->y);
  vm may = m_and (v_gt (v_add (a->half_w, b->half_w), v_abs (p->dx)),
      v_gt (v_add (a->half_h, b->half_h), v_abs (p->dy)));
  if (!(m_bits (may) & present))
    return 0;
  p->sin = v_abs (v_sub (v_mul (a->sin, b->cos), v_mul (a->cos, b->sin)));
  may = m_and (may, v_gt (v_add (b->thickness, reach_across (a, p)), distance_across (b, p)));
  return m_bits (may) & present;
}

/* Returns an upper bound of the intersections: the product of the lengths that the intervals along
 * and across b have in common; negative or 0 if the boxes do not meet. a and b may be swapped. */
INLINE vf
rectangle (const wide_rotated *a, const wide_rotated *b, const projection *p)
{
  const vf cos = v_abs (v_add (v_mul (a->cos, b->cos), v_mul (a->sin, b->sin)));
  const vf along = v_abs (v_add (v_mul (p->dx, b->cos), v_mul (p->dy, b->sin)));
  const vf reach_along = v_add (v_mul (a->length, cos), v_mul (a->thickness, p->sin));

  return v_mul (common_length (b->thickness, reach_across (a, p), distance_across (b, p)),
      common_length (b->length, reach_along, along));
}

/* Returns a lower bound of the sines. */
INLINE vf
least_sine (const projection *p)
{
  return v_sub (p->sin, v_set (SINE_ERROR));
}

/* Returns the products of the shorter sides. */
INLINE vf
squares (const wide_rotated *a, const wide_rotated *b)
{
  return v_mul (v_mul (v_set (4.0f), b->thickness), a->thickness);
}

/* Returns a lower bound of the determinants over the squares of the longer sides. */
INLINE vf
least_determinant (const projection *p, vf q, vf r)
{
  const vf one = v_set (1.0f), sum = v_add (q, r), sine = v_max (least_sine (p), v_set (0.0f));
  const vf thin = v_mul (v_sub (one, v_mul (q, q)), v_sub (one, v_mul (r, r)));

  return v_add (v_mul (v_mul (sine, sine), thin), v_mul (sum, sum));
}

/* Returns a lower bound of `distance` of nms__probiou over the squares of the longer sides: its two
 * terms across these sides. */
INLINE vf
least_distance (const wide_rotated *a, const wide_rotated *b, const projection *p)
{
  const vf far = v_add (v_add (v_abs (b->x), v_abs (b->y)), v_add (v_abs (p->dx), v_abs (p->dy)));
  const vf error = v_mul (v_set (0x1p-20f), far), zero = v_set (0.0f);
  const vf u = v_div (v_max (v_sub (distance_across (b, p), error), zero), a->length);
  const vf v = v_div (v_max (v_sub (distance_across (a, p), error), zero), b->length);

  return v_mul (v_set (0.25f - 0x1p-20f), v_add (v_mul (u, u), v_mul (v, v)));
}

/* Returns a mask of those of the LANES boxes starting at i that are in the mask `present` and may
 * exceed the limit with b. The others may be uninitialized. */
INLINE uint64_t
rotated_lanes (const nms__rotated_columns *c, size_t i, uint64_t present, const wide_rotated *b,
    int limit)
{
  const wide_rotated a = load_rotated (c, i);
  projection p;
  uint64_t may = project (&a, present, b, &p);

  if (!may)
    return 0;
  if (limit == NMS__BY_SHAPE) {
    const vf least = v_mul (v_set (c->alike * (1.0f - 0x1p-18f)),
        least_determinant (&p, a.scaled, b->scaled));
    return may & m_bits (v_ge (v_mul (v_set (4.0f), v_mul (a.scaled, b->scaled)), least));
  }
  const vf least = limit == NMS__BY_SMALLER ? v_min (a.scaled, b->scaled)
                                            : v_add (a.scaled, b->scaled);
  may &= m_bits (v_gt (squares (&a, b), v_mul (least_sine (&p), least)));
  return may ? may & m_bits (v_gt (rectangle (&a, b, &p), least)) : 0;
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
