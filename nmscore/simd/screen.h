/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * screen: the screen of one box against a vector of boxes, for files that are compiled once per
 * instruction set; and the name of that set.
 */
#ifndef NMS_SCREEN_H
#define NMS_SCREEN_H

#include "lanes.h"

#include "geometry/overlap.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_ (a, b)

#define STRING_(a) #a
#define STRING(a) STRING_ (a)

/* meson.build defines NMS__ISA, the name of an instruction set without quotes. */
#define ISA NMS__ISA
#define ISA_NAME STRING (ISA)

/* One box, each value in all lanes. */
typedef struct wide {
  vf x1, y1, x2, y2, scaled, zero;
  int32_t class_id;
} wide;

INLINE wide
widen (const nms__box *b)
{
  return (wide) { v_set (b->x1), v_set (b->y1), v_set (b->x2), v_set (b->y2), v_set (b->scaled),
    v_set (0.0f), b->class_id };
}

INLINE vf
width_lanes (const nms__columns *c, size_t i, const wide *b)
{
  return v_sub (v_min (v_load (c->x2 + i), b->x2), v_max (v_load (c->x1 + i), b->x1));
}

INLINE vf
height_lanes (const nms__columns *c, size_t i, const wide *b)
{
  return v_sub (v_min (v_load (c->y2 + i), b->y2), v_max (v_load (c->y1 + i), b->y1));
}

/* Returns which of the LANES boxes starting at i may exceed the limit. Raising one of two
 * negative extents to 0 suffices to keep their product from being positive. */
INLINE vm
screen_lanes (const nms__columns *c, size_t i, const wide *b, int by_class)
{
  vf inter = v_mul (v_max (width_lanes (c, i, b), b->zero), height_lanes (c, i, b));
  vm hit = v_gt (inter, v_add (v_load (c->scaled + i), b->scaled));
  return by_class ? m_and (hit, v_class_is (c->class_id + i, b->class_id)) : hit;
}

/* Returns which of the LANES boxes starting at i certainly exceed every limit. Does not compare
 * class ids. */
INLINE vm
certain_lanes (const nms__columns *c, size_t i, const wide *b, const nms__bounds *bounds)
{
  const vf least = v_set (NMS__LEAST_EXTENT);
  vf w = width_lanes (c, i, b), h = height_lanes (c, i, b);
  vf scaled_sum = v_add (v_load (c->scaled + i), b->scaled);
  vf bound = v_max (v_mul (v_set (bounds->certain), scaled_sum), v_set (bounds->least));
  return m_and (m_and (v_gt (w, least), v_gt (h, least)), v_gt (v_mul (w, h), bound));
}

#endif
