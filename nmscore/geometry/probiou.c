/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probiou: computes ProbIoU from additions, multiplications, divisions and square roots, each
 * rounded to binary64, so that every machine gives the same bits. All sums are of terms of one
 * sign, so that thin boxes lose no digits.
 */
#include "probiou.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define BEYOND 700.0 /* exp (-BEYOND) is below 1e-304 */
#define LOG2_E 1.4426950408889634
#define LN_2_HIGH 0x1.62e42fep-1 /* 28 bits, so that its multiples are exact */
#define LN_2_LOW 0x1.f473de6af278fp-30

/* The coefficients of Taylor's series of exp. The first term left out is below 1e-18. */
#define TERMS 15
static const double series[TERMS] = { 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0,
  1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0,
  1.0 / 479001600.0, 1.0 / 6227020800.0, 1.0 / 87178291200.0 };

/* Returns exp (-x) for x >= 0, or 0 for large x. Its relative error is below 1e-15. */
static double
decay (double x)
{
  if (!(x < BEYOND))
    return 0.0;
  const int n = (int) (x * LOG2_E + 0.5);
  const double r = (n * LN_2_HIGH - x) + n * LN_2_LOW, square = r * r;
  double even = series[TERMS - 1], odd = 0.0; /* sums of the terms with even and odd powers of r */

  for (int k = TERMS - 2; k > 0; k -= 2) {
    odd = odd * square + series[k];
    even = even * square + series[k - 1];
  }
  const double sum = even + r * odd;
  const uint64_t bits = (uint64_t) (1023 - n) << 52; /* binary64 pattern of 2^-n */
  double power;
  memcpy (&power, &bits, sizeof power);
  return sum * power;
}

double
nms__probiou (const nms__probiou_pair *p, double least_square)
{
  const double a = p->w * p->w, b = p->h * p->h; /* 12 times the variances */
  const double c = p->other_w * p->other_w, d = p->other_h * p->other_h;
  const double cos2 = p->cos * p->cos, sin2 = p->sin * p->sin;
  const double along = p->cos * p->x + p->sin * p->y, across = p->cos * p->y - p->sin * p->x;

  /* the determinant of the sum of both covariances, and the squared distance times it */
  const double det = (a * b + c * d) + (a * (c * sin2 + d * cos2) + b * (c * cos2 + d * sin2));
  const double distance = (b * (p->x * p->x) + a * (p->y * p->y))
      + (d * (along * along) + c * (across * across));
  const double areas = 4.0 * sqrt ((a * b) * (c * d)), far = 3.0 * distance;

  /* exp (-x) is at most 1 / (1 + x), which bounds the square of `alike` */
  if (areas < least_square * (det + (far + far)))
    return -1.0;
  const double alike = sqrt (areas / det) * decay (far / det);
  if (alike * alike < least_square)
    return -1.0;

  /* 1 - sqrt (1 - alike), which would lose the digits of a small one */
  return alike < 1.0 ? alike / (1.0 + sqrt (1.0 - alike)) : 1.0;
}
