/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library decides IoU > threshold and IoU >= threshold without a division. This test
 * compares the decision with a real division on tens of millions of pairs of
 * intersection and union; most quotients are within a few units in the last place of the
 * threshold. It includes nmscore/geometry/overlap.h.
 */
#include "boxgen.h"
#include "nmscore/geometry/overlap.h"
#include "testrunner.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "the division must be a binary32 one"
#endif

/* Decides by the definition, from the intersection and the union. */
static int
divides_beyond (float inter, float uni, float threshold, int inclusive)
{
  float quotient = inter / uni;

  if (threshold < 0x1p-24f)
    threshold = 0;
  return inter > 0 && (inclusive ? quotient >= threshold : quotient > threshold);
}

typedef struct {
  float threshold;
  double limit[2]; /* limit[inclusive] */
  nms__bounds bounds[2];
} Limit;

static void
limit_init (Limit *l, float threshold)
{
  l->threshold = threshold;
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    l->limit[inclusive] = nms__limit (threshold, inclusive);
    l->bounds[inclusive] = nms__bounds_of (l->limit[inclusive], l->limit[inclusive]);
  }
}

/* Compares the decision about an intersection and a union with the division. */
static void
check_pair (const Limit *l, float inter, float uni)
{
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    int must = divides_beyond (inter, uni, l->threshold, inclusive);
    int is = inter > 0.0f && (double) inter > l->limit[inclusive] * (double) uni;

    if (is != must)
      g_error ("inter %a, union %a, threshold %a, inclusive %d: decided %d, the division says %d",
          (double) inter, (double) uni, (double) l->threshold, inclusive, is, must);
  }
}

/* Checks the function that engines call, with areas, and the screen in binary32: it accepts every
 * pair that exceeds the threshold, and calls a pair certain only if it does. */
static void
check_areas (const Limit *l, float inter, float area_a, float area_b)
{
  const float uni = (area_a + area_b) - inter;

  check_pair (l, inter, uni);
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    const nms__bounds *bounds = &l->bounds[inclusive];
    const float shares = bounds->factor * area_a + bounds->factor * area_b;
    const int passes = inter > shares;
    const int certain = inter > bounds->certain * shares && inter > bounds->least;
    const int must = divides_beyond (inter, uni, l->threshold, inclusive);

    if (nms__exceeds (inter, area_a, area_b, l->limit[inclusive]) != must || (must && !passes)
        || (certain && !must))
      g_error ("inter %a, areas %a and %a, threshold %a, inclusive %d: exceeds %d, passes %d,"
               " certain %d",
          (double) inter, (double) area_a, (double) area_b, (double) l->threshold, inclusive, must,
          passes, certain);
  }
}

static float
random_threshold (BoxRandom *random)
{
  switch (boxrandom_below (random, 4)) {
    case 0: /* few bits, so that quotients equal it */
      return (float) boxrandom_below (random, 1025) / 1024;
    case 1: /* any exponent from -30 up */
      return ldexpf (0.5f + boxrandom_unit (random) / 2, -(int) boxrandom_below (random, 30));
    case 2: /* quotient of small integers */
      return (float) (1 + boxrandom_below (random, 40)) / 41.0f;
    default:
      return boxrandom_unit (random);
  }
}

/* Returns a random binary32 with 24 significant bits in [2^e, 2^(e+1)). */
static float
random_float (BoxRandom *random, int exponent)
{
  return ldexpf (1 + (float) (boxrandom_bits (random) >> 41) * 0x1p-23f, exponent);
}

/* Checks the intersection whose quotient is the threshold, and its neighbours. */
static void
test_around (void)
{
  BoxRandom random = { 1 };

  for (int round = 0; round < 100000; round++) {
    Limit l;
    limit_init (&l, random_threshold (&random));
    for (int i = 0; i < 60; i++) {
      float uni = random_float (&random, (int) boxrandom_below (&random, 220) - 98);
      float inter = (float) ((double) l.threshold * uni);
      for (int step = 0; step < 4; step++)
        inter = nextafterf (inter, 0);
      for (int step = -4; step <= 4; step++) {
        if (inter >= 0x1p-100f && inter <= uni)
          check_pair (&l, inter, uni);
        inter = nextafterf (inter, INFINITY);
      }
    }
  }
}

/* Checks the pairs whose quotient is closest to a midpoint between two floats. With
 * integers, t = T / 2^24 and its midpoint M / 2^25 (M = 2 T +- 1, odd): choose U so that
 * M * U = I * 2^25 + r with a tiny r, by a multiplication with the inverse of M modulo
 * 2^25. Then I / U differs from the midpoint by r / (2^25 U), about 2^-49 of it. No
 * quotient is closer, because M * U has more than 24 bits, so that no quotient of floats
 * is a midpoint (except 2^-150, between 0 and the least subnormal; see test_extremes). */
static void
test_hardest (void)
{
  const uint32_t modulus = 1u << 25;
  BoxRandom random = { 2 };
  size_t checked = 0;

  for (int round = 0; round < 100000; round++) {
    uint32_t t = (1u << 23) + boxrandom_below (&random, 1u << 23);
    int scale = (int) boxrandom_below (&random, 23);
    Limit l;
    limit_init (&l, ldexpf ((float) t, -24 - scale));
    for (int side = -1; side <= 1; side += 2) {
      uint32_t m = 2 * t + (uint32_t) side, inverse = m;
      for (int i = 0; i < 5; i++) /* Newton: each step doubles the number of right bits */
        inverse *= 2 - m * inverse;
      for (int r = -9; r <= 9; r += 2) {
        uint64_t u = (uint32_t) (inverse * (uint32_t) r) & (modulus - 1);
        if (u < modulus / 4 || u >= modulus / 2)
          continue;
        uint64_t i = (m * u - (uint64_t) (int64_t) r) >> 25;
        g_assert_cmpuint (m * u, ==, (i << 25) + (uint64_t) (int64_t) r);
        check_pair (&l, ldexpf ((float) i, -scale), (float) u);
        checked++;
      }
    }
  }
  g_assert_cmpuint (checked, >, 400000);
}

/* Checks all small integers: every quotient that boxes on a pixel grid can have. */
static void
test_integers (void)
{
  for (int p = 1; p <= 48; p++)
    for (int q = p; q <= 48; q++) {
      float near[3] = { (float) p / (float) q };
      near[1] = nextafterf (near[0], 0);
      near[2] = near[0] < 1 ? nextafterf (near[0], 1) : 1;
      for (int n = 0; n < 3; n++) {
        Limit l;
        limit_init (&l, near[n]);
        for (int inter = 1; inter <= 64; inter++)
          for (int uni = inter; uni <= 64; uni++)
            check_areas (&l, (float) inter, (float) uni, (float) inter);
      }
    }
}

/* Checks areas of very different size, whose sum is rounded. */
static void
test_areas (void)
{
  BoxRandom random = { 3 };

  for (int round = 0; round < 20000; round++) {
    Limit l;
    limit_init (&l, random_threshold (&random));
    for (int i = 0; i < 50; i++) {
      int exponent = (int) boxrandom_below (&random, 200) - 90;
      float a = random_float (&random, exponent);
      float b = random_float (&random, exponent - (int) boxrandom_below (&random, 30));
      float inter = b * boxrandom_unit (&random);
      if (inter >= 0x1p-100f)
        check_areas (&l, inter, a, b);
      inter = (float) ((double) l.threshold * ((double) a + b) / (1.0 + (double) l.threshold));
      if (inter >= 0x1p-100f && inter <= b)
        check_areas (&l, inter, a, b);
    }
  }
}

/* Checks the ends of the range. */
static void
test_extremes (void)
{
  static const float thresholds[] = { 0.0f, -0.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffep-25f, 0x1p-24f,
    0x1.000002p-24f, 0x1.fffffep-2f, 0.5f, 0x1.000002p-1f, 0x1.fffffep-1f, 1.0f };
  static const float values[] = { 0x1p-100f, 0x1.000002p-100f, 0x1p-60f, 0x1p-24f, 0.1f,
    0x1.fffffep-1f, 1.0f, 0x1.000002p+0f, 3.0f, 16777215.0f, 16777216.0f, 0x1p+49f, 0x1p+50f,
    0x1.000002p+50f, 0x1p+51f, 0x1p+60f, 0x1p+100f, 4e36f, 8e36f };

  for (size_t t = 0; t < G_N_ELEMENTS (thresholds); t++) {
    Limit l;
    limit_init (&l, thresholds[t]);
    for (size_t i = 0; i < G_N_ELEMENTS (values); i++)
      for (size_t u = i; u < G_N_ELEMENTS (values); u++)
        check_pair (&l, values[i], values[u]);
    check_pair (&l, 0, 1);
  }
}

static const TestCase cases[] = { CASE (test_around), CASE (test_hardest), CASE (test_integers),
  CASE (test_areas), CASE (test_extremes), { NULL } };

TEST_PROGRAM (cases);
