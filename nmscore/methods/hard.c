/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hard: hard NMS by a metric other than IoU, with min_size_ratio, and of many rotated boxes. Each
 * kept box suppresses undecided boxes of the blocks around it. It uses the scratch memory of the
 * engines, which a context always has.
 */
#include "method.h"
#include "row.h"
#include "visits.h"

typedef struct scratch {
  nms__box_blocks blocks;
  nms__visits visits;
  nms__places undecided;
  uint32_t *by; /* rank of the suppressor, indexed by place; UINT32_MAX if none */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__rotated_columns columns; /* box_blocks.c fills them */

  nms__rotated_take (a, boxes);
  nms__rotated_take_columns (a, &columns, boxes);
  nms__box_blocks_take (a, &s->blocks, boxes);
  nms__places_take (a, &s->undecided, boxes);
}

size_t
nms__hard_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

/* Returns whether the kept box at `place` suppresses the one at `other`; v is their metric. */
static int
suppresses (const nms__frame *f, const nms__box_blocks *b, size_t place, size_t other, float v)
{
  const size_t pos = b->position[other];

  if (!nms__row_is_unmeasured (f))
    return nms__overlaps (f, pos, v);
  const nms__rotated *pair[2];
  nms__rotated_pair (b, place, other, pair);
  return nms__rotated_exceeds (pair[0], pair[1], nms__candidate_limit (f, pos));
}

/* Removes the boxes that the kept box at `place` suppresses from the undecided ones. */
static void
suppress_row (nms__frame *f, const scratch *s, size_t pos, size_t place)
{
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, &s->undecided);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), other = row.first + i;
      if (suppresses (f, &s->blocks, place, other, row.value[i])) {
        nms__place_clear (&s->undecided, other);
        nms__suppress (f, s->blocks.position[other], pos);
      }
    }
}

/* Decides the box at `pos`, the next one by rank. */
static void
decide (nms__frame *f, const scratch *s, size_t pos)
{
  const size_t place = s->blocks.place[pos];
  const int suppressed = !nms__place_is_set (&s->undecided, place);

  nms__place_clear (&s->undecided, place);
  if (nms__cap_is_full (f, pos))
    nms__over_cap (f, pos); /* suppressed or not */
  else if (!suppressed) {
    nms__take_next (f, pos, 0.0f); /* nms__method_fill writes the score */
    suppress_row (f, s, pos, place);
  }
}

/* Does the same as suppress_row if the boxes are not visited by rank: the suppressor is the
 * highest-ranked kept box that overlaps a box, not the first one. */
static void
suppress_by_rank (nms__frame *f, const scratch *s, size_t place)
{
  const uint32_t *rank = s->visits.rank, own = rank[place];
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, NULL);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), other = row.first + i;
      if (rank[other] > own && s->by[other] > own
          && suppresses (f, &s->blocks, place, other, row.value[i])) {
        nms__place_clear (&s->undecided, other);
        s->by[other] = own;
      }
    }
}

/* Decides the boxes of a frame without caps in the order of the visits, then keeps those that were
 * not suppressed, in rank order. Returns 0 if the frame is crowded. */
static int
decide_by_visits (nms__frame *f, scratch *s, const uint64_t *ranked)
{
  /* kept boxes by frame position, in the set that is empty when all boxes are decided */
  const nms__places *kept = &s->undecided;
  size_t count = 0, place;

  memset (s->by, 0xff, f->count * sizeof *s->by);
  while (nms__visits_next (&s->visits, &place)) {
    nms__place_clear (&s->undecided, place);
    if (f->suppressed_by)
      suppress_by_rank (f, s, place);
    else
      suppress_row (f, s, s->blocks.position[place], place);
    f->kept[count++] = (int32_t) place;
  }
  if (nms__tiles_crowded (&s->visits.tiles))
    return 0;
  for (place = 0; f->suppressed_by && place < f->count; place++)
    if (s->by[place] != UINT32_MAX)
      nms__suppress (f, s->blocks.position[place], nms__packed_position (ranked[s->by[place]]));
  for (size_t k = 0; k < count; k++)
    nms__place_set (kept, s->blocks.position[f->kept[k]]);
  for (size_t k = 0; k < f->count; k++)
    if (nms__place_is_set (kept, nms__packed_position (ranked[k])))
      nms__take_next (f, nms__packed_position (ranked[k]), 0.0f);
  return 1;
}

static void
decide_by_rank (nms__frame *f, scratch *s, const uint64_t *ranked)
{
  nms__places_set_all (&s->undecided, f->count);
  for (size_t k = 0; k < f->count; k++)
    decide (f, s, nms__packed_position (ranked[k]));
}

void
nms__hard (nms__frame *f)
{
  nms__arena arena = { f->scratch, 0 };
  scratch s;

  layout (&s, &arena, f->capacity);
  nms__box_blocks_fill (f, &s.blocks);
  const uint64_t *ranked = nms__sort (f->kernels, f->packed, s.blocks.keys, f->count);
  uint64_t *spare = ranked == f->packed ? s.blocks.keys : f->packed;
  if (!nms__tiles_are_capped (f)
      && nms__visits_begin (&s.visits, f, &s.blocks, ranked, spare, &s.undecided)) {
    s.by = s.visits.rank + f->count;
    if (decide_by_visits (f, &s, ranked))
      return;
  }
  decide_by_rank (f, &s, ranked);
}
