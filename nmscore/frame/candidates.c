/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * candidates: reduces a frame to its best boxes. A pivot splits the keys, and only the side that
 * holds the lowest-ranked candidate is sorted. The time is linear in the number of boxes for any
 * pivot, because many keys are sorted by radix.
 */
#include "frame.h"
#include "order.h"
#include "geometry/rotated.h"

typedef struct scratch {
  uint64_t *keys, *top;
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__rotated_take (a, boxes);
  s->keys = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys);
  s->top = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->top);
}

size_t
nms__candidates_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

/* Returns the packed key of the box with rank `rank`; the best box has rank 0. */
static uint64_t
key_of_rank (const nms__frame *f, const scratch *s, size_t rank)
{
  size_t top = 0;

  memcpy (s->keys, f->packed, f->count * sizeof *s->keys);
  if (rank < f->count / 2) {
    uint64_t pivot = nms__pivot (f->kernels, s->keys, f->count, rank + 1);
    top = f->kernels->split (s->keys, f->count, pivot, s->top);
  }
  if (rank < top)
    return nms__sort (f->kernels, s->top, s->keys, top)[rank];
  return nms__sort (f->kernels, s->keys, s->top, f->count - top)[rank - top];
}

static void
mark_others (nms__frame *f, const uint64_t *keys, size_t count)
{
  for (size_t i = 0; f->outcome && i < count; i++)
    f->outcome[f->index[nms__packed_position (keys[i])]] = NMS_OUTCOME_NOT_CANDIDATE;
}

/* Copies a box of the frame from position `from` to position `to` <= from. */
static void
move_box (nms__frame *f, size_t from, size_t to)
{
  f->x1[to] = f->x1[from];
  f->y1[to] = f->y1[from];
  f->x2[to] = f->x2[from];
  f->y2[to] = f->y2[from];
  f->scaled[to] = f->scaled[from];
  f->index[to] = f->index[from];
  if (f->class_id)
    f->class_id[to] = f->class_id[from];
  if (f->class_entry)
    f->class_entry[to] = f->class_entry[from];
}

size_t
nms__candidates_select (nms__frame *f, uint64_t most)
{
  nms__arena arena = { f->scratch, 0 };
  const size_t before = f->count;
  scratch s;

  layout (&s, &arena, f->capacity);
  const uint64_t least = key_of_rank (f, &s, (size_t) most - 1);
  f->count = f->kernels->split (f->packed, before, least, s.top);
  mark_others (f, f->packed, before - f->count);
  for (size_t i = 0; i < f->count; i++) {
    move_box (f, nms__packed_position (s.top[i]), i);
    f->packed[i] = nms__pack ((uint32_t) (s.top[i] >> 32), (uint32_t) i);
  }
  return before - f->count;
}
