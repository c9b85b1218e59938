/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sorted_rotated.h"

#include "sweep.h"

#include "geometry/rotated.h"

#include <math.h>

#define NO_BOX UINT32_MAX

/* Number of kept boxes that all candidates of a unit are tested against before the next ones.
 * Their columns take a quarter of a first-level cache. */
#define SPAN 256

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
nms__rotated_start (const nms__frame *f, nms__rotated_unit *u)
{
  for (int axis = 0; axis < 2; axis++)
    u->origin[axis] = middle (&f->rotations[f->index[0]], axis);
  nms__rotated_restart (u);
}

static nms__rotated_box
box_at (const nms__frame *f, const nms__rotated_unit *u, size_t pos)
{
  const nms__rotated *r = &f->rotations[f->index[pos]];
  const double x = middle (r, 0) - u->origin[0], y = middle (r, 1) - u->origin[1];
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
    .scaled = f->scaled[pos],
  };
}

/* Returns the first of the kept boxes first..end-1 that suppresses the candidate `box` at frame
 * position `pos`, or NO_BOX. */
static uint32_t
first_in (const nms__frame *f, const nms__rotated_unit *u, const nms__rotated_box *box, size_t pos,
    size_t first, size_t end, const int32_t *kept_index)
{
  const int32_t index = f->index[pos];
  const nms__sorted_kernels *kernels = f->kernels->sorted;
  uint64_t mask;
  size_t k = 0;

  for (; first < end; first = k + 1) {
    first = kernels->find_rotated (&u->columns, first, end, box, &mask);
    if (first >= end)
      break;
    for (; mask; mask &= mask - 1) {
      k = first + nms__lowest_bit (mask);
      if (nms__rotated_exceeds (f, kept_index[k], index, nms__candidate_limit (f, pos))
          && !nms__related (f, index, kept_index[k]))
        return (uint32_t) k;
    }
  }
  return NO_BOX;
}

/* Begins a unit with the candidate of rank `rank`, and tests its candidates against the n kept
 * boxes. */
static void
test_unit (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r, size_t rank, size_t n,
    const int32_t *kept_index)
{
  const size_t count = r->count - rank < NMS__BLOCK ? r->count - rank : NMS__BLOCK;
  const uint64_t *keys = r->keys + rank;

  u->first = rank;
  u->end = rank + count;
  u->kept = n;
  for (size_t i = 0; i < count; i++) {
    u->by[i] = NO_BOX;
    u->box[i] = box_at (f, u, nms__packed_position (keys[i]));
  }
  for (size_t first = 0; first < n; first += SPAN) {
    const size_t end = n - first < SPAN ? n : first + SPAN;
    for (size_t i = 0; i < count; i++)
      if (u->by[i] == NO_BOX)
        u->by[i] = first_in (f, u, &u->box[i], nms__packed_position (keys[i]), first, end,
            kept_index);
  }
}

size_t
nms__rotated_suppressor (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r,
    size_t rank, size_t n, const int32_t *kept_index)
{
  if (rank >= u->end)
    test_unit (f, u, r, rank, n, kept_index);

  const size_t i = rank - u->first;
  if (u->by[i] == NO_BOX)
    u->by[i] = first_in (f, u, &u->box[i], nms__packed_position (r->keys[rank]), u->kept, n,
        kept_index);
  return u->by[i] == NO_BOX ? n : u->by[i];
}

void
nms__rotated_append (nms__rotated_unit *u, size_t rank, size_t n)
{
  const nms__rotated_columns *c = &u->columns;
  const nms__rotated_box *box = &u->box[rank - u->first];

  c->x[n] = box->x;
  c->y[n] = box->y;
  c->half_w[n] = box->half_w;
  c->half_h[n] = box->half_h;
  c->cos[n] = box->cos;
  c->sin[n] = box->sin;
  c->length[n] = box->length;
  c->thickness[n] = box->thickness;
  c->scaled[n] = box->scaled;
}
