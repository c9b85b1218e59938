/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refoverlap: the metrics, each operation rounded to binary32. */
#include "refoverlap.h"

#include "rotatedref.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "the definition rounds every operation to binary32; this target keeps more"
#endif
#ifdef __FAST_MATH__
#error "the definition needs IEEE arithmetic"
#endif

#define TWO_PI 6.283185307179586
#define SMALLEST_EXTENT 0x1p-50f
#define SMALLEST_THRESHOLD 0x1p-24f

static float
extent (float low, float high)
{
  float difference = high - low;
  return difference <= SMALLEST_EXTENT ? 0.0f : difference;
}

static float
area (const RefBox *box)
{
  return extent (box->x1, box->x2) * extent (box->y1, box->y2);
}

static float
intersection (const RefBox *a, const RefBox *b)
{
  float left = a->x1 > b->x1 ? a->x1 : b->x1;
  float top = a->y1 > b->y1 ? a->y1 : b->y1;
  float right = a->x2 < b->x2 ? a->x2 : b->x2;
  float bottom = a->y2 < b->y2 ? a->y2 : b->y2;
  return extent (left, right) * extent (top, bottom);
}

static float
least (float a, float b)
{
  return a < b ? a : b;
}

static float
greatest (float a, float b)
{
  return a > b ? a : b;
}

/* An upright bounding box, by its centre and its half extents. */
typedef struct {
  long double x, y, w, h;
} Bounds;

double
ref_radians (const RefBox *box)
{
  return fmod (box->angle, TWO_PI); /* as nmscore.h says, by the binary64 value */
}

static Bounds
bounds_of (const RefBox *box)
{
  long double w = (long double) box->x2 - box->x1, h = (long double) box->y2 - box->y1;
  long double c = fabs (cos (ref_radians (box))), s = fabs (sin (ref_radians (box)));

  return (Bounds) { ((long double) box->x1 + box->x2) / 2, ((long double) box->y1 + box->y2) / 2,
    (w * c + h * s) / 2, (w * s + h * c) / 2 };
}

/* Returns the extent that two intervals span, each given by its middle and half its length. */
static long double
span (long double a, long double half_a, long double b, long double half_b)
{
  long double low = a - half_a < b - half_b ? a - half_a : b - half_b;
  long double high = a + half_a > b + half_b ? a + half_a : b + half_b;
  return high - low;
}

/* Returns DIoU or GIoU of two rotated boxes that intersect, given their IoU and union. */
static float
rotated_hull_metric (const RefBox *a, const RefBox *b, unsigned metric, long double overlap,
    long double covered)
{
  Bounds p = bounds_of (a), q = bounds_of (b);
  long double w = span (p.x, p.w, q.x, q.w), h = span (p.y, p.h, q.y, q.h);
  long double dx = p.x - q.x, dy = p.y - q.y;

  if (metric == NMS_METRIC_DIOU)
    return (float) (overlap - (dx * dx + dy * dy) / (w * w + h * h));
  return (float) (overlap - (w * h - covered) / (w * h));
}

/* Returns ProbIoU by the formulas of the paper: the Bhattacharyya distance of two normal
 * distributions, and 1 less their Hellinger distance. */
static long double
probiou (const RefBox *p, const RefBox *q)
{
  const RefBox *both[2] = { p, q };
  long double a[2], b[2], c[2], x[2], y[2];

  for (int i = 0; i < 2; i++) {
    const RefBox *box = both[i];
    double angle = ref_radians (box);
    long double w = (long double) box->x2 - box->x1, h = (long double) box->y2 - box->y1;
    long double co = cosl (angle), si = sinl (angle), u = w * w / 12, v = h * h / 12;
    a[i] = u * co * co + v * si * si;
    b[i] = u * si * si + v * co * co;
    c[i] = (u - v) * co * si;
    x[i] = ((long double) box->x1 + box->x2) / 2;
    y[i] = ((long double) box->y1 + box->y2) / 2;
  }
  long double sum_a = a[0] + a[1], sum_b = b[0] + b[1], sum_c = c[0] + c[1];
  long double det = sum_a * sum_b - sum_c * sum_c, dx = x[0] - x[1], dy = y[0] - y[1];
  long double det_0 = a[0] * b[0] - c[0] * c[0], det_1 = a[1] * b[1] - c[1] * c[1];
  long double distance = (sum_a * dy * dy + sum_b * dx * dx - 2 * sum_c * dx * dy) / det / 4
      + logl (det / (4 * sqrtl (det_0 * det_1))) / 2;

  /* 1 - sqrt (1 - alike), which would be 0 for a small one */
  long double alike = expl (distance > 0 ? -distance : 0);
  return alike / (1 + sqrtl (distance > 0 ? -expm1l (-distance) : 0));
}

/* Returns a metric of two rotated boxes. With IoU = i / (a + b - i), the intersection is
 * i = IoU * (a + b) / (1 + IoU). */
static float
rotated_metric (const RefBox *a, const RefBox *b, unsigned metric)
{
  const float p[4] = { a->x1, a->y1, a->x2, a->y2 }, q[4] = { b->x1, b->y1, b->x2, b->y2 };
  long double area_a = ((long double) a->x2 - a->x1) * ((long double) a->y2 - a->y1);
  long double area_b = ((long double) b->x2 - b->x1) * ((long double) b->y2 - b->y1);
  long double overlap = ref_rotated_iou (p, a->angle, q, b->angle);

  if (metric == NMS_METRIC_IOU || overlap <= 0)
    return (float) overlap;
  if (metric == NMS_METRIC_PROBIOU)
    return (float) probiou (a, b);
  long double inter = overlap * (area_a + area_b) / (1 + overlap);
  if (metric != NMS_METRIC_IOS)
    return rotated_hull_metric (a, b, metric, overlap, area_a + area_b - inter);
  return (float) (inter / (area_a < area_b ? area_a : area_b));
}

/* The squared distance of the centres as a part of the squared diagonal of the common bounding
 * box. */
static float
distance_part (const RefBox *a, const RefBox *b)
{
  float dx = (a->x1 + a->x2) * 0.5f - (b->x1 + b->x2) * 0.5f;
  float dy = (a->y1 + a->y2) * 0.5f - (b->y1 + b->y2) * 0.5f;
  float w = greatest (a->x2, b->x2) - least (a->x1, b->x1);
  float h = greatest (a->y2, b->y2) - least (a->y1, b->y1);
  float diagonal = w * w + h * h;
  return diagonal == 0.0f ? 0.0f : (dx * dx + dy * dy) / diagonal;
}

static float
giou (const RefBox *a, const RefBox *b, float inter, float both)
{
  float w = greatest (a->x2, b->x2) - least (a->x1, b->x1);
  float h = greatest (a->y2, b->y2) - least (a->y1, b->y1);
  float hull = w * h, covered = both - inter;
  return inter / covered - (hull - covered) / hull;
}

/* Returns whether two boxes have an intersection. */
static bool
meet (const RefBox *a, const RefBox *b)
{
  if (a->angle != 0.0f || b->angle != 0.0f)
    return rotated_metric (a, b, NMS_METRIC_IOU) > 0.0f;
  return intersection (a, b) > 0.0f && area (a) > 0.0f && area (b) > 0.0f;
}

float
ref_metric (const RefBox *a, const RefBox *b, unsigned metric)
{
  float inter = intersection (a, b), both = area (a) + area (b);

  if (a->angle != 0.0f || b->angle != 0.0f)
    return rotated_metric (a, b, metric);
  if (!meet (a, b))
    return 0.0f;
  switch (metric) {
    case NMS_METRIC_IOS:
      return inter / least (area (a), area (b));
    case NMS_METRIC_DIOU:
      return inter / (both - inter) - distance_part (a, b);
    case NMS_METRIC_GIOU:
      return giou (a, b, inter, both);
    case NMS_METRIC_PROBIOU:
      return (float) probiou (a, b);
    default:
      return inter / (both - inter);
  }
}

bool
ref_sizes_fit (const RefBox *a, const RefBox *b, const nms_options *options)
{
  const float p = area (a), q = area (b);
  return least (p, q) >= options->min_size_ratio * greatest (p, q);
}

bool
ref_overlaps (const RefBox *a, const RefBox *b, unsigned metric, float threshold, bool inclusive)
{
  float value = ref_metric (a, b, metric);

  if (threshold < SMALLEST_THRESHOLD)
    threshold = 0.0f;
  return meet (a, b) && (inclusive ? value >= threshold : value > threshold);
}
