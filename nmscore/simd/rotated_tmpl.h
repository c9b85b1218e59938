/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated_tmpl: the screen of pairs of rotated boxes. Only kernels_tmpl.c includes it.
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

/* Returns the length that the intervals -half..half and centre-reach..centre+reach have in common;
 * negative if they are disjoint. */
INLINE vf
common_length (vf half, vf reach, vf centre)
{
  const vf shorter = v_min (half, reach);
  return v_min (v_add (shorter, shorter), v_sub (v_add (half, reach), centre));
}

/* Returns the lanes where the square of the Bhattacharyya coefficient may reach `alike`. */
INLINE vm
may_have_alike_shapes (vf turn_sin, vf q, vf r, float alike)
{
  const vf one = v_set (1.0f), sum = v_add (q, r);
  const vf sine = v_max (v_sub (turn_sin, v_set (SINE_ERROR)), v_set (0.0f));
  const vf thin = v_mul (v_sub (one, v_mul (q, q)), v_sub (one, v_mul (r, r)));
  const vf det = v_add (v_mul (v_mul (sine, sine), thin), v_mul (sum, sum));

  return v_ge (v_mul (v_set (4.0f), v_mul (q, r)), v_mul (v_set (alike * (1.0f - 0x1p-18f)), det));
}

/* Returns a mask of those of the LANES boxes starting at i that are in the mask `present` and may
 * exceed the limit with b. The others may be uninitialized. */
INLINE uint64_t
rotated_lanes (const nms__rotated_columns *c, size_t i, uint64_t present, const wide_rotated *b,
    int limit)
{
  const vf dx = v_sub (v_load (c->x + i), b->x), dy = v_sub (v_load (c->y + i), b->y);
  vm may = m_and (v_gt (v_add (v_load (c->half_w + i), b->half_w), v_abs (dx)),
      v_gt (v_add (v_load (c->half_h + i), b->half_h), v_abs (dy)));
  if (!(m_bits (may) & present))
    return 0;

  const vf cos = v_load (c->cos + i), sin = v_load (c->sin + i);
  const vf length = v_load (c->length + i), thickness = v_load (c->thickness + i);
  const vf turn_sin = v_abs (v_sub (v_mul (sin, b->cos), v_mul (cos, b->sin)));
  const vf across = v_abs (v_sub (v_mul (dy, b->cos), v_mul (dx, b->sin)));
  const vf reach_across = v_add (v_mul (length, turn_sin), thickness);
  may = m_and (may, v_gt (v_add (b->thickness, reach_across), across));
  if (!(m_bits (may) & present))
    return 0;

  const vf other = v_load (c->scaled + i);
  if (limit == NMS__BY_SHAPE)
    return m_bits (m_and (may, may_have_alike_shapes (turn_sin, other, b->scaled, c->alike)))
        & present;

  const vf squares = v_mul (v_set (4.0f), v_mul (b->thickness, thickness));
  const vf least = limit == NMS__BY_SMALLER ? v_min (other, b->scaled) : v_add (other, b->scaled);
  may = m_and (may, v_gt (squares, v_mul (v_sub (turn_sin, v_set (SINE_ERROR)), least)));
  if (!(m_bits (may) & present))
    return 0;

  const vf turn_cos = v_abs (v_add (v_mul (cos, b->cos), v_mul (sin, b->sin)));
  const vf along = v_abs (v_add (v_mul (dx, b->cos), v_mul (dy, b->sin)));
  const vf reach_along = v_add (v_mul (length, turn_cos), v_mul (thickness, turn_sin));
  const vf rectangle = v_mul (common_length (b->thickness, reach_across, across),
      common_length (b->length, reach_along, along));
  return m_bits (m_and (may, v_gt (rectangle, least))) & present;
}

INLINE size_t
find_rotated_by (const nms__rotated_columns *c, size_t first, size_t end,
    const nms__rotated_box *box, uint64_t *mask, int limit)
{
  const wide_rotated b = { v_set (box->x), v_set (box->y), v_set (box->half_w), v_set (box->half_h),
    v_set (box->cos), v_set (box->sin), v_set (box->length), v_set (box->thickness),
    v_set (box->scaled) };

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

static size_t
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
