/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * optable: the properties of each operation, for the files that record, write and run
 * operations. Each function computes n elements in a loop that compilers vectorise; the last
 * argument of COMPUTE is the expression for one element.
 */
#include "lazynodes.h"

#include <math.h>

#define F32 (1 << NMS_LAZY_F32)
#define S32 (1 << NMS_LAZY_S32)
#define PRED (1 << NMS_LAZY_PRED)
#define BF16 (1 << NMS_LAZY_BF16)

/* The same memory holds elements of different types at different times. */
typedef float __attribute__ ((may_alias)) f32;
typedef int32_t __attribute__ ((may_alias)) s32;
typedef uint32_t __attribute__ ((may_alias)) u32;

#define COMPUTE(compute, from, to, expression) \
  static void compute (size_t n, void *result, const void *a, const void *b, const void *c) \
  { \
    to *restrict r = result; \
    for (size_t i = 0; i < n; i++) { \
      const from x = ((const from *) a)[i], y = ((const from *) b)[i], z = ((const from *) c)[i]; \
      (void) y, (void) z; \
      r[i] = (to) (expression); \
    } \
  }

/* S32 is computed as unsigned, because integers wrap around. In the maximum and the
 * minimum of floats a NaN wins, on either side. */
COMPUTE (add_f32, f32, f32, x + y)
COMPUTE (add_s32, u32, u32, x + y)
COMPUTE (sub_f32, f32, f32, x - y)
COMPUTE (sub_s32, u32, u32, x - y)
COMPUTE (mul_f32, f32, f32, x *y)
COMPUTE (mul_s32, u32, u32, x *y)
COMPUTE (div_f32, f32, f32, x / y)
COMPUTE (max_f32, f32, f32, x > y || x != x ? x : y)
COMPUTE (max_s32, s32, s32, x > y ? x : y)
COMPUTE (min_f32, f32, f32, x < y || x != x ? x : y)
COMPUTE (min_s32, s32, s32, x < y ? x : y)
COMPUTE (and_s32, u32, u32, x &y)
COMPUTE (or_s32, u32, u32, x | y)
COMPUTE (xor_s32, u32, u32, x ^ y)
COMPUTE (eq_f32, f32, u32, x == y)
COMPUTE (eq_s32, s32, u32, x == y)
COMPUTE (ne_f32, f32, u32, x != y)
COMPUTE (ne_s32, s32, u32, x != y)
COMPUTE (ge_f32, f32, u32, x >= y)
COMPUTE (ge_s32, s32, u32, x >= y)
COMPUTE (gt_f32, f32, u32, x > y)
COMPUTE (gt_s32, s32, u32, x > y)
COMPUTE (le_f32, f32, u32, x <= y)
COMPUTE (le_s32, s32, u32, x <= y)
COMPUTE (lt_f32, f32, u32, x < y)
COMPUTE (lt_s32, s32, u32, x < y)
COMPUTE (neg_f32, u32, u32, x ^ 0x80000000u)
COMPUTE (neg_s32, u32, u32, 0u - x)
COMPUTE (abs_f32, u32, u32, x & 0x7fffffffu)
COMPUTE (abs_s32, u32, u32, x >> 31 ? 0u - x : x)
COMPUTE (copy_s32, u32, u32, x)
COMPUTE (to_f32, s32, f32, x)
COMPUTE (to_s32, f32, s32,
    x >= 0x1p31f       ? INT32_MAX
        : x < -0x1p31f ? INT32_MIN
        : x != x       ? 0
                       : (s32) x)
COMPUTE (sqrt_f32, f32, f32, sqrtf (x))
COMPUTE (select_s32, u32, u32, x ? y : z)

const nms__info nms__infos[NMS__OUTPUT + 1] = {
  [NMS_LAZY_ADD] = { "add", 2, F32 | S32, 0, { add_f32, add_s32 } },
  [NMS_LAZY_SUB] = { "subtract", 2, F32 | S32, 0, { sub_f32, sub_s32 } },
  [NMS_LAZY_MUL] = { "multiply", 2, F32 | S32, 0, { mul_f32, mul_s32 } },
  [NMS_LAZY_DIV] = { "divide", 2, F32, 0, { div_f32 } },
  [NMS_LAZY_MAX] = { "maximum", 2, F32 | S32, 0, { max_f32, max_s32 } },
  [NMS_LAZY_MIN] = { "minimum", 2, F32 | S32, 0, { min_f32, min_s32 } },
  [NMS_LAZY_AND] = { "and", 2, S32 | PRED, 0, { NULL, and_s32 } },
  [NMS_LAZY_OR] = { "or", 2, S32 | PRED, 0, { NULL, or_s32 } },
  [NMS_LAZY_XOR] = { "xor", 2, S32 | PRED, 0, { NULL, xor_s32 } },
  [NMS_LAZY_EQ] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { eq_f32, eq_s32 } },
  [NMS_LAZY_NE] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { ne_f32, ne_s32 } },
  [NMS_LAZY_GE] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { ge_f32, ge_s32 } },
  [NMS_LAZY_GT] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { gt_f32, gt_s32 } },
  [NMS_LAZY_LE] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { le_f32, le_s32 } },
  [NMS_LAZY_LT] = { "compare", 2, F32 | S32 | PRED, NMS_LAZY_PRED, { lt_f32, lt_s32 } },
  [NMS_LAZY_ABS] = { "abs", 1, F32 | S32, 0, { abs_f32, abs_s32 } },
  [NMS_LAZY_NEG] = { "negate", 1, F32 | S32, 0, { neg_f32, neg_s32 } },
  [NMS_LAZY_AS_S32] = { "bitcast_convert", 1, F32, NMS_LAZY_S32, { copy_s32 } },
  [NMS_LAZY_AS_F32] = { "bitcast_convert", 1, S32, NMS_LAZY_F32, { NULL, copy_s32 } },
  [NMS_LAZY_TO_S32] = { "convert", 1, F32 | PRED, NMS_LAZY_S32, { to_s32, copy_s32 } },
  [NMS_LAZY_TO_F32] = { "convert", 1, S32, NMS_LAZY_F32, { NULL, to_f32 } },
  [NMS_LAZY_SQRT] = { "sqrt", 1, F32, 0, { sqrt_f32 } },
  [NMS_LAZY_SELECT] = { "select", 3, F32 | S32 | PRED, 0, { NULL, select_s32 } },
  [NMS__BARRIER] = { .name = "optimization_barrier" },
  [NMS__CONSTANT] = { .name = "constant" },
  [NMS__IOTA] = { .name = "iota" },
  [NMS__BROADCAST] = { .name = "broadcast_in_dim" },
  [NMS__RESHAPE] = { .name = "reshape" },
  [NMS__TRANSPOSE] = { .name = "transpose" },
  [NMS__SLICE] = { .name = "dynamic_slice" },
  [NMS__UPDATE] = { .name = "dynamic_update_slice" },
  [NMS__REDUCE] = { .name = "reduce" },
  [NMS__SORT] = { .name = "sort" },
  [NMS__TAKE] = { .name = "gather" },
  [NMS__CONCATENATE] = { .name = "concatenate" },
  [NMS__REVERSE] = { .name = "reverse" },
  [NMS__STRIDE] = { .name = "slice" },
  [NMS__PAD] = { .name = "pad" },
  [NMS__KERNEL] = { .name = "custom_call" },
  [NMS__WIDEN] = { "convert", 1, BF16, NMS_LAZY_F32, { NULL, copy_s32 } },
  [NMS__WHILE] = { .name = "while" }
};
