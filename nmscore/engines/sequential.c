/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sequential: the sequential-grid kernel of "Implementing Sequential
 * Algorithms on TPU". One step a kept box, with the state in scratch memory
 * between steps; a step takes the box with the greatest packed key (score and
 * position in one number), and in one pass over the boxes still alive
 * suppresses its overlaps and finds the next greatest key. No sort and no
 * N x N mask. Boxes that died are squeezed out as they become many.
 *
 * The paper packs the index into a float's low bits and lets key 0 mean "none
 * left"; here keys are 64-bit integers that are never 0 for a living box, so
 * no box is unselectable and no index bit is lost.
 */
#include "engine.h"

/* The boxes still alive, in the frame's own columns, with holes. */
typedef struct alive {
  nms__frame *f;
  nms__columns columns;
  uint64_t *best; /* of each block: the greatest key */
  uint64_t *mask; /* of each block: bit i: box i lives */
  size_t width;   /* boxes and holes */
  size_t live;    /* boxes */
  uint64_t next;  /* greatest key of all, 0 when none is left */
  size_t block;   /* where it is */
} alive;

static inline size_t
block_width (const alive *a, size_t first)
{
  return a->width - first < NMS__BLOCK ? a->width - first : NMS__BLOCK;
}

static void
consider (alive *a, size_t block)
{
  if (a->best[block] > a->next) {
    a->next = a->best[block];
    a->block = block;
  }
}

/* All boxes up to `width` live. */
static void
all_live (alive *a, size_t width)
{
  uint64_t *key = a->f->packed;

  a->width = width;
  a->live = width;
  a->next = 0;
  for (size_t first = 0, block = 0; first < width; first += NMS__BLOCK, block++) {
    size_t n = block_width (a, first);
    a->mask[block] = ~(uint64_t) 0 >> (NMS__BLOCK - n);
    memset (key + first + n, 0, (NMS__BLOCK - n) * sizeof *key);
    a->best[block] = a->f->kernels->best_of_block (key + first, 0);
    consider (a, block);
  }
}

static void
squeeze (alive *a)
{
  nms__frame *f = a->f;
  float *columns[] = { f->x1, f->y1, f->x2, f->y2, f->share };
  size_t blocks = (a->width + NMS__BLOCK - 1) / NMS__BLOCK;

  all_live (a, f->kernels->squeeze (columns, f->group, f->packed, blocks * NMS__BLOCK));
}

/* Worth it when a third of the vectors can be saved. */
static int
many_holes (const alive *a)
{
  return (a->live + 15) / 16 * 3 <= (a->width + 15) / 16 * 2;
}

/* Of the boxes that may exceed, those that do: the bits of `mask`. */
static uint64_t
decide (const alive *a, size_t first, uint64_t mask, uint64_t certain, const nms__box *box,
    int32_t index)
{
  const nms__frame *f = a->f;
  uint64_t doubt = f->parent.data ? mask : mask & ~certain;

  for (; doubt; doubt &= doubt - 1) {
    unsigned bit = nms__lowest_bit (doubt);
    uint32_t pos = nms__packed_position (f->packed[first + bit]);
    if (!nms__column_exceeds (&a->columns, first + bit, box, nms__candidate_limit (f, pos))
        || nms__related (f, index, f->index[pos]))
      mask &= ~((uint64_t) 1 << bit);
  }
  return mask;
}

static void
note_suppressor (const nms__frame *f, size_t first, uint64_t mask, int32_t index)
{
  for (; mask; mask &= mask - 1) {
    uint64_t key = f->packed[first + nms__lowest_bit (mask)];
    f->suppressed_by[f->index[nms__packed_position (key)]] = index;
  }
}

/* The fused pass: suppresses what `box` overlaps and finds the next best. The
 * box itself is bit `self` of the block a->block. */
static void
step (alive *a, const nms__box *box, int32_t index, uint64_t self)
{
  nms__frame *f = a->f;
  const size_t own_block = a->block;

  a->next = 0;
  for (size_t first = 0, block = 0; first < a->width; first += NMS__BLOCK, block++) {
    uint64_t gone = block == own_block ? self : 0;
    if (!a->mask[block])
      continue;
    uint64_t certain;
    uint64_t mask = f->kernels->overlap_block (&a->columns, first, block_width (a, first), box,
        &f->settings->bounds, &certain);
    mask &= a->mask[block] & ~gone;
    if (mask) {
      if (f->parent.data || mask & ~certain)
        mask = decide (a, first, mask, certain, box, index);
      if (f->suppressed_by)
        note_suppressor (f, first, mask, index);
    }
    gone |= mask;
    if (gone) {
      a->live -= (size_t) __builtin_popcountll (gone);
      a->mask[block] &= ~gone;
      a->best[block] = f->kernels->best_of_block (f->packed + first, gone);
    }
    consider (a, block);
  }
}

/* A full class takes no more boxes: none of them is examined again. */
static void
retire_class (alive *a, uint32_t slot)
{
  const nms__frame *f = a->f;

  a->next = 0;
  for (size_t first = 0, block = 0; first < a->width; first += NMS__BLOCK, block++) {
    uint64_t gone = 0;
    for (uint64_t mask = a->mask[block]; mask; mask &= mask - 1) {
      unsigned bit = nms__lowest_bit (mask);
      if (f->slot[nms__packed_position (f->packed[first + bit])] == slot)
        gone |= (uint64_t) 1 << bit;
    }
    a->live -= (size_t) __builtin_popcountll (gone);
    a->mask[block] &= ~gone;
    a->best[block] = f->kernels->best_of_block (f->packed + first, gone);
    consider (a, block);
  }
}

/* Boxes that rank below the one that filled a cap are over-cap, also those
 * that had been suppressed before it was full. `last` 0: total not full. */
static void
mark_over_cap (nms__frame *f, const uint64_t *keys, uint64_t last)
{
  for (size_t pos = 0; pos < f->count; pos++) {
    const nms__class *class = nms__frame_class (f, pos);
    if (keys[pos] < last || (class && class->kept >= class->cap && keys[pos] < class->last))
      nms__over_cap (f, pos);
  }
}

void
nms__sequential (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  const int capped = f->slot || cap < f->count;
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  alive a = { .f = f, .columns = { f->x1, f->y1, f->x2, f->y2, f->share, f->group } };
  uint64_t last = 0;

  /* two words a block: kept and w... columns are free until boxes are kept */
  a.best = (uint64_t *) f->wx1;
  a.mask = a.best + blocks;
  if (capped)
    memcpy (f->packed2, f->packed, f->count * sizeof *f->packed);
  all_live (&a, f->count);

  while (a.next) {
    const uint64_t key = a.next;
    const size_t first = a.block * NMS__BLOCK;
    const size_t bit = f->kernels->find_key (f->packed + first, key);
    const size_t at = first + bit;
    const uint32_t pos = nms__packed_position (key);
    nms__class *class = nms__frame_class (f, pos);
    nms__box box = { f->x1[at], f->y1[at], f->x2[at], f->y2[at], f->share[at],
      f->group ? f->group[at] : 0 };

    nms__keep (f, pos);
    if (f->kept_count == cap) {
      last = key;
      break;
    }
    step (&a, &box, f->index[pos], (uint64_t) 1 << bit);
    if (class && ++class->kept == class->cap) {
      class->last = key;
      retire_class (&a, f->slot[pos]);
    }
    if (many_holes (&a))
      squeeze (&a);
  }
  if (capped)
    mark_over_cap (f, f->packed2, last);
}
