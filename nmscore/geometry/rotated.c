/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotated: the overlap of two rectangles at any angle. In the coordinates in which one
 * rectangle is upright and centred, the other is clipped by its four sides (Sutherland and
 * Hodgman, "Reentrant Polygon Clipping", 1974), and the area of the clipped polygon is computed
 * by the shoelace formula. All computations are in binary64.
 *
 * Sine and cosine are computed here, because those of C libraries differ in the last bit, even
 * between processors.
 */
#include "rotated.h"

#include "probiou.h"

#include <math.h>

typedef struct rectangle {
  double x, y, w, h; /* centre; extents */
  double sin, cos;   /* sine and cosine of the angle */
} rectangle;

#define TWO_PI 6.283185307179586
#define QUARTER 1.5707963267948966
#define QUARTER_REST 6.123233995736766e-17 /* pi / 2 - QUARTER */

/* The coefficients of Taylor's series of sine (x) / x and cosine (x), by powers of x^2. In
 * -pi/4..pi/4 the first term left out is below 1e-17. */
#define TERMS 9
static const double sine_series[TERMS] = { 1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0,
  1.0 / 362880.0, -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0,
  1.0 / 355687428096000.0 };
static const double cosine_series[TERMS] = { 1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0,
  1.0 / 40320.0, -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0,
  1.0 / 20922789888000.0 };

static double
sum_of (const double *series, double square)
{
  double sum = series[TERMS - 1];
  for (int k = TERMS - 2; k >= 0; k--)
    sum = sum * square + series[k];
  return sum;
}

static void
sine_cosine (double angle, double *sine, double *cosine)
{
  if (fabs (angle) > TWO_PI)
    angle = fmod (angle, TWO_PI); /* exact but for the rounding of 2 pi */
  int count = (int) (angle / QUARTER + (angle < 0.0 ? -0.5 : 0.5)); /* number of quarter turns */
  double rest = (angle - count * QUARTER) - count * QUARTER_REST;
  double square = rest * rest;
  double s = rest * sum_of (sine_series, square), c = sum_of (cosine_series, square);

  switch (count & 3) {
    case 0:
      *sine = s, *cosine = c;
      break;
    case 1:
      *sine = c, *cosine = -s;
      break;
    case 2:
      *sine = -s, *cosine = -c;
      break;
    default:
      *sine = -c, *cosine = s;
      break;
  }
}

int
nms__any_rotated (const nms_boxes *boxes)
{
  float angle;
  for (size_t i = 0; boxes->angle.data && i < boxes->count; i++) {
    nms__load (&angle, &boxes->angle, i, sizeof angle);
    if (angle != 0.0f)
      return 1;
  }
  return 0;
}

nms__rotated
nms__rotated_of (const float c[4], float angle)
{
  nms__rotated r = { 0.0, 1.0, { c[0], c[1], c[2], c[3] } };
  if (angle != 0.0f)
    sine_cosine (angle, &r.sin, &r.cos);
  return r;
}

static rectangle
make_rectangle (const nms__rotated *r)
{
  const float *c = r->corners;
  return (rectangle) { ((double) c[0] + c[2]) / 2.0, ((double) c[1] + c[3]) / 2.0,
    (double) c[2] - c[0], (double) c[3] - c[1], r->sin, r->cos };
}

/* Returns v plus more than its rounding errors and those of the result. */
static float
above (double v)
{
  return (float) (v + (fabs (v) * 0x1p-22 + 0x1p-140));
}

void
nms__rotated_bounds (const nms__rotated *rotated, float c[4])
{
  rectangle r = make_rectangle (rotated);
  double half_w = (r.w * fabs (r.cos) + r.h * fabs (r.sin)) / 2.0;
  double half_h = (r.w * fabs (r.sin) + r.h * fabs (r.cos)) / 2.0;

  c[0] = -above (half_w - r.x);
  c[1] = -above (half_h - r.y);
  c[2] = above (r.x + half_w);
  c[3] = above (r.y + half_h);
}

/* Writes the corners of a box, given its centre and half extents. */
static void
write_corners (double x, double y, double half_w, double half_h, float c[4])
{
  c[0] = (float) (x - half_w);
  c[1] = (float) (y - half_h);
  c[2] = (float) (x + half_w);
  c[3] = (float) (y + half_h);
}

void
nms__rotated_turn (const nms__rotated *head, const nms__rotated *box, int around, float c[4])
{
  const rectangle r = make_rectangle (box);
  const double x = r.x * head->cos + r.y * head->sin, y = r.y * head->cos - r.x * head->sin;
  double cosine = 1.0, sine = 0.0; /* absolute values for the angle between the boxes */

  if (head->sin == 0.0 && box->sin == 0.0) {
    memcpy (c, box->corners, sizeof box->corners);
    return;
  }
  if (head->sin != box->sin || head->cos != box->cos) {
    cosine = fabs (head->cos * box->cos + head->sin * box->sin);
    sine = fabs (box->sin * head->cos - box->cos * head->sin);
  }
  if (around)
    write_corners (x, y, (r.w * cosine + r.h * sine) / 2.0, (r.w * sine + r.h * cosine) / 2.0, c);
  else if (cosine >= sine)
    write_corners (x, y, r.w / 2.0, r.h / 2.0, c);
  else
    write_corners (x, y, r.h / 2.0, r.w / 2.0, c);
}

void
nms__rotated_turn_back (const nms__rotated *head, float c[4])
{
  const double x = ((double) c[0] + c[2]) / 2.0, y = ((double) c[1] + c[3]) / 2.0;

  if (head->sin != 0.0)
    write_corners (x * head->cos - y * head->sin, x * head->sin + y * head->cos,
        ((double) c[2] - c[0]) / 2.0, ((double) c[3] - c[1]) / 2.0, c);
}

/* Clips a convex polygon with the corners (u[i], v[i]) to the half-plane sign * u <= bound. Returns
 * the number of corners in `to_u` and `to_v`, at most one more than n. */
static size_t
clip (const double *u, const double *v, size_t n, double sign, double bound, double *to_u,
    double *to_v)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t next = i + 1 < n ? i + 1 : 0;
    const double inside = bound - sign * u[i], inside_next = bound - sign * u[next];

    if (inside >= 0.0) {
      to_u[count] = u[i];
      to_v[count++] = v[i];
    }
    if ((inside >= 0.0) != (inside_next >= 0.0)) {
      const double part = inside / (inside - inside_next);
      to_u[count] = sign * bound;
      to_v[count++] = v[i] + part * (v[next] - v[i]);
    }
  }
  return count;
}

/* Rectangle b in the coordinates of a. */
typedef struct relative {
  double x, y;     /* its centre */
  double cos, sin; /* cosine and sine of its angle */
} relative;

static relative
relate (const rectangle *a, const rectangle *b)
{
  double dx = b->x - a->x, dy = b->y - a->y;
  relative r = { dx * a->cos + dy * a->sin, dy * a->cos - dx * a->sin, 1.0, 0.0 };

  if (a->sin != b->sin || a->cos != b->cos) {
    r.cos = a->cos * b->cos + a->sin * b->sin;
    r.sin = b->sin * a->cos - b->cos * a->sin;
  }
  return r;
}

/* Returns the length that -half..half and centre - reach..centre + reach have in common. */
static double
common (double half, double centre, double reach)
{
  double from = -half > centre - reach ? -half : centre - reach;
  double to = half < centre + reach ? half : centre + reach;
  return to > from ? to - from : 0.0;
}

/* Returns an area that is not less than what intersection returns: that of a and the bounding
 * box of b along the sides of a, with a margin above the rounding errors of both. */
static double
most_intersection (const rectangle *a, const rectangle *b, const relative *r)
{
  double reach_x = (b->w * fabs (r->cos) + b->h * fabs (r->sin)) / 2.0;
  double reach_y = (b->w * fabs (r->sin) + b->h * fabs (r->cos)) / 2.0;

  return common (a->w / 2.0, r->x, reach_x) * common (a->h / 2.0, r->y, reach_y)
      + 0x1p-30 * a->w * a->h;
}

static double
smaller_area (const rectangle *a, const rectangle *b)
{
  const double area_a = a->w * a->h, area_b = b->w * b->h;
  return area_a < area_b ? area_a : area_b;
}

static double
intersection (const rectangle *a, const rectangle *b, const relative *r)
{
  double twice = 0.0, x[8], y[8], x2[8], y2[8];
  size_t n = 4;

  for (int i = 0; i < 4; i++) {
    double u = (i == 0 || i == 3 ? -b->w : b->w) / 2.0, v = (i < 2 ? -b->h : b->h) / 2.0;
    x[i] = r->x + u * r->cos - v * r->sin;
    y[i] = r->y + u * r->sin + v * r->cos;
  }
  n = clip (x, y, n, -1.0, a->w / 2.0, x2, y2);
  n = clip (x2, y2, n, 1.0, a->w / 2.0, x, y);
  n = clip (y, x, n, -1.0, a->h / 2.0, y2, x2);
  n = clip (y2, x2, n, 1.0, a->h / 2.0, y, x);

  /* A small box in a large one may be far from the origin. Its digits are kept in coordinates
   * relative to a corner of its own. */
  for (size_t i = 1; i < n; i++)
    twice += (x[i] - x[0]) * (y[i + 1 < n ? i + 1 : 0] - y[i - 1]);
  return twice / 2.0;
}

/* Returns whether an extent counts as 0. */
static int
is_thin (const rectangle *r)
{
  return r->w <= NMS__LEAST_EXTENT || r->h <= NMS__LEAST_EXTENT;
}

int
nms__rotated_exceeds (const nms__rotated *first, const nms__rotated *second, double limit)
{
  if (first->sin == 0.0 && second->sin == 0.0) {
    const float *p = first->corners, *q = second->corners;
    return nms__exceeds (nms__inter (p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3]),
        nms__area (p[0], p[1], p[2], p[3]), nms__area (q[0], q[1], q[2], q[3]), limit);
  }
  const rectangle a = make_rectangle (first), b = make_rectangle (second);
  if (is_thin (&a) || is_thin (&b))
    return 0;
  double area_a = a.w * a.h, area_b = b.w * b.h;
  relative r = relate (&a, &b);
  double most = most_intersection (&a, &b, &r);
  if (!(most > limit * (area_a + area_b - most)))
    return 0; /* most pairs of thin boxes, whose upright bounding boxes overlap */
  double inter = intersection (&a, &b, &r);
  double least = NMS__LEAST_PART * smaller_area (&a, &b);
  return inter > least && inter > limit * (area_a + area_b - inter);
}

/* Sets *least and *most to the coordinates of a rectangle's upright bounding box on an axis. */
static void
bounds (const rectangle *r, int axis, double *least, double *most)
{
  const double c = fabs (r->cos), s = fabs (r->sin);
  const double half = (axis ? r->w * s + r->h * c : r->w * c + r->h * s) / 2.0;
  const double centre = axis ? r->y : r->x;

  *least = centre - half;
  *most = centre + half;
}

/* Returns an extent of the common upright bounding box. */
static double
hull (const rectangle *a, const rectangle *b, int axis)
{
  double least_a, most_a, least_b, most_b;

  bounds (a, axis, &least_a, &most_a);
  bounds (b, axis, &least_b, &most_b);
  return (most_a > most_b ? most_a : most_b) - (least_a < least_b ? least_a : least_b);
}

static double
metric_of (const rectangle *a, const rectangle *b, double inter, int metric)
{
  const double area_a = a->w * a->h, area_b = b->w * b->h, uni = area_a + area_b - inter;

  if (metric == NMS_METRIC_IOS)
    return inter / smaller_area (a, b);
  if (metric == NMS_METRIC_IOU)
    return inter / uni;
  const double w = hull (a, b, 0), h = hull (a, b, 1), dx = a->x - b->x, dy = a->y - b->y;
  if (metric == NMS_METRIC_DIOU)
    return inter / uni - (dx * dx + dy * dy) / (w * w + h * h);
  return inter / uni - (w * h - uni) / (w * h);
}

/* Sets *value to ProbIoU. Returns 0 if the rectangles do not intersect, or if their ProbIoU is
 * certainly too low for the limit (see nms__probiou). */
static int
measure_probiou (const rectangle *a, const rectangle *b, const relative *r, double least_square,
    float *value)
{
  const nms__probiou_pair pair = { a->w, a->h, b->w, b->h, r->x, r->y, r->cos, r->sin };
  const double v = nms__probiou (&pair, least_square);

  if (v < 0.0)
    return 0;
  *value = (float) v;
  return v > NMS__PROBIOU_APART || intersection (a, b, r) > NMS__LEAST_PART * smaller_area (a, b);
}

float
nms__upright_probiou (const nms__box *a, const nms__box *b, double least_square)
{
  const nms__probiou_pair pair = { (double) a->x2 - a->x1, (double) a->y2 - a->y1,
    (double) b->x2 - b->x1, (double) b->y2 - b->y1,
    ((double) b->x1 + b->x2) / 2.0 - ((double) a->x1 + a->x2) / 2.0,
    ((double) b->y1 + b->y2) / 2.0 - ((double) a->y1 + a->y2) / 2.0, 1.0, 0.0 };

  return (float) nms__probiou (&pair, least_square);
}

static nms__box
upright_box (const nms__rotated *r)
{
  const float *c = r->corners;
  return (nms__box) { c[0], c[1], c[2], c[3], 0.0f, 0 };
}

int
nms__rotated_metric (const nms__rotated *first, const nms__rotated *second, int metric,
    double least_square, float *value)
{
  if (first->sin == 0.0 && second->sin == 0.0) {
    const float *p = first->corners, *q = second->corners;
    if (!(nms__inter (p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3]) > 0.0f))
      return 0;
    if (metric == NMS_METRIC_PROBIOU) {
      const nms__box box_a = upright_box (first), box_b = upright_box (second);
      *value = nms__upright_probiou (&box_a, &box_b, least_square);
      return *value >= 0.0f;
    }
    return 1;
  }
  const rectangle a = make_rectangle (first), b = make_rectangle (second);
  if (is_thin (&a) || is_thin (&b))
    return 0;
  const relative r = relate (&a, &b);
  if (metric == NMS_METRIC_PROBIOU)
    return measure_probiou (&a, &b, &r, least_square, value);
  const double inter = intersection (&a, &b, &r), smaller = smaller_area (&a, &b);
  if (!(inter > NMS__LEAST_PART * smaller))
    return 0;
  *value = (float) metric_of (&a, &b, inter < smaller ? inter : smaller, metric);
  return 1;
}
