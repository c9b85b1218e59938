/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted: sorts all boxes once, then tests each box in order of rank against the kept boxes of
 * its class until one suppresses it. The work grows with the number of boxes times that of kept
 * boxes; a full cap ends it. It suits frames with more than a few boxes.
 */
#include "sorted.h"
#include "sweep.h"

#include "geometry/rotated.h"

/* Under a cap far below the number of boxes most of the sorting would be wasted. Only the boxes
 * above a pivot, which is taken from a sample of the keys, are sorted first, and more of them
 * if those do not fill the cap. */

/* A batch of sorted keys. The first `left` keys of f->packed are in no batch yet. */
typedef struct batch {
  nms__ranked ranked;
  size_t left;
} batch;

/* Sorts the next batch, of about `wanted` boxes. */
static void
next_batch (nms__frame *f, const nms__sorted_scratch *s, batch *w, size_t wanted)
{
  nms__ranked *r = &w->ranked;

  nms__rotated_restart (s->unit);
  if (wanted < w->left / 2) {
    const uint64_t pivot = nms__pivot (f->kernels, f->packed, w->left, wanted);
    r->count = f->kernels->split (f->packed, w->left, pivot, s->keys);
    w->left -= r->count;
    r->keys = nms__sort (f->kernels, s->keys, f->packed + w->left, r->count);
  } else {
    r->count = w->left;
    w->left = 0;
    r->keys = nms__sort (f->kernels, f->packed, s->keys, r->count);
  }
}

/* Decides a frame whose boxes suppress across classes; classes may have caps and limits. */
static void
sorted_all (nms__frame *f, const nms__sorted_scratch *s)
{
  const uint64_t cap = f->cap;
  size_t wanted = nms__sorts_in_batches (f) ? nms__first_batch (f) : f->count, rank = 0;
  size_t n = 0;
  batch w = { { NULL, 0 }, f->count };

  for (; f->kept_count < cap && !nms__over_budget (f); rank++) {
    if (rank == w.ranked.count) {
      if (!w.left)
        break;
      next_batch (f, s, &w, wanted);
      wanted *= NMS__BATCH_GROWTH;
      rank = 0;
    }
    size_t pos = nms__packed_position (w.ranked.keys[rank]);
    nms__class *class = nms__frame_class (f, pos);
    if (class && class->kept >= class->cap) {
      nms__over_cap (f, pos);
      continue;
    }
    if (!nms__sorted_take (f, s, &w.ranked, rank, &n, class ? class->limit : f->limit))
      continue;
    nms__keep (f, pos);
    if (class)
      class->kept++;
  }
  /* the boxes that rank below the one that filled the cap were not tested */
  nms__over_cap_keys (f, f->index, w.ranked.keys + rank, w.ranked.count - rank);
  nms__over_cap_keys (f, f->index, f->packed, w.left);
}

/* Decides a frame of at most NMS__SWEEP_MOST boxes in which no class has options or a cap. */
static void
sorted_few (nms__frame *f, const nms__sorted_scratch *s)
{
  const uint64_t cap = f->cap;
  const uint64_t *keys = nms__sort (f->kernels, f->packed, s->keys, f->count);
  uint32_t *kept = s->kept;
  const size_t n = nms__sweep_keys (f, &s->columns, keys, f->count, f->limit, cap, kept);

  for (size_t k = 0; k < n; k++)
    nms__keep (f, nms__packed_position (keys[kept[k]]));
  if (n == cap)
    nms__over_cap_keys (f, f->index, keys + kept[n - 1] + 1, f->count - kept[n - 1] - 1);
}

/* Lays out the scratch. The columns of upright boxes and those of rotated boxes share memory,
 * because a frame needs only one of the two. */
static void
layout (nms__sorted_scratch *s, nms__arena *a, size_t boxes)
{
  nms__arena upright = *a;

  nms__take_columns (&upright, &s->columns, boxes);
  s->view = nms__columns_of (&s->columns, 0);
  nms__rotated_take (a, boxes);
  nms__rotated_take_columns (a, &s->unit->columns, boxes);
  s->keys = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys);
  s->keys2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys2);
  s->kept = nms__take (a, boxes, sizeof *s->kept);
  s->kept_index = nms__take (a, boxes, sizeof *s->kept_index);
  s->partition = nms__take (a, boxes, sizeof *s->partition);
  s->kept_bits = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *s->kept_bits);
}

size_t
nms__sorted_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  nms__rotated_unit unit;
  nms__sorted_scratch s = { .unit = &unit };

  layout (&s, &arena, boxes);
  return arena.used;
}

int
nms__sorted (nms__frame *f)
{
  nms__arena arena = { f->scratch, 0 };
  nms__rotated_unit unit;
  nms__sorted_scratch s = { .unit = &unit };

  layout (&s, &arena, f->capacity);
  if (!f->count)
    return NMS_OK;
  if (f->rotated)
    nms__rotated_start (f, &unit);
  if (f->class_id)
    nms__sorted_classes (f, &s);
  else if (f->count <= NMS__SWEEP_MOST && !f->class_entry && !f->rotated)
    sorted_few (f, &s);
  else
    sorted_all (f, &s);
  return nms__over_budget (f) ? NMS__OVER_BUDGET : NMS_OK;
}
