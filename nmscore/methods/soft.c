/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soft: soft-NMS (Bodla et al., "Soft-NMS -- Improving Object Detection With One Line of Code",
 * 2017). Each block of boxes has its greatest packed key, so that the next box is found by a scan
 * over the blocks. Scores only fall, so a block's maximum changes only if its own box is lowered.
 */
#include "box_blocks.h"
#include "exponential.h"
#include "method.h"

#define DEFAULT_SIGMA 0.5f

typedef struct scratch {
  nms__box_blocks blocks;
  uint64_t *undecided; /* by place */
  uint64_t *key;       /* packed current score and frame position, by place; 0: decided */
  uint64_t *best;      /* greatest key of each block */
  float sigma;
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  const size_t blocks = boxes / NMS__BLOCK + 1;

  nms__box_blocks_take (a, &s->blocks, boxes);
  s->undecided = nms__take (a, blocks, sizeof *s->undecided);
  s->key = nms__take (a, blocks * NMS__BLOCK, sizeof *s->key);
  s->best = nms__take (a, blocks, sizeof *s->best);
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
  uint64_t most = 0;

  for (size_t i = 0; i < count; i++)
    most = keys[i] > most ? keys[i] : most;
  return most;
}

static void
start (nms__frame *f, scratch *s)
{
  const float sigma = f->method.sigma;

  nms__box_blocks_fill (f, &s->blocks);
  s->sigma = sigma > 0.0f ? sigma : DEFAULT_SIGMA;
  for (size_t k = 0; k < nms__box_blocks_count (&s->blocks); k++) {
    const size_t first = k * NMS__BLOCK;
    memset (&s->key[first], 0, NMS__BLOCK * sizeof *s->key);
    for (size_t i = first; i < first + NMS__BLOCK && i < f->count; i++) {
      const uint32_t pos = s->blocks.position[i];
      s->key[i] = nms__pack (nms__order_key (nms__method_score (f, pos)), pos);
    }
    s->best[k] = greatest (&s->key[first], NMS__BLOCK);
    s->undecided[k] = ~(uint64_t) 0;
  }
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
    uint64_t *best = &s->best[row.first / NMS__BLOCK];
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
    if (s->key[s->blocks.place[nms__packed_position (*best)]] != *best)
      *best = greatest (&s->key[row.first], NMS__BLOCK);
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
  while ((key = greatest (s.best, nms__box_blocks_count (&s.blocks)))) {
    if (f->kept_count >= f->cap) {
      end_at_cap (f, &s);
      break;
    }
    const size_t pos = nms__packed_position (key), place = s.blocks.place[pos];
    remove_place (&s, place);
    s.best[place / NMS__BLOCK] = greatest (&s.key[place / NMS__BLOCK * NMS__BLOCK], NMS__BLOCK);
    if (nms__take_next (f, pos, nms__score_of_key ((uint32_t) (key >> 32))))
      lower_row (f, &s, pos);
  }
}
