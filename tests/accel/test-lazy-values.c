/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the public interface of lazy tensors: the results of each operation against
 * plain C, wrong calls and their messages, and reads that follow reads.
 */
#include "lazycontext.h"
#include "lazygraphs.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

typedef nms_lazy_tensor Tensor;

/* Reads one tensor into `values` of `size` bytes and clears. */
static void
read_one (Tensor x, void *values, size_t size)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, x);

  g_assert_cmpuint (nms_lazy_shape_bytes (&shape), ==, size);
  if (nms_lazy_read (lz, 1, &x, &values) < 0)
    g_error ("%s", nms_lazy_error (lz));
  nms_lazy_clear (lz);
}

/* ------------------------------------------------------------------ values */

static const float some[] = { -INFINITY, -2.5f, -1.0f, 0.0f, 0.1f, 1.0f, 3.0f, 1e30f, INFINITY };
static const uint32_t words[] = { 0, 1, 2, 31, 32, 0x7fffffffu, 0x80000000u, 0xfffffffeu,
  UINT32_MAX };
#define SOME ((int32_t) G_N_ELEMENTS (some))

static const int32_t count = SOME;

static float
float_of (nms_lazy_op f, float a, float b)
{
  return f == NMS_LAZY_ADD ? a + b
      : f == NMS_LAZY_SUB  ? a - b
      : f == NMS_LAZY_MUL  ? a * b
      : f == NMS_LAZY_DIV  ? a / b
      : f == NMS_LAZY_MAX  ? fmaxf (a, b)
                           : fminf (a, b);
}

static uint32_t
word_of (nms_lazy_op f, uint32_t a, uint32_t b)
{
  const int less = (int32_t) a < (int32_t) b;

  return f == NMS_LAZY_ADD ? a + b
      : f == NMS_LAZY_SUB  ? a - b
      : f == NMS_LAZY_MUL  ? a * b
      : f == NMS_LAZY_MAX  ? (less ? b : a)
      : f == NMS_LAZY_MIN  ? (less ? a : b)
      : f == NMS_LAZY_AND  ? (a & b)
      : f == NMS_LAZY_OR   ? (a | b)
                           : (a ^ b);
}

/* Tests each operation with two vectors, scalar and vector, vector and scalar. */
static void
check_binary (nms_lazy_op f, nms_lazy_type type, const void *values)
{
  uint32_t result[G_N_ELEMENTS (some)];

  for (int k = 0; k < SOME; k++)
    for (int form = 0; form < 3; form++) {
      const char *all = values;
      char turned[sizeof words];
      for (int i = 0; i < SOME; i++)
        memcpy (turned + 4 * i, all + 4 * ((i + k) % SOME), 4);
      Tensor a = nms_lazy_input (lz, type, form != 1, &count, form == 1 ? all + 4 * k : all);
      Tensor b = nms_lazy_input (lz, type, form != 2, &count,
          form == 0       ? (const char *) turned
              : form == 1 ? all
                          : all + 4 * k);
      read_one (nms_lazy_binary (lz, f, a, b), result, sizeof result);
      for (int i = 0; i < SOME; i++) {
        const int ia = form == 1 ? k : i, ib = form == 0 ? (i + k) % SOME : form == 1 ? i : k;
        if (type == NMS_LAZY_F32) {
          float is, must = float_of (f, ((const float *) values)[ia], ((const float *) values)[ib]);
          memcpy (&is, &result[i], 4);
          g_assert_true (is == must || (isnan (is) && isnan (must)));
        } else
          g_assert_cmphex (result[i], ==, word_of (f, words[ia], words[ib]));
      }
    }
}

static void
test_binary (void)
{
  const nms_lazy_op floats[] = { NMS_LAZY_ADD, NMS_LAZY_SUB, NMS_LAZY_MUL, NMS_LAZY_DIV,
    NMS_LAZY_MAX, NMS_LAZY_MIN };
  const nms_lazy_op integers[] = { NMS_LAZY_ADD, NMS_LAZY_SUB, NMS_LAZY_MUL, NMS_LAZY_MAX,
    NMS_LAZY_MIN, NMS_LAZY_AND, NMS_LAZY_OR, NMS_LAZY_XOR };

  for (size_t i = 0; i < G_N_ELEMENTS (floats); i++)
    check_binary (floats[i], NMS_LAZY_F32, some);
  for (size_t i = 0; i < G_N_ELEMENTS (integers); i++)
    check_binary (integers[i], NMS_LAZY_S32, words);
}

/* The operations and their results in plain C, compared by their bits. */
static void
test_unary (void)
{
  uint32_t is[G_N_ELEMENTS (some)], bits[G_N_ELEMENTS (some)];
  float numbers[SOME];
  uint8_t flags[G_N_ELEMENTS (some)];

  memcpy (bits, some, sizeof bits);
#define CHECK(op, type, data, must) \
  read_one (nms_lazy_unary (lz, op, nms_lazy_input (lz, type, 1, &count, data)), is, sizeof is); \
  for (int i = 0; i < SOME; i++) \
  g_assert_cmphex (is[i], ==, must)
  CHECK (NMS_LAZY_NEG, NMS_LAZY_F32, some, bits[i] ^ 0x80000000u);
  CHECK (NMS_LAZY_ABS, NMS_LAZY_F32, some, bits[i] & 0x7fffffffu);
  CHECK (NMS_LAZY_AS_S32, NMS_LAZY_F32, some, bits[i]);
  CHECK (NMS_LAZY_AS_F32, NMS_LAZY_S32, bits, bits[i]);
  CHECK (NMS_LAZY_NEG, NMS_LAZY_S32, words, 0u - words[i]);
  CHECK (NMS_LAZY_ABS, NMS_LAZY_S32, words, words[i] >> 31 ? 0u - words[i] : words[i]);
  for (int i = 0; i < SOME; i++) {
    const float f = (float) (int32_t) words[i];
    memcpy (&bits[i], &f, sizeof f);
    flags[i] = (uint8_t) (i % 3);
  }
  CHECK (NMS_LAZY_TO_F32, NMS_LAZY_S32, words, bits[i]);
  for (int i = 0; i < SOME; i++)
    numbers[i] = (float) (i - SOME / 2) * 1.37f;
  CHECK (NMS_LAZY_TO_S32, NMS_LAZY_F32, numbers, (uint32_t) (int32_t) numbers[i]);
  CHECK (NMS_LAZY_TO_S32, NMS_LAZY_PRED, flags, (uint32_t) (flags[i] != 0));
}

static void
test_compare_select (void)
{
  const float a[] = { 1, 2, NAN, 3 }, b[] = { 1, 3, NAN, 2 };
  const int32_t n = 4;
  const uint8_t must[6][4] = { { 1, 0, 0, 0 }, { 0, 1, 1, 1 }, { 1, 0, 0, 1 }, { 0, 0, 0, 1 },
    { 1, 1, 0, 0 }, { 0, 1, 0, 0 } };

  for (int order = 0; order < 6; order++) {
    uint8_t is[4];
    read_one (nms_lazy_binary (lz, (nms_lazy_op) (NMS_LAZY_EQ + order),
                  nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, a),
                  nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, b)),
        is, sizeof is);
    g_assert_cmpmem (is, 4, must[order], 4);
  }
  int32_t chosen[4];
  Tensor flags = nms_lazy_input (lz, NMS_LAZY_PRED, 1, &n, (uint8_t[]) { 0, 1, 2, 0 });
  read_one (nms_lazy_select (lz, flags, nms_lazy_s32 (lz, -5), nms_lazy_iota (lz, 1, &n, 0)),
      chosen, sizeof chosen);
  g_assert_cmpmem (chosen, sizeof chosen, ((int32_t[]) { 0, -5, -5, 3 }), sizeof chosen);
}

static void
test_shapes (void)
{
  const int32_t dims[] = { 2, 3 };
  const int32_t data[] = { 1, 2, 3, 4, 5, 6 };
  int32_t six[6], two[2], three[3];
#define MATRIX nms_lazy_input (lz, NMS_LAZY_S32, 2, dims, data)

  read_one (nms_lazy_transpose (lz, MATRIX), six, sizeof six);
  g_assert_cmpmem (six, sizeof six, ((int32_t[]) { 1, 4, 2, 5, 3, 6 }), sizeof six);
  Tensor here[] = { nms_lazy_s32 (lz, 1), nms_lazy_s32 (lz, 1) };
  read_one (nms_lazy_slice (lz, MATRIX, here, (int32_t[]) { 1, 2 }), two, sizeof two);
  g_assert_cmpmem (two, sizeof two, ((int32_t[]) { 5, 6 }), sizeof two);
  /* starts beyond the end are moved back */
  Tensor far[] = { nms_lazy_input_s32 (lz, 77), nms_lazy_input_s32 (lz, -3) };
  read_one (nms_lazy_slice (lz, MATRIX, far, (int32_t[]) { 1, 2 }), two, sizeof two);
  g_assert_cmpmem (two, sizeof two, ((int32_t[]) { 4, 5 }), sizeof two);
  Tensor at[] = { nms_lazy_s32 (lz, 0), nms_lazy_s32 (lz, 2) };
  read_one (nms_lazy_update (lz, MATRIX,
                nms_lazy_input (lz, NMS_LAZY_S32, 2, (int32_t[]) { 2, 1 }, (int32_t[]) { 9, 8 }),
                at),
      six, sizeof six);
  g_assert_cmpmem (six, sizeof six, ((int32_t[]) { 1, 2, 9, 4, 5, 8 }), sizeof six);
  read_one (nms_lazy_broadcast (lz, nms_lazy_input (lz, NMS_LAZY_S32, 1, dims, data), 2, dims, 0),
      six, sizeof six);
  g_assert_cmpmem (six, sizeof six, ((int32_t[]) { 1, 1, 1, 2, 2, 2 }), sizeof six);
  read_one (nms_lazy_broadcast (lz, nms_lazy_input (lz, NMS_LAZY_S32, 1, dims + 1, data), 2, dims,
                1),
      six, sizeof six);
  g_assert_cmpmem (six, sizeof six, ((int32_t[]) { 1, 2, 3, 1, 2, 3 }), sizeof six);
  read_one (nms_lazy_iota (lz, 2, dims, 0), six, sizeof six);
  g_assert_cmpmem (six, sizeof six, ((int32_t[]) { 0, 0, 0, 1, 1, 1 }), sizeof six);
  read_one (nms_lazy_reduce (lz, NMS_LAZY_OR, MATRIX, 0), three, sizeof three);
  g_assert_cmpmem (three, sizeof three, ((int32_t[]) { 5, 7, 7 }), sizeof three);
  read_one (nms_lazy_reduce (lz, NMS_LAZY_MAX, MATRIX, 1), two, sizeof two);
  g_assert_cmpmem (two, sizeof two, ((int32_t[]) { 3, 6 }), sizeof two);
}

/* Every second element, backwards, and parts in groups of NMS__OPERANDS. */
static void
test_joins_and_strides (void)
{
  const int32_t dims[] = { 2, 3 }, two = 2, one = 1;
  const int32_t data[] = { 1, 2, 3, 4, 5, 6 };
  int32_t twelve[12], four[4], three[3], twenty[20];
  Tensor many[20];

  read_one (nms_lazy_stride (lz, MATRIX, (int32_t[]) { 1, 2 }), four, sizeof four);
  g_assert_cmpmem (four, sizeof four, ((int32_t[]) { 1, 3, 4, 6 }), sizeof four);
  read_one (nms_lazy_stride (lz, MATRIX, (int32_t[]) { -1, -2 }), four, sizeof four);
  g_assert_cmpmem (four, sizeof four, ((int32_t[]) { 6, 4, 3, 1 }), sizeof four);
  read_one (nms_lazy_stride (lz, MATRIX, (int32_t[]) { -7, 1 }), three, sizeof three);
  g_assert_cmpmem (three, sizeof three, ((int32_t[]) { 4, 5, 6 }), sizeof three);
  Tensor vector = nms_lazy_iota (lz, 1, (int32_t[]) { 6 }, 0);
  read_one (nms_lazy_stride (lz, vector, (int32_t[]) { -2 }), three, sizeof three);
  g_assert_cmpmem (three, sizeof three, ((int32_t[]) { 5, 3, 1 }), sizeof three);
  vector = nms_lazy_iota (lz, 1, &two, 0);
  g_assert_true (nms_lazy_stride (lz, vector, &one) == vector);
  nms_lazy_clear (lz);

  for (int axis = 0; axis < 2; axis++) {
    Tensor both[] = { MATRIX, nms_lazy_iota (lz, 2, dims, 1) };
    read_one (nms_lazy_concatenate (lz, 2, both, axis), twelve, sizeof twelve);
    g_assert_cmpmem (twelve, sizeof twelve,
        (axis ? (int32_t[]) { 1, 2, 3, 0, 1, 2, 4, 5, 6, 0, 1, 2 }
              : (int32_t[]) { 1, 2, 3, 4, 5, 6, 0, 1, 2, 0, 1, 2 }),
        sizeof twelve);
  }
  for (int32_t parts = 1; parts <= 20; parts++) {
    for (int32_t i = 0; i < parts; i++)
      many[i] = nms_lazy_input (lz, NMS_LAZY_S32, 1, &one, &i);
    read_one (nms_lazy_concatenate (lz, (size_t) parts, many, 0), twenty, 4 * (size_t) parts);
    for (int32_t i = 0; i < parts; i++)
      g_assert_cmpint (twenty[i], ==, i);
  }
  g_assert_cmpuint (nms_lazy_concatenate (lz, 0, many, 0), ==, NMS_LAZY_NONE);
  g_assert_cmpstr (nms_lazy_error (lz), ==, "concatenate: no tensors");
  nms_lazy_clear (lz);
#define FAILS(call, text) \
  g_assert_cmpuint (call, ==, NMS_LAZY_NONE); \
  if (!strstr (nms_lazy_error (lz), text)) \
    g_error ("'%s'", nms_lazy_error (lz)); \
  nms_lazy_clear (lz)
  FAILS (nms_lazy_concatenate (lz, 2,
             (Tensor[]) { MATRIX, nms_lazy_iota (lz, 2, (int32_t[]) { 2, 2 }, 0) }, 0),
      "concatenate of s32[2,3] and s32[2,2]: types or shapes");
  FAILS (nms_lazy_concatenate (lz, 2,
             (Tensor[]) { MATRIX, nms_lazy_unary (lz, NMS_LAZY_TO_F32, MATRIX) }, 0),
      "concatenate of s32[2,3] and f32[2,3]");
  FAILS (nms_lazy_concatenate (lz, 1, (Tensor[]) { MATRIX }, 2), "concatenate of s32[2,3]");
  FAILS (nms_lazy_concatenate (lz, 1, (Tensor[]) { nms_lazy_s32 (lz, 1) }, 0), "of s32[]");
  FAILS (nms_lazy_stride (lz, nms_lazy_iota (lz, 1, &two, 0), (int32_t[]) { 0 }), "step");
  FAILS (nms_lazy_stride (lz, nms_lazy_iota (lz, 1, &two, 0), NULL), "step");
}

/* argmax takes the first of equal elements, in rows of all lengths up to some vector
 * registers. */
static void
test_argmax (void)
{
  for (int32_t n = 1; n < 70; n++)
    for (int32_t first = 0; first < n; first += 1 + n / 5) {
      g_autofree float *data = g_new (float, n);
      int32_t place;
      for (int32_t i = 0; i < n; i++)
        data[i] = i == first || i == n - 1 ? 2.0f : (float) (i % 3) - 1.0f;
      Tensor index;
      g_assert_true (nms_lazy_argmax (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, data), 0, &index)
          != NMS_LAZY_NONE);
      read_one (index, &place, sizeof place);
      g_assert_cmpint (place, ==, first);
    }
}

/* A value that was read becomes an input and is not computed again. */
static void
test_read_twice (void)
{
  nms_lazy_counters c = { .size = sizeof c };
  float value = 0.0f, other = 0.0f;
  Tensor x = nms_lazy_input_f32 (lz, 3.0f), y = nms_lazy_binary (lz, NMS_LAZY_MUL, x, x);
  const Tensor both[] = { y, y };

  nms_lazy_cache_counters (cache, &c);
  const uint64_t runs = c.runs;
  g_assert_cmpint (nms_lazy_read (lz, 2, both, (void *[]) { &value, &other }), ==, NMS_OK);
  g_assert_true (value == 9.0f && other == 9.0f);
  g_assert_cmpint (nms_lazy_read (lz, 1, &y, (void *[]) { &other }), ==, NMS_OK);
  g_assert_cmpint (nms_lazy_read (lz, 1, &x, (void *[]) { &other }), ==, NMS_OK);
  g_assert_cmpfloat (other, ==, 3.0f);
  nms_lazy_cache_counters (cache, &c);
  g_assert_cmpuint (c.runs, ==, runs + 1);
  Tensor z = nms_lazy_binary (lz, NMS_LAZY_ADD, y, x);
  g_autofree char *text = nms_lazy_dump (lz, 1, &z);
  g_assert_null (strstr (text, "multiply"));
  g_assert_cmpint (nms_lazy_read (lz, 1, &z, (void *[]) { &value }), ==, NMS_OK);
  g_assert_cmpfloat (value, ==, 12.0f);
  nms_lazy_clear (lz);
}

/* A program that is compiled begins a reduction with the value that changes no result. The
 * interpreter begins with the first element. */
static void
test_neutral (void)
{
  static const struct {
    nms_lazy_op op;
    nms_lazy_type type;
    const char *constant;
  } rows[] = { { NMS_LAZY_MAX, NMS_LAZY_F32, "dense<0xFF800000>" },
    { NMS_LAZY_MIN, NMS_LAZY_F32, "dense<0x7F800000>" },
    { NMS_LAZY_MAX, NMS_LAZY_S32, "dense<-2147483648>" },
    { NMS_LAZY_MIN, NMS_LAZY_S32, "dense<2147483647>" },
    { NMS_LAZY_AND, NMS_LAZY_S32, "dense<-1>" }, { NMS_LAZY_OR, NMS_LAZY_S32, "dense<0>" } };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    const int floats = rows[i].type == NMS_LAZY_F32;
    Tensor x = nms_lazy_input (lz, rows[i].type, 1, &count,
        floats ? (void *) some : (void *) words);
    Tensor reduced = nms_lazy_reduce (lz, rows[i].op, x, 0);
    g_autofree char *text = nms_lazy_dump (lz, 1, &reduced);

    if (!strstr (text, rows[i].constant))
      g_error ("no %s in:\n%s", rows[i].constant, text);
    nms_lazy_clear (lz);
  }
}

/* ------------------------------------------------------------------ errors */

static Tensor
read_inside (nms_lazy *l, const Tensor *state, void *user)
{
  g_assert_cmpint (nms_lazy_read (l, 1, state, NULL), ==, NMS_ERROR_UNSUPPORTED);
  return state[0];
}

static Tensor
clear_inside (nms_lazy *l, const Tensor *state, void *user)
{
  nms_lazy_clear (l);
  return nms_lazy_pred (l, 0);
}

/* A tensor of cond, which the body and the test use. */
static Tensor leaked;

static Tensor
leak (nms_lazy *l, const Tensor *state, void *user)
{
  leaked = nms_lazy_s32 (l, 5);
  return nms_lazy_binary (l, NMS_LAZY_LT, state[0], leaked);
}

static void
use_leaked (nms_lazy *l, const Tensor *state, Tensor *next, void *user)
{
  next[0] = nms_lazy_binary (l, NMS_LAZY_ADD, state[0], leaked);
}

static Tensor
not_a_flag (nms_lazy *l, const Tensor *state, void *user)
{
  return state[0];
}

static Tensor
never (nms_lazy *l, const Tensor *state, void *user)
{
  return nms_lazy_pred (l, 0);
}

static void
stay (nms_lazy *l, const Tensor *state, Tensor *next, void *user)
{
  next[0] = state[0];
}

static void
change_type (nms_lazy *l, const Tensor *state, Tensor *next, void *user)
{
  next[0] = nms_lazy_f32 (l, 1.0f);
}

/* Checks that the error contains this text, latches, and ends with a clear. */
static void
expect (int status, const char *text)
{
  const int32_t n = 2;

  g_assert_cmpint (nms_lazy_status (lz), ==, status);
  if (!strstr (nms_lazy_error (lz), text))
    g_error ("'%s' is not in '%s'", text, nms_lazy_error (lz));
  g_assert_true (nms_lazy_iota (lz, 1, &n, 0) == NMS_LAZY_NONE);
  Tensor none = NMS_LAZY_NONE;
  g_assert_cmpint (nms_lazy_read (lz, 1, &none, NULL), ==, status);
  g_assert_null (nms_lazy_dump (lz, 1, &none));
  nms_lazy_clear (lz);
  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_OK);
  g_assert_cmpstr (nms_lazy_error (lz), ==, "");
}

static void
test_errors (void)
{
  const int32_t two = 2, three = 3, zero = 0, huge[] = { 1 << 20, 1 << 20 };
  const int32_t largest[] = { 1 << 14, (int32_t) (NMS_LAZY_MAX_ELEMENTS >> 14) };
  const float data[3] = { 0 };
  Tensor a, b, out, many[NMS_LAZY_MAX_STATES + 1];

  a = nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data);
  b = nms_lazy_input (lz, NMS_LAZY_F32, 1, &three, data);
  nms_lazy_binary (lz, NMS_LAZY_ADD, a, b);
  expect (NMS_ERROR_ARGUMENT, "add of f32[2] and f32[3]: types or shapes do not fit");
  nms_lazy_binary (lz, NMS_LAZY_ADD, nms_lazy_f32 (lz, 1), nms_lazy_s32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "add of f32[] and s32[]");
  nms_lazy_binary (lz, NMS_LAZY_ADD, a, a);
  expect (NMS_ERROR_ARGUMENT, "before the last clear");
  nms_lazy_binary (lz, NMS_LAZY_ADD, NMS_LAZY_NONE, NMS_LAZY_NONE);
  expect (NMS_ERROR_ARGUMENT, "NMS_LAZY_NONE");
  nms_lazy_input (lz, NMS_LAZY_F32, 1, &zero, data);
  expect (NMS_ERROR_RANGE, "extent 0 is 0");
  nms_lazy_input (lz, NMS_LAZY_F32, 2, huge, data);
  expect (NMS_ERROR_RANGE, "extent 1");
  nms_lazy_input (lz, (nms_lazy_type) 9, 1, &two, data);
  expect (NMS_ERROR_ARGUMENT, "type 9");
  nms_lazy_input (lz, NMS_LAZY_F32, 3, &two, data);
  expect (NMS_ERROR_ARGUMENT, "rank 3");
  nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, NULL);
  expect (NMS_ERROR_ARGUMENT, "no data");
  nms_lazy_reduce (lz, NMS_LAZY_ADD, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 0);
  expect (NMS_ERROR_ARGUMENT, "reduce");
  nms_lazy_reduce (lz, NMS_LAZY_AND, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 0);
  expect (NMS_ERROR_ARGUMENT, "reduce");
  nms_lazy_reduce (lz, NMS_LAZY_MAX, nms_lazy_iota (lz, 1, &two, 0), 1);
  expect (NMS_ERROR_ARGUMENT, "reduce");
  nms_lazy_unary (lz, NMS_LAZY_ADD, nms_lazy_f32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "add (0) is not an operation of 1 tensors");
  nms_lazy_binary (lz, (nms_lazy_op) 99, nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "unknown (99) is not an operation");
  nms_lazy_select (lz, nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "select of f32[], f32[] and f32[]");
  nms_lazy_select (lz, nms_lazy_pred (lz, 1), nms_lazy_f32 (lz, 1), nms_lazy_s32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "select");
  nms_lazy_transpose (lz, nms_lazy_iota (lz, 1, &two, 0));
  expect (NMS_ERROR_ARGUMENT, "transpose");
  nms_lazy_broadcast (lz, nms_lazy_iota (lz, 1, &two, 0), 1, &three, 0);
  expect (NMS_ERROR_ARGUMENT, "broadcast_in_dim of s32[2] to s32[3]");
  nms_lazy_iota (lz, 1, &two, 1);
  expect (NMS_ERROR_ARGUMENT, "iota");
  a = nms_lazy_iota (lz, 1, &two, 0);
  nms_lazy_update (lz, a, nms_lazy_iota (lz, 1, &three, 0), &a);
  expect (NMS_ERROR_ARGUMENT, "dynamic_update_slice of s32[2], s32[3] and s32[2] to s32[3]");
  nms_lazy_reduce (lz, NMS_LAZY_MAX, nms_lazy_f32 (lz, 1), 0);
  expect (NMS_ERROR_ARGUMENT, "reduce");
  a = nms_lazy_s32 (lz, 0);
  nms_lazy_slice (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), &a, &three);
  expect (NMS_ERROR_ARGUMENT, "slice");
  nms_lazy_reshape (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 1, &three);
  expect (NMS_ERROR_ARGUMENT, "reshape of f32[2] to f32[3]");
  nms_lazy_sum (lz, nms_lazy_pred (lz, 1), 0);
  expect (NMS_ERROR_ARGUMENT, "add of pred[]");
  nms_lazy_sum (lz, nms_lazy_iota (lz, 1, &two, 0), 1);
  expect (NMS_ERROR_ARGUMENT, "add of s32[2]");
  nms_lazy_sum (lz, nms_lazy_iota (lz, 2, (int32_t[]) { 2, 3 }, 0), 2);
  expect (NMS_ERROR_ARGUMENT, "add of s32[2,3]");
  nms_lazy_order (lz, nms_lazy_f32 (lz, 1));
  expect (NMS_ERROR_ARGUMENT, "sort of f32[]");
  nms_lazy_take (lz, nms_lazy_iota (lz, 1, &two, 0), nms_lazy_s32 (lz, 0));
  expect (NMS_ERROR_ARGUMENT, "gather of s32[2] and s32[]");
  nms_lazy_exp (lz, nms_lazy_s32 (lz, 0));
  expect (NMS_ERROR_ARGUMENT, "compare of s32[] and f32[]");
  nms_lazy_unary (lz, NMS_LAZY_SQRT, nms_lazy_s32 (lz, 0));
  expect (NMS_ERROR_ARGUMENT, "sqrt of s32[]");
  nms_lazy_unary (lz, NMS_LAZY_NEG, nms_lazy_input (lz, NMS_LAZY_BF16, 1, &two, data));
  expect (NMS_ERROR_ARGUMENT, "negate of bf16[2]");
  nms_lazy_read (lz, 0, NULL, NULL);
  expect (NMS_ERROR_ARGUMENT, "no tensors");
  nms_lazy_read (lz, 1, NULL, NULL);
  expect (NMS_ERROR_ARGUMENT, "no tensors");
  g_assert_true (nms_lazy_iota (lz, 2, largest, 0) != NMS_LAZY_NONE);
  nms_lazy_clear (lz);
  for (int i = 0; i <= NMS_LAZY_MAX_OPERATIONS; i++)
    nms_lazy_s32 (lz, i);
  expect (NMS_ERROR_RANGE, "more than 4096 operations");

#define LOOP(cond, body) \
  a = nms_lazy_input_s32 (lz, 1), out = 77; \
  nms_lazy_while (lz, 1, &a, cond, body, NULL, &out); \
  g_assert_true (out == NMS_LAZY_NONE)
  LOOP (read_inside, stay);
  expect (NMS_ERROR_UNSUPPORTED, "cannot be read inside a loop");
  LOOP (clear_inside, stay);
  expect (NMS_ERROR_ARGUMENT, "nms_lazy_clear inside");
  LOOP (leak, use_leaked);
  expect (NMS_ERROR_ARGUMENT, "of a loop's function is used outside");
  a = nms_lazy_input_s32 (lz, 1);
  nms_lazy_while (lz, 1, &a, leak, stay, NULL, &out);
  g_assert_true (out != NMS_LAZY_NONE);
  nms_lazy_unary (lz, NMS_LAZY_NEG, leaked);
  expect (NMS_ERROR_ARGUMENT, "of a loop's function is used outside");
  LOOP (not_a_flag, stay);
  expect (NMS_ERROR_ARGUMENT, "cond gives s32[], no PRED");
  LOOP (never, change_type);
  expect (NMS_ERROR_ARGUMENT, "body changes state 0 from s32[] to f32[]");
  nms_lazy_while (lz, 0, NULL, never, stay, NULL, NULL);
  expect (NMS_ERROR_ARGUMENT, "no state");
  for (size_t i = 0; i < G_N_ELEMENTS (many); i++)
    many[i] = nms_lazy_input_s32 (lz, 1);
  nms_lazy_while (lz, G_N_ELEMENTS (many), many, never, stay, NULL, many);
  expect (NMS_ERROR_ARGUMENT, "too many");
  g_assert_null (nms_lazy_new (NULL));
  nms_lazy_free (NULL);
  nms_lazy_cache_free (NULL);
}

/* A context refuses tensors of another one. */
static void
test_other_context (void)
{
  nms_lazy *other = nms_lazy_new (cache);
  Tensor x = nms_lazy_f32 (other, 1.0f);

  nms_lazy_f32 (lz, 1.0f);
  nms_lazy_unary (lz, NMS_LAZY_NEG, x);
  expect (NMS_ERROR_ARGUMENT, "of another context");
  nms_lazy_free (&other);
  g_assert_null (other);
}

static const TestCase cases[] = { CASE (test_binary), CASE (test_unary), CASE (test_compare_select),
  CASE (test_shapes), CASE (test_argmax), CASE (test_joins_and_strides), CASE (test_neutral),
  CASE (test_read_twice), CASE (test_errors), CASE (test_other_context), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
