/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quad: four boxes in one cache line, and the test of four against one. Four
 * is what a cell and its neighbour hold of interest, and what the baseline of
 * x86-64 and of AArch64 handles at once; wider vectors would need several
 * cells. The plain version is for other machines, and gives the same bits.
 */
#ifndef NMS_QUAD_H
#define NMS_QUAD_H

#include "../overlap.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define NMS__QUAD 4

typedef struct nms__quad {
  _Alignas (64) float x1[NMS__QUAD];
  float y1[NMS__QUAD], x2[NMS__QUAD], y2[NMS__QUAD];
} nms__quad;

/* The one box, in every lane. */
typedef struct nms__wide_box {
  _Alignas (16) float x1[NMS__QUAD];
  float y1[NMS__QUAD], x2[NMS__QUAD], y2[NMS__QUAD], area[NMS__QUAD];
} nms__wide_box;

/* nms__test_quad: for which boxes of a quad the intersection with the box is
 * more than `bound` times the union: bit i for box i. */

#if defined(__SSE2__)

static inline unsigned
nms__test_quad (const nms__quad *q, const nms__wide_box *b, float bound)
{
  const __m128 x1 = _mm_load_ps (q->x1), y1 = _mm_load_ps (q->y1);
  const __m128 x2 = _mm_load_ps (q->x2), y2 = _mm_load_ps (q->y2);
  const __m128 least = _mm_set1_ps (NMS__LEAST_EXTENT);
  const __m128 w = _mm_sub_ps (_mm_min_ps (x2, _mm_load_ps (b->x2)),
      _mm_max_ps (x1, _mm_load_ps (b->x1)));
  const __m128 h = _mm_sub_ps (_mm_min_ps (y2, _mm_load_ps (b->y2)),
      _mm_max_ps (y1, _mm_load_ps (b->y1)));
  const __m128 inter = _mm_mul_ps (w, h);
  const __m128 area = _mm_mul_ps (_mm_sub_ps (x2, x1), _mm_sub_ps (y2, y1));
  const __m128 uni = _mm_sub_ps (_mm_add_ps (area, _mm_load_ps (b->area)), inter);
  const __m128 more = _mm_cmpgt_ps (inter, _mm_mul_ps (_mm_set1_ps (bound), uni));
  /* both extents: negative ones would make a positive product */
  const __m128 meet = _mm_and_ps (_mm_cmpgt_ps (w, least), _mm_cmpgt_ps (h, least));
  return (unsigned) _mm_movemask_ps (_mm_and_ps (more, meet));
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

static inline unsigned
nms__test_quad (const nms__quad *q, const nms__wide_box *b, float bound)
{
  const float32x4_t x1 = vld1q_f32 (q->x1), y1 = vld1q_f32 (q->y1);
  const float32x4_t x2 = vld1q_f32 (q->x2), y2 = vld1q_f32 (q->y2);
  const float32x4_t least = vdupq_n_f32 (NMS__LEAST_EXTENT);
  const float32x4_t w = vsubq_f32 (vminq_f32 (x2, vld1q_f32 (b->x2)),
      vmaxq_f32 (x1, vld1q_f32 (b->x1)));
  const float32x4_t h = vsubq_f32 (vminq_f32 (y2, vld1q_f32 (b->y2)),
      vmaxq_f32 (y1, vld1q_f32 (b->y1)));
  const float32x4_t inter = vmulq_f32 (w, h);
  const float32x4_t area = vmulq_f32 (vsubq_f32 (x2, x1), vsubq_f32 (y2, y1));
  const float32x4_t uni = vsubq_f32 (vaddq_f32 (area, vld1q_f32 (b->area)), inter);
  const uint32x4_t more = vcgtq_f32 (inter, vmulq_n_f32 (uni, bound));
  const uint32x4_t meet = vandq_u32 (vcgtq_f32 (w, least), vcgtq_f32 (h, least));
  const uint32x4_t weight = { 1, 2, 4, 8 };
  return vaddvq_u32 (vandq_u32 (vandq_u32 (more, meet), weight));
}

#else

static inline unsigned
nms__test_quad (const nms__quad *q, const nms__wide_box *b, float bound)
{
  unsigned bits = 0;

  for (int i = 0; i < NMS__QUAD; i++) {
    float inter = nms__inter (q->x1[i], q->y1[i], q->x2[i], q->y2[i], b->x1[0], b->y1[0],
        b->x2[0], b->y2[0]);
    float area = (q->x2[i] - q->x1[i]) * (q->y2[i] - q->y1[i]);
    float uni = (area + b->area[0]) - inter;
    bits |= (unsigned) (inter > bound * uni) << i;
  }
  return bits;
}

#endif

/* Which of four groups are `group`. */
static inline unsigned
nms__test_groups (const int32_t *groups, int32_t group)
{
  return (unsigned) (groups[0] == group) | (unsigned) (groups[1] == group) << 1
      | (unsigned) (groups[2] == group) << 2 | (unsigned) (groups[3] == group) << 3;
}

static inline void
nms__widen_box (const nms__quad *q, unsigned lane, nms__wide_box *b)
{
  const float x1 = q->x1[lane], y1 = q->y1[lane], x2 = q->x2[lane], y2 = q->y2[lane];
  const float area = (x2 - x1) * (y2 - y1);

  for (int i = 0; i < NMS__QUAD; i++) {
    b->x1[i] = x1;
    b->y1[i] = y1;
    b->x2[i] = x2;
    b->y2[i] = y2;
    b->area[i] = area;
  }
}

#endif
