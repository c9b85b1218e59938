/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sorted_rotated.h"

#define NO_BOX UINT32_MAX

/* Number of kept boxes that all candidates of a unit are tested against before the next ones.
 * Their columns take a quarter of a first-level cache. */
#define SPAN 256

void
nms__rotated_start (const nms__frame *f, nms__rotated_unit *u)
{
  nms__rotated_origin (&f->rotations[f->index[0]], u->origin);
  nms__rotated_restart (u);
}

/* Returns the first of the kept boxes first..end-1 that suppresses the candidate `box` at frame
 * position `pos`, or NO_BOX. */
static uint32_t
first_in (const nms__frame *f, const nms__rotated_unit *u, const nms__rotated_box *box, size_t pos,
    size_t first, size_t end, const int32_t *kept_index)
{
  const int32_t index = f->index[pos];
  uint64_t mask;
  size_t k = 0;

  for (; first < end; first = k + 1) {
    first = f->kernels->find_rotated (&u->columns, first, end, box, &mask);
    if (first >= end)
      break;
    for (; mask; mask &= mask - 1) {
      k = first + nms__lowest_bit (mask);
      if (nms__rotations_exceed (f, kept_index[k], index, nms__candidate_limit (f, pos))
          && !nms__related (f, index, kept_index[k]))
        return (uint32_t) k;
    }
  }
  return NO_BOX;
}

/* Begins a unit with the candidate of rank `rank`, and tests its candidates against the n kept
 * boxes. */
static void
test_unit (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r, size_t rank, size_t n,
    const int32_t *kept_index)
{
  const size_t count = r->count - rank < NMS__BLOCK ? r->count - rank : NMS__BLOCK;
  const uint64_t *keys = r->keys + rank;

  u->first = rank;
  u->end = rank + count;
  u->kept = n;
  for (size_t i = 0; i < count; i++) {
    const uint32_t pos = nms__packed_position (keys[i]);
    u->by[i] = NO_BOX;
    u->box[i] = nms__rotated_box_of (&f->rotations[f->index[pos]], u->origin, f->scaled[pos]);
  }
  for (size_t first = 0; first < n; first += SPAN) {
    const size_t end = n - first < SPAN ? n : first + SPAN;
    for (size_t i = 0; i < count; i++)
      if (u->by[i] == NO_BOX)
        u->by[i] = first_in (f, u, &u->box[i], nms__packed_position (keys[i]), first, end,
            kept_index);
  }
}

size_t
nms__rotated_suppressor (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r,
    size_t rank, size_t n, const int32_t *kept_index)
{
  if (rank >= u->end)
    test_unit (f, u, r, rank, n, kept_index);

  const size_t i = rank - u->first;
  if (u->by[i] == NO_BOX)
    u->by[i] = first_in (f, u, &u->box[i], nms__packed_position (r->keys[rank]), u->kept, n,
        kept_index);
  return u->by[i] == NO_BOX ? n : u->by[i];
}

void
nms__rotated_append (nms__rotated_unit *u, size_t rank, size_t n)
{
  nms__rotated_put (&u->columns, n, &u->box[rank - u->first]);
}
