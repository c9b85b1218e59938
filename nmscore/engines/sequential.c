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

/* The boxes still alive, in order of position, with holes (key 0). */
typedef struct alive {
  nms__frame *f;
  nms__columns columns; /* point at f->w... */
  uint64_t *key;        /* packed; 0: dead */
  uint64_t *best;       /* greatest key of each block */
  size_t width;         /* boxes and holes */
  size_t live;          /* boxes */
} alive;

static void
refresh_block (alive *a, size_t block)
{
  size_t first = block * NMS__BLOCK;
  size_t end = first + NMS__BLOCK < a->width ? first + NMS__BLOCK : a->width;
  uint64_t best = 0;
  for (size_t i = first; i < end; i++)
    best = a->key[i] > best ? a->key[i] : best;
  a->best[block] = best;
}

static uint64_t
refresh_all (alive *a)
{
  uint64_t best = 0;
  for (size_t block = 0; block * NMS__BLOCK < a->width; block++) {
    refresh_block (a, block);
    best = a->best[block] > best ? a->best[block] : best;
  }
  return best;
}

static void
squeeze (alive *a)
{
  nms__frame *f = a->f;
  size_t to = 0;
  for (size_t i = 0; i < a->width; i++) {
    if (!a->key[i])
      continue;
    f->wx1[to] = f->wx1[i];
    f->wy1[to] = f->wy1[i];
    f->wx2[to] = f->wx2[i];
    f->wy2[to] = f->wy2[i];
    f->warea[to] = f->warea[i];
    if (f->group)
      f->wgroup[to] = f->wgroup[i];
    f->wpos[to] = f->wpos[i];
    a->key[to] = a->key[i];
    to++;
  }
  a->width = to;
  refresh_all (a);
}

/* Where the box of a position is: positions ascend, holes included. */
static size_t
find (const alive *a, uint32_t pos)
{
  size_t low = 0, high = a->width;
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if (a->f->wpos[middle] <= pos)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The fused pass. Returns the next greatest key, 0 when none is left. */
static uint64_t
step (alive *a, const nms__box *box, int32_t index, size_t at, float lower)
{
  nms__frame *f = a->f;
  uint64_t next = 0;

  a->key[at] = 0;
  a->live--;
  for (size_t first = 0, block = 0; first < a->width; first += NMS__BLOCK, block++) {
    size_t n = a->width - first < NMS__BLOCK ? a->width - first : NMS__BLOCK;
    uint64_t mask = nms__overlap_block (&a->columns, first, n, box, lower);
    int changed = at - first < NMS__BLOCK;
    for (; mask; mask &= mask - 1) {
      size_t i = first + nms__lowest_bit (mask);
      uint32_t pos = f->wpos[i];
      if (!a->key[i] || !nms__column_exceeds (&a->columns, i, box, nms__candidate_limit (f, pos))
          || nms__related (f, index, f->index[pos]))
        continue;
      a->key[i] = 0;
      a->live--;
      changed = 1;
      if (f->suppressed_by)
        f->suppressed_by[f->index[pos]] = index;
    }
    if (changed)
      refresh_block (a, block);
    next = a->best[block] > next ? a->best[block] : next;
  }
  return next;
}

/* A full class takes no more boxes: none of them is examined again. */
static uint64_t
retire_class (alive *a, uint32_t slot)
{
  for (size_t i = 0; i < a->width; i++)
    if (a->key[i] && a->f->slot[a->f->wpos[i]] == slot) {
      a->key[i] = 0;
      a->live--;
    }
  return refresh_all (a);
}

/* Boxes that rank below the one that filled a cap are over-cap, also those
 * that had been suppressed before it was full. `last` 0: total not full. */
static void
mark_over_cap (nms__frame *f, uint64_t last, int class_full)
{
  if (!last && !class_full)
    return;
  for (size_t pos = 0; pos < f->count; pos++) {
    uint64_t key = nms__pack (f->key[pos], (uint32_t) pos);
    const nms__class *class = nms__frame_class (f, pos);
    if (key < last || (class && class->kept >= class->cap && key < class->last))
      nms__over_cap (f, pos);
  }
}

static uint64_t
start (alive *a)
{
  nms__frame *f = a->f;
  const size_t bytes = f->count * sizeof (float);

  memcpy (f->wx1, f->x1, bytes);
  memcpy (f->wy1, f->y1, bytes);
  memcpy (f->wx2, f->x2, bytes);
  memcpy (f->wy2, f->y2, bytes);
  memcpy (f->warea, f->area, bytes);
  if (f->group)
    memcpy (f->wgroup, f->group, f->count * sizeof *f->group);
  for (size_t i = 0; i < f->count; i++) {
    f->wpos[i] = (uint32_t) i;
    a->key[i] = nms__pack (f->key[i], (uint32_t) i);
  }
  return refresh_all (a);
}

void
nms__sequential (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  const float lower = nms__lower_bound (f->settings->lowest_limit);
  alive a = { f, { f->wx1, f->wy1, f->wx2, f->wy2, f->warea, f->group ? f->wgroup : NULL },
    f->packed, f->packed2, f->count, f->count };
  uint64_t last = 0;
  int class_full = 0;

  for (uint64_t key = start (&a); key;) {
    uint32_t pos = nms__packed_position (key);
    nms__box box = nms__frame_box (f, pos);
    nms__class *class = nms__frame_class (f, pos);

    nms__keep (f, pos);
    if (f->kept_count == cap) {
      last = key;
      break;
    }
    uint64_t next = step (&a, &box, f->index[pos], find (&a, pos), lower);
    if (class && ++class->kept == class->cap) {
      class->last = key;
      class_full = 1;
      next = retire_class (&a, f->slot[pos]);
    }
    key = next;
    if (a.live < a.width - a.width / 4)
      squeeze (&a);
  }
  mark_over_cap (f, last, class_full);
}
