/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hard: hard NMS by a metric other than IoU, and of many rotated boxes. Each kept box
 * removes what it suppresses from the undecided boxes of the blocks around it. The scratch is that
 * of the engines, which a context always has.
 */
#include "box_blocks.h"
#include "method.h"

typedef struct scratch {
  nms__box_blocks blocks;
  uint64_t *undecided; /* by place */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__rotated_columns columns; /* box_blocks.c fills them */

  nms__rotated_take (a, boxes);
  nms__rotated_take_columns (a, &columns, boxes);
  nms__box_blocks_take (a, &s->blocks, boxes);
  s->undecided = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *s->undecided);
}

size_t
nms__hard_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

/* Returns whether the kept box at `pos` suppresses the one at `other`; v is their metric. */
static int
suppresses (const nms__frame *f, size_t pos, size_t other, float v)
{
  if (nms__row_is_unmeasured (f))
    return nms__rotated_exceeds (f, f->index[pos], f->index[other],
        nms__candidate_limit (f, other));
  return nms__overlaps (f, other, v);
}

/* Removes the boxes that the kept box at `pos` suppresses from the undecided ones. */
static void
suppress_row (nms__frame *f, const scratch *s, size_t pos)
{
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, s->blocks.place[pos], s->undecided);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), other = s->blocks.position[row.first + i];
      if (suppresses (f, pos, other, row.value[i])) {
        nms__place_clear (s->undecided, row.first + i);
        nms__suppress (f, other, pos);
      }
    }
}

/* Decides the box at `pos`, the next one by rank. */
static void
decide (nms__frame *f, const scratch *s, size_t pos)
{
  const size_t place = s->blocks.place[pos];
  const int suppressed = !nms__place_is_set (s->undecided, place);

  nms__place_clear (s->undecided, place);
  if (nms__cap_is_full (f, pos))
    nms__over_cap (f, pos); /* suppressed or not */
  else if (!suppressed) {
    nms__take_next (f, pos, 0.0f); /* nms__method_fill writes the score */
    suppress_row (f, s, pos);
  }
}

void
nms__hard (nms__frame *f)
{
  nms__arena arena = { f->scratch, 0 };
  scratch s;

  layout (&s, &arena, f->capacity);
  nms__box_blocks_fill (f, &s.blocks);
  memset (s.undecided, 0xff, (f->count / NMS__BLOCK + 1) * sizeof *s.undecided);
  const uint64_t *ranked = nms__sort (f->kernels, f->packed, s.blocks.keys, f->count);
  for (size_t rank = 0; rank < f->count; rank++)
    decide (f, &s, nms__packed_position (ranked[rank]));
}
