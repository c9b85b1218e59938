/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overlap: computes the limit of a threshold and the bounds of the screen, once in a run. */
#include "overlap.h"
#include "nmscore.h"

#include <math.h>
#include <string.h>

/* Above this limit the areas alone exclude most pairs. */
#define HIGH 0.9

double
nms__limit (float threshold, int inclusive)
{
  uint32_t bits;
  double middle;
  int equal_counts;

  if (threshold < 0x1p-24f)
    threshold = 0.0f;
  memcpy (&bits, &threshold, sizeof bits);
  bits &= 0x7fffffff; /* the threshold -0 is 0 */
  memcpy (&threshold, &bits, sizeof bits);
  if (inclusive && bits == 0)
    return -1.0; /* any intersection gives an IoU of at least 0 */

  uint32_t other_bits = inclusive ? bits - 1 : bits + 1;
  float other;
  memcpy (&other, &other_bits, sizeof other);
  middle = ((double) threshold + (double) other) / 2.0;
  /* A quotient equal to the midpoint, which only rotated boxes can have, rounds to the one of the
   * two numbers that has an even mantissa. */
  equal_counts = inclusive ? !(bits & 1) : (bits & 1);
  if (equal_counts)
    middle = nextafter (nextafter (middle, -1.0), -1.0);
  return middle;
}

nms__bounds
nms__bounds_of (double lowest, double highest)
{
  const double margin = 0x1p-20; /* larger than the sum of all rounding errors */
  nms__bounds bounds = { 0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 1.0f, 0.0f, lowest };

  if (highest < 0.0) /* any intersection exceeds */
    return bounds;
  if (lowest < 0x1p-16) {
    /* A limit is about 0, so the scaled areas are 0. If all limits are 0, an intersection above
     * 2^-20 certainly exceeds the limit, because unions stay below 2^123. */
    bounds.least = highest < 0x1p-25 ? 0x1p-20f : INFINITY;
    return bounds;
  }
  bounds.factor = (float) (lowest / (1.0 + lowest) * (1.0 - margin));
  bounds.certain = (float) (highest / (1.0 + highest) * (1.0 + margin) / (double) bounds.factor);
  if (lowest > HIGH) /* no intersection is greater than the lesser area */
    bounds.least_area = (float) (lowest * (1.0 - margin));
  /* If a pair exceeds the lowest limit, one area is at most the other divided by that limit.
   * This bounds the error that multiplying by `far` adds to a scaled area. */
  bounds.far = bounds.surely = bounds.certain;
  if (bounds.certain > 1.001f) { /* classes have different limits */
    bounds.far = 1.0f;
    bounds.surely = INFINITY;
  }
  bounds.near = (float) (1.0 - 2.0 * ((double) bounds.far - 1.0 + margin) / lowest);
  return bounds;
}
