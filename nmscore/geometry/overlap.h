/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overlap: tests whether the IoU of two boxes exceeds a threshold. The result is the one that
 * a comparison of inter / union, rounded to binary32, would give, but nothing is divided.
 *
 * For a binary32 threshold t let m be the midpoint of t and the next greater number. A quotient
 * rounds to a number above t if it is above m, or if it equals m and the mantissa of t is odd
 * (ties round to even). m has 25 significant bits and the union 24, so m * union is exact in
 * binary64, and comparing inter with m * union is the same as comparing the quotient with m.
 *
 * For upright boxes no quotient equals m: m is an odd number M of 25 bits times a power of 2,
 * union an odd number U times a power of 2, and so is their product; its odd factor M * U needs
 * at least 25 bits, but inter has 24. (The threshold 0 has m = 2^-150, where a tie rounds to 0,
 * which does not exceed.) Rotated boxes have areas in binary64, in which quotients can equal m.
 * For them, where equality counts too, nms__limit returns m lowered by two units in the last
 * place of binary64. No quotient of two binary32 numbers lies in that gap, so that one `>` serves
 * all four cases: > and >=, odd and even.
 */
#ifndef NMS_OVERLAP_H
#define NMS_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* An extent of at most this counts as 0, so that every product is a normal number. */
#define NMS__LEAST_EXTENT 0x1p-50f

/* Boxes in a block: the number of bits in a mask. */
#define NMS__BLOCK 64

/* The screen. inter > limit * (a + b - inter) is the same as inter > limit / (1 + limit) * (a +
 * b), so each box has a scaled area: its area times limit / (1 + limit), rounded down a little.
 * An intersection that is not above the sum of two scaled areas does not exceed the limit. This
 * takes two operations less than the union, and most pairs end here. */
typedef struct nms__box {
  float x1, y1, x2, y2, scaled;
  int32_t class_id;
} nms__box;

typedef struct nms__columns {
  const float *x1, *y1, *x2, *y2, *scaled;
  const int32_t *class_id; /* NULL if boxes suppress across classes */
} nms__columns;

/* A coordinate beyond this is invalid, so that areas and unions stay finite. */
#define NMS__MOST_COORDINATE 1e18f

/* Puts the corners x1 y1 x2 y2 in order. Returns 0 if the box is invalid. */
static inline int
nms__order_corners (float c[4])
{
  for (int i = 0; i < 4; i++)
    if (!(c[i] >= -NMS__MOST_COORDINATE && c[i] <= NMS__MOST_COORDINATE))
      return 0;
  for (int i = 0; i < 2; i++) {
    float low = c[i], high = c[i + 2];
    c[i] = low < high ? low : high;
    c[i + 2] = low < high ? high : low;
  }
  return 1;
}

static inline float
nms__inter (float ax1, float ay1, float ax2, float ay2, float bx1, float by1, float bx2, float by2)
{
  float w = (ax2 < bx2 ? ax2 : bx2) - (ax1 > bx1 ? ax1 : bx1);
  float h = (ay2 < by2 ? ay2 : by2) - (ay1 > by1 ? ay1 : by1);
  w = w > NMS__LEAST_EXTENT ? w : 0.0f;
  h = h > NMS__LEAST_EXTENT ? h : 0.0f;
  return w * h;
}

/* Returns the limit of a threshold in 0..1. */
double nms__limit (float threshold, int inclusive);

/* Bounds of the screen in binary32. A pair whose intersection is above the sum of its scaled
 * areas may exceed its limit; one that is above `certain` times that sum and above `least`
 * exceeds all limits. About one pair in a million lies in between, more if classes have
 * different limits.
 *
 * The same holds for one box and the greatest of several differences `inter - far * scaled`,
 * where `scaled` is the scaled area of the other box of each pair: a greatest difference of at
 * most `near` times the box's own scaled area means that no pair exceeds; one above `surely`
 * times it plus `least` means that a pair exceeds. */
typedef struct nms__bounds {
  float factor; /* scaled area divided by area */
  float certain, least;
  float far, near, surely;
  float least_area; /* if a pair exceeds, the lesser area is greater than this times the greater
                     * one; 0 for low limits, because it would exclude few pairs */
  double lowest;    /* lowest limit */
} nms__bounds;

nms__bounds nms__bounds_of (double lowest_limit, double highest_limit);

/* Returns `least` of the bounds for boxes with sides of at most `side`: an intersection above
 * it has no extent that counts as 0. */
static inline float
nms__certain_from (float least, float side)
{
  float tiny = NMS__LEAST_EXTENT * side;
  return least > tiny ? least : tiny;
}

/* Returns whether an upright box of a frame has an area. Comparing widths suffices, because
 * preparing a frame sets both extents of a box without area to 0. */
static inline int
nms__has_area (const nms__box *box)
{
  return box->x2 > box->x1;
}

/* The exact test. An empty intersection never exceeds. */
static inline int
nms__exceeds (float inter, float area_a, float area_b, double limit)
{
  float uni = (area_a + area_b) - inter;
  return inter > 0.0f && (double) inter > limit * (double) uni;
}

static inline float
nms__area (float x1, float y1, float x2, float y2)
{
  return (x2 - x1) * (y2 - y1);
}

/* Returns whether min_size_ratio keeps two boxes with these areas from meeting. */
static inline int
nms__sizes_differ (float area_a, float area_b, float min_size_ratio)
{
  return area_a < min_size_ratio * area_b || area_b < min_size_ratio * area_a;
}

/* The exact test for box i of the columns. */
static inline int
nms__column_exceeds (const nms__columns *c, size_t i, const nms__box *b, double limit)
{
  float inter = nms__inter (c->x1[i], c->y1[i], c->x2[i], c->y2[i], b->x1, b->y1, b->x2, b->y2);
  return nms__exceeds (inter, nms__area (c->x1[i], c->y1[i], c->x2[i], c->y2[i]),
      nms__area (b->x1, b->y1, b->x2, b->y2), limit);
}

#endif
