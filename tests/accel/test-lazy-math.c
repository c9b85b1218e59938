/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests exp, log, sqrt, sums, orders, gathers and conversions of lazy tensors, run by the
 * eager executor, against libm in binary64 or plain C. test-lazy-device compares devices
 * with the eager executor.
 */
#include "lazycontext.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

typedef nms_lazy_tensor Tensor;

#define N 4096

static const int32_t count = N;

static Tensor
floats (const float *values)
{
  return nms_lazy_input (lz, NMS_LAZY_F32, 1, &count, values);
}

static void
read_all (Tensor x, void *values)
{
  if (nms_lazy_read (lz, 1, &x, &values) < 0)
    g_error ("%s", nms_lazy_error (lz));
  nms_lazy_clear (lz);
}

static void
test_exp (void)
{
  const float ends[] = { 0.0f, -0.0f, 1.0f, -87.33655f, -INFINITY, 88.7229f, INFINITY, 88.7228f };
  const float must[] = { 1.0f, 1.0f, (float) M_E, 0.0f, 0.0f, INFINITY, INFINITY };
  float x[N], y[N];

  for (int i = 0; i < N; i++)
    x[i] = -87.3365f + 176.05f * (float) i / N;
  memcpy (x, ends, sizeof ends);
  x[N - 1] = NAN;
  read_all (nms_lazy_exp (lz, floats (x)), y);
  for (size_t i = 0; i < G_N_ELEMENTS (must); i++)
    g_assert_cmpfloat_with_epsilon (isinf (y[i]) ? 0.0f : y[i], isinf (must[i]) ? 0.0f : must[i],
        3e-7f);
  g_assert_true (isinf (y[5]) && isinf (y[6]) && y[7] < INFINITY && isnan (y[N - 1]));
  for (int i = 7; i < N - 1; i++)
    g_assert_cmpfloat (fabs (y[i] / exp ((double) x[i]) - 1.0), <, 0x1p-22);
}

static void
test_log (void)
{
  const float ends[] = { 1.0f, 0.0f, -0.0f, -1.0f, -INFINITY, NAN, INFINITY };
  float x[N], y[N];

  for (int i = 0; i < N; i++)
    x[i] = i % 2 ? 0.5f + 2.0f * (float) i / N : expf (-87.0f + 175.0f * (float) i / N);
  memcpy (x, ends, sizeof ends);
  read_all (nms_lazy_log (lz, floats (x)), y);
  g_assert_true (y[0] == 0.0f && y[1] == -INFINITY && y[2] == -INFINITY);
  g_assert_true (isnan (y[3]) && isnan (y[4]) && isnan (y[5]) && y[6] == INFINITY);
  for (int i = 7; i < N; i++) {
    const double must = log ((double) x[i]);
    g_assert_cmpfloat (fabs (y[i] - must), <, 0x1p-22 * MAX (fabs (must), 0.25));
  }
}

static void
test_sqrt_convert (void)
{
  float x[N], y[N];
  int32_t whole[N];
  uint16_t halves[N];

  for (int i = 0; i < N; i++) {
    x[i] = expf (-80.0f + 160.0f * (float) i / N);
    halves[i] = (uint16_t) (i * 16 + 3);
  }
  read_all (nms_lazy_unary (lz, NMS_LAZY_SQRT, floats (x)), y);
  for (int i = 0; i < N; i++)
    g_assert_cmpfloat (y[i], ==, sqrtf (x[i]));
  memcpy (x,
      (float[]) { 3e9f, -3e9f, NAN, 2147483520.0f, -2147483648.0f, -1.9f, INFINITY, -INFINITY,
          2147483648.0f },
      9 * sizeof *x);
  read_all (nms_lazy_unary (lz, NMS_LAZY_TO_S32, floats (x)), whole);
  g_assert_cmpmem (whole, 9 * sizeof *whole,
      ((int32_t[]) { INT32_MAX, INT32_MIN, 0, 2147483520, INT32_MIN, -1, INT32_MAX, INT32_MIN,
          INT32_MAX }),
      9 * sizeof *whole);
  read_all (nms_lazy_unary (lz, NMS_LAZY_TO_F32,
                nms_lazy_input (lz, NMS_LAZY_BF16, 1, &count, halves)),
      y);
  for (int i = 0; i < N; i++) {
    uint32_t bits;
    memcpy (&bits, &y[i], sizeof bits);
    g_assert_cmphex (bits, ==, (uint32_t) halves[i] << 16);
  }
}

/* The order of nms_lazy_sum as nmslazy.h defines it. */
static float
sum_of (const float *values, int n, int stride)
{
  float part[N];

  for (int i = 0; i < n; i++)
    part[i] = values[i * stride];
  for (int rest; n > 1; n -= rest) {
    rest = n / 2;
    for (int i = 0; i < rest; i++)
      part[i] += part[n - rest + i];
  }
  return part[0];
}

static void
test_sum (void)
{
  float x[N], y[N];

  for (int i = 0; i < N; i++)
    x[i] = sinf ((float) i) * expf ((float) (i % 17));
  for (int32_t n = 1; n < 300; n += 1 + n / 7) {
    Tensor a = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, x);
    read_all (nms_lazy_sum (lz, a, 0), y);
    g_assert_cmpfloat (y[0], ==, sum_of (x, n, 1));
    const int32_t dims[] = { n, 5 }, turned[] = { 5, n };
    read_all (nms_lazy_sum (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, dims, x), 0), y);
    for (int k = 0; k < 5; k++)
      g_assert_cmpfloat (y[k], ==, sum_of (x + k, n, 5));
    read_all (nms_lazy_sum (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, turned, x), 1), y);
    for (int k = 0; k < 5; k++)
      g_assert_cmpfloat (y[k], ==, sum_of (x + k * n, n, 1));
  }
}

static void
test_order_take (void)
{
  const float x[] = { 1.0f, NAN, INFINITY, -0.0f, 0.0f, -INFINITY, 1.0f, -NAN };
  const int32_t words[] = { 5, INT32_MIN, 5, INT32_MAX, -1 }, table[] = { 0, 1, 10, 11, 20, 21 };
  const int32_t eight = 8, five = 5, four = 4;
  int32_t is[8];

  read_all (nms_lazy_order (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &eight, x)), is);
  g_assert_cmpmem (is, sizeof is, ((int32_t[]) { 2, 0, 6, 3, 4, 5, 1, 7 }), sizeof is);
  read_all (nms_lazy_order (lz, nms_lazy_input (lz, NMS_LAZY_S32, 1, &five, words)), is);
  g_assert_cmpmem (is, 20, ((int32_t[]) { 3, 0, 2, 4, 1 }), 20);
  read_all (nms_lazy_order (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, (int32_t[]) { 2, 4 }, x)), is);
  g_assert_cmpmem (is, sizeof is, ((int32_t[]) { 2, 0, 3, 1, 2, 0, 1, 3 }), sizeof is);
  Tensor index = nms_lazy_input (lz, NMS_LAZY_S32, 1, &four, (int32_t[]) { 2, -7, 99, 1 });
  Tensor rows = nms_lazy_input (lz, NMS_LAZY_S32, 2, (int32_t[]) { 3, 2 }, table);
  read_all (nms_lazy_take (lz, rows, index), is);
  g_assert_cmpmem (is, sizeof is, ((int32_t[]) { 20, 21, 0, 1, 20, 21, 10, 11 }), sizeof is);
  index = nms_lazy_input (lz, NMS_LAZY_S32, 1, &four, (int32_t[]) { 2, -7, 99, 1 });
  read_all (nms_lazy_take (lz, nms_lazy_input (lz, NMS_LAZY_S32, 1, &five, words), index), is);
  g_assert_cmpmem (is, 16, ((int32_t[]) { 5, 5, -1, INT32_MIN }), 16);
}

static const TestCase cases[] = { CASE (test_exp), CASE (test_log), CASE (test_sqrt_convert),
  CASE (test_sum), CASE (test_order_take), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
