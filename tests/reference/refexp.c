/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refexp: exp in the steps of docs/methods.md, each rounded to binary32. */
#include "refmethods.h"

#include <math.h>

float
ref_exp (float x)
{
  static const float factors[] = { 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
    4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f };
  float n, high, low, rest, square, sum = 0.0f;

  if (x <= -87.33654f)
    return 0.0f;
  n = x * 1.44269504f;
  n = truncf (n - 0.5f);
  high = n * 0.693359375f;
  low = n * 2.12194440e-4f;
  rest = x - high;
  rest = rest + low;
  for (int i = 0; i < 6; i++) {
    sum = sum * rest;
    sum = sum + factors[i];
  }
  square = rest * rest;
  sum = sum * square;
  sum = sum + rest;
  sum = sum + 1.0f;
  return ldexpf (sum, (int) n);
}
