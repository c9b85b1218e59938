/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rotatedref: the overlap by strips. It shares nothing with the code that it checks. */
#include "rotatedref.h"

#include <math.h>
#include <stdlib.h>

#define MOST_CUTS (4 + 4 + 4 * 4)

typedef struct {
  long double x[4], y[4], area;
} Rotated;

static Rotated
make_rotated (const float c[4], float angle, long double origin_x, long double origin_y)
{
  long double w = (long double) c[2] - c[0], h = (long double) c[3] - c[1];
  long double x = c[0] + w / 2 - origin_x, y = c[1] + h / 2 - origin_y;
  long double radians = angle;
  long double s, k;
  Rotated box = { .area = w * h };

  if (fabsl (radians) > 6.283185307179586L) /* documented: reduced as a binary64 value */
    radians = fmodl (radians, (long double) 6.283185307179586);
  s = sinl (radians);
  k = cosl (radians);
  for (int i = 0; i < 4; i++) {
    long double u = (i == 0 || i == 3 ? -w : w) / 2, v = (i < 2 ? -h : h) / 2;
    box.x[i] = x + u * k - v * s;
    box.y[i] = y + u * s + v * k;
  }
  return box;
}

/* Finds where the horizontal line at y enters and leaves the box. Returns 0 if it does
 * not cross it. */
static int
cross (const Rotated *q, long double y, long double *left, long double *right)
{
  int met = 0;

  for (int i = 0; i < 4; i++) {
    int k = (i + 1) % 4;
    if ((q->y[i] <= y) == (q->y[k] <= y))
      continue;
    long double x = q->x[i] + (y - q->y[i]) / (q->y[k] - q->y[i]) * (q->x[k] - q->x[i]);
    if (!met || x < *left)
      *left = x;
    if (!met || x > *right)
      *right = x;
    met = 1;
  }
  return met;
}

/* Finds the y at which the lines through two sides cross. Returns 0 if they are
 * parallel. */
static int
side_crossing (const Rotated *a, int i, const Rotated *b, int k, long double *y)
{
  int i2 = (i + 1) % 4, k2 = (k + 1) % 4;
  long double ax = a->x[i2] - a->x[i], ay = a->y[i2] - a->y[i];
  long double bx = b->x[k2] - b->x[k], by = b->y[k2] - b->y[k];
  long double across = ax * by - ay * bx;

  if (across == 0)
    return 0;
  *y = a->y[i] + ay * ((b->x[k] - a->x[i]) * by - (b->y[k] - a->y[i]) * bx) / across;
  return isfinite (*y);
}

static int
compare (const void *p, const void *q)
{
  long double a = *(const long double *) p, b = *(const long double *) q;
  return a < b ? -1 : a > b;
}

static long double
shared_area (const Rotated *a, const Rotated *b)
{
  long double cuts[MOST_CUTS], area = 0;
  int count = 0;

  for (int i = 0; i < 4; i++) {
    cuts[count++] = a->y[i];
    cuts[count++] = b->y[i];
    for (int k = 0; k < 4; k++)
      count += side_crossing (a, i, b, k, &cuts[count]);
  }
  qsort (cuts, (size_t) count, sizeof *cuts, compare);
  for (int i = 0; i + 1 < count; i++) {
    long double middle = (cuts[i] + cuts[i + 1]) / 2, al, ar, bl, br;
    if (cross (a, middle, &al, &ar) && cross (b, middle, &bl, &br)
        && fmaxl (al, bl) < fminl (ar, br))
      area += (cuts[i + 1] - cuts[i]) * (fminl (ar, br) - fmaxl (al, bl));
  }
  return area;
}

long double
ref_rotated_iou (const float a[4], float angle_a, const float b[4], float angle_b)
{
  /* near the origin, where floating-point numbers are densest */
  long double x = (a[0] + (long double) a[2]) / 2, y = (a[1] + (long double) a[3]) / 2;
  Rotated p = make_rotated (a, angle_a, x, y), q = make_rotated (b, angle_b, x, y);
  long double shared;

  if (a[2] - a[0] <= 0x1p-50f || a[3] - a[1] <= 0x1p-50f || b[2] - b[0] <= 0x1p-50f
      || b[3] - b[1] <= 0x1p-50f)
    return 0;
  shared = shared_area (&p, &q);
  return shared <= 0x1p-40L * fminl (p.area, q.area) ? 0 : shared / (p.area + q.area - shared);
}
