/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exponential: exp of a number of at most 0, in binary32, from additions and multiplications that
 * are each rounded, so that every machine gives the same bits. The number is split into n * ln 2
 * and a rest in -0.35..0.35; the exponential of the rest is a polynomial (S. L. Moshier, Cephes,
 * expf). The relative error is below 2^-23.
 */
#ifndef NMS_EXPONENTIAL_H
#define NMS_EXPONENTIAL_H

#include "frame/order.h"

/* Returns exp (x) for x <= 0, or 0 if it would be below the least normal number. */
static inline float
nms__exp (float x)
{
  if (!(x > -87.33654f))
    return 0.0f;
  const int n = (int) (x * 1.44269504f - 0.5f); /* rounds to nearest, because x <= 0 */
  const float by = (float) n;
  const float r = (x - by * 0.693359375f) - by * -2.12194440e-4f; /* the first product is exact */
  float p = 1.9875691500e-4f;

  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * (r * r) + r) + 1.0f;
  return p * nms__float_of_bits ((uint32_t) (n + 127) << 23);
}

#endif
