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
#include "alive.h"
#include "engine.h"

/* All boxes up to `width` live. */
static void
all_live (nms__alive *a, size_t width)
{
  a->width = width;
  a->live = width;
  a->next = 0;
  for (size_t first = 0, block = 0; first < width; first += NMS__BLOCK, block++) {
    size_t n = width - first < NMS__BLOCK ? width - first : NMS__BLOCK;
    a->mask[block] = ~(uint64_t) 0 >> (NMS__BLOCK - n);
    a->best[block] = a->f->kernels->best_of_block (a->f->packed + first, a->mask[block],
        &a->at[block]);
    nms__consider (a, block);
  }
}

static void
squeeze (nms__alive *a)
{
  nms__frame *f = a->f;
  float *columns[] = { f->x1, f->y1, f->x2, f->y2, f->share };
  size_t blocks = (a->width + NMS__BLOCK - 1) / NMS__BLOCK;

  all_live (a, f->kernels->squeeze (columns, f->group, f->packed, a->mask, blocks));
}

/* Worth it when a third of the vectors can be saved. */
static int
many_holes (const nms__alive *a)
{
  return (a->live + 15) / 16 * 3 <= (a->width + 15) / 16 * 2;
}

/* Of the boxes that may exceed, those that do: the bits of `mask`. */
uint64_t
nms__decide (const nms__alive *a, size_t first, uint64_t mask, uint64_t certain,
    const nms__box *box, int32_t index)
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

void
nms__note_suppressor (const nms__frame *f, size_t first, uint64_t mask, int32_t index)
{
  for (; mask; mask &= mask - 1) {
    uint64_t key = f->packed[first + nms__lowest_bit (mask)];
    f->suppressed_by[f->index[nms__packed_position (key)]] = index;
  }
}

/* A full class takes no more boxes: none of them is examined again. */
static void
retire_class (nms__alive *a, uint32_t slot)
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
    a->best[block] = 0;
    if (a->mask[block])
      a->best[block] = f->kernels->best_of_block (f->packed + first, a->mask[block],
          &a->at[block]);
    nms__consider (a, block);
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
  nms__alive a = { .f = f, .columns = { f->x1, f->y1, f->x2, f->y2, f->share, f->group } };
  uint64_t last = 0;

  /* the w... columns are not needed otherwise; each has room for a few words
   * a block */
  a.best = (uint64_t *) f->wx1;
  a.mask = (uint64_t *) f->wy1;
  a.at = (unsigned *) f->wx2;
  if (capped)
    memcpy (f->packed2, f->packed, f->count * sizeof *f->packed);
  all_live (&a, f->count);

  while (a.next) {
    const uint64_t key = a.next;
    const size_t at = a.block * NMS__BLOCK + a.at[a.block];
    const uint32_t pos = nms__packed_position (key);
    nms__class *class = nms__frame_class (f, pos);
    nms__box box = { f->x1[at], f->y1[at], f->x2[at], f->y2[at], f->share[at],
      f->group ? f->group[at] : 0 };

    nms__keep (f, pos);
    if (f->kept_count == cap) {
      last = key;
      break;
    }
    f->kernels->step (&a, &box, f->index[pos]);
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
