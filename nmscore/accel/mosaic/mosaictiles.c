/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaictiles: prints the kernel with one grid step for each tile of 128 candidates,
 * which are sorted by rank. No step searches a maximum.
 *
 * The boxes kept so far are in rows of 128. A step spreads its candidates down the
 * sublanes and compares them with those rows and with each other. The overlaps within
 * the tile are packed into words of 32 bits, with one candidate in each sublane. The
 * sequential part then tests, for one candidate after another, whether its word and the
 * word of the kept candidates have a common bit. This takes three operations, the same
 * ones in every lane, so that no data crosses lanes. At the end of a step the kept
 * candidates are appended to the rows of kept boxes: a count gives each its position,
 * and a masked maximum down the sublanes moves it there.
 */
#include "mosaictiles.h"
#include "mosaicpair.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TILE NMS__MOSAIC_LANES
#define WORD 32
#define WORDS (TILE / WORD)

/* This bit of a word's state is always set. A candidate whose own word contains it is
 * suppressed by a box outside of the word. It is the bit of the word's last candidate, which
 * needs no bit, because no candidate of the word follows it. */
#define BLOCKED INT32_MIN

enum { X1, Y1, X2, Y2, KEY, INDEX, PARAMETERS, CLASS, INPUTS };
enum { KEPT = 4, COLUMNS = 5 };

typedef struct {
  nms__mosaic *m;
  const nms__mosaic_spec *spec;
  const nms__mosaic_layout *layout;
  nms__array in[INPUTS];
  nms__array kept[4], kept_class; /* rows of kept boxes */
  nms__array column[4], column_class; /* of the tile, down the sublanes */
  nms__array blocked;             /* words of the candidates, one in each sublane */
  nms__array count, most;         /* kept boxes, and their maximum; in all lanes */
  nms__value zero;                /* index */
  nms__value row;                 /* index of the tile's row */
} Tiles;

void
nms__mosaic_tiles_layout (const nms__mosaic_spec *spec, nms__mosaic_layout *layout)
{
  int kept_rows = (spec->picks + TILE - 1) / TILE;

  *layout = (nms__mosaic_layout){ .chunk = 1 };
  layout->rows = (spec->boxes + 1023) / 1024 * 8;
  layout->positions = layout->rows * TILE;
  layout->steps = (spec->boxes + TILE - 1) / TILE;
  for (int i = X1; i <= Y2; i++)
    nms__mosaic_add_input (layout, NMS__MOSAIC_F32, layout->rows);
  nms__mosaic_add_input (layout, NMS__MOSAIC_S32, layout->rows);
  nms__mosaic_add_input (layout, NMS__MOSAIC_S32, layout->rows);
  nms__mosaic_add_input (layout, NMS__MOSAIC_F32, 8);
  if (nms__mosaic_uses_class (spec))
    nms__mosaic_add_input (layout, NMS__MOSAIC_S32, layout->rows);
  nms__mosaic_set_picks (layout, spec->picks);
  for (int i = 0; i < 4; i++)
    nms__mosaic_add_scratch (layout, NMS__MOSAIC_F32, kept_rows);
  for (int i = 0; i < 4; i++)
    nms__mosaic_add_scratch (layout, NMS__MOSAIC_F32, TILE);
  nms__mosaic_add_scratch (layout, NMS__MOSAIC_S32, TILE);
  nms__mosaic_add_scratch (layout, NMS__MOSAIC_S32, 1);
  nms__mosaic_add_scratch (layout, NMS__MOSAIC_S32, 1);
  if (nms__mosaic_uses_class (spec)) {
    nms__mosaic_add_scratch (layout, NMS__MOSAIC_S32, kept_rows);
    nms__mosaic_add_scratch (layout, NMS__MOSAIC_S32, TILE);
  }
}

static int
has_class (const Tiles *t)
{
  return nms__mosaic_uses_class (t->spec);
}

static void
assign_arrays (Tiles *t)
{
  const nms__array *scratch = t->layout->scratch;

  for (int i = 0; i < t->layout->input_count; i++)
    t->in[i] = t->layout->input[i];
  memcpy (t->kept, scratch, sizeof t->kept);
  memcpy (t->column, scratch + 4, sizeof t->column);
  t->blocked = scratch[8];
  t->count = scratch[9];
  t->most = scratch[10];
  if (has_class (t)) {
    t->kept_class = scratch[11];
    t->column_class = scratch[12];
  }
}

static nms__value
op (Tiles *t, const char *name, nms__value a, nms__value b)
{
  return nms__mosaic_op (t->m, name, a, b);
}

static nms__value
s32 (Tiles *t, int rows, int32_t value)
{
  return nms__mosaic_s32 (t->m, rows, TILE, value);
}

static nms__value
spread (Tiles *t, nms__value a, int rows)
{
  return a.rows == rows && a.cols == TILE ? a : nms__mosaic_spread (t->m, a, rows, TILE);
}

static nms__value
load_row (Tiles *t, nms__array array, nms__value row)
{
  return nms__mosaic_load (t->m, array, row, t->zero, 1, TILE);
}

/* Prints the load of one row of boxes, with their areas, repeated for `rows`
 * sublanes. */
static nms__mosaic_box
load_boxes (Tiles *t, const nms__array *arrays, nms__value row, int rows)
{
  nms__mosaic_box box = { load_row (t, arrays[0], row), load_row (t, arrays[1], row),
    load_row (t, arrays[2], row), load_row (t, arrays[3], row), { "", 0, 0, 0 } };

  box.area = nms__mosaic_area (t->m, &box);
  box.x1 = spread (t, box.x1, rows);
  box.y1 = spread (t, box.y1, rows);
  box.x2 = spread (t, box.x2, rows);
  box.y2 = spread (t, box.y2, rows);
  box.area = spread (t, box.area, rows);
  return box;
}

/* Prints the start of the first step: no box is kept. Unused positions hold boxes
 * without area, which overlap none. */
static void
print_start (Tiles *t)
{
  nms__mosaic *m = t->m;
  nms__loop loop = { .count = 0 };
  nms__value nothing = nms__mosaic_f32 (m, 1, TILE, 0.0f);

  nms__mosaic_open_loop (m, &loop, t->kept[0].rows, 1);
  for (int i = 0; i < 4; i++)
    nms__mosaic_store (m, nothing, t->kept[i], loop.index, t->zero);
  if (has_class (t))
    nms__mosaic_store (m, s32 (t, 1, 0), t->kept_class, loop.index, t->zero);
  nms__mosaic_close_loop (m, &loop);

  loop = (nms__loop){ .count = 0 };
  nms__mosaic_open_loop (m, &loop, t->layout->picks.rows, 8);
  nms__mosaic_store (m, s32 (t, 8, -1), t->layout->picks, loop.index, t->zero);
  nms__mosaic_close_loop (m, &loop);
  nms__mosaic_store (m, s32 (t, 1, 0), t->count, t->zero, t->zero);
  nms__mosaic_store (m, nms__mosaic_to_s32 (m, load_row (t, t->in[PARAMETERS],
      nms__mosaic_index (m, NMS__MOSAIC_MOST))), t->most, t->zero, t->zero);
}

/* Prints the transposition of the tile's row: down the sublanes, the same in all
 * lanes. */
static void
print_columns (Tiles *t)
{
  for (int i = 0; i < 4; i++)
    nms__mosaic_store (t->m, nms__mosaic_transpose (t->m,
        spread (t, load_row (t, t->in[i], t->row), TILE)), t->column[i], t->zero, t->zero);
  if (has_class (t))
    nms__mosaic_store (t->m, nms__mosaic_transpose (t->m,
        spread (t, load_row (t, t->in[CLASS], t->row), TILE)), t->column_class, t->zero, t->zero);
}

/* Prints the load of the 32 candidates of the tile that start at `from`, one in each
 * sublane. */
static nms__mosaic_box
load_columns (Tiles *t, nms__value from)
{
  nms__mosaic_box box;
  nms__value *corner[4] = { &box.x1, &box.y1, &box.x2, &box.y2 };

  for (int i = 0; i < 4; i++)
    *corner[i] = nms__mosaic_load (t->m, t->column[i], from, t->zero, WORD, TILE);
  box.area = nms__mosaic_area (t->m, &box);
  return box;
}

/* Prints the tests whether a box of a row (lanes) would suppress a candidate
 * (sublanes). */
static nms__value
print_suppressed (Tiles *t, const nms__mosaic_box *candidate, nms__value from,
    const nms__mosaic_box *other, nms__array other_class, nms__value other_row)
{
  nms__mosaic *m = t->m;
  nms__value number[3];

  for (int i = 0; i < 3; i++)
    number[i] = spread (t, load_row (t, t->in[PARAMETERS], nms__mosaic_index (m, i)), WORD);
  nms__mosaic_limit limit = { number[0], number[1], number[2] };
  nms__value hits = nms__mosaic_exceeds (m, candidate, other, &limit);
  if (has_class (t)) {
    nms__value mine = nms__mosaic_load (m, t->column_class, from, t->zero, WORD, TILE);
    nms__value same = nms__mosaic_compare (m, "eq", mine,
        spread (t, load_row (t, other_class, other_row), WORD));
    hits = op (t, "arith.andi", hits, same);
  }
  return hits;
}

/* The most rows of kept boxes for which the loop over rows is unrolled. */
#define ROWS_UNROLLED 4

/* Iterates over the rows of kept boxes. The values that `loop` carries may be used
 * after the last row only. */
typedef struct {
  nms__loop loop;
  int next, open;
} KeptRows;

static int
next_kept_row (Tiles *t, KeptRows *rows)
{
  int count = t->kept[0].rows;

  if (count <= ROWS_UNROLLED) {
    if (rows->next < count)
      rows->loop.index = nms__mosaic_index (t->m, rows->next);
    return rows->next++ < count;
  }
  if (rows->open)
    nms__mosaic_close_loop (t->m, &rows->loop);
  else
    nms__mosaic_open_loop (t->m, &rows->loop, count, 1);
  rows->open = !rows->open;
  return rows->open;
}

/* Prints the tests whether a candidate of word `w` takes no part or a kept box
 * suppresses it. The result has one column, which is not 0 for such candidates. */
static nms__value
print_outside (Tiles *t, const nms__mosaic_box *candidate, nms__value from, int w)
{
  nms__mosaic *m = t->m;
  nms__value one = s32 (t, WORD, 1);
  /* a candidate that takes no part is marked in its own lane */
  nms__value absent = nms__mosaic_compare (m, "eq",
      spread (t, load_row (t, t->in[KEY], t->row), WORD), s32 (t, WORD, NMS__MOSAIC_ABSENT));
  nms__value sublane = nms__mosaic_iota (m, WORD, TILE, 0);
  nms__value lane = nms__mosaic_iota (m, WORD, TILE, 1);
  nms__value own = nms__mosaic_compare (m, "eq", lane,
      op (t, "arith.addi", sublane, s32 (t, WORD, w * WORD)));
  nms__value is_hit = nms__mosaic_select (m, op (t, "arith.andi", absent, own), one,
      s32 (t, WORD, 0));

  KeptRows rows = { .loop = { .count = 1, .carried = { &is_hit } } };
  while (next_kept_row (t, &rows)) {
    nms__value row = rows.loop.index;
    nms__mosaic_box other = load_boxes (t, t->kept, row, WORD);
    is_hit = nms__mosaic_select (m,
        print_suppressed (t, candidate, from, &other, t->kept_class, row), one, is_hit);
  }
  return nms__mosaic_reduce (m, "add", "0", is_hit, 1);
}

/* Prints the words of the candidates of word `w`: bit j of words[v] is set if candidate
 * j of word v ranks above the candidate and would suppress it. */
static void
print_words (Tiles *t, const nms__mosaic_box *candidate, nms__value from, int w,
    const nms__mosaic_box *tile, nms__value words[WORDS])
{
  nms__mosaic *m = t->m;
  nms__value lane = nms__mosaic_iota (m, WORD, TILE, 1);
  nms__value number = op (t, "arith.addi", nms__mosaic_iota (m, WORD, TILE, 0),
      s32 (t, WORD, w * WORD));
  nms__value bit = op (t, "arith.shli", s32 (t, WORD, 1),
      op (t, "arith.andi", lane, s32 (t, WORD, WORD - 1)));
  nms__value before = nms__mosaic_compare (m, "slt", lane, number);
  nms__value hits = op (t, "arith.andi", before,
      print_suppressed (t, candidate, from, tile, t->in[CLASS], t->row));
  nms__value bits = nms__mosaic_select (m, hits, bit, s32 (t, WORD, 0));

  for (int v = 0; v <= w; v++) {
    nms__value of = nms__mosaic_compare (m, "eq",
        op (t, "arith.shrui", lane, s32 (t, WORD, 5)), s32 (t, WORD, v));
    words[v] = spread (t, nms__mosaic_reduce (m, "add", "0",
        nms__mosaic_select (m, of, bits, s32 (t, WORD, 0)), 1), WORD);
  }
}

/* Prints the decisions about the candidates of word `w`, one after another. Returns the
 * word of the kept ones, the same in all lanes. `outside` and `words` are down the
 * sublanes. */
static nms__value
print_chain (Tiles *t, nms__value outside, const nms__value words[WORDS], int w,
    const nms__value kept[WORDS])
{
  nms__mosaic *m = t->m;
  nms__value none = s32 (t, WORD, 0);

  outside = spread (t, outside, WORD);
  for (int v = 0; v < w; v++)
    outside = op (t, "arith.ori", outside,
        op (t, "arith.andi", words[v], spread (t, kept[v], WORD)));
  nms__value free = nms__mosaic_compare (m, "eq", outside, none);
  nms__value own = nms__mosaic_select (m, free, words[w],
      op (t, "arith.ori", words[w], s32 (t, WORD, BLOCKED)));
  nms__mosaic_store (m, own, t->blocked, nms__mosaic_index (m, w * WORD), t->zero);

  nms__value state = s32 (t, 1, BLOCKED), zero = s32 (t, 1, 0);
  for (int j = 0; j < WORD - 1; j++) {
    nms__value word = load_row (t, t->blocked, nms__mosaic_index (m, w * WORD + j));
    nms__value more = op (t, "arith.ori", state, s32 (t, 1, (int32_t) 1 << j));
    nms__value keeps = nms__mosaic_compare (m, "eq", op (t, "arith.andi", word, state), zero);
    state = nms__mosaic_select (m, keeps, more, state);
  }
  nms__value word = load_row (t, t->blocked, nms__mosaic_index (m, w * WORD + WORD - 1));
  nms__value keeps = nms__mosaic_compare (m, "eq", op (t, "arith.andi", word, state), zero);
  return nms__mosaic_select (m, keeps, state,
      op (t, "arith.andi", state, s32 (t, 1, INT32_MAX)));
}

/* Prints a row with 1 in the lanes of the kept candidates. */
static nms__value
print_kept_row (Tiles *t, const nms__value kept[WORDS])
{
  nms__mosaic *m = t->m;
  nms__value lane = nms__mosaic_iota (m, 1, TILE, 1);
  nms__value number = op (t, "arith.shrui", lane, s32 (t, 1, 5));
  nms__value word = kept[0];

  for (int w = 1; w < WORDS; w++)
    word = nms__mosaic_select (m, nms__mosaic_compare (m, "eq", number, s32 (t, 1, w)), kept[w],
        word);
  nms__value shifted = op (t, "arith.shrui", word,
      op (t, "arith.andi", lane, s32 (t, 1, WORD - 1)));
  return op (t, "arith.andi", shifted, s32 (t, 1, 1));
}

/* Prints the move of one field of the kept candidates to a row of kept boxes. `rest`
 * is a lower bound of the field. A `column` of floats is converted if the array has
 * integers. */
static void
move_field (Tiles *t, nms__value moves, nms__value filled, nms__value column, nms__value rest,
    nms__array array, nms__value row)
{
  nms__mosaic *m = t->m;
  int floats = column.type == NMS__MOSAIC_F32;
  nms__value found = nms__mosaic_reduce (m, floats ? "maximumf" : "maxsi",
      floats ? "0xFF800000" : "-2147483648", nms__mosaic_select (m, moves, column, rest), 0);

  if (floats && array.type == NMS__MOSAIC_S32)
    found = nms__mosaic_to_s32 (m, found);
  nms__mosaic_store (m, nms__mosaic_select (m, filled, found, load_row (t, array, row)), array,
      row, t->zero);
}

/* The candidates to append to the kept boxes, down the sublanes. */
typedef struct {
  nms__value position, is_kept, index;
  nms__value count, more; /* numbers of kept boxes before and after the append */
} Moving;

static void
print_append_row (Tiles *t, nms__value row, const Moving *moving)
{
  nms__mosaic *m = t->m;
  nms__value most = load_row (t, t->most, t->zero);
  nms__value position = op (t, "arith.addi", nms__mosaic_iota (m, 1, TILE, 1),
      nms__mosaic_spread (m, nms__mosaic_first_of_row (m, row, TILE), 1, TILE));
  nms__value moves = op (t, "arith.andi", moving->is_kept,
      nms__mosaic_compare (m, "eq", moving->position, spread (t, position, TILE)));
  nms__value filled = op (t, "arith.andi", nms__mosaic_compare (m, "sge", position, moving->count),
      nms__mosaic_compare (m, "slt", position, moving->more));
  nms__value least = nms__mosaic_f32 (m, TILE, TILE, -INFINITY);
  for (int i = 0; i < 4; i++)
    move_field (t, moves, filled, nms__mosaic_load (m, t->column[i], t->zero, t->zero, TILE, TILE),
        least, t->kept[i], row);
  if (has_class (t))
    move_field (t, moves, filled,
        nms__mosaic_load (m, t->column_class, t->zero, t->zero, TILE, TILE),
        s32 (t, TILE, INT32_MIN), t->kept_class, row);
  move_field (t, moves, op (t, "arith.andi", filled,
      nms__mosaic_compare (m, "slt", position, most)), moving->index,
      nms__mosaic_f32 (m, TILE, TILE, 0.0f), t->layout->picks, row);
}

/* Prints the append of the kept candidates to the rows of kept boxes, up to the rows'
 * end. */
static void
print_append (Tiles *t, nms__value kept_row)
{
  nms__mosaic *m = t->m;
  Moving moving;
  nms__value sublane = nms__mosaic_iota (m, TILE, TILE, 0);
  nms__value lane = nms__mosaic_iota (m, TILE, TILE, 1);
  nms__value kept = spread (t, kept_row, TILE), none = s32 (t, TILE, 0);
  nms__value two = op (t, "arith.addi", kept, kept);
  /* twice the number of kept candidates before, plus 1 if it is kept itself */
  nms__value counts = nms__mosaic_select (m, nms__mosaic_compare (m, "slt", lane, sublane), two,
      nms__mosaic_select (m, nms__mosaic_compare (m, "eq", lane, sublane), kept, none));
  /* convert to floats, because sums of integers take two passes across the lanes and
   * sums of floats one */
  counts = nms__mosaic_to_s32 (m, spread (t, nms__mosaic_reduce (m, "add", "0x00000000",
      nms__mosaic_to_f32 (m, counts), 1), TILE));
  moving.count = load_row (t, t->count, t->zero);
  moving.position = op (t, "arith.addi", op (t, "arith.shrui", counts, s32 (t, TILE, 1)),
      spread (t, moving.count, TILE));
  moving.is_kept = nms__mosaic_compare (m, "eq",
      op (t, "arith.andi", counts, s32 (t, TILE, 1)), s32 (t, TILE, 1));
  moving.index = nms__mosaic_transpose (m, spread (t,
      nms__mosaic_to_f32 (m, load_row (t, t->in[INDEX], t->row)), TILE));
  moving.more = op (t, "arith.addi", moving.count,
      spread (t, nms__mosaic_reduce (m, "add", "0", kept_row, 1), 1));

  KeptRows rows = { .loop = { .count = 0 } };
  while (next_kept_row (t, &rows))
    print_append_row (t, rows.loop.index, &moving);
  nms__mosaic_store (m, moving.more, t->count, t->zero, t->zero);
}

void
nms__mosaic_tiles_print (nms__mosaic *m, const nms__mosaic_spec *spec,
    const nms__mosaic_layout *layout)
{
  Tiles t = { .m = m, .spec = spec, .layout = layout };
  nms__value words[WORDS], kept[WORDS];
  nms__value step = nms__mosaic_begin (m, layout);

  assign_arrays (&t);
  t.zero = nms__mosaic_index (m, 0);
  nms__mosaic_open_if (m, nms__mosaic_compare (m, "eq", step, nms__mosaic_s32 (m, 0, 0, 0)));
  print_start (&t);
  nms__mosaic_close_if (m);

  /* do nothing after the last pick of the run */
  nms__mosaic_open_if (m, nms__mosaic_compare (m, "slt",
      nms__mosaic_first (m, load_row (&t, t.count, t.zero)),
      nms__mosaic_first (m, load_row (&t, t.most, t.zero))));
  t.row = nms__mosaic_row_of (m, step, 1);
  print_columns (&t);
  nms__mosaic_box tile = load_boxes (&t, t.in, t.row, WORD);
  for (int w = 0; w < WORDS; w++) {
    nms__value from = nms__mosaic_index (m, w * WORD);
    nms__mosaic_box candidate = load_columns (&t, from);
    nms__value outside = print_outside (&t, &candidate, from, w);
    print_words (&t, &candidate, from, w, &tile, words);
    kept[w] = print_chain (&t, outside, words, w, kept);
  }
  print_append (&t, print_kept_row (&t, kept));
  nms__mosaic_close_if (m);
  nms__mosaic_end (m);
}
