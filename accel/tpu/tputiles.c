/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tputiles: prints the kernel with one grid step for each tile of 128 candidates,
 * which are sorted by rank. No step searches a maximum.
 *
 * The boxes kept so far are in blocks of 128. A step spreads its candidates down the
 * sublanes and compares them with those blocks and with each other. The overlaps within
 * the tile are packed into words of 32 bits, with one candidate in each sublane. The
 * sequential part then tests, for one candidate after another, whether its word and the
 * word of the kept candidates have a common bit. This takes three operations, the same
 * ones in every lane, so that no data crosses lanes. At the end of a step the kept
 * candidates are appended to the blocks of kept boxes. The packing and the append move data
 * between lanes, by matrix products. Their factors are bfloat16 numbers that are small whole
 * numbers or powers of two, so that each sum is exact. A step also prepares the next tile,
 * because the compiler can run this while the sequential part waits.
 *
 * A box that takes no part has index -1 and ranks after all others. The kernel may keep it,
 * and then writes -1, which says that there is no pick.
 */
#include "tputiles.h"
#include "tpupair.h"
#include "tputilearrays.h"

#include <stdint.h>

#define TILE NMS__TPU_LANES
#define WORD NMS__TPU_WORD
#define WORDS NMS__TPU_WORDS
#define HALVES (2 * WORDS) /* halves of words, 16 bits each */

/* This bit of a word's state is always set. A candidate whose own word contains it is
 * suppressed by a box outside of the word. It is the bit of the word's last candidate, which
 * needs no bit, because no candidate of the word follows it. */
#define BLOCKED INT32_MIN

/* The first fields of a box (tputilearrays.h has the others). */
enum { X1, Y1, X2, Y2, INDEX = NMS__TPU_KEY };

typedef nms__tpu_tiles Tiles;

static nms__value
op (Tiles *t, const char *name, nms__value a, nms__value b)
{
  return nms__tpu_op (t->m, name, a, b);
}

static nms__value
s32 (Tiles *t, int rows, int32_t value)
{
  return nms__tpu_s32 (t->m, rows, TILE, value);
}

static nms__value
f32 (Tiles *t, int rows, float value)
{
  return nms__tpu_f32 (t->m, rows, TILE, value);
}

static nms__value
spread (Tiles *t, nms__value a, int rows)
{
  return a.rows == rows && a.cols == TILE ? a : nms__tpu_spread (t->m, a, rows, TILE);
}

static nms__value
load_row (Tiles *t, nms__array array, nms__value row)
{
  return nms__tpu_load (t->m, array, row, t->zero, 1, TILE);
}

static nms__value
load_rows (Tiles *t, nms__array array, int row, int rows)
{
  return nms__tpu_load (t->m, array, nms__tpu_index (t->m, row), t->zero, rows, TILE);
}

/* Prints the load of a field of the block at row `base` of `blocks`. */
static nms__value
load_field (Tiles *t, nms__array blocks, nms__value base, int field)
{
  nms__value row = load_row (t, blocks, op (t, "arith.addi", base, nms__tpu_index (t->m, field)));

  return field <= Y2 ? nms__tpu_bitcast (t->m, NMS__TPU_F32, row) : row;
}

/* Prints the load of one block of boxes, with their areas, repeated for `rows`
 * sublanes. */
static nms__tpu_box
load_boxes (Tiles *t, nms__array blocks, nms__value base, int rows)
{
  nms__tpu_box box;
  nms__value *corner[4] = { &box.x1, &box.y1, &box.x2, &box.y2 };

  for (int i = X1; i <= Y2; i++)
    *corner[i] = load_field (t, blocks, base, i);
  box.area = spread (t, nms__tpu_area (t->m, &box), rows);
  for (int i = X1; i <= Y2; i++)
    *corner[i] = spread (t, *corner[i], rows);
  return box;
}

/* Prints the constant matrices. */
static void
print_weights (Tiles *t)
{
  nms__tpu *m = t->m;
  nms__value number = nms__tpu_iota (m, TILE, TILE, 0);
  nms__value bit = op (t, "arith.shli", s32 (t, TILE, 1),
      op (t, "arith.andi", number, s32 (t, TILE, WORD / 2 - 1)));
  nms__value half = op (t, "arith.shrui", number, s32 (t, TILE, 4));

  for (int h = 0; h < HALVES; h++) {
    nms__value own = nms__tpu_compare (m, "eq", half, s32 (t, TILE, h));
    nms__value weight = nms__tpu_to_f32 (m, nms__tpu_select (m, own, bit, s32 (t, TILE, 0)));
    nms__tpu_store (m, nms__tpu_to_bf16 (m, weight), t->weights, nms__tpu_index (m, h * TILE),
        t->zero);
  }
}

/* Prints the transposition of a block to columns. */
static void
print_columns (Tiles *t, nms__value block)
{
  nms__tpu *m = t->m;

  nms__tpu_store (m, nms__tpu_transpose (m, block), t->turned, t->zero, t->zero);
  for (int f = 0; f < t->layout->fields; f++)
    if (f != INDEX || t->parent_field)
      nms__tpu_store (m,
          spread (t, nms__tpu_load (m, t->turned, t->zero, nms__tpu_index (m, f), TILE, 1), TILE),
          t->column, nms__tpu_index (m, f * TILE), t->zero);
}

/* Prints the load of a field of the 32 candidates of word `w`, one in each sublane. */
static nms__value
load_column (Tiles *t, int field, int w)
{
  nms__value column = load_rows (t, t->column, field * TILE + w * WORD, WORD);
  int is_limit = t->limit_field && field >= t->limit_field && field < t->limit_field + 3;

  return field <= Y2 || is_limit ? nms__tpu_bitcast (t->m, NMS__TPU_F32, column) : column;
}

static nms__tpu_box
load_candidates (Tiles *t, int w)
{
  nms__tpu_box box = { load_column (t, X1, w), load_column (t, Y1, w), load_column (t, X2, w),
    load_column (t, Y2, w), { "", 0, 0, 0 } };

  box.area = nms__tpu_area (t->m, &box);
  return box;
}

/* Prints the load of the limits of the candidates of word `w`. */
static nms__tpu_limit
load_limit (Tiles *t, int w)
{
  nms__value number[3];

  for (int i = 0; i < 3; i++)
    number[i] = t->limit_field ? load_column (t, t->limit_field + i, w)
                               : spread (t, load_rows (t, t->parameters, i, 1), WORD);
  return (nms__tpu_limit) { number[0], number[1], number[2] };
}

/* Results of comparing each candidate of a word (sublane) with each box of a block (lane). */
typedef struct {
  nms__value hits; /* the box would suppress the candidate */
  nms__value same; /* both have the same class; unset without classes */
} Pairs;

/* Prints the test which candidates of word `w` are neither parents nor parts of the boxes of the
 * block at row `base` of `blocks`. */
static nms__value
print_unrelated (Tiles *t, int w, nms__array blocks, nms__value base)
{
  const int parent = t->parent_field;
  nms__tpu_relation candidate = { load_column (t, INDEX, w), load_column (t, parent, w) };
  nms__tpu_relation other = { spread (t, load_field (t, blocks, base, INDEX), WORD),
    spread (t, load_field (t, blocks, base, parent), WORD) };

  return nms__tpu_unrelated (t->m, &candidate, &other);
}

static Pairs
print_pairs (Tiles *t, const nms__tpu_box *candidate, int w, nms__array blocks, nms__value base)
{
  nms__tpu *m = t->m;
  nms__tpu_box other = load_boxes (t, blocks, base, WORD);
  nms__tpu_limit limit = load_limit (t, w);
  Pairs pairs = { .hits = nms__tpu_exceeds (m, candidate, &other, &limit) };

  if (t->class_field)
    pairs.same = nms__tpu_compare (m, "eq", load_column (t, t->class_field, w),
        spread (t, load_field (t, blocks, base, t->class_field), WORD));
  if (t->class_field && !t->spec->class_agnostic)
    pairs.hits = op (t, "arith.andi", pairs.hits, pairs.same);
  if (t->parent_field)
    pairs.hits = op (t, "arith.andi", pairs.hits, print_unrelated (t, w, blocks, base));
  return pairs;
}

/* The most blocks of kept boxes for which the loop over them is unrolled. */
#define BLOCKS_UNROLLED 4

/* Iterates over the blocks of kept boxes. The values that `loop` carries may be used
 * after the last block only. */
typedef struct {
  nms__loop loop; /* its index is the block's first row */
  int next, open;
} KeptBlocks;

static int
next_kept_block (Tiles *t, KeptBlocks *blocks)
{
  int rows = t->layout->block, count = t->kept.rows / rows;

  if (count <= BLOCKS_UNROLLED) {
    if (blocks->next < count)
      blocks->loop.index = nms__tpu_index (t->m, blocks->next * rows);
    return blocks->next++ < count;
  }
  if (blocks->open)
    nms__tpu_close_loop (t->m, &blocks->loop);
  else
    nms__tpu_open_loop (t->m, &blocks->loop, t->kept.rows, rows);
  blocks->open = !blocks->open;
  return blocks->open;
}

/* Prints the product of ones and zeros with a matrix. */
static nms__value
print_product (Tiles *t, nms__value ones, nms__value matrix)
{
  return nms__tpu_product (t->m, nms__tpu_to_bf16 (t->m, ones), matrix, f32 (t, ones.rows, 0.0f));
}

/* Prints the store of a test of the candidates of word `w`: 1 or 0. */
static void
store_test (Tiles *t, nms__value test, nms__array array, int w)
{
  nms__tpu_store (t->m, nms__tpu_select (t->m, test, f32 (t, WORD, 1.0f), f32 (t, WORD, 0.0f)),
      array, nms__tpu_index (t->m, w * WORD), t->zero);
}

/* Prints the overlaps of the candidates of word `w` with candidates that rank above. */
static void
print_hits (Tiles *t, int w, nms__array block, nms__value base)
{
  nms__tpu *m = t->m;
  nms__tpu_box candidate = load_candidates (t, w);
  nms__value lane = nms__tpu_iota (m, WORD, TILE, 1);
  nms__value number = op (t, "arith.addi", nms__tpu_iota (m, WORD, TILE, 0),
      s32 (t, WORD, w * WORD));
  nms__value before = nms__tpu_compare (m, "slt", lane, number);
  Pairs pairs = print_pairs (t, &candidate, w, block, base);

  store_test (t, op (t, "arith.andi", before, pairs.hits), t->hits, w);
  if (t->most_field)
    store_test (t, pairs.same, t->caps.members, w);
}

/* Prints word `v` of the candidates from that word on: bit j is set if the lane of its
 * candidate j is 1 in `tests`. */
static void
print_word (Tiles *t, int v, nms__array tests, nms__array words)
{
  nms__tpu *m = t->m;
  nms__value half[2], ones = load_rows (t, tests, v * WORD, TILE - v * WORD);

  for (int h = 0; h < 2; h++)
    half[h] = nms__tpu_to_s32 (m,
        print_product (t, ones, load_rows (t, t->weights, (2 * v + h) * TILE, TILE)));
  nms__tpu_store (m,
      op (t, "arith.ori", half[0], op (t, "arith.shli", half[1], s32 (t, ones.rows, WORD / 2))),
      words, nms__tpu_index (m, v * TILE + v * WORD), t->zero);
}

/* Prints the preparation of a tile, whose block is at row `base` of `block`: its columns
 * and its words. Bit j of word v is set if candidate j of word v ranks above a candidate and
 * would suppress it. */
static void
print_preparation (Tiles *t, nms__array block, nms__value base)
{
  nms__tpu *m = t->m;
  nms__value fields = nms__tpu_load (m, block, base, t->zero, t->layout->block, TILE);

  nms__tpu_store_bytes (m, fields, t->bytes, 0);
  print_columns (t, fields);
  for (int w = 0; w < WORDS; w++)
    print_hits (t, w, block, base);
  for (int v = 0; v < WORDS; v++) {
    print_word (t, v, t->hits, t->words);
    if (t->most_field)
      print_word (t, v, t->caps.members, t->caps.words);
  }
}

/* Prints a test of the block of kept boxes at row `base`: which lanes hold a box. The result has
 * the same values in each sublane of a word. */
static nms__value
print_held (Tiles *t, nms__value base)
{
  nms__tpu *m = t->m;
  nms__value first = nms__tpu_first_of_row (m, base, TILE / t->layout->block);
  nms__value position = op (t, "arith.addi", nms__tpu_iota (m, WORD, TILE, 1),
      nms__tpu_spread (m, first, WORD, TILE));

  return nms__tpu_compare (m, "slt", position, spread (t, load_row (t, t->count, t->zero), WORD));
}

/* Prints the tests whether kept boxes suppress candidates, to 128 more rows of hits.
 * Stores 1 or more in each lane for such a candidate, otherwise 0. */
static void
print_outside (Tiles *t)
{
  nms__tpu *m = t->m;
  nms__value one = f32 (t, WORD, 1.0f);

  for (int w = 0; w < WORDS; w++) {
    nms__tpu_box candidate = load_candidates (t, w);
    nms__value is_hit = f32 (t, WORD, 0.0f), of_class = is_hit;
    KeptBlocks blocks = { .loop = { .count = t->most_field ? 2 : 1,
                              .carried = { &is_hit, &of_class } } };
    while (next_kept_block (t, &blocks)) {
      Pairs pairs = print_pairs (t, &candidate, w, t->kept, blocks.loop.index);
      is_hit = nms__tpu_select (m, pairs.hits, one, is_hit);
      if (t->most_field)
        of_class = nms__tpu_caps_add (m, of_class, pairs.same, print_held (t, blocks.loop.index));
    }
    nms__value any = nms__tpu_reduce (m, "maximumf", "0xFF800000", is_hit, 1);
    nms__tpu_store (m, spread (t, any, WORD), t->hits, nms__tpu_index (m, TILE + w * WORD),
        t->zero);
    if (t->most_field)
      nms__tpu_caps_start (m, &t->caps, w, load_column (t, t->most_field, w), of_class);
  }
}

/* Prints the start of the first step: no box is kept. Unused positions hold boxes
 * without area, which overlap none. */
static void
print_start (Tiles *t)
{
  nms__tpu *m = t->m;
  nms__loop loop = { .count = 0 };

  print_weights (t);
  nms__tpu_open_loop (m, &loop, t->kept.rows, 8);
  nms__tpu_store (m, s32 (t, 8, 0), t->kept, loop.index, t->zero);
  nms__tpu_close_loop (m, &loop);

  loop = (nms__loop) { .count = 0 };
  nms__tpu_open_loop (m, &loop, t->layout->picks.rows, 8);
  nms__tpu_store (m, s32 (t, 8, -1), t->layout->picks, loop.index, t->zero);
  nms__tpu_close_loop (m, &loop);
  nms__tpu_store (m, s32 (t, 1, 0), t->count, t->zero, t->zero);
  nms__tpu_store (m,
      nms__tpu_to_s32 (m, load_row (t, t->parameters, nms__tpu_index (m, NMS__TPU_MOST))), t->most,
      t->zero, t->zero);
  if (t->layout->ranks)
    nms__tpu_rank_print (m, &t->ranking);
  print_preparation (t, t->first, t->zero);
}

/* Prints the store of the positions of the candidates of word `w` among the kept boxes; bit j of
 * `kept` is set if candidate j is kept. *count is a row with the number of kept boxes before and
 * then after them. */
static void
store_positions (Tiles *t, int w, nms__value kept, nms__value *count)
{
  nms__tpu *m = t->m;
  nms__value word = spread (t, kept, WORD);
  nms__value bit = op (t, "arith.shli", s32 (t, WORD, 1), nms__tpu_iota (m, WORD, TILE, 0));
  nms__value before = op (t, "arith.andi", word, op (t, "arith.subi", bit, s32 (t, WORD, 1)));
  nms__value position = op (t, "arith.addi", spread (t, *count, WORD),
      nms__tpu_count_bits (m, before));
  nms__value is_kept = nms__tpu_compare (m, "ne", op (t, "arith.andi", word, bit),
      s32 (t, WORD, 0));

  nms__tpu_store_rows (m, nms__tpu_select (m, is_kept, position, s32 (t, WORD, -1)), t->position,
      w * WORD);
  *count = op (t, "arith.addi", *count, nms__tpu_count_bits (m, kept));
}

/* Prints the decisions about the candidates of word `w`, one after another. Returns the
 * word of the kept ones, the same in all lanes. *count is a row with the number of kept
 * boxes before and then after them. */
static nms__value
print_chain (Tiles *t, int w, const nms__value kept[WORDS], nms__value *count)
{
  nms__tpu *m = t->m;
  nms__value common = s32 (t, WORD, 0);

  for (int v = 0; v < w; v++)
    common = op (t, "arith.ori", common,
        op (t, "arith.andi", load_rows (t, t->words, v * TILE + w * WORD, WORD),
            spread (t, kept[v], WORD)));
  nms__value by_candidate = nms__tpu_compare (m, "ne", common, s32 (t, WORD, 0));
  nms__value by_kept = nms__tpu_compare (m, "ogt", load_rows (t, t->hits, TILE + w * WORD, WORD),
      f32 (t, WORD, 0.0f));
  nms__value outside = op (t, "arith.ori", by_kept, by_candidate);
  nms__value own = load_rows (t, t->words, w * TILE + w * WORD, WORD);
  own = nms__tpu_select (m, outside, op (t, "arith.ori", own, s32 (t, WORD, BLOCKED)), own);
  nms__tpu_store (m, own, t->blocked, nms__tpu_index (m, w * WORD), t->zero);
  if (t->most_field)
    nms__tpu_caps_advance (m, &t->caps, w, kept);

  nms__value state = s32 (t, 1, BLOCKED), zero = s32 (t, 1, 0);
  for (int j = 0; j < WORD; j++) {
    int row = w * WORD + j;
    nms__value word = load_rows (t, t->blocked, row, 1);
    nms__value keeps = nms__tpu_compare (m, "eq", op (t, "arith.andi", word, state), zero);
    if (t->most_field)
      keeps = op (t, "arith.andi", keeps, nms__tpu_caps_allow (m, &t->caps, row, state));
    if (j < WORD - 1)
      state = nms__tpu_select (m, keeps, op (t, "arith.ori", state, s32 (t, 1, (int32_t) 1 << j)),
          state);
    else
      state = nms__tpu_select (m, keeps, state, op (t, "arith.andi", state, s32 (t, 1, INT32_MAX)));
  }
  store_positions (t, w, state, count);
  return state;
}

/* The candidates to append to the kept boxes. */
typedef struct {
  nms__value bytes;
  nms__value position;    /* down the sublanes, -1 for a candidate that is not kept */
  nms__value count, more; /* rows: numbers of kept boxes before and after the append */
} Moving;

/* Prints the tests which lanes of a block receive a box, and are below `end`, for `rows`
 * sublanes. */
static nms__value
print_filled (Tiles *t, nms__value first, const Moving *moving, nms__value end, int rows)
{
  nms__tpu *m = t->m;
  nms__value position = op (t, "arith.addi", nms__tpu_iota (m, rows, TILE, 1),
      nms__tpu_spread (m, first, rows, TILE));

  nms__value from = nms__tpu_compare (m, "sge", position, spread (t, moving->count, rows));
  nms__value below = nms__tpu_compare (m, "slt", position, spread (t, end, rows));
  return op (t, "arith.andi", from, below);
}

/* Prints the append to the block of kept boxes that starts at row `base`. */
static void
print_append_block (Tiles *t, nms__value base, const Moving *moving)
{
  nms__tpu *m = t->m;
  int rows = t->layout->block;
  nms__value first = nms__tpu_first_of_row (m, base, TILE / rows);
  nms__value moved = nms__tpu_join_bytes (m, &t->ranking.mover,
      nms__tpu_move (m, moving->bytes, moving->position, first, f32 (t, 4 * rows, 0.0f)));
  nms__value old = nms__tpu_load (m, t->kept, base, t->zero, rows, TILE);
  nms__tpu_store (m,
      nms__tpu_select (m, print_filled (t, first, moving, moving->more, rows), moved, old), t->kept,
      base, t->zero);

  nms__value row = nms__tpu_row_of (m, first, TILE);
  nms__value end = op (t, "arith.minsi", moving->more, load_row (t, t->most, t->zero));
  nms__tpu_store (m,
      nms__tpu_select (m, print_filled (t, first, moving, end, 1),
          load_field (t, t->kept, base, INDEX), load_row (t, t->layout->picks, row)),
      t->layout->picks, row, t->zero);
}

/* Prints the append of the kept candidates to the blocks of kept boxes, up to the
 * blocks' end. */
static void
print_append (Tiles *t, const Moving *moving)
{
  KeptBlocks blocks = { .loop = { .count = 0 } };

  while (next_kept_block (t, &blocks))
    print_append_block (t, blocks.loop.index, moving);
  nms__tpu_store (t->m, moving->more, t->count, t->zero, t->zero);
}

/* Prints the first row of the next tile's block; after the last tile, of the last one. */
static nms__value
print_next_base (Tiles *t, nms__value step)
{
  nms__tpu *m = t->m;

  if (t->layout->window)
    return t->zero;
  nms__value next = op (t, "arith.minsi", op (t, "arith.addi", step, nms__tpu_s32 (m, 0, 0, 1)),
      nms__tpu_s32 (m, 0, 0, t->layout->rows - 1));
  return nms__tpu_row_of (m, op (t, "arith.muli", next, nms__tpu_s32 (m, 0, 0, t->layout->block)),
      1);
}

void
nms__tpu_tiles_print (nms__tpu *m, const nms__tpu_spec *spec, const nms__tpu_layout *layout)
{
  Tiles t = { .m = m, .spec = spec, .layout = layout };
  nms__value kept[WORDS];
  nms__value step = nms__tpu_begin (m, layout);

  nms__tpu_tiles_assign (&t);
  t.zero = nms__tpu_index (m, 0);
  nms__tpu_open_if (m, nms__tpu_compare (m, "eq", step, nms__tpu_s32 (m, 0, 0, 0)));
  print_start (&t);
  nms__tpu_close_if (m);

  /* do nothing after the last pick of the run */
  nms__tpu_open_if (m,
      nms__tpu_compare (m, "slt", nms__tpu_first (m, load_row (&t, t.count, t.zero)),
          nms__tpu_first (m, load_row (&t, t.most, t.zero))));
  print_outside (&t);
  Moving moving = { .bytes = load_rows (&t, t.bytes, 0, 4 * layout->block),
    .count = load_row (&t, t.count, t.zero) };
  moving.more = moving.count;
  for (int w = 0; w < WORDS; w++)
    kept[w] = print_chain (&t, w, kept, &moving.more);
  if (layout->steps > 1)
    print_preparation (&t, t.next, print_next_base (&t, step));
  moving.position = load_rows (&t, t.position, 0, TILE);
  print_append (&t, &moving);
  nms__tpu_close_if (m);
  nms__tpu_end (m, layout);
}
