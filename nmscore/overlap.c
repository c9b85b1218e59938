/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overlap: one box against blocks of boxes. This is where the time of every
 * engine goes: a block is 64 boxes, tested in binary32 without branches in
 * loops that a compiler turns into vectors.
 */
#include "overlap.h"
#include "nmscore.h"

#include <math.h>
#include <string.h>

double
nms__limit (float threshold, int inclusive)
{
  uint32_t bits;
  double middle;
  int equal_counts;

  if (threshold < 0x1p-24f)
    threshold = 0.0f;
  memcpy (&bits, &threshold, sizeof bits);
  bits &= 0x7fffffff;           /* -0 is 0 */
  memcpy (&threshold, &bits, sizeof bits);
  if (inclusive && bits == 0)
    return -1.0;                /* any intersection reaches 0 */

  uint32_t other_bits = inclusive ? bits - 1 : bits + 1;
  float other;
  memcpy (&other, &other_bits, sizeof other);
  middle = ((double) threshold + (double) other) / 2.0;
  /* a quotient on the midpoint rounds to the even one of the two */
  equal_counts = inclusive ? !(bits & 1) : (bits & 1);
  if (equal_counts)
    middle = nextafter (nextafter (middle, -1.0), -1.0);
  return middle;
}

float
nms__lower_bound (double limit)
{
  return limit > 0x1p-24 ? (float) (limit * (1.0 - 0x1p-20)) : 0.0f;
}

static inline uint64_t
block (const nms__columns *c, size_t first, size_t n, const nms__box *b, float lower, int grouped)
{
  const float *x1 = c->x1 + first, *y1 = c->y1 + first;
  const float *x2 = c->x2 + first, *y2 = c->y2 + first, *area = c->area + first;
  const int32_t *group = grouped ? c->group + first : NULL;
  int32_t hit[NMS__BLOCK];
  int32_t any = 0;
  uint64_t mask = 0;

  for (size_t i = 0; i < n; i++) {
    float inter = nms__inter (x1[i], y1[i], x2[i], y2[i], b->x1, b->y1, b->x2, b->y2);
    float uni = (area[i] + b->area) - inter;
    int32_t h = inter > lower * uni;
    if (grouped)
      h &= group[i] == b->group;
    hit[i] = h;
    any |= h;
  }
  if (any)
    for (size_t i = 0; i < n; i++)
      mask |= (uint64_t) (hit[i] & 1) << i;
  return mask;
}

uint64_t
nms__overlap_block (const nms__columns *columns, size_t first, size_t n, const nms__box *box,
    float lower_bound)
{
  if (columns->group)
    return block (columns, first, n, box, lower_bound, 1);
  return block (columns, first, n, box, lower_bound, 0);
}
