/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * box4: four boxes in one cache line, and the test of these four against one box. Four
 * boxes are about what one query needs of a cell and the next one, and one vector of
 * SSE2 and of NEON, which every x86-64 and AArch64 processor has. Wider vectors would
 * test boxes of several cells at once, most of them in vain.
 */
#ifndef NMS_BOX4_H
#define NMS_BOX4_H

#include "geometry/overlap.h"
#include "simd/lanes.h"

#define NMS__BOX4 4

#if NMS__BOX4 % LANES
#error "a vector is larger than NMS__BOX4: do not include this file in a *_tmpl.c"
#endif

typedef struct nms__box4 {
  _Alignas(64) float x1[NMS__BOX4];
  float y1[NMS__BOX4], x2[NMS__BOX4], y2[NMS__BOX4];
} nms__box4;

/* One box and its scaled area (overlap.h), each value in all lanes. */
typedef struct nms__wide_box {
  _Alignas(16) float x1[NMS__BOX4];
  float y1[NMS__BOX4], x2[NMS__BOX4], y2[NMS__BOX4], scaled[NMS__BOX4];
} nms__wide_box;

INLINE vf
nms__box4_width (const nms__box4 *q, size_t i, const nms__wide_box *b)
{
  return v_sub (v_min (v_load_aligned (q->x2 + i), v_load_aligned (b->x2)),
      v_max (v_load_aligned (q->x1 + i), v_load_aligned (b->x1)));
}

INLINE vf
nms__box4_height (const nms__box4 *q, size_t i, const nms__wide_box *b)
{
  return v_sub (v_min (v_load_aligned (q->y2 + i), v_load_aligned (b->y2)),
      v_max (v_load_aligned (q->y1 + i), v_load_aligned (b->y1)));
}

/* Returns the sums of both boxes' scaled areas. `factor` is that of nms__bounds. */
INLINE vf
nms__box4_scaled_sum (const nms__box4 *q, size_t i, const nms__wide_box *b, float factor)
{
  vf area = v_mul (v_sub (v_load_aligned (q->x2 + i), v_load_aligned (q->x1 + i)),
      v_sub (v_load_aligned (q->y2 + i), v_load_aligned (q->y1 + i)));
  return v_add (v_mul (v_set (factor), area), v_load_aligned (b->scaled));
}

/* Returns which of the four boxes may exceed the limit with the one box: bit i for
 * box i. */
INLINE unsigned
nms__box4_may (const nms__box4 *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  unsigned bits = 0;

  for (size_t i = 0; i < NMS__BOX4; i += LANES) {
    /* one of two negative extents becomes 0, so that their product is not positive */
    vf inter = v_mul (v_max (nms__box4_width (q, i, b), v_set (0.0f)), nms__box4_height (q, i, b));
    bits |= (unsigned) m_bits (v_gt (inter, nms__box4_scaled_sum (q, i, b, bounds->factor))) << i;
  }
  return bits;
}

/* Returns which of the four boxes certainly exceed the limit with box `b`. */
INLINE unsigned
nms__box4_surely (const nms__box4 *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  const vf least = v_set (NMS__LEAST_EXTENT);
  unsigned bits = 0;

  for (size_t i = 0; i < NMS__BOX4; i += LANES) {
    vf w = nms__box4_width (q, i, b), h = nms__box4_height (q, i, b);
    vf bound = v_max (v_set (bounds->least),
        v_mul (v_set (bounds->certain), nms__box4_scaled_sum (q, i, b, bounds->factor)));
    vm over = m_and (v_gt (v_mul (w, h), bound), m_and (v_gt (w, least), v_gt (h, least)));
    bits |= (unsigned) m_bits (over) << i;
  }
  return bits;
}

/* Returns which of four class ids equal `class_id`. */
INLINE unsigned
nms__box4_of_class (const int32_t *class_ids, int32_t class_id)
{
  return (unsigned) (class_ids[0] == class_id) | (unsigned) (class_ids[1] == class_id) << 1
      | (unsigned) (class_ids[2] == class_id) << 2 | (unsigned) (class_ids[3] == class_id) << 3;
}

#endif
