/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rotated_columns: fills the columns by which pairs of rotated boxes are screened. */
#include "rotated.h"

#include <math.h>

/* An upper bound of all rounding errors of the screen, relative to the numbers that it adds. */
#define MARGIN 0x1p-20

void
nms__rotated_take_columns (nms__arena *a, nms__rotated_columns *c, size_t boxes)
{
  c->x = nms__take (a, boxes, sizeof *c->x);
  c->y = nms__take (a, boxes, sizeof *c->y);
  c->half_w = nms__take (a, boxes, sizeof *c->half_w);
  c->half_h = nms__take (a, boxes, sizeof *c->half_h);
  c->cos = nms__take (a, boxes, sizeof *c->cos);
  c->sin = nms__take (a, boxes, sizeof *c->sin);
  c->length = nms__take (a, boxes, sizeof *c->length);
  c->thickness = nms__take (a, boxes, sizeof *c->thickness);
  c->scaled = nms__take (a, boxes, sizeof *c->scaled);
  c->limit = NMS__BY_SUM;
  c->alike = 0.0f;
}

/* Returns a coordinate of a box's centre: axis 0 is x, 1 is y. */
static double
middle (const nms__rotated *r, int axis)
{
  return ((double) r->corners[axis] + r->corners[axis + 2]) / 2.0;
}

static double
extent (const nms__rotated *r, int axis)
{
  return (double) r->corners[axis + 2] - r->corners[axis];
}

void
nms__rotated_origin (const nms__rotated *r, double origin[2])
{
  for (int axis = 0; axis < 2; axis++)
    origin[axis] = middle (r, axis);
}

nms__rotated_box
nms__rotated_box_of (const nms__rotated *r, const double origin[2], float scaled)
{
  const double x = middle (r, 0) - origin[0], y = middle (r, 1) - origin[1];
  const double w = extent (r, 0), h = extent (r, 1), cos = fabs (r->cos), sin = fabs (r->sin);
  const double margin = MARGIN * (fabs (x) + fabs (y) + w + h);
  const int wide = w >= h;

  return (nms__rotated_box) {
    .x = (float) x,
    .y = (float) y,
    .half_w = (float) ((w * cos + h * sin) / 2.0 + margin),
    .half_h = (float) ((w * sin + h * cos) / 2.0 + margin),
    .cos = (float) (wide ? r->cos : -r->sin),
    .sin = (float) (wide ? r->sin : r->cos),
    .length = (float) ((wide ? w : h) / 2.0 + margin),
    .thickness = (float) ((wide ? h : w) / 2.0 + margin),
    .scaled = scaled,
  };
}

void
nms__rotated_put (const nms__rotated_columns *c, size_t i, const nms__rotated_box *box)
{
  c->x[i] = box->x;
  c->y[i] = box->y;
  c->half_w[i] = box->half_w;
  c->half_h[i] = box->half_h;
  c->cos[i] = box->cos;
  c->sin[i] = box->sin;
  c->length[i] = box->length;
  c->thickness[i] = box->thickness;
  c->scaled[i] = box->scaled;
}

nms__rotated_box
nms__rotated_get (const nms__rotated_columns *c, size_t i)
{
  return (nms__rotated_box) { c->x[i], c->y[i], c->half_w[i], c->half_h[i], c->cos[i], c->sin[i],
    c->length[i], c->thickness[i], c->scaled[i] };
}

uint64_t
nms__rotated_block (const nms__kernels *kernels, const nms__rotated_columns *c, size_t first,
    size_t n, const nms__rotated_box *box)
{
  const size_t end = first + n;
  uint64_t mask = 0, found;

  for (size_t i = first; (i = kernels->find_rotated (c, i, end, box, &found)) < end;
       i += (size_t) kernels->lanes)
    mask |= found << (i - first);
  return mask;
}
