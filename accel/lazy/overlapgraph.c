/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overlapgraph: decides exactly whether inter / union, rounded to binary32, exceeds a
 * limit, on devices that flush subnormals and have no binary64.
 *
 * With a division: subnormal quotients matter only at limit 0, which they exceed if
 * they are greater than 2^-150. So unions are divided by 2^24, which is exact, and
 * limits are multiplied by it; 2^-150 becomes the least normal number.
 *
 * Without a division: a quotient rounds to more than t if it exceeds t + u, where u is
 * half a unit in t's last place. It never equals t + u, because t + u has 25 bits, its
 * multiples have as many or more, and inter has 24. inter - t * union and u * union
 * are compared exactly: t * union is a sum of two numbers (Dekker: integer operations
 * cut the factors in halves of 12 bits, so that all partial products are exact), and
 * the sum of u * union and the error of t * union is one too.
 *
 * A product passes through a maximum with 0 before a sum uses it, so that no compiler
 * contracts the two (operations.c).
 */
#include "overlapgraph.h"

#include "accel/lazy/boxrules.h"

typedef nms_lazy_tensor tensor;

#define LEAST_NORMAL 0x1p-126f
#define DIVIDED 0x1p-24f

static tensor
f32 (nms_lazy *lz, float value)
{
  return nms_lazy_f32 (lz, value);
}

static tensor
add (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_ADD, a, b);
}

static tensor
sub (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_SUB, a, b);
}

static tensor
mul (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MUL, a, b);
}

static tensor
above (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_GT, a, b);
}

static tensor
equal (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_EQ, a, b);
}

/* Multiplies a and b, whose product is not negative. */
static tensor
product (nms_lazy *lz, tensor a, tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MAX, mul (lz, a, b), f32 (lz, 0.0f));
}

/* Computes high - low, or 0 if that is at most NMS__LEAST_EXTENT. */
static tensor
extent (nms_lazy *lz, tensor low, tensor high)
{
  tensor w = sub (lz, high, low);
  return nms_lazy_select (lz, above (lz, w, f32 (lz, NMS__LEAST_EXTENT)), w, f32 (lz, 0.0f));
}

static tensor
shared (nms_lazy *lz, tensor low_a, tensor low_b, tensor high_a, tensor high_b)
{
  return extent (lz, nms_lazy_binary (lz, NMS_LAZY_MAX, low_a, low_b),
      nms_lazy_binary (lz, NMS_LAZY_MIN, high_a, high_b));
}

void
nms__overlap_prepare (nms_lazy *lz, nms__overlap_columns *c, int no_division)
{
  c->area = product (lz, extent (lz, c->x1, c->x2), extent (lz, c->y1, c->y2));
  if (!no_division)
    c->limit = nms_lazy_select (lz, equal (lz, c->limit, f32 (lz, 0.0f)), f32 (lz, LEAST_NORMAL),
        mul (lz, c->limit, f32 (lz, 1.0f / DIVIDED)));
}

/* ---------------------------------------------------------- without division */

static tensor
integer (nms_lazy *lz, tensor x)
{
  return nms_lazy_unary (lz, NMS_LAZY_AS_S32, x);
}

/* Rounds x, which is not negative, to 12 bits. */
static tensor
upper_half (nms_lazy *lz, tensor x)
{
  tensor bits = add (lz, integer (lz, x), nms_lazy_s32 (lz, 0x800));
  return nms_lazy_unary (lz, NMS_LAZY_AS_F32,
      nms_lazy_binary (lz, NMS_LAZY_AND, bits, nms_lazy_s32 (lz, ~0xfff)));
}

/* Computes a * b - p exactly, where p is the rounded product. */
static tensor
product_error (nms_lazy *lz, tensor a, tensor b, tensor p)
{
  tensor ah = upper_half (lz, a), al = sub (lz, a, ah);
  tensor bh = upper_half (lz, b), bl = sub (lz, b, bh);
  tensor e = sub (lz, mul (lz, ah, bh), p);

  e = add (lz, e, mul (lz, ah, bl));
  e = add (lz, e, mul (lz, al, bh));
  return add (lz, e, mul (lz, al, bl));
}

static tensor
exceeds_exactly (nms_lazy *lz, tensor inter, tensor uni, tensor t)
{
  tensor zero = f32 (lz, 0.0f), up = f32 (lz, 0x1p100f);
  /* scale a union of 2^-100..1 to 1..2^100, because small products would underflow */
  tensor small = nms_lazy_binary (lz, NMS_LAZY_LT, uni, f32 (lz, 1.0f));
  inter = nms_lazy_select (lz, small, product (lz, inter, up), inter);
  uni = nms_lazy_select (lz, small, product (lz, uni, up), uni);
  tensor p = product (lz, t, uni), e = product_error (lz, t, uni, p);
  /* the power of two of t, of which q is half a unit in the last place times union */
  tensor power = nms_lazy_unary (lz, NMS_LAZY_AS_F32,
      nms_lazy_binary (lz, NMS_LAZY_AND, integer (lz, t), nms_lazy_s32 (lz, 0x7f800000)));
  tensor q = product (lz, product (lz, power, f32 (lz, 0x1p-24f)), uni);
  /* e + q = sum + rest exactly (Knuth) */
  tensor sum = add (lz, e, q), part = sub (lz, sum, e);
  tensor rest = add (lz, sub (lz, e, sub (lz, sum, part)), sub (lz, q, part));
  tensor d = sub (lz, inter, p);
  tensor beyond = nms_lazy_binary (lz, NMS_LAZY_OR, above (lz, d, sum),
      nms_lazy_binary (lz, NMS_LAZY_AND, equal (lz, d, sum), above (lz, zero, rest)));
  /* at limit 0 the quotient must exceed 2^-150 */
  tensor some = above (lz, mul (lz, inter, f32 (lz, 0x1p50f)), mul (lz, uni, f32 (lz, 0x1p-100f)));

  beyond = nms_lazy_select (lz, equal (lz, t, zero), some, beyond);
  return nms_lazy_binary (lz, NMS_LAZY_OR, beyond, nms_lazy_binary (lz, NMS_LAZY_LT, t, zero));
}

tensor
nms__overlap_graph (nms_lazy *lz, const nms__overlap_columns *c, const nms__overlap_columns *b,
    int no_division)
{
  tensor w = shared (lz, c->x1, b->x1, c->x2, b->x2), h = shared (lz, c->y1, b->y1, c->y2, b->y2);
  tensor inter = product (lz, w, h), uni = sub (lz, add (lz, c->area, b->area), inter), exceeds;

  if (no_division)
    exceeds = exceeds_exactly (lz, inter, uni, c->limit);
  else
    exceeds = above (lz,
        nms_lazy_binary (lz, NMS_LAZY_DIV, inter, mul (lz, uni, f32 (lz, DIVIDED))), c->limit);
  return nms_lazy_binary (lz, NMS_LAZY_AND, exceeds, above (lz, inter, f32 (lz, 0.0f)));
}
