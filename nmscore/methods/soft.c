/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soft: soft-NMS (Bodla et al., "Soft-NMS -- Improving Object Detection With One Line of Code",
 * 2017). Each block of boxes has its greatest packed key, each block of these keys their greatest
 * one, and so on up to one block, whose scan finds the next box. Scores only fall, so a maximum
 * changes only if its own box is lowered.
 */
#include "box_blocks.h"
#include "exponential.h"
#include "method.h"

#define DEFAULT_SIGMA 0.5f

/* Levels of maxima above the keys: NMS__BLOCK to the power of 6 is more than 2^32. */
#define LEVELS 6

typedef struct scratch {
  nms__box_blocks blocks;
  uint64_t *undecided;    /* by place */
  uint64_t *key;          /* packed current score and frame position, by place; 0: decided */
  uint64_t *best[LEVELS]; /* greatest key of each block, of each NMS__BLOCK of these, and so on; 0
                           * behind the last one to the end of its block */
  size_t top, top_count;  /* the lowest level that is one block, and the number of its keys */
  float sigma;
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  size_t blocks = boxes / NMS__BLOCK + 1;

  nms__box_blocks_take (a, &s->blocks, boxes);
  s->undecided = nms__take (a, blocks, sizeof *s->undecided);
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

/* Computes the maximum of each block of the `count` keys, and those of the levels above. */
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

/* Computes the maximum of a block, one of whose keys was lowered, and those above that were equal
 * to it. */
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

static void
start (nms__frame *f, scratch *s)
{
  const float sigma = f->method.sigma;

  nms__box_blocks_fill (f, &s->blocks);
  s->sigma = sigma > 0.0f ? sigma : DEFAULT_SIGMA;
  memset (s->undecided, 0xff, nms__box_blocks_count (&s->blocks) * sizeof *s->undecided);
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
  nms__place_clear (s->undecided, place);
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

  nms__row_begin (&row, f, &s->blocks, s->blocks.place[pos], s->undecided);
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
    if (nms__place_is_set (s->undecided, place))
      nms__over_cap (f, s->blocks.position[place]);
}

void
nms__soft (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  scratch s;
  uint64_t key;

  layout (&s, &arena, f->capacity);
  start (f, &s);
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
