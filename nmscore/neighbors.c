/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * neighbors: counts how many boxes each box overlaps beyond the threshold. Equal boxes are one
 * entry with a weight, because cascade detectors report the same box many times. The others are
 * found by a sweep along x: only boxes that begin before a box ends can overlap it. A frame of
 * boxes of one object has count^2 / 2 pairs that exceed the threshold, so the pairs that surely
 * do are counted 64 at a time by bit operations.
 */
#include "engines/engine.h"
#include "rotated.h"

typedef struct scratch {
  uint64_t *order, *order2;   /* buffers for sorting */
  nms__box_columns runs;      /* the first box of each run of equal boxes */
  uint32_t *first_of;         /* frame position of the first box of each run */
  uint32_t *weight, *total;   /* of each run: number of its boxes; number of neighbors of each of
                               * them */
  uint64_t *heavy;            /* of each block of runs: which of them have a weight above 1 */
  uint64_t *planes;           /* counter_bits () for each block of runs: bit k of plane p is bit p
                               * of the count of run k of the block */
  int32_t *position_of;       /* frame position of a box, by the caller's index */
} scratch;

/* Returns the bits of a number below `boxes`, at least 1. */
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

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__rotated_take (a, boxes);
  s->order = nms__take (a, boxes, sizeof *s->order);
  s->order2 = nms__take (a, boxes, sizeof *s->order2);
  nms__take_columns (a, &s->runs, boxes);
  s->first_of = nms__take (a, boxes, sizeof *s->first_of);
  s->weight = nms__take (a, boxes, sizeof *s->weight);
  s->total = nms__take (a, boxes, sizeof *s->total);
  s->heavy = nms__take (a, block_count (boxes), sizeof *s->heavy);
  s->planes = nms__take (a, block_count (boxes) * counter_bits (boxes), sizeof *s->planes);
  s->position_of = nms__take (a, boxes, sizeof *s->position_of);
}

size_t
nms__neighbors_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

/* Sorts by one more column; the sort is stable, so the least important column comes first. */
static uint64_t *
sort_by (const nms__frame *f, uint64_t *order, uint64_t *other, size_t count, const float *column,
    const int32_t *ids)
{
  for (size_t i = 0; i < count; i++) {
    uint32_t pos = (uint32_t) order[i];
    uint32_t key = ids ? (uint32_t) ids[pos] : nms__order_key (column[pos]);
    order[i] = (uint64_t) ~key << 32 | pos; /* complement, because nms__sort sorts in descending
                                             * order */
  }
  return nms__sort (f->kernels, order, other, count);
}

/* Returns the frame positions in an order in which equal boxes follow each other and x1
 * ascends. */
static const uint64_t *
sweep_order (const nms__frame *f, const scratch *s)
{
  uint64_t *order = s->order;
#define SORT_BY(column, ids)                                                                       \
  order = sort_by (f, order, order == s->order ? s->order2 : s->order, f->count, column, ids)
  for (size_t i = 0; i < f->count; i++)
    order[i] = i;
  if (f->class_entry)
    SORT_BY (NULL, (const int32_t *) f->class_entry);
  if (f->class_id)
    SORT_BY (NULL, f->class_id);
  SORT_BY (f->y2, NULL);
  SORT_BY (f->x2, NULL);
  SORT_BY (f->y1, NULL);
  SORT_BY (f->x1, NULL);
#undef SORT_BY
  return order;
}

static int
same (const nms__frame *f, size_t a, size_t b)
{
  if (f->rotated)
    return a == b;
  return f->x1[a] == f->x1[b] && f->y1[a] == f->y1[b] && f->x2[a] == f->x2[b]
      && f->y2[a] == f->y2[b] && (!f->class_id || f->class_id[a] == f->class_id[b])
      && (!f->class_entry || f->class_entry[a] == f->class_entry[b]);
}

/* Returns the lower of the limits of two boxes: either of them may be the one suppressed. */
static double
pair_limit (const nms__frame *f, size_t a, size_t b)
{
  double p = nms__candidate_limit (f, a), q = nms__candidate_limit (f, b);
  return p < q ? p : q;
}

static int
pair_exceeds (const nms__frame *f, size_t a, size_t b)
{
  nms__columns c = { f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id };
  nms__box box = nms__frame_box (f, b);
  if (f->class_id && f->class_id[a] != f->class_id[b])
    return 0;
  if (f->rotated)
    return nms__rotated_exceeds (f, f->index[a], f->index[b], pair_limit (f, a, b));
  return nms__column_exceeds (&c, a, &box, pair_limit (f, a, b));
}

/* Subtracts each pair of a box and its parent, which do not count as neighbors. */
static void
take_back_parents (const nms__frame *f, uint32_t *neighbors, const int32_t *position_of)
{
  for (size_t pos = 0; pos < f->count; pos++) {
    int32_t index = f->index[pos];
    int32_t parent = nms__parent (f, index);
    if (parent < 0 || parent == index || position_of[parent] < 0)
      continue;
    if (nms__parent (f, parent) == index && parent < index)
      continue;                 /* parents of each other: subtract the pair once */
    if (pair_exceeds (f, pos, (size_t) position_of[parent])) {
      neighbors[index]--;
      neighbors[parent]--;
    }
  }
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

/* Returns which runs of the block at `first` come behind run i and exceed a limit with it. */
static uint64_t
neighbors_in_block (const nms__frame *f, const scratch *s, const nms__columns *c, size_t first,
    size_t n, size_t i)
{
  const nms__box box = { c->x1[i], c->y1[i], c->x2[i], c->y2[i], c->scaled[i],
    c->class_id ? c->class_id[i] : 0 };
  uint64_t certain;
  uint64_t mask = f->kernels->overlap_block (c, first, n, &box, &f->bounds, &certain);

  if (i >= first)
    mask &= ~(uint64_t) 0 << (i - first) << 1;
  if (f->rotated)
    certain = 0; /* because the screen saw the upright bounding boxes */
  for (uint64_t unsure = mask & ~certain; unsure; unsure &= unsure - 1) {
    size_t j = first + nms__lowest_bit (unsure);
    if (!pair_exceeds (f, s->first_of[i], s->first_of[j]))
      mask &= ~(unsure & -unsure);
  }
  return mask;
}

/* Adds the pairs of different runs to `total`. Takes the runs of a block together, because the
 * block of columns that they are compared with then stays in the first-level cache. */
static void
count_pairs (const nms__frame *f, const scratch *s, const nms__columns *c, size_t runs)
{
  const unsigned bits = counter_bits (f->count);

  memset (s->planes, 0, block_count (runs) * bits * sizeof *s->planes);
  for (size_t start = 0; start < runs; start += NMS__BLOCK) {
    uint64_t reaching = ~(uint64_t) 0; /* runs of the block that may reach the block at `first` */
    for (size_t first = start; first < runs && reaching; first += NMS__BLOCK) {
      const size_t block = first / NMS__BLOCK;
      const size_t n = runs - first < NMS__BLOCK ? runs - first : NMS__BLOCK;
      if (first == start)
        reaching >>= NMS__BLOCK - n;
      for (uint64_t left = reaching; left; left &= left - 1) {
        const size_t i = start + nms__lowest_bit (left);
        if (first > start && !(c->x1[first] < c->x2[i])) {
          reaching &= ~(left & -left);
          continue;
        }
        const uint64_t mask = neighbors_in_block (f, s, c, first, n, i);
        add_weight (s->planes + block * bits, mask, s->weight[i]);
        s->total[i] += nms__count_bits (mask);
        for (uint64_t heavy = mask & s->heavy[block]; heavy; heavy &= heavy - 1)
          s->total[i] += s->weight[first + nms__lowest_bit (heavy)] - 1;
      }
    }
  }
  for (size_t first = 0; first < runs; first += NMS__BLOCK) {
    const uint64_t *planes = s->planes + first / NMS__BLOCK * bits;
    for (unsigned p = 0; p < bits; p++)
      for (uint64_t left = planes[p]; left; left &= left - 1)
        s->total[first + nms__lowest_bit (left)] += (uint32_t) 1 << p;
  }
}

static void
count (const nms__frame *f, const scratch *s, uint32_t *neighbors)
{
  const int by_class = f->class_id != NULL;
  const nms__columns columns = nms__columns_of (&s->runs, by_class);
  const uint64_t *order = sweep_order (f, s);
  uint32_t *const weight = s->weight, *const total = s->total, *const first_of = s->first_of;
  size_t runs = 0;

  memset (s->heavy, 0, block_count (f->count) * sizeof *s->heavy);
  for (size_t i = 0; i < f->count; i++) {
    uint32_t pos = (uint32_t) order[i];
    if (runs && same (f, first_of[runs - 1], pos)) {
      weight[runs - 1]++;
      s->heavy[(runs - 1) / NMS__BLOCK] |= (uint64_t) 1 << (runs - 1) % NMS__BLOCK;
      continue;
    }
    first_of[runs] = pos;
    weight[runs] = 1;
    const nms__box box = nms__frame_box (f, pos);
    nms__put_box (&s->runs, runs, &box, by_class);
    runs++;
  }
  for (size_t i = 0; i < runs; i++)
    total[i] = pair_exceeds (f, first_of[i], first_of[i]) ? weight[i] - 1 : 0;
  count_pairs (f, s, &columns, runs);
  for (size_t i = 0, run = 0; i < f->count; i++) {
    uint32_t pos = (uint32_t) order[i];
    if (!same (f, first_of[run], pos))
      run++;
    neighbors[f->index[pos]] = total[run];
  }
}

void
nms__neighbors (nms__frame *f, uint32_t *neighbors, size_t boxes)
{
  nms__arena arena = { f->scratch, 0 };
  scratch s;

  if (boxes)
    memset (neighbors, 0, boxes * sizeof *neighbors);
  if (!f->count)
    return;
  layout (&s, &arena, f->capacity);
  count (f, &s, neighbors);
  if (f->parent.data) {
    memset (s.position_of, 0xff, boxes * sizeof *s.position_of);
    for (size_t pos = 0; pos < f->count; pos++)
      s.position_of[f->index[pos]] = (int32_t) pos;
    take_back_parents (f, neighbors, s.position_of);
  }
}
