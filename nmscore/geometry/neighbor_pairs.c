/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "neighbor_pairs.h"

/* Up to this many pairs of a box and a block of rotated boxes are tested without the screen. */
#define ROTATED_FEW 8

/* Returns the number of bits that a count of up to `boxes` needs, at least 1. */
static unsigned
counter_bits (size_t boxes)
{
  return 64 - (unsigned) __builtin_clzll ((uint64_t) boxes | 1);
}

static size_t
block_count (size_t boxes)
{
  return (boxes + NMS__BLOCK - 1) / NMS__BLOCK;
}

void
nms__runs_take (nms__arena *a, nms__runs *r, size_t boxes)
{
  const size_t blocks = block_count (boxes);
  const size_t padded = block_count (blocks) * NMS__BLOCK; /* kernels screen blocks of blocks */

  nms__take_columns (a, &r->box, boxes);
  nms__rotated_take_columns (a, &r->rotated, boxes);
  r->first_of = nms__take (a, boxes, sizeof *r->first_of);
  r->weight = nms__take (a, boxes, sizeof *r->weight);
  r->total = nms__take (a, boxes, sizeof *r->total);
  nms__take_columns (a, &r->hull, padded);
  nms__take_columns (a, &r->core, padded);
  r->block_weight = nms__take (a, blocks, sizeof *r->block_weight);
  r->block_added = nms__take (a, blocks, sizeof *r->block_added);
  r->heavy = nms__take (a, blocks, sizeof *r->heavy);
  r->planes = nms__take (a, blocks * counter_bits (boxes), sizeof *r->planes);
}

/* Returns the lower of the limits of two boxes: either of them may be the one suppressed. */
static double
pair_limit (const nms__frame *f, size_t a, size_t b)
{
  double p = nms__candidate_limit (f, a), q = nms__candidate_limit (f, b);
  return p < q ? p : q;
}

int
nms__are_neighbors (const nms__frame *f, size_t a, size_t b)
{
  const nms__columns c = { f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id };
  const nms__box box = nms__frame_box (f, b);

  if (f->class_id && f->class_id[a] != f->class_id[b])
    return 0;
  if (f->method.min_size_ratio > 0.0f
      && nms__sizes_differ (nms__frame_area (f, a), nms__frame_area (f, b),
          f->method.min_size_ratio))
    return 0;
  if (f->rotated)
    return nms__rotations_exceed (f, f->index[a], f->index[b], pair_limit (f, a, b));
  return nms__column_exceeds (&c, a, &box, pair_limit (f, a, b));
}

/* Adds `weight` to the counters of the runs in `mask`. */
static inline void
add_weight (uint64_t *planes, uint64_t mask, uint32_t weight)
{
  for (; weight; weight >>= 1, planes++)
    if (weight & 1)
      for (uint64_t carry = mask, *plane = planes; carry; plane++) {
        uint64_t both = *plane & carry;
        *plane ^= carry;
        carry = both;
      }
}

static nms__box
box_of (const nms__box_columns *c, size_t i, int by_class)
{
  return (nms__box) { c->x1[i], c->y1[i], c->x2[i], c->y2[i], c->scaled[i],
    by_class ? c->class_id[i] : 0 };
}

static float
lower (float a, float b)
{
  return a < b ? a : b;
}

static float
higher (float a, float b)
{
  return a > b ? a : b;
}

static size_t
runs_in_block (const nms__runs *r, size_t block)
{
  const size_t left = r->count - block * NMS__BLOCK;
  return left < NMS__BLOCK ? left : NMS__BLOCK;
}

static void
make_block (const nms__runs *r, size_t block, int by_class)
{
  const size_t first = block * NMS__BLOCK, end = first + runs_in_block (r, block);
  nms__box hull = box_of (&r->box, first, by_class), core = hull;

  core.class_id = 1;
  r->block_weight[block] = 0;
  r->block_added[block] = 0;
  r->heavy[block] = 0;
  for (size_t i = first; i < end; i++) {
    const nms__box b = box_of (&r->box, i, by_class);
    hull = (nms__box) { lower (hull.x1, b.x1), lower (hull.y1, b.y1), higher (hull.x2, b.x2),
      higher (hull.y2, b.y2), lower (hull.scaled, b.scaled), hull.class_id };
    core = (nms__box) { higher (core.x1, b.x1), higher (core.y1, b.y1), lower (core.x2, b.x2),
      lower (core.y2, b.y2), higher (core.scaled, b.scaled),
      core.class_id & (b.class_id == hull.class_id) };
    r->block_weight[block] += r->weight[i];
    r->heavy[block] |= (uint64_t) (r->weight[i] > 1) << (i - first);
  }
  nms__put_box (&r->hull, block, &hull, 1);
  nms__put_box (&r->core, block, &core, 1);
}

/* Returns whether the boxes of two blocks have one class. */
static int
one_class (const nms__runs *r, size_t a, size_t b)
{
  return r->core.class_id[a] & r->core.class_id[b] & (r->hull.class_id[a] == r->hull.class_id[b]);
}

/* Returns whether boxes that certainly exceed the limit in the screen are neighbors. With rotated
 * boxes the columns hold only upright bounding boxes, and min_size_ratio compares areas, too. */
static int
decides_by_screen (const nms__frame *f)
{
  return !f->rotated && !(f->method.min_size_ratio > 0.0f);
}

/* Returns a mask of the n boxes of the columns starting at `first`: those that certainly exceed
 * with `core`. Does not compare classes. */
static uint64_t
certain_with (const nms__frame *f, const nms__columns *c, size_t first, size_t n,
    const nms__box *core)
{
  uint64_t certain = 0;

  if (decides_by_screen (f))
    f->kernels->overlap_block (c, first, n, core, &f->bounds, &certain);
  return certain;
}

/* Returns a mask of the runs of `block` that follow run i and are its neighbors. */
static uint64_t
neighbors_in_block (const nms__frame *f, const nms__runs *r, const nms__columns *c, size_t block,
    size_t i)
{
  const nms__box box = box_of (&r->box, i, c->class_id != NULL);
  const size_t first = block * NMS__BLOCK;
  uint64_t certain = 0;
  uint64_t mask = f->kernels->overlap_block (c, first, runs_in_block (r, block), &box, &f->bounds,
      decides_by_screen (f) ? &certain : NULL);

  if (i >= first)
    mask &= ~(uint64_t) 0 << (i - first) << 1;
  if (f->rotated) {
    const nms__rotated_box rotated = nms__rotated_get (&r->rotated, i);
    if (nms__count_bits (mask) > ROTATED_FEW)
      mask &= nms__rotated_block (f->kernels, &r->rotated, first, runs_in_block (r, block),
          &rotated);
  }
  for (uint64_t unsure = mask & ~certain; unsure; unsure &= unsure - 1)
    if (!nms__are_neighbors (f, r->first_of[i], r->first_of[first + nms__lowest_bit (unsure)]))
      mask &= ~(unsure & -unsure);
  return mask;
}

/* Counts the pairs of the runs of block a in the mask `of` with the runs of block b, in one loop
 * because the columns of block b then stay in the first-level cache. */
static void
count_runs (const nms__frame *f, const nms__runs *r, size_t a, size_t b, uint64_t of)
{
  const nms__columns c = nms__columns_of (&r->box, f->class_id != NULL);
  uint64_t *const planes = r->planes + b * counter_bits (f->count);

  for (; of; of &= of - 1) {
    const size_t i = a * NMS__BLOCK + nms__lowest_bit (of);
    const uint64_t mask = neighbors_in_block (f, r, &c, b, i);
    add_weight (planes, mask, r->weight[i]);
    r->total[i] += nms__count_bits (mask);
    for (uint64_t heavy = mask & r->heavy[b]; heavy; heavy &= heavy - 1)
      r->total[i] += r->weight[b * NMS__BLOCK + nms__lowest_bit (heavy)] - 1;
  }
}

/* Counts the pairs between blocks a and b, a < b. */
static void
count_blocks (const nms__frame *f, const nms__runs *r, size_t a, size_t b)
{
  const nms__columns c = nms__columns_of (&r->box, 0);
  const nms__box hull = box_of (&r->hull, b, 0), core = box_of (&r->core, b, 0);
  const size_t first = a * NMS__BLOCK, n = runs_in_block (r, a);
  const uint64_t may = f->kernels->overlap_block (&c, first, n, &hull, &f->bounds, NULL);
  const uint64_t certain = may && one_class (r, a, b) ? certain_with (f, &c, first, n, &core) : 0;

  for (uint64_t left = certain; left; left &= left - 1) {
    const size_t i = first + nms__lowest_bit (left);
    r->total[i] += r->block_weight[b];
    r->block_added[b] += r->weight[i];
  }
  count_runs (f, r, a, b, may & ~certain);
}

/* Counts the pairs between block a and the blocks a + 1 to end - 1. */
static void
count_block (const nms__frame *f, const nms__runs *r, size_t a, size_t end)
{
  const nms__columns hulls = nms__columns_of (&r->hull, 0), cores = nms__columns_of (&r->core, 0);
  const nms__box hull = box_of (&r->hull, a, 0), core = box_of (&r->core, a, 0);

  for (size_t first = (a + 1) / NMS__BLOCK * NMS__BLOCK; first < end; first += NMS__BLOCK) {
    const size_t n = end - first < NMS__BLOCK ? end - first : NMS__BLOCK;
    uint64_t may = f->kernels->overlap_block (&hulls, first, n, &hull, &f->bounds, NULL);
    if (a >= first)
      may &= ~(uint64_t) 0 << (a - first) << 1;
    const uint64_t certain = may ? certain_with (f, &cores, first, n, &core) : 0;
    for (; may; may &= may - 1) {
      const size_t b = first + nms__lowest_bit (may);
      if ((certain & may & -may) && one_class (r, a, b)) {
        r->block_added[a] += r->block_weight[b];
        r->block_added[b] += r->block_weight[a];
      } else
        count_blocks (f, r, a, b);
    }
  }
}

/* Adds block_added and the bit planes to `total`. */
static void
add_up (const nms__frame *f, const nms__runs *r, size_t blocks)
{
  const unsigned bits = counter_bits (f->count);

  for (size_t b = 0; b < blocks; b++) {
    const size_t first = b * NMS__BLOCK;
    for (size_t i = 0; i < runs_in_block (r, b); i++)
      r->total[first + i] += r->block_added[b];
    for (unsigned p = 0; p < bits; p++)
      for (uint64_t left = r->planes[b * bits + p]; left; left &= left - 1)
        r->total[first + nms__lowest_bit (left)] += (uint32_t) 1 << p;
  }
}

void
nms__count_pairs (const nms__frame *f, const nms__runs *r)
{
  const size_t blocks = block_count (r->count);

  memset (r->planes, 0, blocks * counter_bits (f->count) * sizeof *r->planes);
  for (size_t i = 0; i < r->count; i++)
    r->total[i] = r->weight[i] > 1 && nms__are_neighbors (f, r->first_of[i], r->first_of[i])
        ? r->weight[i] - 1
        : 0;
  for (size_t b = 0; b < blocks; b++)
    make_block (r, b, f->class_id != NULL);
  for (size_t b = 0, end = 0; b < blocks; b++) {
    const size_t last = b * NMS__BLOCK + runs_in_block (r, b) - 1;
    end = end > b ? end : b + 1;
    while (end < blocks
        && (!f->class_id || r->box.class_id[end * NMS__BLOCK] == r->box.class_id[last]))
      end++;
    count_runs (f, r, b, b, ~(uint64_t) 0 >> (NMS__BLOCK - runs_in_block (r, b)));
    count_block (f, r, b, end);
  }
  add_up (f, r, blocks);
}
