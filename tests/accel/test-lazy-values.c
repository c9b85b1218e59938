/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests wrong calls of the interface of lazy tensors and their messages, and the text of
 * reductions. tests/python/test-lazy.py compares the results of each operation with numpy's.
 */
#include "lazycontext.h"
#include "testrunner.h"

#include <string.h>

typedef nms_lazy_tensor Tensor;

static const int32_t two = 2;

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
    Tensor x = nms_lazy_input (lz, rows[i].type, 1, &two, (float[]) { 1, 2 });
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

#define FAILS(status, text, call) \
  (void) call; \
  expect (NMS_ERROR_##status, text)

static void
test_errors (void)
{
  const int32_t three = 3, zero = 0, huge[] = { 1 << 20, 1 << 20 };
  const int32_t largest[] = { 1 << 14, (int32_t) (NMS_LAZY_MAX_ELEMENTS >> 14) };
  const float data[3] = { 0 };
  Tensor a, b, out, many[NMS_LAZY_MAX_STATES + 1];

  a = nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data);
  b = nms_lazy_input (lz, NMS_LAZY_F32, 1, &three, data);
  FAILS (ARGUMENT, "add of f32[2] and f32[3]: types or shapes do not fit",
      nms_lazy_binary (lz, NMS_LAZY_ADD, a, b));
  FAILS (ARGUMENT, "add of f32[] and s32[]",
      nms_lazy_binary (lz, NMS_LAZY_ADD, nms_lazy_f32 (lz, 1), nms_lazy_s32 (lz, 1)));
  FAILS (ARGUMENT, "before the last clear", nms_lazy_binary (lz, NMS_LAZY_ADD, a, a));
  FAILS (ARGUMENT, "NMS_LAZY_NONE",
      nms_lazy_binary (lz, NMS_LAZY_ADD, NMS_LAZY_NONE, NMS_LAZY_NONE));
  FAILS (RANGE, "extent 0 is 0", nms_lazy_input (lz, NMS_LAZY_F32, 1, &zero, data));
  FAILS (RANGE, "extent 1", nms_lazy_input (lz, NMS_LAZY_F32, 2, huge, data));
  FAILS (ARGUMENT, "type 9", nms_lazy_input (lz, (nms_lazy_type) 9, 1, &two, data));
  FAILS (ARGUMENT, "rank 3", nms_lazy_input (lz, NMS_LAZY_F32, 3, &two, data));
  FAILS (ARGUMENT, "no data", nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, NULL));
  FAILS (ARGUMENT, "reduce",
      nms_lazy_reduce (lz, NMS_LAZY_ADD, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 0));
  FAILS (ARGUMENT, "reduce",
      nms_lazy_reduce (lz, NMS_LAZY_AND, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 0));
  FAILS (ARGUMENT, "reduce", nms_lazy_reduce (lz, NMS_LAZY_MAX, nms_lazy_iota (lz, 1, &two, 0), 1));
  FAILS (ARGUMENT, "add (0) is not an operation of 1 tensors",
      nms_lazy_unary (lz, NMS_LAZY_ADD, nms_lazy_f32 (lz, 1)));
  FAILS (ARGUMENT, "unknown (99) is not an operation",
      nms_lazy_binary (lz, (nms_lazy_op) 99, nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1)));
  FAILS (ARGUMENT, "select of f32[], f32[] and f32[]",
      nms_lazy_select (lz, nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1), nms_lazy_f32 (lz, 1)));
  FAILS (ARGUMENT, "select",
      nms_lazy_select (lz, nms_lazy_pred (lz, 1), nms_lazy_f32 (lz, 1), nms_lazy_s32 (lz, 1)));
  FAILS (ARGUMENT, "transpose", nms_lazy_transpose (lz, nms_lazy_iota (lz, 1, &two, 0)));
  FAILS (ARGUMENT, "broadcast_in_dim of s32[2] to s32[3]",
      nms_lazy_broadcast (lz, nms_lazy_iota (lz, 1, &two, 0), 1, &three, 0));
  FAILS (ARGUMENT, "iota", nms_lazy_iota (lz, 1, &two, 1));
  a = nms_lazy_iota (lz, 1, &two, 0);
  FAILS (ARGUMENT, "dynamic_update_slice of s32[2], s32[3] and s32[2] to s32[3]",
      nms_lazy_update (lz, a, nms_lazy_iota (lz, 1, &three, 0), &a));
  FAILS (ARGUMENT, "reduce", nms_lazy_reduce (lz, NMS_LAZY_MAX, nms_lazy_f32 (lz, 1), 0));
  a = nms_lazy_s32 (lz, 0);
  FAILS (ARGUMENT, "slice",
      nms_lazy_slice (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), &a, &three));
  FAILS (ARGUMENT, "reshape of f32[2] to f32[3]",
      nms_lazy_reshape (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data), 1, &three));
  FAILS (ARGUMENT, "add of pred[]", nms_lazy_sum (lz, nms_lazy_pred (lz, 1), 0));
  FAILS (ARGUMENT, "add of s32[2]", nms_lazy_sum (lz, nms_lazy_iota (lz, 1, &two, 0), 1));
  FAILS (ARGUMENT, "add of s32[2,3]",
      nms_lazy_sum (lz, nms_lazy_iota (lz, 2, (int32_t[]) { 2, 3 }, 0), 2));
  FAILS (ARGUMENT, "sort of f32[]", nms_lazy_order (lz, nms_lazy_f32 (lz, 1)));
  FAILS (ARGUMENT, "gather of s32[2] and s32[]",
      nms_lazy_take (lz, nms_lazy_iota (lz, 1, &two, 0), nms_lazy_s32 (lz, 0)));
  FAILS (ARGUMENT, "compare of s32[] and f32[]", nms_lazy_exp (lz, nms_lazy_s32 (lz, 0)));
  FAILS (ARGUMENT, "sqrt of s32[]", nms_lazy_unary (lz, NMS_LAZY_SQRT, nms_lazy_s32 (lz, 0)));
  FAILS (ARGUMENT, "negate of bf16[2]",
      nms_lazy_unary (lz, NMS_LAZY_NEG, nms_lazy_input (lz, NMS_LAZY_BF16, 1, &two, data)));
  FAILS (ARGUMENT, "no tensors", nms_lazy_read (lz, 0, NULL, NULL));
  FAILS (ARGUMENT, "no tensors", nms_lazy_read (lz, 1, NULL, NULL));
  FAILS (ARGUMENT, "concatenate: no tensors", nms_lazy_concatenate (lz, 0, many, 0));
  many[0] = nms_lazy_iota (lz, 2, (int32_t[]) { 2, 3 }, 0);
  many[1] = nms_lazy_iota (lz, 2, (int32_t[]) { 2, 2 }, 0);
  FAILS (ARGUMENT, "concatenate of s32[2,3] and s32[2,2]: types or shapes",
      nms_lazy_concatenate (lz, 2, many, 0));
  many[0] = nms_lazy_iota (lz, 2, (int32_t[]) { 2, 3 }, 0);
  many[1] = nms_lazy_unary (lz, NMS_LAZY_TO_F32, many[0]);
  FAILS (ARGUMENT, "concatenate of s32[2,3] and f32[2,3]", nms_lazy_concatenate (lz, 2, many, 0));
  many[0] = nms_lazy_iota (lz, 2, (int32_t[]) { 2, 3 }, 0);
  FAILS (ARGUMENT, "concatenate of s32[2,3]", nms_lazy_concatenate (lz, 1, many, 2));
  many[0] = nms_lazy_s32 (lz, 1);
  FAILS (ARGUMENT, "of s32[]", nms_lazy_concatenate (lz, 1, many, 0));
  FAILS (RANGE, "step", nms_lazy_stride (lz, nms_lazy_iota (lz, 1, &two, 0), (int32_t[]) { 0 }));
  FAILS (RANGE, "step", nms_lazy_stride (lz, nms_lazy_iota (lz, 1, &two, 0), NULL));
  a = nms_lazy_iota (lz, 1, &two, 0);
  g_assert_true (nms_lazy_stride (lz, a, (int32_t[]) { 1 }) == a);
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

static const TestCase cases[] = { CASE (test_neutral), CASE (test_errors),
  CASE (test_other_context), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
