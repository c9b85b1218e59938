/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mathgraph: exp and log, made of recorded operations that are each rounded, so that every
 * executor gives the same bits. Both are S. L. Moshier's (Cephes, expf and logf): a power
 * of two is split off, and a polynomial approximates the rest.
 */
#include "lazynodes.h"

#include <float.h>
#include <math.h>

typedef nms_lazy_tensor tensor;

static tensor
f32 (nms_lazy *lz, nms_lazy_op op, tensor a, float b)
{
  return nms_lazy_binary (lz, op, a, nms_lazy_f32 (lz, b));
}

static tensor
s32 (nms_lazy *lz, nms_lazy_op op, tensor a, int32_t b)
{
  return nms_lazy_binary (lz, op, a, nms_lazy_s32 (lz, b));
}

/* Computes ((first * x + terms[0]) * x + terms[1]) ... */
static tensor
polynomial (nms_lazy *lz, tensor x, float first, const float *terms, size_t count)
{
  tensor p = nms_lazy_f32 (lz, first);

  for (size_t i = 0; i < count; i++)
    p = f32 (lz, NMS_LAZY_ADD, nms_lazy_binary (lz, NMS_LAZY_MUL, p, x), terms[i]);
  return p;
}

/* Returns `value` where x compares with `limit`, and `other` elsewhere. */
static tensor
where (nms_lazy *lz, tensor x, nms_lazy_op compare, float limit, tensor value, tensor other)
{
  return nms_lazy_select (lz, f32 (lz, compare, x, limit), value, other);
}

/* For x <= 0 the bits are those of docs/methods.md. For n > 0 the factor is 2 * 2^(n - 1),
 * because 2^128 is no float. */
tensor
nms_lazy_exp (nms_lazy *lz, tensor x)
{
  static const float terms[] = { 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
    1.6666665459e-1f, 5.0000001201e-1f };
  const tensor zero = nms_lazy_f32 (lz, 0.0f);
  const tensor finite = nms_lazy_binary (lz, NMS_LAZY_AND, f32 (lz, NMS_LAZY_GT, x, -87.33654f),
      f32 (lz, NMS_LAZY_LE, x, 88.72283f));
  const tensor bounded = nms_lazy_select (lz, finite, x, zero);
  const tensor half = where (lz, bounded, NMS_LAZY_GT, 0.0f, nms_lazy_f32 (lz, 0.5f),
      nms_lazy_f32 (lz, -0.5f));
  const tensor n = nms_lazy_unary (lz, NMS_LAZY_TO_S32,
      nms_lazy_binary (lz, NMS_LAZY_ADD, f32 (lz, NMS_LAZY_MUL, bounded, 1.44269504f), half));
  const tensor by = nms_lazy_unary (lz, NMS_LAZY_TO_F32, n);
  const tensor twice = s32 (lz, NMS_LAZY_GT, n, 0);
  tensor r = nms_lazy_binary (lz, NMS_LAZY_SUB, bounded, f32 (lz, NMS_LAZY_MUL, by, 0.693359375f));

  r = nms_lazy_binary (lz, NMS_LAZY_ADD, f32 (lz, NMS_LAZY_MUL, by, 2.12194440e-4f), r);
  tensor p = polynomial (lz, r, 1.9875691500e-4f, terms, sizeof terms / sizeof *terms);
  p = nms_lazy_binary (lz, NMS_LAZY_MUL, p, nms_lazy_binary (lz, NMS_LAZY_MUL, r, r));
  p = f32 (lz, NMS_LAZY_ADD, nms_lazy_binary (lz, NMS_LAZY_ADD, p, r), 1.0f);
  p = nms_lazy_select (lz, twice, nms_lazy_binary (lz, NMS_LAZY_ADD, p, p), p);
  /* the bits of the power of two: its exponent + 127, moved by 23 bits */
  tensor exponent = nms_lazy_binary (lz, NMS_LAZY_SUB, s32 (lz, NMS_LAZY_ADD, n, 127),
      nms_lazy_unary (lz, NMS_LAZY_TO_S32, twice));
  tensor power = nms_lazy_unary (lz, NMS_LAZY_AS_F32, s32 (lz, NMS_LAZY_MUL, exponent, 1 << 23));
  tensor least = where (lz, x, NMS_LAZY_GT, 0.0f, nms_lazy_f32 (lz, INFINITY),
      where (lz, x, NMS_LAZY_LE, 0.0f, zero, x)); /* NaN stays NaN */
  return nms_lazy_select (lz, finite, nms_lazy_binary (lz, NMS_LAZY_MUL, p, power), least);
}

/* x = m * 2^e with m in sqrt (1/2)..sqrt (2). The exponent bits are converted to a float
 * and multiplied by 2^-23, which is exact. */
tensor
nms_lazy_log (nms_lazy *lz, tensor x)
{
  static const float terms[] = { -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
    1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f };
  const tensor bits = nms_lazy_unary (lz, NMS_LAZY_AS_S32, x);
  const tensor digits = s32 (lz, NMS_LAZY_OR, s32 (lz, NMS_LAZY_AND, bits, 0x007fffff), 0x3f000000);
  const tensor m = nms_lazy_unary (lz, NMS_LAZY_AS_F32, digits);
  const tensor low = f32 (lz, NMS_LAZY_LT, m, 0.70710678f);
  const tensor power = f32 (lz, NMS_LAZY_MUL,
      nms_lazy_unary (lz, NMS_LAZY_TO_F32, s32 (lz, NMS_LAZY_AND, bits, 0x7f800000)), 0x1p-23f);
  const tensor e = nms_lazy_binary (lz, NMS_LAZY_SUB, f32 (lz, NMS_LAZY_SUB, power, 126.0f),
      nms_lazy_select (lz, low, nms_lazy_f32 (lz, 1.0f), nms_lazy_f32 (lz, 0.0f)));
  const tensor r = f32 (lz, NMS_LAZY_SUB,
      nms_lazy_select (lz, low, nms_lazy_binary (lz, NMS_LAZY_ADD, m, m), m), 1.0f);
  const tensor square = nms_lazy_binary (lz, NMS_LAZY_MUL, r, r);
  tensor y = polynomial (lz, r, 7.0376836292e-2f, terms, sizeof terms / sizeof *terms);

  y = nms_lazy_binary (lz, NMS_LAZY_MUL, y, nms_lazy_binary (lz, NMS_LAZY_MUL, r, square));
  y = nms_lazy_binary (lz, NMS_LAZY_SUB, y, f32 (lz, NMS_LAZY_MUL, e, 2.12194440e-4f));
  y = nms_lazy_binary (lz, NMS_LAZY_SUB, y, f32 (lz, NMS_LAZY_MUL, square, 0.5f));
  y = nms_lazy_binary (lz, NMS_LAZY_ADD, r, y);
  y = nms_lazy_binary (lz, NMS_LAZY_ADD, y, f32 (lz, NMS_LAZY_MUL, e, 0.693359375f));
  y = where (lz, x, NMS_LAZY_LE, FLT_MAX, y, x); /* infinity and NaN */
  y = where (lz, x, NMS_LAZY_LT, FLT_MIN, nms_lazy_f32 (lz, -INFINITY), y);
  return where (lz, x, NMS_LAZY_LE, -FLT_MIN, nms_lazy_f32 (lz, NAN), y);
}
