/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazygraphs: records small programs, runs them, and compares their values. */
#define _GNU_SOURCE
#include "lazygraphs.h"

#include "boxgen.h"
#include "nmsgraph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1024

typedef nms_lazy_tensor Tensor;

static const int32_t vector[] = { N };

static Tensor
add (nms_lazy *lz, Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_ADD, a, b);
}

static Tensor
sub (nms_lazy *lz, Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_SUB, a, b);
}

static Tensor
mul (nms_lazy *lz, Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MUL, a, b);
}

static Tensor
divide (nms_lazy *lz, Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_DIV, a, b);
}

/* ------------------------------------------------------------------ inputs */

/* special 0: ordinary numbers; 1: also infinities; 2: also NaN; 3: also numbers near
 * FLT_MAX */
static Tensor
floats (nms_lazy *lz, BoxRandom *random, int rank, const int32_t *dims, int special)
{
  static const float specials[] = { INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 0.0f, 3e38f, -3e38f };
  static const uint32_t counts[] = { 0, 2, 6, 8 };
  float values[N];

  for (int i = 0; i < N; i++)
    values[i] = (boxrandom_unit (random) - 0.5f) * 4.0f;
  for (int i = 0; i < N && special; i += 1 + (int) boxrandom_below (random, 8))
    values[i] = specials[boxrandom_below (random, counts[special])];
  return nms_lazy_input (lz, NMS_LAZY_F32, rank, dims, values);
}

static Tensor
integers (nms_lazy *lz, BoxRandom *random)
{
  static const uint32_t specials[] = { 0, 1, UINT32_MAX, 0x80000000u, 0x7fffffffu, 31, 32 };
  uint32_t values[N];

  for (int i = 0; i < N; i++)
    values[i] = boxrandom_below (random, 3) ? (uint32_t) boxrandom_bits (random)
                                            : specials[boxrandom_below (random, 7)];
  return nms_lazy_input (lz, NMS_LAZY_S32, 1, vector, values);
}

static Tensor
flags (nms_lazy *lz, BoxRandom *random)
{
  uint8_t values[N];

  for (int i = 0; i < N; i++)
    values[i] = (uint8_t) boxrandom_below (random, 2);
  return nms_lazy_input (lz, NMS_LAZY_PRED, 1, vector, values);
}

/* ------------------------------------------------------------------ graphs */

static size_t
float_operations (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor a = floats (lz, &random, 1, vector, 2), b = floats (lz, &random, 1, vector, 2);
  Tensor c = floats (lz, &random, 1, vector, 3), d = floats (lz, &random, 1, vector, 1);
  Tensor s = nms_lazy_input_f32 (lz, 0.3f);
  size_t n = 0;

  out[n++] = add (lz, c, b);
  out[n++] = sub (lz, s, c);
  out[n++] = mul (lz, a, c);
  out[n++] = divide (lz, a, b);
  out[n++] = divide (lz, s, b);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_NEG, a);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_ABS, a);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_AS_S32, nms_lazy_unary (lz, NMS_LAZY_ABS, b));
  out[n++] = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_GT, a, b), s, b);
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_MAX, d, s);
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_MIN, s, d);
  return n;
}

/* Operations that contraction or reassociation would change. */
static size_t
float_roundings (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor a = floats (lz, &random, 1, vector, 0), b = floats (lz, &random, 1, vector, 0);
  Tensor c = floats (lz, &random, 1, vector, 1), p = mul (lz, a, b);
  Tensor s = nms_lazy_input_f32 (lz, 0.7f), third = nms_lazy_f32 (lz, 3.0f);
  size_t n = 0;

  out[n++] = add (lz, p, c);
  out[n++] = sub (lz, c, p);
  out[n++] = add (lz, nms_lazy_unary (lz, NMS_LAZY_NEG, mul (lz, a, c)), b);
  out[n++] = add (lz, mul (lz, a, b), mul (lz, a, c));
  out[n++] = divide (lz, a, third);
  out[n++] = divide (lz, a, nms_lazy_broadcast (lz, nms_lazy_f32 (lz, 7.0f), 1, vector, 0));
  out[n++] = mul (lz, mul (lz, a, nms_lazy_f32 (lz, 0.1f)), nms_lazy_f32 (lz, 0.3f));
  out[n++] = add (lz, add (lz, a, nms_lazy_f32 (lz, 0.1f)), nms_lazy_f32 (lz, 0.3f));
  out[n++] = divide (lz, divide (lz, a, b), c);
  out[n++] = divide (lz, a, divide (lz, b, c));
  Tensor either = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_LT, a, b), mul (lz, b, b), a);
  out[n++] = sub (lz, either, c);
  Tensor bits = nms_lazy_unary (lz, NMS_LAZY_AS_S32, mul (lz, c, b));
  out[n++] = add (lz, nms_lazy_unary (lz, NMS_LAZY_AS_F32, bits),
      add (lz, a, nms_lazy_f32 (lz, 0.0f)));
  out[n++] = add (lz, mul (lz, s, s), a); /* a scalar product, repeated */
  return n;
}

static size_t
integer_operations (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const nms_lazy_op ops[] = { NMS_LAZY_ADD, NMS_LAZY_SUB, NMS_LAZY_MUL, NMS_LAZY_MAX,
    NMS_LAZY_MIN, NMS_LAZY_AND, NMS_LAZY_OR, NMS_LAZY_XOR };
  BoxRandom random = { seed };
  Tensor a = integers (lz, &random), b = integers (lz, &random);
  size_t n = 0;

  while (n < sizeof ops / sizeof *ops) {
    out[n] = nms_lazy_binary (lz, ops[n], a, b);
    n++;
  }
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_TO_F32, a);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_NEG, nms_lazy_unary (lz, NMS_LAZY_ABS, a));
  return n;
}

static size_t
comparisons (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor a, b;
  size_t n = 0;

  if (seed % 2 == 0) {
    a = floats (lz, &random, 1, vector, 2);
    b = floats (lz, &random, 1, vector, 2);
  } else {
    a = integers (lz, &random);
    b = integers (lz, &random);
  }
  for (int order = NMS_LAZY_EQ; order <= NMS_LAZY_LT; order++)
    out[n++] = nms_lazy_binary (lz, (nms_lazy_op) order, a, b);
  return n;
}

static size_t
logic (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor a = flags (lz, &random), b = flags (lz, &random), p = flags (lz, &random);
  size_t n = 0;

  out[n++] = nms_lazy_binary (lz, NMS_LAZY_AND, a, b);
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_OR, a, nms_lazy_pred (lz, (int) seed & 1));
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_XOR, a, b);
  out[n++] = nms_lazy_select (lz, p, a, b);
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_EQ, a, b);
  out[n++] = nms_lazy_binary (lz, NMS_LAZY_LT, a, b);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_TO_S32, a);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_OR, a, 0);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_AND, b, 0);
  return n;
}

static size_t
shapes (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t flat[] = { 32, 32 }, row[] = { 1, 32 }, part[] = { 3, 5 };
  BoxRandom random = { seed };
  Tensor a = floats (lz, &random, 2, flat, 2), b = flags (lz, &random);
  int32_t wild = (int32_t) boxrandom_below (&random, 90) - 30;
  Tensor starts[] = { nms_lazy_input_s32 (lz, wild), nms_lazy_s32 (lz, 2) };
  Tensor ends[] = { nms_lazy_s32 (lz, 3), nms_lazy_input_s32 (lz, -wild) };
  size_t n = 0;

  out[n++] = nms_lazy_transpose (lz, a);
  out[n++] = nms_lazy_reshape (lz, a, 2, (int32_t[]) { 8, 128 });
  out[n++] = nms_lazy_reshape (lz, a, 1, vector);
  out[n++] = nms_lazy_slice (lz, a, starts, part);
  out[n++] = nms_lazy_update (lz, a, nms_lazy_slice (lz, a, ends, part), starts);
  Tensor lone = nms_lazy_reshape (lz, nms_lazy_slice (lz, a, ends, row), 1, row + 1);
  out[n++] = nms_lazy_broadcast (lz, lone, 2, flat, (int) (seed % 2));
  out[n++] = nms_lazy_transpose (lz, nms_lazy_reshape (lz, b, 2, flat));
  out[n++] = nms_lazy_iota (lz, 2, flat, (int) (seed % 2));
  out[n++] = add (lz, nms_lazy_iota (lz, 2, flat, 0),
      nms_lazy_broadcast (lz, nms_lazy_iota (lz, 1, row + 1, 0), 2, flat, 1));
  out[n++] = nms_lazy_broadcast (lz, nms_lazy_pred (lz, 1), 2, part, 0);
  out[n++] = nms_lazy_f32 (lz, 1e-20f);
  out[n++] = nms_lazy_broadcast (lz, nms_lazy_f32 (lz, seed & 1 ? NAN : -INFINITY), 1, part, 0);
  return n;
}

static size_t
reductions (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t tables[][2] = { { 8, 128 }, { 32, 32 }, { 1024, 1 }, { 1, 1024 } };
  const int32_t *table = tables[seed / 2 % 4];
  BoxRandom random = { seed };
  int axis = (int) (seed % 2);
  Tensor a = floats (lz, &random, 2, table, 1), q = floats (lz, &random, 1, vector, 1);
  Tensor s = nms_lazy_reshape (lz, integers (lz, &random), 2, table);
  size_t n = 0;

  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_MAX, a, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_MIN, a, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_MIN, s, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_MAX, s, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_OR, s, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_AND, s, axis);
  out[n++] = nms_lazy_reduce (lz, NMS_LAZY_MIN, q, 0);
  out[n] = nms_lazy_argmax (lz, a, axis, &out[n + 1]);
  n += 2;
  s = nms_lazy_binary (lz, NMS_LAZY_AND, s, nms_lazy_s32 (lz, 3));
  out[n] = nms_lazy_argmax (lz, s, axis, &out[n + 1]);
  return n + 2;
}

/* exp, log and sqrt over the whole range of floats, sums, and conversions. */
static size_t
mathematics (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t tables[][2] = { { 8, 128 }, { 32, 32 }, { 1024, 1 }, { 1, 1024 } };
  BoxRandom random = { seed };
  uint32_t wild[N];
  uint16_t halves[N];
  size_t n = 0;

  for (int i = 0; i < N; i++) {
    wild[i] = (uint32_t) boxrandom_bits (&random);
    if ((wild[i] & 0x7f800000) == 0) /* no subnormal numbers */
      wild[i] = 0;
    halves[i] = (uint16_t) (wild[i] >> 16);
  }
  Tensor x = nms_lazy_input (lz, NMS_LAZY_F32, 1, vector, wild);
  Tensor y = mul (lz, floats (lz, &random, 1, vector, 1), nms_lazy_f32 (lz, 44.0f));
  Tensor a = floats (lz, &random, 2, tables[seed % 4], 0), b = floats (lz, &random, 1, vector, 0);
  out[n++] = nms_lazy_exp (lz, x);
  out[n++] = nms_lazy_exp (lz, y);
  out[n++] = nms_lazy_log (lz, x);
  out[n++] = nms_lazy_log (lz, nms_lazy_exp (lz, y));
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_SQRT, x);
  out[n++] = divide (lz, y,
      nms_lazy_unary (lz, NMS_LAZY_SQRT, nms_lazy_unary (lz, NMS_LAZY_ABS, b)));
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_TO_S32, x);
  out[n++] = nms_lazy_sum (lz, a, 0);
  out[n++] = nms_lazy_sum (lz, mul (lz, a, a), 1);
  out[n++] = nms_lazy_sum (lz,
      nms_lazy_slice (lz, mul (lz, b, y), (Tensor[]) { nms_lazy_s32 (lz, 3) }, (int32_t[]) { 997 }),
      0);
  out[n++] = nms_lazy_unary (lz, NMS_LAZY_TO_F32,
      nms_lazy_input (lz, NMS_LAZY_BF16, 1, vector, halves));
  return n;
}

static size_t
orders (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t flat[] = { 32, 32 }, some[] = { 32 };
  BoxRandom random = { seed };
  Tensor a = floats (lz, &random, 1, vector, 2), b = integers (lz, &random);
  Tensor table = floats (lz, &random, 2, flat, 0),
         row = nms_lazy_slice (lz, b, (Tensor[]) { nms_lazy_s32 (lz, 7) }, some);
  size_t n = 0;

  out[n++] = nms_lazy_order (lz, a);
  out[n++] = nms_lazy_take (lz, b, out[0]);
  out[n++] = nms_lazy_order (lz, nms_lazy_binary (lz, NMS_LAZY_AND, b, nms_lazy_s32 (lz, 3)));
  out[n++] = nms_lazy_take (lz, table, row);
  out[n++] = nms_lazy_take (lz, a, b);
  out[n++] = nms_lazy_order (lz, table);
  return n;
}

/* Vectors and matrices that are joined along each axis, and every second or third of their
 * elements in both directions. */
static size_t
joins_and_strides (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t flat[] = { 16, 64 }, steps[][2] = { { 2, 3 }, { -1, 5 }, { 3, -2 } };
  BoxRandom random = { seed };
  Tensor a = floats (lz, &random, 1, vector, 2), b = floats (lz, &random, 2, flat, 2);
  Tensor p = flags (lz, &random), many[7];
  size_t n = 0;

  for (int i = 0; i < 7; i++)
    many[i] = mul (lz, a, nms_lazy_input_f32 (lz, (float) i));
  out[n++] = nms_lazy_concatenate (lz, 7, many, 0);
  for (int axis = 0; axis < 2; axis++)
    out[n++] = nms_lazy_concatenate (lz, 3, (Tensor[]) { b, add (lz, b, b), b }, axis);
  for (int i = 0; i < 3; i++)
    out[n++] = nms_lazy_stride (lz, b, steps[i]);
  out[n++] = nms_lazy_stride (lz, p, (int32_t[]) { -3 });
  return n;
}

/* -------------------------------------------------------------------- loops */

/* Tensors from before a loop that its functions use. */
typedef struct {
  Tensor most, factor;
} Captured;

static Tensor
below (nms_lazy *lz, const Tensor *state, void *user)
{
  return nms_lazy_binary (lz, NMS_LAZY_LT, state[0], ((Captured *) user)->most);
}

/* state: a counter, two vectors that are swapped, one that is multiplied in each pass */
static void
swap_and_add (nms_lazy *lz, const Tensor *state, Tensor *next, void *user)
{
  next[0] = add (lz, state[0], nms_lazy_s32 (lz, 1));
  next[1] = state[2];
  next[2] = add (lz, mul (lz, state[1], ((Captured *) user)->factor), state[3]);
  next[3] = mul (lz, state[3], ((Captured *) user)->factor);
}

static size_t
loop (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor init[] = { nms_lazy_s32 (lz, 0), floats (lz, &random, 1, vector, 0),
    floats (lz, &random, 1, vector, 0), NMS_LAZY_NONE };
  init[3] = mul (lz, init[1], init[2]);
  Captured captured = { nms_lazy_input_s32 (lz, (int32_t) (seed % 9)),
    nms_lazy_unary (lz, NMS_LAZY_NEG, nms_lazy_input_f32 (lz, 0.9f)) };

  nms_lazy_while (lz, 4, init, below, swap_and_add, &captured, out);
  return 4;
}

/* inner: counter, sum */
static void
count_sum (nms_lazy *lz, const Tensor *state, Tensor *next, void *user)
{
  next[0] = add (lz, state[0], nms_lazy_s32 (lz, 1));
  next[1] = add (lz, state[1], mul (lz, state[0], ((Captured *) user)->factor));
}

/* outer: counter, sum, picks; each round sums 0..counter times a captured vector */
static void
outer_body (nms_lazy *lz, const Tensor *state, Tensor *next, void *user)
{
  const int32_t one[] = { 1 };
  Tensor factor = nms_lazy_slice (lz, ((Captured *) user)->factor, &state[0], one);
  Captured captured = { state[0], nms_lazy_reshape (lz, factor, 0, NULL) };
  Tensor init[] = { nms_lazy_s32 (lz, 0), state[1] }, result[2];

  nms_lazy_while (lz, 2, init, below, count_sum, &captured, result);
  next[0] = add (lz, state[0], nms_lazy_s32 (lz, 1));
  next[1] = result[1];
  next[2] = nms_lazy_update (lz, state[2], nms_lazy_reshape (lz, result[1], 1, one), &state[0]);
}

static size_t
nested_loops (nms_lazy *lz, unsigned seed, Tensor *out)
{
  BoxRandom random = { seed };
  Tensor numbers = integers (lz, &random);
  Tensor init[] = { nms_lazy_s32 (lz, 0), nms_lazy_input_s32 (lz, 5), numbers };
  Captured captured = { nms_lazy_input_s32 (lz, 17), numbers };

  nms_lazy_while (lz, 3, init, below, outer_body, &captured, out);
  out[0] = add (lz, out[0], nms_lazy_s32 (lz, 100));
  return 3;
}

/* ----------------------------------------------------------------- selection */

#define BOXES 96

/* Makes the rows of a head: cx cy w h and three scores, of few values, which give
 * ties. */
static void
make_head (BoxRandom *random, float head[7][BOXES])
{
  for (int i = 0; i < BOXES; i++) {
    for (int k = 0; k < 2; k++) {
      head[k][i] = (float) boxrandom_below (random, 3) * 30.0f + boxrandom_unit (random) * 9.0f;
      head[2 + k][i] = 20.0f + boxrandom_unit (random) * 30.0f;
    }
    for (int c = 4; c < 7; c++)
      head[c][i] = (float) boxrandom_below (random, 24) / 24.0f - 0.1f;
  }
  head[4][3] = head[5][3] = head[6][3] = NAN;
  head[5][4] = NAN;
  head[2][5] = INFINITY;
}

static size_t
select_from (nms_lazy *lz, nms_lazy_boxes *b, unsigned seed, unsigned how, Tensor *out)
{
  b->limit = nms_lazy_input_f32 (lz, nms_lazy_limit_of ((float) (seed % 5) / 8.0f, seed & 1));
  b->least = nms_lazy_input_s32 (lz, nms_lazy_order_key_of (0.05f));
  b->cap = nms_lazy_input_s32 (lz, (int32_t) (seed % 3) * 9);
  nms_lazy_kept kept = nms_lazy_nms (lz, b, how);
  out[0] = kept.picks;
  out[1] = kept.count;
  out[2] = kept.state;
  return 3;
}

static size_t
decoded_head (nms_lazy *lz, unsigned seed, Tensor *out)
{
  static const int32_t dims[] = { 7, BOXES };
  BoxRandom random = { seed };
  float head[7][BOXES];
  size_t n;

  make_head (&random, head);
  nms_lazy_boxes b = nms_lazy_decode_head (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, dims, head),
      &out[3]);
  out[4] = b.class_id;
  n = select_from (lz, &b, seed, 0, out);
  return n + 2;
}

static size_t
whole_nms (nms_lazy *lz, unsigned seed, unsigned how, Tensor *out)
{
  static const int32_t dims[] = { BOXES };
  BoxRandom random = { seed };
  int32_t classes[BOXES], caps[BOXES], parents[BOXES];
  float head[7][BOXES];
  nms_lazy_boxes b = { 0 };

  make_head (&random, head);
  for (int i = 0; i < BOXES; i++) {
    for (int k = 0; k < 2; k++)
      head[k + 2][i] += head[k][i];
    classes[i] = (int32_t) boxrandom_below (&random, 4) - 2;
    caps[i] = classes[i] ? 0 : 5;
    parents[i] = (int32_t) boxrandom_below (&random, BOXES) - 1;
  }
  b.x1 = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, head[0]);
  b.y1 = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, head[1]);
  b.x2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, head[2]);
  b.y2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, head[3]);
  b.valid = nms_lazy_clean_boxes (lz, &b);
  b.key = nms_lazy_order_key (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, head[5]), &b.valid);
  b.cap_class = nms_lazy_input (lz, NMS_LAZY_S32, 1, dims, classes);
  b.class_id = seed & 2 ? b.cap_class : NMS_LAZY_NONE;
  b.class_cap = nms_lazy_input (lz, NMS_LAZY_S32, 1, dims, caps);
  b.parent = nms_lazy_input (lz, NMS_LAZY_S32, 1, dims, parents);
  return select_from (lz, &b, seed, how, out);
}

static size_t
nms (nms_lazy *lz, unsigned seed, Tensor *out)
{
  return whole_nms (lz, seed, 0, out);
}

static size_t
nms_without_division (nms_lazy *lz, unsigned seed, Tensor *out)
{
  return whole_nms (lz, seed, NMS_LAZY_NO_DIVISION, out);
}

const LazyGraph lazygraphs[] = { { "float-operations", float_operations },
  { "float-roundings", float_roundings }, { "integer-operations", integer_operations },
  { "comparisons", comparisons }, { "logic", logic }, { "shapes", shapes },
  { "reductions", reductions }, { "mathematics", mathematics }, { "orders", orders },
  { "joins-and-strides", joins_and_strides }, { "loop", loop }, { "nested-loops", nested_loops },
  { "nms", nms }, { "nms-without-division", nms_without_division },
  { "decoded-head", decoded_head }, { NULL, NULL } };

/* ------------------------------------------------------------------ running */

void
lazygraph_run (const LazyGraph *graph, unsigned seed, nms_lazy_cache *cache, LazyValues *values)
{
  nms_lazy *lz = nms_lazy_new (cache);
  Tensor out[LAZYGRAPH_OUTPUTS];

  memset (values, 0, sizeof *values);
  values->count = graph->build (lz, seed, out);
  for (size_t i = 0; i < values->count; i++) {
    values->shape[i] = nms_lazy_shape_of (lz, out[i]);
    values->data[i] = malloc (nms_lazy_shape_bytes (&values->shape[i]));
  }
  if (nms_lazy_read (lz, values->count, out, values->data) < 0)
    values->error = strdup (nms_lazy_error (lz));
  nms_lazy_free (&lz);
}

void
lazyvalues_clear (LazyValues *values)
{
  for (size_t i = 0; i < values->count; i++)
    free (values->data[i]);
  free (values->error);
  memset (values, 0, sizeof *values);
}

static int
same_element (int32_t type, const void *a, const void *b, size_t i)
{
  const float x = type == NMS_LAZY_F32 ? ((const float *) a)[i] : 0.0f;
  const float y = type == NMS_LAZY_F32 ? ((const float *) b)[i] : 0.0f;

  if (isnan (x) && isnan (y))
    return 1;
  if (type == NMS_LAZY_PRED)
    return ((const uint8_t *) a)[i] == ((const uint8_t *) b)[i];
  return ((const uint32_t *) a)[i] == ((const uint32_t *) b)[i];
}

char *
lazyvalues_difference (const LazyValues *a, const LazyValues *b)
{
  char *text = NULL;

  if (a->error || b->error || a->count != b->count) {
    if (asprintf (&text, "%zu and %zu values: %s, %s", a->count, b->count, a->error ? a->error : "",
            b->error ? b->error : "")
        < 0)
      abort ();
    return text;
  }
  for (size_t k = 0; k < a->count; k++) {
    size_t different = 0, first = 0, n = nms_lazy_shape_elements (&a->shape[k]);
    for (size_t i = n; i-- > 0;)
      if (!same_element (a->shape[k].type, a->data[k], b->data[k], i)) {
        first = i;
        different++;
      }
    if (!different)
      continue;
    uint32_t x = 0, y = 0;
    size_t size = a->shape[k].type == NMS_LAZY_PRED ? 1 : 4;
    memcpy (&x, (char *) a->data[k] + first * size, size);
    memcpy (&y, (char *) b->data[k] + first * size, size);
    if (asprintf (&text, "output %zu: %zu of %zu elements differ, first %zu: %08x, %08x", k,
            different, n, first, x, y)
        < 0)
      abort ();
    return text;
  }
  return NULL;
}
