/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests how a context of lazy tensors records for long: tensors that are not kept are
 * freed, tensors that are kept keep their values, and equal operations are recorded once.
 */
#include "lazycontext.h"
#include "testrunner.h"

#include <string.h>

typedef nms_lazy_tensor Tensor;

static float
value_of (Tensor x)
{
  float value = 0.0f;

  if (nms_lazy_read (lz, 1, &x, (void *[]) { &value }) < 0)
    g_error ("%s", nms_lazy_error (lz));
  return value;
}

/* acc = acc + 1, read in each pass, for more passes than a context has operations. */
static void
test_long_loop (void)
{
  nms_lazy_counters c = { .size = sizeof c };
  Tensor acc = nms_lazy_input_f32 (lz, 0.0f);
  uint64_t misses;

  nms_lazy_cache_counters (cache, &c);
  misses = c.misses;
  for (int i = 1; i <= 10000; i++) {
    acc = nms_lazy_binary (lz, NMS_LAZY_ADD, acc, nms_lazy_f32 (lz, 1.0f));
    g_assert_cmpfloat (value_of (acc), ==, (float) i);
    g_assert_cmpint (nms_lazy_keep (lz, 1, &acc), ==, NMS_OK);
  }
  nms_lazy_cache_counters (cache, &c);
  g_assert_cmpuint (c.misses, ==, misses + 1);
  g_assert_cmpuint (nms_lazy_operations (lz), <=, 3); /* acc, the constant and `floor` */
  nms_lazy_clear (lz);
}

/* Without reads the operations that a kept tensor needs remain. */
static void
test_unread (void)
{
  Tensor one = nms_lazy_input_f32 (lz, 1.0f), two = nms_lazy_input_f32 (lz, 2.0f);
  Tensor dropped = nms_lazy_binary (lz, NMS_LAZY_MUL, two, two), keep[2];

  keep[0] = nms_lazy_binary (lz, NMS_LAZY_SUB, two, one);
  nms_lazy_binary (lz, NMS_LAZY_ADD, dropped, one);
  keep[1] = nms_lazy_binary (lz, NMS_LAZY_ADD, keep[0], two);
  g_assert_cmpint (nms_lazy_keep (lz, 2, keep), ==, NMS_OK);
  g_assert_cmpfloat (value_of (keep[1]), ==, 3.0f);
  g_assert_cmpfloat (value_of (keep[0]), ==, 1.0f);
  g_assert_cmpfloat (value_of (two), ==, 2.0f); /* because keep[0] needs it */
  nms_lazy_unary (lz, NMS_LAZY_NEG, dropped);
  g_assert_nonnull (strstr (nms_lazy_error (lz), "was not kept"));
  g_assert_cmpint (nms_lazy_keep (lz, 1, keep), ==, NMS_ERROR_ARGUMENT);
  nms_lazy_clear (lz);
}

static Tensor
below_limit (nms_lazy *l, const Tensor *state, void *user)
{
  return nms_lazy_binary (l, NMS_LAZY_LT, state[0], *(Tensor *) user);
}

static void
keep_inside (nms_lazy *l, const Tensor *state, Tensor *next, void *user)
{
  g_assert_cmpint (nms_lazy_keep (l, 0, NULL), ==, NMS_ERROR_ARGUMENT);
}

static void
add_limit (nms_lazy *l, const Tensor *state, Tensor *next, void *user)
{
  next[0] = nms_lazy_binary (l, NMS_LAZY_ADD, state[0], nms_lazy_f32 (l, 3.0f));
}

/* A loop moves as a whole, and its functions share no operations with those outside. */
static void
test_loop (void)
{
  Tensor junk = nms_lazy_input_f32 (lz, 9.0f), limit = nms_lazy_input_f32 (lz, 10.0f);
  Tensor zero = nms_lazy_input_f32 (lz, 0.0f), out;

  nms_lazy_binary (lz, NMS_LAZY_ADD, junk, limit);
  nms_lazy_while (lz, 1, &zero, below_limit, add_limit, &limit, &out);
  g_assert_cmpint (nms_lazy_keep (lz, 1, &out), ==, NMS_OK);
  Tensor sum = nms_lazy_binary (lz, NMS_LAZY_ADD, out, nms_lazy_f32 (lz, 3.0f));
  g_assert_cmpfloat (value_of (sum), ==, 15.0f);
  g_assert_cmpfloat (value_of (out), ==, 12.0f);
  nms_lazy_clear (lz);
  limit = nms_lazy_input_f32 (lz, 10.0f);
  nms_lazy_while (lz, 1, &limit, below_limit, keep_inside, &limit, &out);
  g_assert_nonnull (strstr (nms_lazy_error (lz), "nms_lazy_keep inside"));
  nms_lazy_clear (lz);
}

/* Equal operations are one, also after others were freed. */
static void
test_common (void)
{
  const int32_t n = 4;
  Tensor x = nms_lazy_input_f32 (lz, 2.0f), y = nms_lazy_input_f32 (lz, 2.0f);

  nms_lazy_binary (lz, NMS_LAZY_ADD, y, y);
  g_assert_true (nms_lazy_s32 (lz, 5) == nms_lazy_s32 (lz, 5));
  g_assert_true (nms_lazy_s32 (lz, 5) != nms_lazy_s32 (lz, 6));
  g_assert_true (nms_lazy_f32 (lz, 0.0f) != nms_lazy_f32 (lz, -0.0f));
  g_assert_true (nms_lazy_iota (lz, 1, &n, 0) == nms_lazy_iota (lz, 1, &n, 0));
  Tensor a = nms_lazy_binary (lz, NMS_LAZY_MUL, x, y);
  g_assert_true (a != nms_lazy_binary (lz, NMS_LAZY_MUL, x, x)); /* inputs differ in time */
  g_assert_cmpint (nms_lazy_keep (lz, 1, &a), ==, NMS_OK);
  g_assert_true (a == nms_lazy_binary (lz, NMS_LAZY_MUL, x, y));
  g_assert_true (nms_lazy_exp (lz, a) == nms_lazy_exp (lz, a));
  nms_lazy_clear (lz);
}

static const TestCase cases[] = { CASE (test_long_loop), CASE (test_unread), CASE (test_loop),
  CASE (test_common), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
