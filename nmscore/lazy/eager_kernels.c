/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * eager_kernels: the loops of the eager executor, one an operation and type.
 * An operand is an array, or one element that counts for all (step 0): a case
 * of its own in each loop, so that compilers vectorise all of them.
 */
#include "lazy.h"

#include <string.h>

/* The order of comparisons makes a NaN win, on either side. */
#define GREATER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define LESSER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

/* r[i] = expression of x and y, by steps. */
#define LOOP2(T, R, expression)                                                                  \
  do {                                                                                           \
    const T *a = operand[0], *b = operand[1];                                                    \
    R *restrict r = result;                                                                      \
    if (step[0] && step[1])                                                                      \
      for (size_t i = 0; i < n; i++) {                                                           \
        const T x = a[i], y = b[i];                                                              \
        r[i] = (R) (expression);                                                                 \
      }                                                                                          \
    else if (step[0]) {                                                                          \
      const T y = b[0];                                                                          \
      for (size_t i = 0; i < n; i++) {                                                           \
        const T x = a[i];                                                                        \
        r[i] = (R) (expression);                                                                 \
      }                                                                                          \
    } else {                                                                                     \
      const T x = a[0];                                                                          \
      for (size_t i = 0; i < n; i++) {                                                           \
        const T y = b[i * (size_t) step[1]];                                                     \
        r[i] = (R) (expression);                                                                 \
      }                                                                                          \
    }                                                                                            \
  } while (0)

#define LOOP1(T, R, expression)                                                                  \
  do {                                                                                           \
    const T *a = operand[0];                                                                     \
    R *restrict r = result;                                                                      \
    for (size_t i = 0; i < n; i++) {                                                             \
      const T x = a[i * (size_t) step[0]];                                                       \
      r[i] = (R) (expression);                                                                   \
    }                                                                                            \
  } while (0)

#define KERNEL2(name, T, R, expression)                                                          \
  static void name (size_t n, void *result, void *const *operand, const int *step)               \
  {                                                                                              \
    LOOP2 (T, R, expression);                                                                    \
  }

#define KERNEL1(name, T, R, expression)                                                          \
  static void name (size_t n, void *result, void *const *operand, const int *step)               \
  {                                                                                              \
    LOOP1 (T, R, expression);                                                                    \
  }

typedef void (*kernel) (size_t n, void *result, void *const *operand, const int *step);
typedef uint8_t pred;

/* Integers wrap around, so S32 adds as U32. */
KERNEL2 (add_f32, float, float, x + y)
KERNEL2 (add_u32, uint32_t, uint32_t, x + y)
KERNEL2 (sub_f32, float, float, x - y)
KERNEL2 (sub_u32, uint32_t, uint32_t, x - y)
KERNEL2 (mul_f32, float, float, x * y)
KERNEL2 (mul_u32, uint32_t, uint32_t, x * y)
KERNEL2 (div_f32, float, float, x / y)
KERNEL2 (max_f32, float, float, GREATER (x, y))
KERNEL2 (max_s32, int32_t, int32_t, x > y ? x : y)
KERNEL2 (max_u32, uint32_t, uint32_t, x > y ? x : y)
KERNEL2 (min_f32, float, float, LESSER (x, y))
KERNEL2 (min_s32, int32_t, int32_t, x < y ? x : y)
KERNEL2 (min_u32, uint32_t, uint32_t, x < y ? x : y)
KERNEL2 (and_u32, uint32_t, uint32_t, x & y)
KERNEL2 (and_pred, pred, pred, x & y)
KERNEL2 (or_u32, uint32_t, uint32_t, x | y)
KERNEL2 (or_pred, pred, pred, x | y)
KERNEL2 (xor_u32, uint32_t, uint32_t, x ^ y)
KERNEL2 (xor_pred, pred, pred, x ^ y)
KERNEL2 (shl_u32, uint32_t, uint32_t, y > 31 ? 0 : x << (y & 31))
KERNEL2 (shr_u32, uint32_t, uint32_t, y > 31 ? 0 : x >> (y & 31))
KERNEL2 (shr_s32, int32_t, int32_t, x >> ((uint32_t) y > 31 ? 31 : y))
KERNEL1 (not_u32, uint32_t, uint32_t, ~x)
KERNEL1 (not_pred, pred, pred, !x)
KERNEL1 (neg_f32, float, float, -x)
KERNEL1 (neg_s32, uint32_t, uint32_t, 0u - x)
KERNEL1 (abs_f32, uint32_t, uint32_t, x & 0x7fffffffu)
KERNEL1 (abs_s32, uint32_t, uint32_t, x >> 31 ? 0u - x : x)
KERNEL1 (copy_u32, uint32_t, uint32_t, x)
KERNEL1 (float_s32, int32_t, float, x)
KERNEL1 (float_u32, uint32_t, float, x)
KERNEL1 (float_pred, pred, float, x)
KERNEL1 (word_pred, pred, uint32_t, x)

#define COMPARISONS(suffix, T)                                                                   \
  KERNEL2 (eq_##suffix, T, pred, x == y)                                                         \
  KERNEL2 (ne_##suffix, T, pred, x != y)                                                         \
  KERNEL2 (ge_##suffix, T, pred, x >= y)                                                         \
  KERNEL2 (gt_##suffix, T, pred, x > y)                                                          \
  KERNEL2 (le_##suffix, T, pred, x <= y)                                                         \
  KERNEL2 (lt_##suffix, T, pred, x < y)

COMPARISONS (f32, float)
COMPARISONS (s32, int32_t)
COMPARISONS (u32, uint32_t)
COMPARISONS (pred, pred)

/* By operation and type, F32 S32 U32 PRED; how the operand's type decides. */
static const kernel elements[NMS__SHR + 1][4] = {
  [NMS__NEG] = { neg_f32, neg_s32, NULL, NULL },
  [NMS__ABS] = { abs_f32, abs_s32, NULL, NULL },
  [NMS__NOT] = { NULL, not_u32, not_u32, not_pred },
  [NMS__BITCAST] = { copy_u32, copy_u32, copy_u32, NULL },
  [NMS__ADD] = { add_f32, add_u32, add_u32, NULL },
  [NMS__SUB] = { sub_f32, sub_u32, sub_u32, NULL },
  [NMS__MUL] = { mul_f32, mul_u32, mul_u32, NULL },
  [NMS__DIV] = { div_f32, NULL, NULL, NULL },
  [NMS__MAX] = { max_f32, max_s32, max_u32, or_pred },
  [NMS__MIN] = { min_f32, min_s32, min_u32, and_pred },
  [NMS__AND] = { NULL, and_u32, and_u32, and_pred },
  [NMS__OR] = { NULL, or_u32, or_u32, or_pred },
  [NMS__XOR] = { NULL, xor_u32, xor_u32, xor_pred },
  [NMS__SHL] = { NULL, shl_u32, shl_u32, NULL },
  [NMS__SHR] = { NULL, shr_s32, shr_u32, NULL }
};

static const kernel comparisons[NMS_LAZY_LT + 1][4] = {
  [NMS_LAZY_EQ] = { eq_f32, eq_s32, eq_u32, eq_pred },
  [NMS_LAZY_NE] = { ne_f32, ne_s32, ne_u32, ne_pred },
  [NMS_LAZY_GE] = { ge_f32, ge_s32, ge_u32, ge_pred },
  [NMS_LAZY_GT] = { gt_f32, gt_s32, gt_u32, gt_pred },
  [NMS_LAZY_LE] = { le_f32, le_s32, le_u32, le_pred },
  [NMS_LAZY_LT] = { lt_f32, lt_s32, lt_u32, lt_pred }
};

static kernel
conversion (int32_t from, int32_t to)
{
  if (to == NMS_LAZY_F32)
    return from == NMS_LAZY_S32 ? float_s32 : from == NMS_LAZY_U32 ? float_u32
        : from == NMS_LAZY_PRED ? float_pred : copy_u32;
  return from == NMS_LAZY_PRED ? word_pred : copy_u32;
}

#define SELECT(T)                                                                                \
  do {                                                                                           \
    const T *a = operand[1], *b = operand[2];                                                    \
    T *restrict r = result;                                                                      \
    const size_t p1 = (size_t) step[0], a1 = (size_t) step[1], b1 = (size_t) step[2];            \
    if (p1 && !a1) {                                                                             \
      const T x = a[0];                                                                          \
      for (size_t i = 0; i < n; i++)                                                             \
        r[i] = p[i] ? x : b[i * b1];                                                             \
    } else if (p1 && !b1) {                                                                      \
      const T y = b[0];                                                                          \
      for (size_t i = 0; i < n; i++)                                                             \
        r[i] = p[i] ? a[i] : y;                                                                  \
    } else                                                                                       \
      for (size_t i = 0; i < n; i++)                                                             \
        r[i] = p[i * p1] ? a[i * a1] : b[i * b1];                                                \
  } while (0)

static void
select_elements (int32_t type, size_t n, void *result, void *const *operand, const int *step)
{
  const pred *p = operand[0];

  if (type == NMS_LAZY_PRED)
    SELECT (pred);
  else
    SELECT (uint32_t);
}

void
nms__kernel_elements (const nms__node *node, int32_t operand_type, size_t n, void *result,
    void *const *operand, const int *step)
{
  kernel k;

  if (node->op == NMS__SELECT) {
    select_elements (node->shape.type, n, result, operand, step);
    return;
  }
  if (node->op == NMS__COMPARE)
    k = comparisons[node->how][operand_type - 1];
  else if (node->op == NMS__CONVERT)
    k = conversion (operand_type, node->shape.type);
  else
    k = elements[node->op][operand_type - 1];
  k (n, result, operand, step);
}

/* ------------------------------------------------------------- reductions */

/* Independent partial results, so that one long row is not one long chain. */
#define LANES 16

#define FOLD(T, expression)                                                                      \
  do {                                                                                           \
    const T *a = in;                                                                             \
    T *restrict r = result;                                                                      \
    for (size_t o = 0; o < outer; o++, a += n * inner, r += inner) {                             \
      if (inner == 1 && n >= LANES) {                                                            \
        T lane[LANES];                                                                           \
        size_t i = LANES;                                                                        \
        memcpy (lane, a, sizeof lane);                                                           \
        for (; i + LANES <= n; i += LANES)                                                       \
          for (size_t k = 0; k < LANES; k++) {                                                   \
            const T x = lane[k], y = a[i + k];                                                   \
            lane[k] = (T) (expression);                                                          \
          }                                                                                      \
        for (; i < n; i++) {                                                                     \
          const T x = lane[0], y = a[i];                                                         \
          lane[0] = (T) (expression);                                                            \
        }                                                                                        \
        r[0] = lane[0];                                                                          \
        for (size_t k = 1; k < LANES; k++) {                                                     \
          const T x = r[0], y = lane[k];                                                         \
          r[0] = (T) (expression);                                                               \
        }                                                                                        \
        continue;                                                                                \
      }                                                                                          \
      memcpy (r, a, inner * sizeof *r);                                                          \
      for (size_t i = 1; i < n; i++)                                                             \
        for (size_t k = 0; k < inner; k++) {                                                     \
          const T x = r[k], y = a[i * inner + k];                                                \
          r[k] = (T) (expression);                                                               \
        }                                                                                        \
    }                                                                                            \
  } while (0)

#define FOLDER(name, T, expression)                                                              \
  static void name (size_t outer, size_t n, size_t inner, void *result, const void *in)          \
  {                                                                                              \
    FOLD (T, expression);                                                                        \
  }

FOLDER (most_f32, float, GREATER (x, y))
FOLDER (most_s32, int32_t, x > y ? x : y)
FOLDER (most_u32, uint32_t, x > y ? x : y)
FOLDER (least_f32, float, LESSER (x, y))
FOLDER (least_s32, int32_t, x < y ? x : y)
FOLDER (least_u32, uint32_t, x < y ? x : y)
FOLDER (sum_u32, uint32_t, x + y)
FOLDER (all_pred, pred, x & y)
FOLDER (any_pred, pred, x | y)

void
nms__kernel_reduce (const nms__node *node, size_t outer, size_t n, size_t inner, void *result,
    const void *in)
{
  typedef void (*folder) (size_t, size_t, size_t, void *, const void *);
  static const folder folders[NMS_LAZY_ANY + 1][4] = {
    [NMS_LAZY_MAX] = { most_f32, most_s32, most_u32, NULL },
    [NMS_LAZY_MIN] = { least_f32, least_s32, least_u32, NULL },
    [NMS_LAZY_SUM] = { NULL, sum_u32, sum_u32, NULL },
    [NMS_LAZY_ALL] = { NULL, NULL, NULL, all_pred },
    [NMS_LAZY_ANY] = { NULL, NULL, NULL, any_pred }
  };
  folders[node->how][node->shape.type - 1](outer, n, inner, result, in);
}
