/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * matrix: Matrix NMS (Wang et al., "SOLOv2: Dynamic and Fast Instance Segmentation", 2020). One row
 * for each box, with the boxes that rank above it, is enough. It gives the box's greatest metric
 * with a box above it, by which the decay of lower-ranked boxes is reduced, and the box's own
 * decay, because the greatest metrics of the boxes above it are already known.
 */
#include "exponential.h"
#include "method.h"
#include "row.h"
#include "visits.h"

#define DEFAULT_SIGMA 2.0f

/* If the metrics of a row are exact, the boxes of its first FEW_BLOCKS blocks are compared one by
 * one. In later blocks, and in all blocks if bounds are measured, a kernel selects the boxes that
 * may decide the decay. Up to FEW_BOXES boxes of a block take less time one by one. */
#define FEW_BLOCKS 4
#define FEW_BOXES 8

typedef struct scratch {
  nms__box_blocks blocks;
  nms__visits visits;
  /* the boxes visited before the current one, which rank above it if they intersect it */
  nms__places above;
  nms__places waiting;    /* the other boxes */
  uint64_t *keys, *keys2; /* for sorting */
  float *most;            /* greatest metric of the box and a box above it, by place */
  float sigma;
  float *factor;  /* factor of the score, by place */
  uint32_t *rank; /* rank by place, in the array that the sorted keys do not use */
  uint32_t *by;   /* follows `rank`: place of the box that decides the factor, by place */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__box_blocks_take (a, &s->blocks, boxes);
  nms__places_take (a, &s->above, boxes);
  nms__places_take (a, &s->waiting, boxes);
  s->keys = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys);
  s->keys2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys2);
  s->most = nms__take (a, boxes + NMS__BLOCK, sizeof *s->most);
  s->factor = nms__take (a, boxes, sizeof *s->factor);
}

size_t
nms__matrix_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

/* Returns the loss by the box at place `by`, whose metric with the lowered box is v. */
static float
loss_of (const nms__decay *d, size_t by, float v)
{
  const float most = d->most_of[by];

  if (d->gaussian)
    return v * v - most * most;
  return most < 1.0f ? -((1.0f - v) / (1.0f - most)) : -FLT_MAX;
}

/* Adds box i of the row's block to those that *d takes into account. */
static inline void
add_box (nms__decay *d, const scratch *s, const nms__row *row, unsigned i)
{
  const size_t by = row->first + i;
  const float v = row->value[i], loss = loss_of (d, by, v);

  d->most = v > d->most ? v : d->most;
  if (loss > d->loss || (loss == d->loss && d->by != row->place && s->rank[by] < s->rank[d->by])) {
    d->loss = loss;
    d->by = by;
  }
}

/* Adds box i of the row's block. If value[i] may be an upper bound, the box is measured first, and
 * left out if it does not decide the decay. */
static inline void
try_box (nms__decay *d, const scratch *s, nms__row *row, unsigned i)
{
  const float v = row->value[i];

  if (row->refines) {
    const int decides = v > d->most || loss_of (d, row->first + i, v) >= d->loss;
    if (!decides || !nms__row_measure (row, i))
      return;
  }
  add_box (d, s, row, i);
}

/* Returns the box of `boxes` with the greatest upper bound. */
static unsigned
most_promising (const nms__row *row, uint64_t boxes)
{
  uint64_t best = 0; /* as integers, the bits of positive floats have the same order */

  for (uint64_t left = boxes; left; left &= left - 1) {
    const unsigned i = nms__lowest_bit (left);
    const uint64_t bound = (uint64_t) nms__float_bits (row->value[i]) << 8 | i;
    best = bound > best ? bound : best;
  }
  return best & 0xff;
}

/* Adds the boxes of the row's current block and of all later ones. Measures only those that may
 * decide the decay, first the one with the greatest bound of a block: few others then do. */
static void
add_rest (nms__decay *d, const scratch *s, nms__row *row)
{
  const nms__method_kernels *kernels = row->frame->kernels->method;

  do {
    uint64_t left = row->mask;
    if (row->refines) {
      const unsigned i = most_promising (row, left);
      left &= ~((uint64_t) 1 << i);
      try_box (d, s, row, i);
    }
    if (nms__count_bits (left) > FEW_BOXES)
      left &= kernels->decay_block (row->value, row->first, nms__highest_bit (left) + 1, d);
    for (; left; left &= left - 1)
      try_box (d, s, row, nms__lowest_bit (left));
  } while (nms__row_next (row));
}

/* Lets the boxes above the one at `place` decide its decay. */
static void
add_row (nms__decay *d, const nms__frame *f, const scratch *s, size_t place)
{
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, &s->above);
  nms__row_bound (&row, d);
  while (nms__row_next (&row)) {
    if (row.refines || row.compared > FEW_BLOCKS) {
      add_rest (d, s, &row);
      return;
    }
    for (uint64_t left = row.mask; left; left &= left - 1)
      add_box (d, s, &row, nms__lowest_bit (left));
  }
}

/* Finds how the score of the box at `place` decays. */
static void
visit (const nms__frame *f, const scratch *s, size_t place)
{
  const int gaussian = f->method.method == NMS_METHOD_MATRIX_GAUSSIAN;
  nms__decay d = { s->most, gaussian, 0.0f, gaussian ? 0.0f : -1.0f, place };

  add_row (&d, f, s, place);
  s->factor[place] = gaussian ? nms__exp (-(s->sigma * d.loss)) : -d.loss;
  s->by[place] = (uint32_t) d.by;
  s->most[place] = d.most;
  nms__place_set (&s->above, place);
}

/* Finds how all scores decay. `spare` is an array of the same size as `ranked`. */
static void
visit_all (const nms__frame *f, scratch *s, const uint64_t *ranked, uint64_t *spare)
{
  size_t visited = 0, place;

  s->rank = (uint32_t *) (void *) spare;
  s->by = s->rank + f->count;
  if (nms__visits_begin (&s->visits, f, &s->blocks, ranked, spare, &s->waiting)) {
    nms__places_clear_all (&s->above, f->count);
    for (; nms__visits_next (&s->visits, &place); visited++) {
      nms__place_clear (&s->waiting, place);
      visit (f, s, place);
    }
  }
  if (visited == f->count)
    return;
  nms__places_clear_all (&s->above, f->count);
  for (size_t k = 0; k < f->count; k++) {
    place = s->blocks.place[nms__packed_position (ranked[k])];
    s->rank[place] = (uint32_t) k;
    visit (f, s, place);
  }
}

/* Writes the decayed scores to the keys, 0 for scores below min_score, whose boxes have
 * suppressors. */
static void
lower_scores (nms__frame *f, const scratch *s)
{
  for (size_t place = 0; place < f->count; place++) {
    const size_t pos = s->blocks.position[place];
    const float score = nms__method_score (f, pos) * s->factor[place];
    f->packed[pos] = nms__pack (nms__order_key (score), (uint32_t) pos);
    if (score < f->method.min_score) {
      f->packed[pos] = 0;
      nms__suppress (f, pos, s->blocks.position[s->by[place]]);
    }
  }
}

/* Sorts the boxes by their new scores, and keeps them up to the caps. `keys` has them in input
 * order. */
static void
keep_best (nms__frame *f, uint64_t *keys, uint64_t *other, size_t count)
{
  const uint64_t *ranked = nms__sort (f->kernels, keys, other, count);

  for (size_t k = 0; k < count; k++)
    nms__take_next (f, nms__packed_position (ranked[k]),
        nms__score_of_key ((uint32_t) (ranked[k] >> 32)));
}

void
nms__matrix (nms__frame *f)
{
  const float sigma = f->method.sigma;
  nms__arena arena = { f->method_scratch, 0 };
  scratch s;
  size_t n = 0;

  layout (&s, &arena, f->capacity);
  s.sigma = sigma > 0.0f ? sigma : DEFAULT_SIGMA;
  nms__box_blocks_fill (f, &s.blocks);
  memcpy (s.keys, f->packed, f->count * sizeof *s.keys);
  const uint64_t *ranked = nms__sort (f->kernels, s.keys, s.keys2, f->count);
  visit_all (f, &s, ranked, ranked == s.keys ? s.keys2 : s.keys);
  lower_scores (f, &s);
  for (size_t pos = 0; pos < f->count; pos++)
    if (f->packed[pos])
      s.keys[n++] = f->packed[pos];
  keep_best (f, s.keys, s.keys2, n);
}
