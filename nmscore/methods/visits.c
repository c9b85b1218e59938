/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visits: finds the next box whose visit depends on no waiting box. */
#include "visits.h"

#include "row.h"
#include "frame/order.h"
#include "geometry/probiou.h"

#include <math.h>
#include <string.h>

/* Frames of up to NEAR_MOST boxes are visited in rank order, of twice as many if the reach is above
 * 0.25, and of four times as many if it is above 1: many boxes then depend on boxes of other
 * tiles. */
#define NEAR_MOST ((size_t) 65536)

/* A frame of n boxes is crowded if more than COMPARED_MOST * n times a box was compared with a
 * block; with method weighted, which takes far longer in rank order, if more than
 * COMPARED_MOST_WEIGHTED * n times. */
#define COMPARED_MOST 2
#define COMPARED_MOST_WEIGHTED 8

/* A frame also is crowded if the boxes on which SAMPLES boxes may depend lie in more than
 * SAMPLED_MOST blocks, those of each box counted by themselves. Of a natural box it is 4 to 9. */
#define SAMPLES 64
#define SAMPLED_MOST (10 * SAMPLES)

/* Subtracted from the threshold and added to the reach: more than the rounding errors of a metric,
 * and of a fused box of a few hundred members. A fused box may overlap a new member of another
 * angle less than it did before. Of 700,000 members, 29 then overlapped it by SLACK less than the
 * threshold, and none by two thirds of SLACK_ROTATED; with metric IoS, of which the lesser box has
 * the greater share, none of 870,000 by SLACK_ROTATED_IOS. */
#define SLACK 0x1p-10f
#define SLACK_ROTATED 0x1p-5f
#define SLACK_ROTATED_IOS 0x1p-3f

#define NONE UINT32_MAX

/* Set in an element of the stack if the boxes on which it depends were put on the stack. */
#define EXPANDED ((uint32_t) 1 << 31)

int
nms__tiles_are_capped (const nms__frame *f)
{
  int limited = f->cap < f->count;

  for (size_t i = 0; f->class_entry && i < f->classes.count; i++)
    limited |= f->classes.entry[i].cap < f->count;
  return limited;
}

/* Moves both ends of an extent outwards by the distance of boxes on which the box may depend, and
 * by more than the rounding errors of this sum. */
static void
extend (const nms__tiles *t, float *low, float *high)
{
  const float extent = *high - *low, far = t->farthest - t->part * extent;
  const float most = t->reach * extent < far ? t->reach * extent : far;
  const float by = (most > 0.0f ? most : 0.0f) + 0x1p-40f;

  *low -= by + fabsf (*low) * 0x1p-20f;
  *high += by + fabsf (*high) * 0x1p-20f;
}

/* Returns the box that each box on which the one at `place` may depend intersects. */
static nms__box
reach_of (const nms__tiles *t, size_t place)
{
  nms__box box = nms__corners_at (&t->blocks->box, place);

  if (t->longest > 0.0f) {
    extend (t, &box.x1, &box.x2);
    extend (t, &box.y1, &box.y2);
  }
  return box;
}

/* Returns the least width or height of a box. */
static float
shortest_side (const nms__box_blocks *b)
{
  float shortest = INFINITY;

  for (size_t place = 0; place < b->count; place++) {
    const nms__box box = nms__corners_at (&b->box, place);
    const float width = box.x2 - box.x1, height = box.y2 - box.y1;
    const float side = width < height ? width : height;
    shortest = side < shortest ? side : shortest;
  }
  return shortest;
}

/* Sets reach, longest, limit and part for method weighted. */
static void
find_reach (nms__tiles *t)
{
  const nms__frame *f = t->frame;
  const int ios = f->method.metric == NMS_METRIC_IOS;
  const int probiou = f->method.metric == NMS_METRIC_PROBIOU;
  const double longer = f->rotated ? SLACK_ROTATED : SLACK;
  const double slack = f->rotated && ios ? SLACK_ROTATED_IOS : longer;
  const double limit = f->bounds.lowest > slack ? f->bounds.lowest - slack : 0.0;
  /* greatest gap and least width of a box, both over the width of the fused box */
  double gap = 1.0 - 2.0 * limit, least = f->rotated ? 1.0 - sqrt (1.0 - limit) : limit;

  if (probiou && limit > 0.0) {
    const double c = 1.0 / nms__probiou_least_square (limit), root = sqrt (c * c - 1.0);
    gap = sqrt (5.0 / 3.0) * root - c;
    least = 1.0 / (c + root);
  }
  t->limit = (float) limit;
  t->part = !ios ? 0.0f : f->rotated && limit > 0.5 ? 0.5f : (float) limit;
  t->longest = f->side * (float) (1.0 + longer);
  t->reach = INFINITY;
  if (!ios && limit > 0.0)
    t->reach = SLACK + (gap > 0.0 ? (float) (gap / least) : 0.0f);
}

/* Starts the row of the wanted boxes on which the one at `place` may depend, and of others near
 * them. */
static void
row_of_reach (const nms__tiles *t, size_t place, const nms__places *wanted, nms__row *row)
{
  nms__row_begin (row, t->frame, t->blocks, place, wanted);
  row->upright = 1;
  if (t->longest > 0.0f) {
    row->box = reach_of (t, place);
    row->min_size_ratio = 0.0f; /* one fused box may be similar to two boxes that are not */
  }
}

/* Returns whether a sample of boxes shows that the frame is crowded. */
static int
seems_crowded (const nms__tiles *t)
{
  size_t compared = 0;

  for (size_t i = 0; i < SAMPLES && compared <= SAMPLED_MOST; i++) {
    nms__row row;
    row_of_reach (t, i * t->blocks->count / SAMPLES, NULL, &row);
    while (nms__row_next (&row) && row.compared <= SAMPLED_MOST)
      ;
    compared += row.compared;
  }
  return compared > SAMPLED_MOST;
}

static size_t
near_most (float reach)
{
  return NEAR_MOST << (reach > 0.25f) << (reach > 1.0f);
}

int
nms__tiles_begin (nms__tiles *t, const nms__frame *f, const nms__box_blocks *b)
{
  t->frame = f;
  t->blocks = b;
  t->compared = 0;
  t->reach = t->longest = 0.0f;
  if (f->method.method == NMS_METHOD_WEIGHTED)
    find_reach (t);
  if (f->count <= near_most (t->reach))
    return 0;
  t->farthest = t->longest - (t->part > 0.0f ? t->part * shortest_side (b) : 0.0f);
  if (seems_crowded (t))
    return 0;
  for (size_t tile = 0; tile < b->tile_count; tile++) {
    const nms__box bounds = nms__bounding_box (&b->box, b->tile[tile], b->tile[tile + 1]);
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
  nms__box all = nms__corners_at (c, tile); /* contains what the boxes of the tile may depend on */
  for (size_t place = t->first; t->longest > 0.0f && place < t->end; place++) {
    const nms__box box = reach_of (t, place);
    nms__widen (&all, &box);
  }
  for (size_t i = tile + 1; i < t->blocks->tile_count; i++) {
    if (c->x1[i] > all.x2 || c->x2[i] < all.x1 || c->y1[i] > all.y2 || c->y2[i] < all.y1)
      continue;
    const nms__box box = nms__corners_at (c, i);
    if (t->near_count < NMS__BLOCK)
      nms__put_box (&near, t->near_count, &box, 0);
    t->near_count++;
  }
}

int
nms__tiles_cross (const nms__tiles *t, size_t place)
{
  const nms__columns near = { t->near[0], t->near[1], t->near[2], t->near[3], t->near[4], NULL };
  const nms__box box = reach_of (t, place);

  if (place < t->first || place >= t->end || t->near_count > NMS__BLOCK)
    return 1;
  if (!t->near_count)
    return 0;
  return t->frame->kernels->overlap_block (&near, 0, t->near_count, &box, NULL, NULL) != 0;
}

/* Returns whether two intervals have the share that the reach assumes in common: of the lesser one
 * with metric IoS, otherwise of the greater one. */
static int
share_holds (const nms__tiles *t, float low, float high, float other_low, float other_high)
{
  const float extent = high - low, other = other_high - other_low;
  const int of_lesser = t->part > 0.0f;
  const float whole = (extent < other) == of_lesser ? extent : other;
  const float common = (high < other_high ? high : other_high)
      - (low > other_low ? low : other_low);

  return common >= t->limit * whole;
}

int
nms__tiles_hold (const nms__tiles *t, size_t head, size_t place)
{
  const nms__frame *f = t->frame;
  const nms__box fused = nms__corners_at (&t->blocks->box, head);
  const nms__box member = nms__corners_at (&t->blocks->box, place);
  const int probiou = f->method.metric == NMS_METRIC_PROBIOU;
  const nms__rotated *pair[2];
  float value;

  if (!(fused.x2 - fused.x1 <= t->longest && fused.y2 - fused.y1 <= t->longest))
    return 0;
  if (f->rotated)
    nms__rotated_pair (t->blocks, head, place, pair);
  if (f->rotated && (probiou || pair[0]->sin != 0.0 || pair[1]->sin != 0.0))
    return nms__rotated_metric (pair[0], pair[1], (int) f->method.metric, 0.0, &value)
        && value >= t->limit;
  if (probiou)
    return nms__upright_probiou (&fused, &member, 0.0) >= t->limit;
  return share_holds (t, fused.x1, fused.x2, member.x1, member.x2)
      && share_holds (t, fused.y1, fused.y2, member.y1, member.y2);
}

int
nms__tiles_crowded (const nms__tiles *t)
{
  const size_t most = t->longest > 0.0f ? COMPARED_MOST_WEIGHTED : COMPARED_MOST;
  return t->compared > most * t->frame->count;
}

/* Returns whether the gap between two intervals is at most the greatest one between boxes of these
 * extents of which one depends on the other. `error` is more than the sums are rounded by. */
static inline int
gap_may_depend (const nms__tiles *t, float low, float high, float other_low, float other_high)
{
  const float gap = (low > other_low ? low : other_low) - (high < other_high ? high : other_high);
  const float most = t->longest - t->part * ((high - low) + (other_high - other_low));
  const float error = (fabsf (low) + fabsf (high) + t->longest) * 0x1p-20f + 0x1p-40f;

  return gap <= (most > 0.0f ? most : 0.0f) + error;
}

/* Returns whether the box at `place` may depend on the one at `other`, which its reach contains.
 * With metric IoS, the extents of the other box count, too. */
static inline int
may_depend (const nms__tiles *t, size_t place, size_t other)
{
  const nms__box a = nms__corners_at (&t->blocks->box, place);
  const nms__box b = nms__corners_at (&t->blocks->box, other);

  return !(t->part > 0.0f)
      || (gap_may_depend (t, a.x1, a.x2, b.x1, b.x2) && gap_may_depend (t, a.y1, a.y2, b.y1, b.y2));
}

/* Puts the waiting boxes that rank above the one at `place`, and on which it may depend, on the
 * stack. If they do not fit, the frame counts as crowded. */
static void
push_above (nms__visits *v, uint32_t place)
{
  const uint32_t own = v->rank[place];
  nms__row row;

  row_of_reach (&v->tiles, place, v->waiting, &row);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t other = row.first + nms__lowest_bit (left);
      if (v->rank[other] > own || !may_depend (&v->tiles, place, other))
        continue;
      if (v->depth == v->tiles.blocks->count) {
        v->tiles.compared = UINT64_MAX;
        return;
      }
      v->stack[v->depth++] = v->was ? v->was[other] : (uint32_t) other;
    }
  v->tiles.compared += row.compared;
}

/* Sorts `list` by tile and rank, and fills `rank`. */
static void
list_by_tile (nms__visits *v)
{
  const nms__box_blocks *b = v->tiles.blocks;
  uint32_t *next = v->list + b->count;
  uint32_t *tile_of = v->rank; /* a box has its tile until it gets its rank */

  for (size_t tile = 0; tile < b->tile_count; tile++) {
    next[tile] = b->tile[tile];
    for (size_t place = b->tile[tile]; place < b->tile[tile + 1]; place++)
      tile_of[place] = (uint32_t) tile;
  }
  for (size_t k = 0; k < b->count; k++) {
    const size_t ahead = b->count - k > 2 * NMS__NEXT_BOXES ? NMS__NEXT_BOXES : 0;
    __builtin_prefetch (&b->place[nms__packed_position (v->ranked[k + 2 * ahead])]);
    __builtin_prefetch (&v->rank[b->place[nms__packed_position (v->ranked[k + ahead])]], 1);
    const uint32_t place = b->place[nms__packed_position (v->ranked[k])];
    v->list[next[tile_of[place]]++] = place;
    v->rank[place] = (uint32_t) k;
  }
  v->next = v->list_end = v->tile = 0;
}

int
nms__visits_begin (nms__visits *v, const nms__frame *f, const nms__box_blocks *b,
    const uint64_t *ranked, uint64_t *spare, const nms__places *waiting)
{
  if (!nms__tiles_begin (&v->tiles, f, b))
    return 0;
  v->ranked = ranked;
  v->waiting = waiting;
  nms__places_set_all (waiting, f->count);
  v->rank = (uint32_t *) (void *) spare;
  v->list = (uint32_t *) (void *) b->keys2;
  v->stack = b->number;
  v->at = v->was = NULL;
  v->depth = 0;
  list_by_tile (v);
  return 1;
}

void
nms__visits_track (nms__visits *v, uint32_t *at, uint32_t *was)
{
  v->at = at;
  v->was = was;
  for (size_t place = 0; place < v->tiles.blocks->count; place++)
    at[place] = was[place] = (uint32_t) place;
}

static void
swap_numbers (uint32_t *numbers, size_t a, size_t b)
{
  const uint32_t number = numbers[a];

  numbers[a] = numbers[b];
  numbers[b] = number;
}

void
nms__visits_swap (nms__visits *v, size_t place, size_t other)
{
  const uint64_t differ = nms__place_is_set (v->waiting, place)
      != nms__place_is_set (v->waiting, other);

  nms__box_blocks_swap (v->tiles.frame, v->tiles.blocks, place, other);
  v->waiting->bits[place / NMS__BLOCK] ^= differ << place % NMS__BLOCK
      | differ << other % NMS__BLOCK;
  swap_numbers (v->rank, place, other);
  swap_numbers (v->was, place, other);
  v->at[v->was[place]] = (uint32_t) place;
  v->at[v->was[other]] = (uint32_t) other;
}

/* Returns the place of a box by its place at the start. */
static inline uint32_t
place_at (const nms__visits *v, uint32_t start)
{
  return v->at ? v->at[start] : start;
}

/* Returns the next waiting place on the stack that depends on no waiting box, or NONE if the stack
 * is empty or the frame is crowded. */
static uint32_t
next_of_stack (nms__visits *v)
{
  while (v->depth && !nms__tiles_crowded (&v->tiles)) {
    const uint32_t top = v->stack[v->depth - 1], place = place_at (v, top & ~EXPANDED);
    const int waiting = nms__place_is_set (v->waiting, place);
    if (!waiting || top & EXPANDED) {
      v->depth--;
      if (waiting)
        return place;
    } else {
      v->stack[v->depth - 1] |= EXPANDED;
      push_above (v, place);
    }
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
    while (v->next < v->list_end && !nms__place_is_set (v->waiting, place_at (v, v->list[v->next])))
      v->next++;
    if (v->next < v->list_end) {
      const uint32_t start = v->list[v->next++];
      *place = place_at (v, start);
      if (!nms__tiles_cross (&v->tiles, *place))
        return 1;
      v->stack[v->depth++] = start;
    } else if (!next_tile (v))
      return 0;
  }
}
