/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visits: finds the next box whose visit depends on no waiting box. */
#include "visits.h"

#include "frame/order.h"

#include <string.h>

/* Frames of up to this many boxes are visited in rank order. */
#define NEAR_MOST 65536

/* A frame of n boxes is crowded if more than COMPARED_MOST * n times a box was compared with a
 * block. */
#define COMPARED_MOST 2

#define NONE UINT32_MAX

int
nms__tiles_are_capped (const nms__frame *f)
{
  int limited = f->cap < f->count;

  for (size_t i = 0; f->class_entry && i < f->classes.count; i++)
    limited |= f->classes.entry[i].cap < f->count;
  return limited;
}

/* Returns the bounding box of a tile. */
static nms__box
bounds_of (const nms__box_blocks *b, size_t tile)
{
  const nms__box_columns *c = &b->box;
  const size_t first = b->tile[tile];
  nms__box all = { c->x1[first], c->y1[first], c->x2[first], c->y2[first], 0.0f, 0 };

  for (size_t i = first + 1; i < b->tile[tile + 1]; i++) {
    all.x1 = c->x1[i] < all.x1 ? c->x1[i] : all.x1;
    all.y1 = c->y1[i] < all.y1 ? c->y1[i] : all.y1;
    all.x2 = c->x2[i] > all.x2 ? c->x2[i] : all.x2;
    all.y2 = c->y2[i] > all.y2 ? c->y2[i] : all.y2;
  }
  return all;
}

int
nms__tiles_begin (nms__tiles *t, const nms__frame *f, const nms__box_blocks *b)
{
  if (f->count <= NEAR_MOST)
    return 0;
  t->frame = f;
  t->blocks = b;
  t->compared = 0;
  for (size_t tile = 0; tile < b->tile_count; tile++) {
    const nms__box bounds = bounds_of (b, tile);
    nms__put_box (&b->tile_bounds, tile, &bounds, 0);
  }
  return 1;
}

void
nms__tiles_enter (nms__tiles *t, size_t tile)
{
  const nms__box_columns *c = &t->blocks->tile_bounds,
                         near = { t->near[0], t->near[1], t->near[2], t->near[3], t->near[4],
                           NULL };

  t->first = t->blocks->tile[tile];
  t->end = t->blocks->tile[tile + 1];
  t->near_count = 0;
  for (size_t i = 0; i < t->blocks->tile_count; i++) {
    if (i == tile || c->x1[i] > c->x2[tile] || c->x2[i] < c->x1[tile] || c->y1[i] > c->y2[tile]
        || c->y2[i] < c->y1[tile])
      continue;
    const nms__box box = { c->x1[i], c->y1[i], c->x2[i], c->y2[i], 0.0f, 0 };
    if (t->near_count < NMS__BLOCK)
      nms__put_box (&near, t->near_count, &box, 0);
    t->near_count++;
  }
}

int
nms__tiles_cross (const nms__tiles *t, size_t place)
{
  const nms__columns near = { t->near[0], t->near[1], t->near[2], t->near[3], t->near[4], NULL };
  const nms__box_columns *c = &t->blocks->box;
  const nms__box box = { c->x1[place], c->y1[place], c->x2[place], c->y2[place], 0.0f, 0 };

  if (place < t->first || place >= t->end || t->near_count > NMS__BLOCK)
    return 1;
  if (!t->near_count)
    return 0;
  return t->frame->kernels->overlap_block (&near, 0, t->near_count, &box, NULL, NULL) != 0;
}

int
nms__tiles_crowded (const nms__tiles *t)
{
  return t->compared > COMPARED_MOST * t->frame->count;
}

/* Returns the highest-ranked waiting box that ranks above the one at `place` and intersects it, or
 * NONE. */
static uint32_t
find_above (nms__visits *v, uint32_t place)
{
  uint32_t best = NONE, least = v->rank[place];
  nms__row row;

  nms__row_begin (&row, v->tiles.frame, v->tiles.blocks, place, v->waiting);
  row.upright = 1;
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t other = row.first + nms__lowest_bit (left);
      if (v->rank[other] < least) {
        best = (uint32_t) other;
        least = v->rank[other];
      }
    }
  v->tiles.compared += row.compared;
  return best;
}

/* Sorts `list` by tile and rank, and fills `rank`. */
static void
list_by_tile (nms__visits *v)
{
  const nms__box_blocks *b = v->tiles.blocks;
  uint32_t *tile_of = v->stack, *next = v->list + b->count; /* unused so far */

  for (size_t tile = 0; tile < b->tile_count; tile++) {
    next[tile] = b->tile[tile];
    for (size_t place = b->tile[tile]; place < b->tile[tile + 1]; place++)
      tile_of[place] = (uint32_t) tile;
  }
  for (size_t k = 0; k < b->count; k++) {
    const uint32_t place = b->place[nms__packed_position (v->ranked[k])];
    v->rank[place] = (uint32_t) k;
    v->list[next[tile_of[place]]++] = place;
  }
  v->next = v->list_end = v->tile = 0;
}

int
nms__visits_begin (nms__visits *v, const nms__frame *f, const nms__box_blocks *b,
    const uint64_t *ranked, uint64_t *spare, uint64_t *waiting)
{
  if (!nms__tiles_begin (&v->tiles, f, b))
    return 0;
  v->ranked = ranked;
  v->waiting = waiting;
  memset (waiting, 0xff, (f->count / NMS__BLOCK + 1) * sizeof *waiting);
  v->rank = (uint32_t *) (void *) spare;
  v->list = (uint32_t *) (void *) b->keys2;
  v->stack = b->number;
  v->depth = 0;
  list_by_tile (v);
  return 1;
}

/* Returns the next waiting place on the stack that depends on no waiting box, or NONE if the stack
 * is empty or the frame is crowded. */
static uint32_t
next_of_stack (nms__visits *v)
{
  while (v->depth && !nms__tiles_crowded (&v->tiles)) {
    const uint32_t top = v->stack[v->depth - 1];
    if (!nms__place_is_set (v->waiting, top)) {
      v->depth--;
      continue;
    }
    const uint32_t above = find_above (v, top);
    if (above == NONE) {
      v->depth--;
      return top;
    }
    v->stack[v->depth++] = above;
  }
  return NONE;
}

/* Goes to the next tile. Returns 0 if there is none. */
static int
next_tile (nms__visits *v)
{
  if (v->list_end == v->tiles.blocks->count)
    return 0;
  nms__tiles_enter (&v->tiles, v->tile);
  v->list_end = v->tiles.blocks->tile[++v->tile];
  return 1;
}

int
nms__visits_next (nms__visits *v, size_t *place)
{
  for (;;) {
    *place = next_of_stack (v);
    if (*place != NONE)
      return 1;
    if (nms__tiles_crowded (&v->tiles))
      return 0;
    while (v->next < v->list_end && !nms__place_is_set (v->waiting, v->list[v->next]))
      v->next++;
    if (v->next < v->list_end) {
      *place = v->list[v->next++];
      if (!nms__tiles_cross (&v->tiles, *place))
        return 1;
      v->stack[v->depth++] = (uint32_t) *place;
    } else if (!next_tile (v))
      return 0;
  }
}
