/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * neighbors: counts the neighbors of each box. Equal boxes form one run with a weight, because
 * cascade detectors report the same box many times. The boxes are sorted so that boxes of similar
 * place and size are consecutive, and neighbor_pairs.c counts the pairs of runs in blocks.
 */
#include "neighbors.h"
#include "neighbor_pairs.h"

#include "frame/order.h"
#include "rotated.h"

/* Up to this many boxes are sorted by insertion. */
#define INSERTION_MOST 8

typedef struct scratch {
  uint64_t *order, *order2; /* buffers for sorting */
  uint32_t *nearness;       /* Z-order key of each box; boxes of similar place and size have
                             * similar keys */
  nms__runs runs;
  int32_t *position_of; /* frame position of a box, by the caller's index */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  nms__rotated_take (a, boxes);
  s->order = nms__take (a, boxes, sizeof *s->order);
  s->order2 = nms__take (a, boxes, sizeof *s->order2);
  s->nearness = nms__take (a, boxes, sizeof *s->nearness);
  nms__runs_take (a, &s->runs, boxes);
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

/* Spreads the lower 8 bits of a number, with three zeros after each. */
static uint32_t
spread (uint32_t number)
{
  number = (number | number << 12) & 0x000f000fu;
  number = (number | number << 6) & 0x03030303u;
  return (number | number << 3) & 0x11111111u;
}

/* Writes a column, scaled to 8 bits, to every fourth bit of the keys. The keys of all four columns
 * order the boxes along a Z-order curve in four dimensions. */
static void
add_column (uint32_t *nearness, const float *column, size_t count, unsigned shift)
{
  float least = column[0], most = column[0];

  for (size_t i = 1; i < count; i++) {
    least = column[i] < least ? column[i] : least;
    most = column[i] > most ? column[i] : most;
  }
  const float scale = most - least > 0x1p-100f ? 255.0f / (most - least) : 0.0f;
  for (size_t i = 0; i < count; i++)
    nearness[i] |= spread ((uint32_t) ((column[i] - least) * scale)) << shift;
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

/* Sorts by a column; the sort is stable, so the least important column comes first. */
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

/* Returns whether the box at position a precedes the box at b, in an order that makes equal boxes
 * consecutive. */
static int
precedes (const nms__frame *f, size_t a, size_t b)
{
  if (f->x1[a] != f->x1[b])
    return f->x1[a] < f->x1[b];
  if (f->y1[a] != f->y1[b])
    return f->y1[a] < f->y1[b];
  if (f->x2[a] != f->x2[b])
    return f->x2[a] < f->x2[b];
  if (f->y2[a] != f->y2[b])
    return f->y2[a] < f->y2[b];
  return f->class_entry && f->class_entry[a] < f->class_entry[b];
}

static void
sort_by_insertion (const nms__frame *f, uint64_t *order, size_t count)
{
  for (size_t i = 1; i < count; i++) {
    const uint64_t box = order[i];
    size_t k = i;
    for (; k > 0 && precedes (f, (uint32_t) box, (uint32_t) order[k - 1]); k--)
      order[k] = order[k - 1];
    order[k] = box;
  }
}

/* Sorts boxes of one class so that equal boxes are consecutive. */
static void
gather_equal (const nms__frame *f, uint64_t *order, uint64_t *other, size_t count)
{
  const float *const columns[] = { f->y2, f->x2, f->y1, f->x1 };
  uint64_t *from = order, *to = other, *sorted;
  size_t equal = 1;

  while (equal < count && same (f, (uint32_t) order[0], (uint32_t) order[equal]))
    equal++;
  if (equal == count)
    return;
  if (count <= INSERTION_MOST) {
    sort_by_insertion (f, order, count);
    return;
  }
  for (int k = f->class_entry ? -1 : 0; k < 4; k++) {
    sorted = k < 0 ? sort_by (f, from, to, count, NULL, (const int32_t *) f->class_entry)
                   : sort_by (f, from, to, count, columns[k], NULL);
    to = sorted == from ? to : from;
    from = sorted;
  }
  if (from != order)
    memcpy (order, from, count * sizeof *order);
}

/* Returns the frame positions, sorted by class, then by the Z-order key, then so that equal boxes
 * are consecutive. */
static const uint64_t *
near_order (const nms__frame *f, const scratch *s)
{
  const float *const columns[] = { f->x1, f->y1, f->x2, f->y2 };
  uint64_t *order = s->order, *other;

  memset (s->nearness, 0, f->count * sizeof *s->nearness);
  for (unsigned k = 0; k < 4; k++)
    add_column (s->nearness, columns[k], f->count, k);
  for (size_t i = 0; i < f->count; i++)
    order[i] = i;
  order = sort_by (f, order, s->order2, f->count, NULL, (const int32_t *) s->nearness);
  other = order == s->order ? s->order2 : s->order;
  if (f->class_id)
    order = sort_by (f, order, other, f->count, NULL, f->class_id);
  other = order == s->order ? s->order2 : s->order;
  for (size_t first = 0, end; first < f->count; first = end) {
    const uint32_t pos = (uint32_t) order[first];
    for (end = first + 1; end < f->count; end++)
      if (s->nearness[(uint32_t) order[end]] != s->nearness[pos]
          || (f->class_id && f->class_id[(uint32_t) order[end]] != f->class_id[pos]))
        break;
    if (end > first + 1)
      gather_equal (f, order + first, other + first, end - first);
  }
  return order;
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
      continue; /* parents of each other: subtract the pair once */
    if (nms__are_neighbors (f, pos, (size_t) position_of[parent])) {
      neighbors[index]--;
      neighbors[parent]--;
    }
  }
}

/* Fills s->runs with the runs of equal boxes. */
static void
find_runs (const nms__frame *f, nms__runs *r, const uint64_t *order)
{
  double origin[2];

  r->count = 0;
  if (f->rotated)
    nms__rotated_origin (&f->rotations[f->index[(uint32_t) order[f->count / 2]]], origin);
  for (size_t i = 0; i < f->count; i++) {
    const uint32_t pos = (uint32_t) order[i];
    if (i > 0 && same (f, r->first_of[r->count - 1], pos)) {
      r->weight[r->count - 1]++;
      continue;
    }
    const nms__box box = nms__frame_box (f, pos);
    nms__put_box (&r->box, r->count, &box, f->class_id != NULL);
    if (f->rotated) {
      const nms__rotated_box rotated = nms__rotated_box_of (&f->rotations[f->index[pos]], origin,
          f->scaled[pos]);
      nms__rotated_put (&r->rotated, r->count, &rotated);
    }
    r->first_of[r->count] = pos;
    r->weight[r->count++] = 1;
  }
}

static void
count (const nms__frame *f, scratch *s, uint32_t *neighbors)
{
  nms__runs *r = &s->runs;
  const uint64_t *order = near_order (f, s);

  find_runs (f, r, order);
  nms__count_pairs (f, r);
  for (size_t k = 0; k < r->count; k++)
    for (size_t i = 0; i < r->weight[k]; i++)
      neighbors[f->index[(uint32_t) *order++]] = r->total[k];
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
