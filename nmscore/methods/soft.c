/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soft: soft-NMS (Bodla et al., "Soft-NMS -- Improving Object Detection With One Line of Code",
 * 2017). Each block of boxes has its greatest packed key, each block of these keys their greatest
 * one, and so on up to one block, whose scan finds the next box. Scores only fall, so a maximum
 * changes only if its own box is lowered.
 *
 * A large frame is decided tile by tile (visits.h). A box is kept when no undecided box that it
 * intersects has a greater key. A box that two kept boxes lower, which do not intersect each other,
 * may then meet the lower-ranked one first; its score is computed again, because the rounded
 * product depends on the order of the factors. Until then its score is at least the right one, so
 * that no box is kept too early.
 */
#include "exponential.h"
#include "method.h"
#include "row.h"
#include "visits.h"

#include <math.h>

#define NONE SIZE_MAX

/* Kept boxes that are collected at once to compute a score again. */
#define COLLECTED 32

#define DEFAULT_SIGMA 0.5f

/* Levels of maxima above the keys: NMS__BLOCK to the power of 6 is more than 2^32. */
#define LEVELS 6

typedef struct scratch {
  nms__box_blocks blocks;
  nms__places undecided;
  uint64_t *key;          /* packed current score and frame position, by place; 0 if decided */
  uint64_t *best[LEVELS]; /* greatest key of each block, of each NMS__BLOCK of these, and so on; 0
                           * after the last one to the end of its block */
  size_t top, top_count;  /* the lowest level that is one block, and the number of its keys */
  float sigma;

  /* used if the frame is decided by tiles */
  nms__tiles tiles;
  size_t tile; /* number of the next tile; tile_count + 1 means to search the whole frame */
  size_t block, end_block; /* the blocks of the current tile */
  nms__places kept;
  uint64_t *last;  /* key of the kept box that lowered the box last, by place, initially UINT64_MAX;
                   * for a kept box its own key */
  uint32_t *stack; /* places; each depends on the one above it */
  size_t depth;
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  size_t blocks = boxes / NMS__BLOCK + 1;

  nms__box_blocks_take (a, &s->blocks, boxes);
  nms__places_take (a, &s->kept, boxes);
  s->last = nms__take (a, boxes, sizeof *s->last);
  nms__places_take (a, &s->undecided, boxes);
  s->key = nms__take (a, blocks * NMS__BLOCK, sizeof *s->key);
  for (size_t level = 0; level < LEVELS; level++) {
    const size_t next = blocks / NMS__BLOCK + 1;
    s->best[level] = nms__take (a, next * NMS__BLOCK, sizeof **s->best);
    blocks = next;
  }
}

size_t
nms__soft_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

static uint64_t
greatest (const uint64_t *keys, size_t count)
{
  uint64_t most = 0, other = 0; /* two, because each comparison waits for the one before */

  for (size_t i = 0; i + 1 < count; i += 2) {
    most = keys[i] > most ? keys[i] : most;
    other = keys[i + 1] > other ? keys[i + 1] : other;
  }
  if (count % 2 && keys[count - 1] > most)
    most = keys[count - 1];
  return most > other ? most : other;
}

/* Computes the maximum of each block of the `count` keys, and the maxima of the higher levels. */
static void
find_maxima (scratch *s, size_t count)
{
  const uint64_t *keys = s->key;

  for (s->top = 0;; s->top++) {
    uint64_t *best = s->best[s->top];
    count = (count + NMS__BLOCK - 1) / NMS__BLOCK;
    for (size_t k = 0; k < count; k++)
      best[k] = greatest (&keys[k * NMS__BLOCK], NMS__BLOCK);
    for (size_t k = count; k % NMS__BLOCK; k++)
      best[k] = 0;
    if (count <= NMS__BLOCK)
      break;
    keys = best;
  }
  s->top_count = count;
}

/* Computes the maximum of a block again after one of its keys was lowered, and the maxima of higher
 * levels that were equal to the old one. */
static void
renew_maxima (const scratch *s, size_t block)
{
  const uint64_t *keys = s->key, before = s->best[0][block];

  for (size_t level = 0; level <= s->top && s->best[level][block] == before; level++) {
    s->best[level][block] = greatest (&keys[block * NMS__BLOCK], NMS__BLOCK);
    keys = s->best[level];
    block /= NMS__BLOCK;
  }
}

/* Returns the bounds of pairs that have an effect with soft-gaussian: up to their limit, the
 * exponent is at least -2^-26, and the factor rounds to 1. */
static nms__bounds
gaussian_bounds (float sigma)
{
  const double limit = sqrt ((double) sigma) * 0x1p-13;
  return nms__bounds_of (limit < 1.0 ? limit : 1.0, 1.0);
}

static void
start (nms__frame *f, scratch *s)
{
  const float sigma = f->method.sigma;

  s->sigma = sigma > 0.0f ? sigma : DEFAULT_SIGMA;
  if (f->method.method == NMS_METHOD_SOFT_GAUSSIAN)
    f->bounds = gaussian_bounds (s->sigma);
  nms__box_blocks_fill (f, &s->blocks);
  nms__places_set_all (&s->undecided, f->count);
  for (size_t place = 0; place < f->count; place++) {
    const uint32_t pos = s->blocks.position[place];
    s->key[place] = nms__pack (nms__order_key (nms__method_score (f, pos)), pos);
  }
  for (size_t place = f->count; place % NMS__BLOCK; place++)
    s->key[place] = 0;
  find_maxima (s, f->count);
}

static void
remove_place (const scratch *s, size_t place)
{
  nms__place_clear (&s->undecided, place);
  s->key[place] = 0;
}

/* Returns the factor of the score of the box at frame position `pos`, whose metric with a kept box
 * is v. */
static float
factor_of (const nms__frame *f, const scratch *s, size_t pos, float v)
{
  if (f->method.method == NMS_METHOD_SOFT_GAUSSIAN)
    return nms__exp (-(v * v) / s->sigma);
  return nms__overlaps (f, pos, v) ? 1.0f - v : 1.0f;
}

/* Lowers the scores of the boxes that the kept box at `pos` overlaps. */
static void
lower_row (nms__frame *f, const scratch *s, size_t pos)
{
  const float least = f->method.min_score;
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, s->blocks.place[pos], &s->undecided);
  while (nms__row_next (&row)) {
    const size_t block = row.first / NMS__BLOCK;
    const uint64_t best = s->best[0][block];
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), place = row.first + i;
      const size_t other = s->blocks.position[place];
      const float score = nms__score_of_key ((uint32_t) (s->key[place] >> 32))
          * factor_of (f, s, other, row.value[i]);
      if (score < least) {
        nms__suppress (f, other, pos);
        remove_place (s, place);
      } else
        s->key[place] = nms__pack (nms__order_key (score), (uint32_t) other);
    }
    if (s->key[s->blocks.place[nms__packed_position (best)]] != best)
      renew_maxima (s, block);
  }
}

/* Marks all undecided boxes as over-cap, because the total cap is full. */
static void
end_at_cap (nms__frame *f, const scratch *s)
{
  for (size_t place = 0; place < f->count; place++)
    if (nms__place_is_set (&s->undecided, place))
      nms__over_cap (f, s->blocks.position[place]);
}

/* A kept box that lowers a score, and how much. */
typedef struct factor {
  uint64_t key;
  float value;
} factor;

/* Collects the factors of the kept boxes that intersect the box at `place`, with the COLLECTED
 * greatest keys below `below`, in the order of the keys. Returns their number. */
static size_t
collect_factors (const nms__frame *f, const scratch *s, size_t place, uint64_t below,
    factor factors[COLLECTED])
{
  size_t count = 0;
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, &s->kept);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left);
      const uint64_t key = s->last[row.first + i];
      if (key >= below || (count == COLLECTED && key < factors[count - 1].key))
        continue;
      size_t k = count < COLLECTED ? count++ : count - 1;
      for (; k && factors[k - 1].key < key; k--)
        factors[k] = factors[k - 1];
      factors[k] = (factor) { key, factor_of (f, s, s->blocks.position[place], row.value[i]) };
    }
  return count;
}

/* Computes the score of the box at `place` again from all kept boxes. */
static void
lower_again (const nms__frame *f, const scratch *s, size_t place)
{
  const size_t pos = s->blocks.position[place];
  float score = nms__method_score (f, pos);
  uint64_t last = UINT64_MAX;
  factor factors[COLLECTED];
  size_t count;

  do {
    count = collect_factors (f, s, place, last, factors);
    for (size_t k = 0; k < count; k++) {
      last = factors[k].key;
      score *= factors[k].value;
      if (score < f->method.min_score) {
        s->last[place] = last;
        remove_place (s, place);
        return;
      }
    }
  } while (count == COLLECTED);
  s->last[place] = last;
  s->key[place] = nms__pack (nms__order_key (score), (uint32_t) pos);
}

/* Does the same as renew_maxima, and fetches what next_place reads. */
static void
renew_and_fetch (const scratch *s, size_t block)
{
  renew_maxima (s, block);
  __builtin_prefetch (&s->blocks.place[nms__packed_position (s->best[0][block])]);
}

/* Lowers the scores of the boxes that the kept box at `place`, with `key`, overlaps. */
static void
lower_by_key (const nms__frame *f, const scratch *s, size_t place, uint64_t key)
{
  const float least = f->method.min_score;
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, NULL);
  while (nms__row_next (&row)) {
    const size_t block = row.first / NMS__BLOCK;
    const uint64_t best = s->best[0][block];
    int lowered = 0;
    for (uint64_t left = row.mask & ~s->kept.bits[block]; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), other = row.first + i;
      const int undecided = nms__place_is_set (&s->undecided, other);
      lowered |= s->key[other] == best;
      if (s->last[other] < key)
        lower_again (f, s, other);
      else if (undecided) {
        const size_t pos = s->blocks.position[other];
        const float score = nms__score_of_key ((uint32_t) (s->key[other] >> 32))
            * factor_of (f, s, pos, row.value[i]);
        s->last[other] = key;
        s->key[other] = nms__pack (nms__order_key (score), (uint32_t) pos);
        if (score < least)
          remove_place (s, other);
      }
    }
    if (lowered)
      renew_and_fetch (s, block);
  }
}

/* Returns the undecided box with the greatest key, above that of the box at `place`, that
 * intersects it, or NONE. */
static size_t
find_above (const nms__frame *f, scratch *s, size_t place)
{
  uint64_t most = s->key[place];
  size_t best = NONE;
  nms__row row;

  nms__row_begin (&row, f, &s->blocks, place, &s->undecided);
  row.upright = 1;
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t other = row.first + nms__lowest_bit (left);
      if (s->key[other] > most) {
        most = s->key[other];
        best = other;
      }
    }
  s->tiles.compared += row.compared;
  return best;
}

/* Leaves the tiles for the whole frame, in which no box waits for others. */
static void
enter_frame (scratch *s)
{
  s->depth = 0;
  s->tile = s->blocks.tile_count + 1;
}

/* Goes to the next tile, or to the whole frame after the last one. */
static void
enter_next (scratch *s)
{
  const nms__box_blocks *b = &s->blocks;

  if (s->tile == b->tile_count) {
    enter_frame (s);
    return;
  }
  nms__tiles_enter (&s->tiles, s->tile);
  s->block = b->tile[s->tile++] / NMS__BLOCK;
  s->end_block = (b->tile[s->tile] - 1) / NMS__BLOCK + 1;
}

/* Returns the next undecided box on the stack that depends on no undecided box, or NONE if the
 * stack is empty or the frame is crowded. */
static size_t
next_of_stack (const nms__frame *f, scratch *s)
{
  while (s->depth && !nms__tiles_crowded (&s->tiles)) {
    const size_t top = s->stack[s->depth - 1];
    const size_t above = nms__place_is_set (&s->undecided, top) ? find_above (f, s, top) : NONE;
    if (above == NONE) {
      s->depth--;
      if (nms__place_is_set (&s->undecided, top))
        return top;
    } else
      s->stack[s->depth++] = (uint32_t) above;
  }
  return NONE;
}

/* Returns the box to keep next, or NONE if all are decided. */
static size_t
next_place (const nms__frame *f, scratch *s)
{
  for (;;) {
    const size_t waiting = next_of_stack (f, s);
    if (waiting != NONE)
      return waiting;
    if (nms__tiles_crowded (&s->tiles))
      enter_frame (s);
    const int whole = s->tile > s->blocks.tile_count;
    const uint64_t key = whole ? greatest (s->best[s->top], s->top_count)
                               : greatest (&s->best[0][s->block], s->end_block - s->block);
    if (key) {
      const size_t place = s->blocks.place[nms__packed_position (key)];
      if (whole || !nms__tiles_cross (&s->tiles, place))
        return place;
      s->stack[s->depth++] = (uint32_t) place;
    } else if (whole)
      return NONE;
    else
      enter_next (s);
  }
}

/* Keeps the boxes by their new scores, and names the suppressors of the others. */
static void
finish (nms__frame *f, scratch *s)
{
  size_t count = 0;

  for (size_t place = 0; place < f->count; place++)
    if (!nms__place_is_set (&s->kept, place))
      nms__suppress (f, s->blocks.position[place], nms__packed_position (s->last[place]));
  for (size_t pos = 0; pos < f->count; pos++)
    if (nms__place_is_set (&s->kept, s->blocks.place[pos]))
      s->key[count++] = s->last[s->blocks.place[pos]];
  const uint64_t *ranked = nms__sort (f->kernels, s->key, s->blocks.keys, count);
  for (size_t k = 0; k < count; k++)
    nms__take_next (f, nms__packed_position (ranked[k]),
        nms__score_of_key ((uint32_t) (ranked[k] >> 32)));
}

/* Decides a frame without caps tile by tile. */
static void
decide_by_tiles (nms__frame *f, scratch *s)
{
  size_t place;

  s->stack = s->blocks.number; /* unused by now */
  s->depth = s->tile = s->block = s->end_block = 0;
  nms__places_clear_all (&s->kept, f->count);
  memset (s->last, 0xff, f->count * sizeof *s->last);
  while ((place = next_place (f, s)) != NONE) {
    const uint64_t key = s->key[place];
    remove_place (s, place);
    renew_and_fetch (s, place / NMS__BLOCK);
    nms__place_set (&s->kept, place);
    s->last[place] = key;
    lower_by_key (f, s, place, key);
  }
  finish (f, s);
}

void
nms__soft (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  scratch s;
  uint64_t key;

  layout (&s, &arena, f->capacity);
  start (f, &s);
  if (!nms__tiles_are_capped (f) && nms__tiles_begin (&s.tiles, f, &s.blocks)) {
    decide_by_tiles (f, &s);
    return;
  }
  while ((key = greatest (s.best[s.top], s.top_count))) {
    if (f->kept_count >= f->cap) {
      end_at_cap (f, &s);
      break;
    }
    const size_t pos = nms__packed_position (key), place = s.blocks.place[pos];
    remove_place (&s, place);
    renew_maxima (&s, place / NMS__BLOCK);
    if (nms__take_next (f, pos, nms__score_of_key ((uint32_t) (key >> 32))))
      lower_row (f, &s, pos);
  }
}
