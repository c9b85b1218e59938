/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overlap: does the IoU of two boxes exceed a threshold? Decided exactly as if
 * inter / union had been rounded to binary32 and compared, without dividing.
 *
 * For a binary32 threshold t let m be the midpoint of t and its upper
 * neighbour. A quotient rounds to something above t when it is above m, or
 * equal to m and t's mantissa is odd (ties go to even). m has 25 significant
 * bits and the union 24, so m * union is exact in binary64: the comparison
 * inter > m * union is the comparison of the quotient with m. nms__limit
 * returns m moved by two units in the last place of binary64 where equality
 * counts too: no binary32 lies in so small a gap, so that one `>` serves all
 * four cases (> and >=, odd and even).
 */
#ifndef NMS_OVERLAP_H
#define NMS_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* An extent of at most this counts as 0; keeps every product normal. */
#define NMS__LEAST_EXTENT 0x1p-50f

/* Boxes a block: the bits of a mask. */
#define NMS__BLOCK 64

/*
 * Most pairs do not come near the limit. Since inter > limit * (a + b - inter)
 * is inter > limit / (1 + limit) * (a + b), a box carries its share: its area
 * times that factor, a little less than exact. What is not above the sum of
 * two shares exceeds no limit; two more operations would be needed otherwise.
 */
typedef struct nms__box {
  float x1, y1, x2, y2, scaled;
  int32_t class_id;
} nms__box;

typedef struct nms__columns {
  const float *x1, *y1, *x2, *y2, *scaled;
  const int32_t *class_id; /* NULL: one group */
} nms__columns;

/* Coordinates beyond this are invalid: areas and unions stay finite. */
#define NMS__MOST_COORDINATE 1e18f

/* Puts the corners x1 y1 x2 y2 in order; 0 when the box is invalid. */
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

/* The limit of a threshold in 0..1. */
double nms__limit (float threshold, int inclusive);

/* How a frame's pairs are screened in binary32. Above the sum of shares lies
 * what may exceed, above `certain` times that sum (and above `least`) what
 * exceeds all limits; in between about one pair in a million, unless classes
 * differ in their limits.
 * The same for a box and the most of several `inter - far * share`, the share
 * being that of the other box of the pair: what is not above `near` times its
 * own share exceeds no limit, above `surely` times that plus `least` it does. */
typedef struct nms__bounds {
  float factor; /* of an area to its share */
  float certain, least;
  float far, near, surely;
} nms__bounds;

nms__bounds nms__bounds_of (double lowest_limit, double highest_limit);

/* `least` of bounds for boxes of sides up to `side`: an intersection of more
 * than that is none of an extent that counts as 0. */
static inline float
nms__certain_from (float least, float side)
{
  float tiny = NMS__LEAST_EXTENT * side;
  return least > tiny ? least : tiny;
}

/* The exact decision. Zero intersection never exceeds. */
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

/* nms__exceeds for box i of the columns. */
static inline int
nms__column_exceeds (const nms__columns *c, size_t i, const nms__box *b, double limit)
{
  float inter = nms__inter (c->x1[i], c->y1[i], c->x2[i], c->y2[i], b->x1, b->y1, b->x2, b->y2);
  return nms__exceeds (inter, nms__area (c->x1[i], c->y1[i], c->x2[i], c->y2[i]),
      nms__area (b->x1, b->y1, b->x2, b->y2), limit);
}

static inline unsigned
nms__lowest_bit (uint64_t mask)
{
  return (unsigned) __builtin_ctzll (mask);
}

/* Without an instruction for it, which old processors lack, the compiler calls a function. */
static inline unsigned
nms__count_bits (uint64_t mask)
{
  mask -= mask >> 1 & 0x5555555555555555u;
  mask = (mask & 0x3333333333333333u) + (mask >> 2 & 0x3333333333333333u);
  mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (unsigned) (mask * 0x0101010101010101u >> 56);
}

#endif
