/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes: the vectors of one instruction set, under names that are the same for all sets.
 * No other file has vector intrinsics. The *_tmpl.c files include it; they are compiled
 * once per instruction set, with one NMS__ISA_... defined. In any other file it has the
 * vectors that the compiler uses without flags: SSE2, NEON or none. All functions are
 * static inline, because of several copies of one function the linker keeps any, and a
 * copy compiled for AVX-512 must not run on an older processor.
 *
 *   LANES           floats in a vector
 *   vf, vm          floats; the mask that a comparison gives
 *   v_load          loads from any address; v_load_aligned from a multiple of the
 *                   vector's size
 *   m_bits          a number with bit i set if lane i of the mask is
 *   m_and_ngt       the lanes of a mask in which not a > b
 *   v_mul_sub       a * b - c, with one rounding or two: for screening only
 *   v_where         a where the mask is set, else b; i_where the same for integers
 *   vi, i_...       as many int32_t; i_count_gt adds 1 where a > b
 *   i_squeeze       moves the lanes of `keep` to the front of `to`; may write a whole
 *                   vector
 *
 * rows_to_columns and partition_keys are described where they are defined. An
 * instruction set may lack i_squeeze and partition_keys: HAVE_SQUEEZE and
 * HAVE_PARTITION_KEYS tell which it has.
 */
#ifndef NMS_LANES_H
#define NMS_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__ ((always_inline, unused))

#ifndef NMS__ISA
#if defined(__SSE2__)
#define NMS__ISA_sse2
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define NMS__ISA_neon
#else
#define NMS__ISA_scalar
#endif
#endif

/* ---------------------------------------------------------------- AVX-512 */
#if defined(NMS__ISA_avx512)
#include <immintrin.h>
#define LANES 16
typedef __m512 vf;
typedef __mmask16 vm;

INLINE vf v_load (const float *p) { return _mm512_loadu_ps (p); }
INLINE vf v_load_aligned (const float *p) { return _mm512_load_ps (p); }
INLINE vf v_set (float a) { return _mm512_set1_ps (a); }
INLINE vf v_min (vf a, vf b) { return _mm512_min_ps (a, b); }
INLINE vf v_max (vf a, vf b) { return _mm512_max_ps (a, b); }
INLINE vf v_abs (vf a) { return _mm512_abs_ps (a); }
INLINE vf v_add (vf a, vf b) { return _mm512_add_ps (a, b); }
INLINE vf v_sub (vf a, vf b) { return _mm512_sub_ps (a, b); }
INLINE vf v_mul (vf a, vf b) { return _mm512_mul_ps (a, b); }
INLINE vf v_div (vf a, vf b) { return _mm512_div_ps (a, b); }
INLINE vf v_sqrt (vf a) { return _mm512_sqrt_ps (a); }
INLINE vf v_mul_sub (vf a, vf b, vf c) { return _mm512_fmsub_ps (a, b, c); }
INLINE vm v_gt (vf a, vf b) { return _mm512_cmp_ps_mask (a, b, _CMP_GT_OQ); }
INLINE vm v_ge (vf a, vf b) { return _mm512_cmp_ps_mask (a, b, _CMP_GE_OQ); }
INLINE vm v_ordered (vf a, vf b) { return _mm512_cmp_ps_mask (a, b, _CMP_ORD_Q); }
INLINE void v_store (float *p, vf a) { _mm512_storeu_ps (p, a); }
INLINE vm m_and (vm a, vm b) { return a & b; }
INLINE uint64_t m_bits (vm a) { return a; }
INLINE vm m_and_ngt (vm m, vf a, vf b) { return _mm512_mask_cmp_ps_mask (m, a, b, _CMP_NGT_UQ); }
INLINE vm
v_class_is (const int32_t *p, int32_t class_id)
{
  return _mm512_cmpeq_epi32_mask (_mm512_loadu_si512 (p), _mm512_set1_epi32 (class_id));
}

typedef __m512i vi;
INLINE vi i_load (const int32_t *p) { return _mm512_loadu_si512 (p); }
INLINE vi i_set (int32_t a) { return _mm512_set1_epi32 (a); }
INLINE void i_store (int32_t *p, vi a) { _mm512_storeu_si512 (p, a); }
INLINE vi i_sub (vi a, vi b) { return _mm512_sub_epi32 (a, b); }
INLINE vi i_max (vi a, vi b) { return _mm512_max_epi32 (a, b); }
INLINE vm i_gt (vi a, vi b) { return _mm512_cmpgt_epi32_mask (a, b); }
INLINE vf v_where (vm m, vf a, vf b) { return _mm512_mask_blend_ps (m, b, a); }
INLINE vi i_where (vm m, vi a, vi b) { return _mm512_mask_blend_epi32 (m, b, a); }
INLINE vi
i_count_gt (vi count, vi a, vi b)
{
  return _mm512_mask_sub_epi32 (count, _mm512_cmpgt_epi32_mask (a, b), count, i_set (-1));
}

/* Transposes LANES packed rows of four floats to four columns. */
INLINE void
rows_to_columns (const char *rows, float *c0, float *c1, float *c2, float *c3)
{
  const __m512i even
      = _mm512_setr_epi32 (0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  const __m512i odd
      = _mm512_setr_epi32 (2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
  __m512 a = _mm512_loadu_ps (rows), b = _mm512_loadu_ps (rows + 64);
  __m512 c = _mm512_loadu_ps (rows + 128), d = _mm512_loadu_ps (rows + 192);
  __m512 ab01 = _mm512_permutex2var_ps (a, even, b), cd01 = _mm512_permutex2var_ps (c, even, d);
  __m512 ab23 = _mm512_permutex2var_ps (a, odd, b), cd23 = _mm512_permutex2var_ps (c, odd, d);
  _mm512_storeu_ps (c0, _mm512_shuffle_f32x4 (ab01, cd01, 0x44));
  _mm512_storeu_ps (c1, _mm512_shuffle_f32x4 (ab01, cd01, 0xee));
  _mm512_storeu_ps (c2, _mm512_shuffle_f32x4 (ab23, cd23, 0x44));
  _mm512_storeu_ps (c3, _mm512_shuffle_f32x4 (ab23, cd23, 0xee));
}

#define HAVE_SQUEEZE
INLINE void
i_squeeze (void *to, vi a, unsigned keep)
{
  _mm512_storeu_si512 (to, _mm512_maskz_compress_epi32 ((__mmask16) keep, a));
}

/* Writes those of eight keys that are at least `pivot` to `top` and the others to `rest`.
 * Returns the number of keys in `top`. May write eight keys to both. */
#define HAVE_SPLIT_KEYS
INLINE size_t
split_keys (const uint64_t *from, uint64_t pivot, uint64_t *top, uint64_t *rest)
{
  __m512i v = _mm512_loadu_si512 (from);
  __mmask8 high = _mm512_cmpge_epu64_mask (v, _mm512_set1_epi64 ((long long) pivot));
  _mm512_storeu_si512 (top, _mm512_maskz_compress_epi64 (high, v));
  _mm512_storeu_si512 (rest, _mm512_maskz_compress_epi64 ((__mmask8) ~high, v));
  /* Keeps the byte in a general register, because GCC 12 under ThreadSanitizer stores one byte
   * of the mask and counts the bits of four. */
  uint8_t bits = high;
  __asm__ ("" : "+r" (bits));
  return (size_t) __builtin_popcount (bits);
}

/* ------------------------------------------------------------------- AVX2 */
#elif defined(NMS__ISA_avx2)
#include <immintrin.h>
#define LANES 8
typedef __m256 vf;
typedef __m256 vm;

INLINE vf v_load (const float *p) { return _mm256_loadu_ps (p); }
INLINE vf v_load_aligned (const float *p) { return _mm256_load_ps (p); }
INLINE vf v_set (float a) { return _mm256_set1_ps (a); }
INLINE vf v_min (vf a, vf b) { return _mm256_min_ps (a, b); }
INLINE vf v_max (vf a, vf b) { return _mm256_max_ps (a, b); }
INLINE vf v_abs (vf a) { return _mm256_andnot_ps (_mm256_set1_ps (-0.0f), a); }
INLINE vf v_add (vf a, vf b) { return _mm256_add_ps (a, b); }
INLINE vf v_sub (vf a, vf b) { return _mm256_sub_ps (a, b); }
INLINE vf v_mul (vf a, vf b) { return _mm256_mul_ps (a, b); }
INLINE vf v_div (vf a, vf b) { return _mm256_div_ps (a, b); }
INLINE vf v_sqrt (vf a) { return _mm256_sqrt_ps (a); }
INLINE vf v_mul_sub (vf a, vf b, vf c) { return _mm256_sub_ps (_mm256_mul_ps (a, b), c); }
INLINE vm v_gt (vf a, vf b) { return _mm256_cmp_ps (a, b, _CMP_GT_OQ); }
INLINE vm v_ge (vf a, vf b) { return _mm256_cmp_ps (a, b, _CMP_GE_OQ); }
INLINE vm v_ordered (vf a, vf b) { return _mm256_cmp_ps (a, b, _CMP_ORD_Q); }
INLINE void v_store (float *p, vf a) { _mm256_storeu_ps (p, a); }
INLINE vm m_and (vm a, vm b) { return _mm256_and_ps (a, b); }
INLINE vm m_and_ngt (vm m, vf a, vf b) { return _mm256_andnot_ps (v_gt (a, b), m); }
INLINE uint64_t m_bits (vm a) { return (uint32_t) _mm256_movemask_ps (a); }
INLINE vm
v_class_is (const int32_t *p, int32_t class_id)
{
  return _mm256_castsi256_ps (_mm256_cmpeq_epi32 (_mm256_loadu_si256 ((const __m256i *) p),
      _mm256_set1_epi32 (class_id)));
}

typedef __m256i vi;
INLINE vi i_load (const int32_t *p) { return _mm256_loadu_si256 ((const __m256i *) p); }
INLINE vi i_set (int32_t a) { return _mm256_set1_epi32 (a); }
INLINE void i_store (int32_t *p, vi a) { _mm256_storeu_si256 ((__m256i *) p, a); }
INLINE vi i_sub (vi a, vi b) { return _mm256_sub_epi32 (a, b); }
INLINE vi i_max (vi a, vi b) { return _mm256_max_epi32 (a, b); }
INLINE vm i_gt (vi a, vi b) { return _mm256_castsi256_ps (_mm256_cmpgt_epi32 (a, b)); }
INLINE vf v_where (vm m, vf a, vf b) { return _mm256_blendv_ps (b, a, m); }
INLINE vi
i_where (vm m, vi a, vi b)
{
  return _mm256_blendv_epi8 (b, a, _mm256_castps_si256 (m));
}
INLINE vi
i_count_gt (vi count, vi a, vi b)
{
  return _mm256_sub_epi32 (count, _mm256_cmpgt_epi32 (a, b));
}

INLINE __m256
load_halves (const float *low, const float *high)
{
  return _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (low)), _mm_loadu_ps (high), 1);
}

INLINE void
rows_to_columns (const char *rows, float *c0, float *c1, float *c2, float *c3)
{
  const float *r = (const float *) rows;
  /* rows 0 and 4, 1 and 5, ... in the two halves */
  __m256 a = load_halves (r, r + 16);
  __m256 b = load_halves (r + 4, r + 20);
  __m256 c = load_halves (r + 8, r + 24);
  __m256 d = load_halves (r + 12, r + 28);
  __m256 ab_low = _mm256_unpacklo_ps (a, b), ab_high = _mm256_unpackhi_ps (a, b);
  __m256 cd_low = _mm256_unpacklo_ps (c, d), cd_high = _mm256_unpackhi_ps (c, d);
  _mm256_storeu_ps (c0, _mm256_shuffle_ps (ab_low, cd_low, 0x44));
  _mm256_storeu_ps (c1, _mm256_shuffle_ps (ab_low, cd_low, 0xee));
  _mm256_storeu_ps (c2, _mm256_shuffle_ps (ab_high, cd_high, 0x44));
  _mm256_storeu_ps (c3, _mm256_shuffle_ps (ab_high, cd_high, 0xee));
}

/* Returns the indices of the bits that are set in the eight of `keep`, a byte each. */
INLINE __m256i
squeeze_order (unsigned keep)
{
  uint64_t bytes = _pdep_u64 (keep, 0x0101010101010101u) * 0xff;
  uint64_t order = _pext_u64 (0x0706050403020100u, bytes);
  return _mm256_cvtepu8_epi32 (_mm_cvtsi64_si128 ((long long) order));
}

#define HAVE_SQUEEZE
INLINE void
i_squeeze (void *to, vi a, unsigned keep)
{
  _mm256_storeu_si256 (to, _mm256_permutevar8x32_epi32 (a, squeeze_order (keep)));
}

/* ------------------------------------------------------------------- SSE2 */
#elif defined(NMS__ISA_sse2)
#include <emmintrin.h>
#define LANES 4
typedef __m128 vf;
typedef __m128 vm;

INLINE vf v_load (const float *p) { return _mm_loadu_ps (p); }
INLINE vf v_load_aligned (const float *p) { return _mm_load_ps (p); }
INLINE vf v_set (float a) { return _mm_set1_ps (a); }
INLINE vf v_min (vf a, vf b) { return _mm_min_ps (a, b); }
INLINE vf v_max (vf a, vf b) { return _mm_max_ps (a, b); }
INLINE vf v_abs (vf a) { return _mm_andnot_ps (_mm_set1_ps (-0.0f), a); }
INLINE vf v_add (vf a, vf b) { return _mm_add_ps (a, b); }
INLINE vf v_sub (vf a, vf b) { return _mm_sub_ps (a, b); }
INLINE vf v_mul (vf a, vf b) { return _mm_mul_ps (a, b); }
INLINE vf v_div (vf a, vf b) { return _mm_div_ps (a, b); }
INLINE vf v_sqrt (vf a) { return _mm_sqrt_ps (a); }
INLINE vf v_mul_sub (vf a, vf b, vf c) { return _mm_sub_ps (_mm_mul_ps (a, b), c); }
INLINE vm v_gt (vf a, vf b) { return _mm_cmpgt_ps (a, b); }
INLINE vm v_ge (vf a, vf b) { return _mm_cmpge_ps (a, b); }
INLINE vm v_ordered (vf a, vf b) { return _mm_cmpord_ps (a, b); }
INLINE void v_store (float *p, vf a) { _mm_storeu_ps (p, a); }
INLINE vm m_and (vm a, vm b) { return _mm_and_ps (a, b); }
INLINE vm m_and_ngt (vm m, vf a, vf b) { return _mm_andnot_ps (v_gt (a, b), m); }
INLINE uint64_t m_bits (vm a) { return (uint32_t) _mm_movemask_ps (a); }
INLINE vm
v_class_is (const int32_t *p, int32_t class_id)
{
  return _mm_castsi128_ps (_mm_cmpeq_epi32 (_mm_loadu_si128 ((const __m128i *) p),
      _mm_set1_epi32 (class_id)));
}

typedef __m128i vi;
INLINE vi i_load (const int32_t *p) { return _mm_loadu_si128 ((const __m128i *) p); }
INLINE vi i_set (int32_t a) { return _mm_set1_epi32 (a); }
INLINE void i_store (int32_t *p, vi a) { _mm_storeu_si128 ((__m128i *) p, a); }
INLINE vi i_sub (vi a, vi b) { return _mm_sub_epi32 (a, b); }
INLINE vm i_gt (vi a, vi b) { return _mm_castsi128_ps (_mm_cmpgt_epi32 (a, b)); }
INLINE vf
v_where (vm m, vf a, vf b)
{
  return _mm_or_ps (_mm_and_ps (m, a), _mm_andnot_ps (m, b));
}
INLINE vi
i_where (vm m, vi a, vi b)
{
  return _mm_castps_si128 (v_where (m, _mm_castsi128_ps (a), _mm_castsi128_ps (b)));
}
INLINE vi i_max (vi a, vi b) { return i_where (i_gt (a, b), a, b); }
INLINE vi
i_count_gt (vi count, vi a, vi b)
{
  return _mm_sub_epi32 (count, _mm_cmpgt_epi32 (a, b));
}

INLINE void
rows_to_columns (const char *rows, float *c0, float *c1, float *c2, float *c3)
{
  const float *r = (const float *) rows;
  __m128 a = _mm_loadu_ps (r), b = _mm_loadu_ps (r + 4);
  __m128 c = _mm_loadu_ps (r + 8), d = _mm_loadu_ps (r + 12);
  _MM_TRANSPOSE4_PS (a, b, c, d);
  _mm_storeu_ps (c0, a);
  _mm_storeu_ps (c1, b);
  _mm_storeu_ps (c2, c);
  _mm_storeu_ps (c3, d);
}

/* ------------------------------------------------------------ AArch64 NEON */
#elif defined(NMS__ISA_neon)
#include <arm_neon.h>
#define LANES 4
typedef float32x4_t vf;
typedef uint32x4_t vm;

INLINE vf v_load (const float *p) { return vld1q_f32 (p); }
INLINE vf v_load_aligned (const float *p) { return vld1q_f32 (p); }
INLINE vf v_set (float a) { return vdupq_n_f32 (a); }
INLINE vf v_min (vf a, vf b) { return vminq_f32 (a, b); }
INLINE vf v_max (vf a, vf b) { return vmaxq_f32 (a, b); }
INLINE vf v_abs (vf a) { return vabsq_f32 (a); }
INLINE vf v_add (vf a, vf b) { return vaddq_f32 (a, b); }
INLINE vf v_sub (vf a, vf b) { return vsubq_f32 (a, b); }
INLINE vf v_mul (vf a, vf b) { return vmulq_f32 (a, b); }
INLINE vf v_div (vf a, vf b) { return vdivq_f32 (a, b); }
INLINE vf v_sqrt (vf a) { return vsqrtq_f32 (a); }
INLINE vf v_mul_sub (vf a, vf b, vf c) { return vsubq_f32 (vmulq_f32 (a, b), c); }
INLINE vm v_gt (vf a, vf b) { return vcgtq_f32 (a, b); }
INLINE vm v_ge (vf a, vf b) { return vcgeq_f32 (a, b); }
INLINE vm v_ordered (vf a, vf b) { return vandq_u32 (vceqq_f32 (a, a), vceqq_f32 (b, b)); }
INLINE void v_store (float *p, vf a) { vst1q_f32 (p, a); }
INLINE vm m_and (vm a, vm b) { return vandq_u32 (a, b); }
INLINE vm m_and_ngt (vm m, vf a, vf b) { return vbicq_u32 (m, v_gt (a, b)); }
INLINE uint64_t
m_bits (vm a)
{
  const uint32x4_t weight = { 1, 2, 4, 8 };
  return vaddvq_u32 (vandq_u32 (a, weight));
}
INLINE vm
v_class_is (const int32_t *p, int32_t class_id)
{
  return vceqq_s32 (vld1q_s32 (p), vdupq_n_s32 (class_id));
}

typedef int32x4_t vi;
INLINE vi i_load (const int32_t *p) { return vld1q_s32 (p); }
INLINE vi i_set (int32_t a) { return vdupq_n_s32 (a); }
INLINE void i_store (int32_t *p, vi a) { vst1q_s32 (p, a); }
INLINE vi i_sub (vi a, vi b) { return vsubq_s32 (a, b); }
INLINE vi i_max (vi a, vi b) { return vmaxq_s32 (a, b); }
INLINE vm i_gt (vi a, vi b) { return vcgtq_s32 (a, b); }
INLINE vf v_where (vm m, vf a, vf b) { return vbslq_f32 (m, a, b); }
INLINE vi i_where (vm m, vi a, vi b) { return vbslq_s32 (m, a, b); }
INLINE vi
i_count_gt (vi count, vi a, vi b)
{
  return vsubq_s32 (count, vreinterpretq_s32_u32 (vcgtq_s32 (a, b)));
}

INLINE void
rows_to_columns (const char *rows, float *c0, float *c1, float *c2, float *c3)
{
  float32x4x4_t v = vld4q_f32 ((const float *) rows);
  vst1q_f32 (c0, v.val[0]);
  vst1q_f32 (c1, v.val[1]);
  vst1q_f32 (c2, v.val[2]);
  vst1q_f32 (c3, v.val[3]);
}

/* ----------------------------------------------------------------- scalar */
#elif defined(NMS__ISA_scalar)
#define LANES 1
typedef float vf;
typedef int vm;

INLINE vf v_load (const float *p) { return *p; }
INLINE vf v_load_aligned (const float *p) { return *p; }
INLINE vf v_set (float a) { return a; }
INLINE vf v_min (vf a, vf b) { return a < b ? a : b; }
INLINE vf v_max (vf a, vf b) { return a > b ? a : b; }
INLINE vf v_abs (vf a) { return __builtin_fabsf (a); }
INLINE vf v_add (vf a, vf b) { return a + b; }
INLINE vf v_sub (vf a, vf b) { return a - b; }
INLINE vf v_mul (vf a, vf b) { return a * b; }
INLINE vf v_div (vf a, vf b) { return a / b; }
INLINE vf v_sqrt (vf a) { return __builtin_sqrtf (a); }
INLINE vf v_mul_sub (vf a, vf b, vf c) { return a * b - c; }
INLINE vm v_gt (vf a, vf b) { return a > b; }
INLINE vm v_ge (vf a, vf b) { return a >= b; }
INLINE vm v_ordered (vf a, vf b) { return a == a && b == b; }
INLINE void v_store (float *p, vf a) { *p = a; }
INLINE vm m_and (vm a, vm b) { return a & b; }
INLINE vm m_and_ngt (vm m, vf a, vf b) { return m & !(a > b); }
INLINE uint64_t m_bits (vm a) { return (uint64_t) a; }
INLINE vm v_class_is (const int32_t *p, int32_t class_id) { return *p == class_id; }

typedef int32_t vi;
INLINE vi i_load (const int32_t *p) { return *p; }
INLINE vi i_set (int32_t a) { return a; }
INLINE void i_store (int32_t *p, vi a) { *p = a; }
INLINE vi i_sub (vi a, vi b) { return a - b; }
INLINE vi i_max (vi a, vi b) { return a > b ? a : b; }
INLINE vm i_gt (vi a, vi b) { return a > b; }
INLINE vf v_where (vm m, vf a, vf b) { return m ? a : b; }
INLINE vi i_where (vm m, vi a, vi b) { return m ? a : b; }
INLINE vi i_count_gt (vi count, vi a, vi b) { return count + (a > b); }

INLINE void
rows_to_columns (const char *rows, float *c0, float *c1, float *c2, float *c3)
{
  memcpy (c0, rows, sizeof *c0);
  memcpy (c1, rows + 4, sizeof *c1);
  memcpy (c2, rows + 8, sizeof *c2);
  memcpy (c3, rows + 12, sizeof *c3);
}

#else
#error "unknown NMS__ISA_..."
#endif

INLINE int32_t
i_greatest (vi a)
{
  int32_t lane[LANES], greatest;
  i_store (lane, a);
  greatest = lane[0];
  for (int i = 1; i < LANES; i++)
    greatest = lane[i] > greatest ? lane[i] : greatest;
  return greatest;
}

INLINE float
v_greatest (vf a)
{
  float lane[LANES], greatest;
  v_store (lane, a);
  greatest = lane[0];
  for (int i = 1; i < LANES; i++)
    greatest = lane[i] > greatest ? lane[i] : greatest;
  return greatest;
}

#endif
