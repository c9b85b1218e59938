/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quad: four boxes in one cache line, and the test of four against one. Four
 * is what a cell and its neighbour hold of interest, and what the baseline of
 * x86-64 and of AArch64 handles at once; wider vectors would need several
 * cells. The plain version is for other machines, and gives the same bits.
 */
#ifndef NMS_QUAD_H
#define NMS_QUAD_H

#include "overlap.h"

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

/* The one box, in every lane, with its share (overlap.h). */
typedef struct nms__wide_box {
  _Alignas (16) float x1[NMS__QUAD];
  float y1[NMS__QUAD], x2[NMS__QUAD], y2[NMS__QUAD], share[NMS__QUAD];
} nms__wide_box;

/* nms__quad_may: which boxes of a quad may exceed the limit with the box: bit
 * i for box i. nms__quad_surely: which surely do. */
#if defined(__SSE2__)

static inline __m128
nms__quad_width (const nms__quad *q, const nms__wide_box *b)
{
  return _mm_sub_ps (_mm_min_ps (_mm_load_ps (q->x2), _mm_load_ps (b->x2)),
      _mm_max_ps (_mm_load_ps (q->x1), _mm_load_ps (b->x1)));
}

static inline __m128
nms__quad_height (const nms__quad *q, const nms__wide_box *b)
{
  return _mm_sub_ps (_mm_min_ps (_mm_load_ps (q->y2), _mm_load_ps (b->y2)),
      _mm_max_ps (_mm_load_ps (q->y1), _mm_load_ps (b->y1)));
}

static inline __m128
nms__quad_shares (const nms__quad *q, const nms__wide_box *b, float factor)
{
  __m128 area = _mm_mul_ps (_mm_sub_ps (_mm_load_ps (q->x2), _mm_load_ps (q->x1)),
      _mm_sub_ps (_mm_load_ps (q->y2), _mm_load_ps (q->y1)));
  return _mm_add_ps (_mm_mul_ps (_mm_set1_ps (factor), area), _mm_load_ps (b->share));
}

static inline unsigned
nms__quad_may (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  /* lifting one negative extent keeps the product from becoming positive */
  __m128 inter = _mm_mul_ps (_mm_max_ps (nms__quad_width (q, b), _mm_setzero_ps ()),
      nms__quad_height (q, b));
  return (unsigned) _mm_movemask_ps (_mm_cmpgt_ps (inter,
      nms__quad_shares (q, b, bounds->factor)));
}

static inline unsigned
nms__quad_surely (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  const __m128 least = _mm_set1_ps (NMS__LEAST_EXTENT);
  __m128 w = nms__quad_width (q, b), h = nms__quad_height (q, b);
  __m128 bound = _mm_max_ps (_mm_set1_ps (bounds->least),
      _mm_mul_ps (_mm_set1_ps (bounds->certain), nms__quad_shares (q, b, bounds->factor)));
  return (unsigned) _mm_movemask_ps (_mm_and_ps (_mm_cmpgt_ps (_mm_mul_ps (w, h), bound),
      _mm_and_ps (_mm_cmpgt_ps (w, least), _mm_cmpgt_ps (h, least))));
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

static inline unsigned
nms__quad_bits (uint32x4_t mask)
{
  const uint32x4_t weight = { 1, 2, 4, 8 };
  return vaddvq_u32 (vandq_u32 (mask, weight));
}

static inline float32x4_t
nms__quad_width (const nms__quad *q, const nms__wide_box *b)
{
  return vsubq_f32 (vminq_f32 (vld1q_f32 (q->x2), vld1q_f32 (b->x2)),
      vmaxq_f32 (vld1q_f32 (q->x1), vld1q_f32 (b->x1)));
}

static inline float32x4_t
nms__quad_height (const nms__quad *q, const nms__wide_box *b)
{
  return vsubq_f32 (vminq_f32 (vld1q_f32 (q->y2), vld1q_f32 (b->y2)),
      vmaxq_f32 (vld1q_f32 (q->y1), vld1q_f32 (b->y1)));
}

static inline float32x4_t
nms__quad_shares (const nms__quad *q, const nms__wide_box *b, float factor)
{
  float32x4_t area = vmulq_f32 (vsubq_f32 (vld1q_f32 (q->x2), vld1q_f32 (q->x1)),
      vsubq_f32 (vld1q_f32 (q->y2), vld1q_f32 (q->y1)));
  return vaddq_f32 (vmulq_n_f32 (area, factor), vld1q_f32 (b->share));
}

static inline unsigned
nms__quad_may (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  /* lifting one negative extent keeps the product from becoming positive */
  float32x4_t inter = vmulq_f32 (vmaxq_f32 (nms__quad_width (q, b), vdupq_n_f32 (0.0f)),
      nms__quad_height (q, b));
  return nms__quad_bits (vcgtq_f32 (inter, nms__quad_shares (q, b, bounds->factor)));
}

static inline unsigned
nms__quad_surely (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  const float32x4_t least = vdupq_n_f32 (NMS__LEAST_EXTENT);
  float32x4_t w = nms__quad_width (q, b), h = nms__quad_height (q, b);
  float32x4_t bound = vmaxq_f32 (vdupq_n_f32 (bounds->least),
      vmulq_n_f32 (nms__quad_shares (q, b, bounds->factor), bounds->certain));
  return nms__quad_bits (vandq_u32 (vcgtq_f32 (vmulq_f32 (w, h), bound),
      vandq_u32 (vcgtq_f32 (w, least), vcgtq_f32 (h, least))));
}

#else

static inline float
nms__lane_shares (const nms__quad *q, int i, const nms__wide_box *b, float factor)
{
  return factor * nms__area (q->x1[i], q->y1[i], q->x2[i], q->y2[i]) + b->share[0];
}

static inline float
nms__lane_inter (const nms__quad *q, int i, const nms__wide_box *b)
{
  return nms__inter (q->x1[i], q->y1[i], q->x2[i], q->y2[i], b->x1[0], b->y1[0], b->x2[0],
      b->y2[0]);
}

static inline unsigned
nms__quad_may (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  unsigned bits = 0;
  for (int i = 0; i < NMS__QUAD; i++)
    bits |= (unsigned) (nms__lane_inter (q, i, b) > nms__lane_shares (q, i, b, bounds->factor))
        << i;
  return bits;
}

static inline unsigned
nms__quad_surely (const nms__quad *q, const nms__wide_box *b, const nms__bounds *bounds)
{
  unsigned bits = 0;
  for (int i = 0; i < NMS__QUAD; i++) {
    float inter = nms__lane_inter (q, i, b);
    bits |= (unsigned) (inter > bounds->least
        && inter > bounds->certain * nms__lane_shares (q, i, b, bounds->factor)) << i;
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

#endif
