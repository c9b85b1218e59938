/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row: finds the blocks around a box, and measures their boxes. */
#include "row.h"

#include "method.h"
#include "geometry/probiou.h"

#include <math.h>

/* Returns an area that is less than the intersection of the row's box with each box whose overlap
 * has an effect, without the part that depends on the block if `by_area` is set. */
static float
least_inter (const nms__row *r)
{
  const nms__box_blocks *b = r->blocks;
  const float area = r->box.scaled;

  if (b->by_area)
    return b->pair.share * area;
  if (b->screens && r->metric == NMS_METRIC_IOS)
    return b->pair.share * (area < b->least_area ? area : b->least_area);
  return 0.0f;
}

void
nms__row_begin (nms__row *r, const nms__frame *f, const nms__box_blocks *b, size_t place,
    const nms__places *wanted)
{
  const nms__method *o = &f->method;

  r->frame = f;
  r->blocks = b;
  r->wanted = wanted;
  r->box = (nms__box) { b->box.x1[place], b->box.y1[place], b->box.x2[place], b->box.y2[place],
    b->box.scaled[place], 0 };
  r->place = place;
  r->begin = nms__partition_begin (b, place);
  r->end = nms__partition_end (b, place);
  const size_t group = r->begin / NMS__GROUP;
  r->first_group = group / NMS__BLOCK * NMS__BLOCK;
  r->groups = 0;
  if (group == (r->end - 1) / NMS__GROUP) { /* the only one need not be tested */
    r->groups = (uint64_t) 1 << group % NMS__BLOCK;
    r->first_group += NMS__BLOCK;
  }
  r->left = 0;
  r->compared = 0;
  r->measure = f->kernels->method->metric_block;
  r->metric = (int) o->metric;
  r->least_inter = least_inter (r);
  r->upright = 0;
  r->decay = NULL;
  r->min_size_ratio = f->rotated ? 0.0f : o->min_size_ratio;
  r->refines = f->rotated || f->parent.data || o->metric == NMS_METRIC_PROBIOU;
  if (f->rotated)
    r->rotated_box = nms__rotated_get (&b->rotated, place);
}

void
nms__row_bound (nms__row *r, const nms__decay *decay)
{
  r->decay = decay;
  if (r->metric == NMS_METRIC_PROBIOU)
    r->measure = r->frame->kernels->method->bound_probiou_block;
}

/* Returns which of the NMS__BLOCK bounding boxes starting at `first` the box intersects, of those
 * with a number in least..most. */
static inline uint64_t
intersecting (const nms__row *r, const nms__columns *bounds, size_t first, size_t least,
    size_t most)
{
  const size_t n = most - first < NMS__BLOCK ? most - first + 1 : NMS__BLOCK;
  nms__box box = r->box;

  box.scaled = r->upright ? 0.0f : r->least_inter;
  const uint64_t mask = r->frame->kernels->overlap_block (bounds, first, n, &box, NULL, NULL);
  return least > first ? mask & ~(uint64_t) 0 << (least - first) : mask;
}

/* Returns whether the bounding box of NMS__BLOCK groups starting at `group` meets the box. */
static inline int
is_near (const nms__row *r, size_t group)
{
  const nms__box_columns *c = &r->blocks->super_bounds;
  const size_t i = group / NMS__BLOCK;

  return c->x1[i] <= r->box.x2 && c->x2[i] >= r->box.x1 && c->y1[i] <= r->box.y2
      && c->y2[i] >= r->box.y1;
}

/* Finds the wanted blocks of the next group that the box intersects. Returns 0 after the last
 * group. */
static int
next_group (nms__row *r)
{
  const nms__box_blocks *b = r->blocks;
  const size_t least = r->begin / NMS__BLOCK, most = (r->end - 1) / NMS__BLOCK;
  const int by_area = b->by_area && !r->upright;

  for (; !r->groups; r->first_group += NMS__BLOCK) {
    if (r->first_group > most / NMS__BLOCK)
      return 0;
    if (!is_near (r, r->first_group))
      continue;
    r->groups = intersecting (r, by_area ? &b->group_by_area : &b->group_view, r->first_group,
        least / NMS__BLOCK, most / NMS__BLOCK);
  }
  const size_t group = r->first_group - NMS__BLOCK + nms__lowest_bit (r->groups);
  r->groups &= r->groups - 1;
  r->first_block = group * NMS__BLOCK;
  r->left = intersecting (r, by_area ? &b->bounds_by_area : &b->bounds_view, r->first_block, least,
      most);
  if (r->wanted)
    r->left &= r->wanted->blocks[group];
  if (b->screens && !r->upright && nms__count_bits (r->left) > NMS__CROWD)
    r->measure = r->frame->kernels->method->screened_block;
  return 1;
}

/* Returns the boxes of the block at `first` that are of the box's class, but not the box itself. */
static uint64_t
of_class (const nms__row *r, size_t first)
{
  uint64_t mask = ~(uint64_t) 0;

  if (r->begin > first)
    mask &= ~(uint64_t) 0 << (r->begin - first);
  if (r->end < first + NMS__BLOCK)
    mask &= ~(uint64_t) 0 >> (first + NMS__BLOCK - r->end);
  if (r->place >= first && r->place < first + NMS__BLOCK)
    mask &= ~((uint64_t) 1 << (r->place - first));
  return mask;
}

/* Returns the `least_square` of nms__probiou with which ProbIoU is measured if it decides the
 * decay. It belongs to the same least metric that bound_rotated_block applies to the bounds. */
static double
least_square (const nms__decay *d, size_t other)
{
  const float m = d->most_of[other];
  const float lowers = d->gaussian ? sqrtf (d->loss + m * m) : 1.0f + d->loss * (1.0f - m);
  const float least = (d->most < lowers ? d->most : lowers) - 0x1p-20f; /* rounding adds less */

  return least > 0.0f ? nms__probiou_least_square ((double) least) : 0.0;
}

/* Does what nms__rotated_metric does for the boxes at two places. Returns 0 also if they differ too
 * much in size. */
static inline int
measure_rotated (const nms__row *r, size_t place, size_t other, float *value)
{
  const nms__frame *f = r->frame;
  const nms__rotated *pair[2];
  const float ratio = f->method.min_size_ratio;
  const double alike = r->decay && r->metric == NMS_METRIC_PROBIOU ? least_square (r->decay, other)
                                                                   : r->blocks->pair.alike;

  nms__rotated_pair (r->blocks, place, other, pair);
  if (ratio > 0.0f
      && nms__sizes_differ (nms__rotated_area (pair[0]), nms__rotated_area (pair[1]), ratio))
    return 0;
  return nms__row_is_unmeasured (f)
      || nms__rotated_metric (pair[0], pair[1], r->metric, alike, value);
}

/* Computes the metric of the box and the i-th box of the block, which are both upright. */
static float
upright_metric (const nms__row *r, unsigned i)
{
  float value[NMS__BLOCK];

  r->frame->kernels->method->metric_block (&r->blocks->box_view, r->first, i + 1, &r->box,
      &r->blocks->pair, value);
  return value[i];
}

int
nms__row_measure (nms__row *r, unsigned i)
{
  const nms__frame *f = r->frame;
  const nms__box_blocks *b = r->blocks;
  const size_t other = r->first + i;

  if (!r->refines)
    return 1;
  if (nms__positions_related (f, b->position[r->place], b->position[other]))
    return 0;
  if (f->rotated) {
    if (r->decay && r->metric != NMS_METRIC_PROBIOU && b->rotation[r->place].sin == 0.0
        && b->rotation[other].sin == 0.0)
      r->value[i] = upright_metric (r, i);
    return measure_rotated (r, r->place, other, &r->value[i]);
  }
  if (r->metric == NMS_METRIC_PROBIOU) {
    const nms__box box = nms__corners_at (&b->box, other);
    r->value[i] = nms__upright_probiou (&r->box, &box, b->pair.alike);
    return r->value[i] >= 0.0f;
  }
  return 1;
}

/* Measures the boxes of `mask`, and clears the bits of those that do not belong to it. */
static void
refine (nms__row *r)
{
  for (uint64_t left = r->mask; left; left &= left - 1) {
    const unsigned i = nms__lowest_bit (left);
    if (!nms__row_measure (r, i))
      r->mask &= ~((uint64_t) 1 << i);
  }
}

int
nms__row_next (nms__row *r)
{
  const nms__method_kernels *kernels = r->frame->kernels->method;

  for (;;) {
    while (!r->left)
      if (!next_group (r))
        return 0;
    const size_t block = r->first_block + nms__lowest_bit (r->left);
    r->left &= r->left - 1;
    r->first = block * NMS__BLOCK;
    uint64_t mask = of_class (r, r->first) & (r->wanted ? r->wanted->bits[block] : ~(uint64_t) 0);
    r->compared++;
    if (mask && r->frame->rotated && !r->upright) {
      if (r->decay) {
        r->mask = mask
            & kernels->bound_rotated_block (&r->blocks->rotated, r->first,
                nms__highest_bit (mask) + 1, &r->rotated_box, r->metric, r->decay, r->value);
        if (r->mask)
          return 1;
        continue;
      }
      mask &= nms__rotated_block (r->frame->kernels, &r->blocks->rotated, r->first,
          nms__highest_bit (mask) + 1, &r->rotated_box);
    }
    if (mask && r->min_size_ratio > 0.0f)
      mask &= kernels->size_block (&r->blocks->box_view, r->first, &r->box, r->min_size_ratio);
    if (!mask)
      continue;
    r->mask = mask
        & r->measure (&r->blocks->box_view, r->first, nms__highest_bit (mask) + 1, &r->box,
            &r->blocks->pair, r->value);
    if (r->mask && r->refines && !r->upright && !r->decay)
      refine (r);
    if (r->mask)
      return 1;
  }
}
