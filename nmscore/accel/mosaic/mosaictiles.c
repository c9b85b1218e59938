/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaictiles: the kernel with a grid step a tile of 128 candidates, which come
 * sorted by rank. No step looks for a maximum.
 *
 * The boxes kept so far lie in rows of 128. A step compares its candidates,
 * which are spread down the sublanes, with those rows and with themselves. Who
 * of the tile overlaps whom is packed into words of 32 bits, one candidate a
 * sublane; the sequential part is then, for one candidate after another, to see
 * whether its word and the word of those kept meet: three operations, with
 * every lane doing the same, so that nothing has to cross lanes. At last the
 * kept ones move to the end of the rows: each knows its place by counting, and
 * a masked maximum down the sublanes puts it there.
 */
#include "mosaictiles.h"
#include "mosaicpair.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TILE NMS__MOSAIC_LANES
#define WORD 32
#define WORDS (TILE / WORD)

/* The bit of a word's state that is always set; a candidate has it in its own
 * word when something outside the word suppresses it. The last candidate of a
 * word has no bit in the state then, nor needs one: nobody in there follows. */
#define BLOCKED INT32_MIN

enum { X1, Y1, X2, Y2, KEY, INDEX, PARAMETERS, CLASS, INPUTS };
enum { KEPT = 4, COLUMNS = 5 };

typedef struct {
  nms__mosaic *m;
  const nms_mosaic_spec *spec;
  const nms__mosaic_layout *layout;
  nms__array in[INPUTS];
  nms__array kept[4], kept_class; /* rows of kept boxes */
  nms__array column[4], column_class; /* the tile's, each down the sublanes */
  nms__array blocked;             /* own words, a candidate a sublane */
  nms__array count, most;         /* kept so far, and at most; in all lanes */
  nms__value zero;                /* index */
  nms__value row;                 /* index: of the tile */
} Tiles;

void
nms__mosaic_tiles_layout (const nms_mosaic_spec *spec, nms__mosaic_layout *layout)
{
  int kept_rows = (spec->picks + TILE - 1) / TILE;

  *layout = (nms__mosaic_layout){ .chunk = 1 };
  layout->rows = (spec->boxes + 1023) / 1024 * 8;
  layout->places = layout->rows * TILE;
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
name_arrays (Tiles *t)
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

/* One row of boxes, with their areas, for `rows` sublanes. */
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

/* First step: nothing is kept. Empty places overlap nothing. */
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

/* Puts the tile's row down the sublanes, the same in all lanes. */
static void
print_columns (Tiles *t)
{
  for (int i = 0; i < 4; i++)
    nms__mosaic_store (t->m, nms__mosaic_turn (t->m, spread (t, load_row (t, t->in[i], t->row),
        TILE)), t->column[i], t->zero, t->zero);
  if (has_class (t))
    nms__mosaic_store (t->m, nms__mosaic_turn (t->m, spread (t, load_row (t, t->in[CLASS], t->row),
        TILE)), t->column_class, t->zero, t->zero);
}

/* Candidates `from`.. of the tile, a sublane each. */
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

/* Where candidates (sublanes) would be suppressed by a row of boxes (lanes). */
static nms__value
print_meeting (Tiles *t, const nms__mosaic_box *candidate, nms__value from,
    const nms__mosaic_box *other, nms__array other_class, nms__value other_row)
{
  nms__mosaic *m = t->m;
  nms__value number[3];

  for (int i = 0; i < 3; i++)
    number[i] = spread (t, load_row (t, t->in[PARAMETERS], nms__mosaic_index (m, i)), WORD);
  nms__mosaic_limit limit = { number[0], number[1], number[2] };
  nms__value meet = nms__mosaic_exceeds (m, candidate, other, &limit);
  if (has_class (t)) {
    nms__value mine = nms__mosaic_load (m, t->column_class, from, t->zero, WORD, TILE);
    nms__value same = nms__mosaic_compare (m, "eq", mine,
        spread (t, load_row (t, other_class, other_row), WORD));
    meet = op (t, "arith.andi", meet, same);
  }
  return meet;
}

/* Rows of kept boxes that are handled without a loop, all at once. */
#define ROWS_UNROLLED 4

/* The rows of kept boxes, one after another; all uses of what `loop` carries
 * come after the last. */
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

/* Candidates of word `w` that overlap a kept box or take no part: not 0 in the
 * result, one value in all lanes of a sublane. */
static nms__value
print_outside (Tiles *t, const nms__mosaic_box *candidate, nms__value from, int w)
{
  nms__mosaic *m = t->m;
  nms__value one = s32 (t, WORD, 1);
  /* a candidate that takes no part blocks itself: its own lane */
  nms__value absent = nms__mosaic_compare (m, "eq",
      spread (t, load_row (t, t->in[KEY], t->row), WORD), s32 (t, WORD, NMS_MOSAIC_ABSENT));
  nms__value sublane = nms__mosaic_iota (m, WORD, TILE, 0);
  nms__value lane = nms__mosaic_iota (m, WORD, TILE, 1);
  nms__value own = nms__mosaic_compare (m, "eq", lane,
      op (t, "arith.addi", sublane, s32 (t, WORD, w * WORD)));
  nms__value met = nms__mosaic_select (m, op (t, "arith.andi", absent, own), one,
      s32 (t, WORD, 0));

  KeptRows rows = { .loop = { .count = 1, .carried = { &met } } };
  while (next_kept_row (t, &rows)) {
    nms__value row = rows.loop.index;
    nms__mosaic_box other = load_boxes (t, t->kept, row, WORD);
    met = nms__mosaic_select (m, print_meeting (t, candidate, from, &other, t->kept_class, row),
        one, met);
  }
  return nms__mosaic_reduce (m, "add", "0", met, 1);
}

/* The words of word `w`'s candidates: bit j of result v is set where the
 * candidate would be suppressed by candidate j of word v, which ranks before. */
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
  nms__value meet = op (t, "arith.andi", before,
      print_meeting (t, candidate, from, tile, t->in[CLASS], t->row));
  nms__value bits = nms__mosaic_select (m, meet, bit, s32 (t, WORD, 0));

  for (int v = 0; v <= w; v++) {
    nms__value of = nms__mosaic_compare (m, "eq",
        op (t, "arith.shrui", lane, s32 (t, WORD, 5)), s32 (t, WORD, v));
    words[v] = spread (t, nms__mosaic_reduce (m, "add", "0",
        nms__mosaic_select (m, of, bits, s32 (t, WORD, 0)), 1), WORD);
  }
}

/* Decides word `w`'s candidates one after another; the word of those kept, the
 * same in all lanes. `outside` and `words` are down the sublanes. */
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

/* 1 in the lanes of those kept. */
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

/* One field of those kept, moved to the places of a row of kept boxes; `rest`
 * is no more than any of them. A `column` of floats may go to an array of
 * integers. */
static void
move_field (Tiles *t, nms__value goes, nms__value filled, nms__value column, nms__value rest,
    nms__array array, nms__value row)
{
  nms__mosaic *m = t->m;
  int floats = column.type == NMS__MOSAIC_F32;
  nms__value found = nms__mosaic_reduce (m, floats ? "maximumf" : "maxsi",
      floats ? "0xFF800000" : "-2147483648", nms__mosaic_select (m, goes, column, rest), 0);

  if (floats && array.type == NMS__MOSAIC_S32)
    found = nms__mosaic_to_s32 (m, found);
  nms__mosaic_store (m, nms__mosaic_select (m, filled, found, load_row (t, array, row)), array,
      row, t->zero);
}

/* What is to be moved behind the kept boxes: places, down the sublanes. */
typedef struct {
  nms__value place, is_kept, index;
  nms__value count, more; /* how many are kept before and after */
} Moving;

static void
print_append_row (Tiles *t, nms__value row, const Moving *moving)
{
  nms__mosaic *m = t->m;
  nms__value most = load_row (t, t->most, t->zero);
  nms__value slot = op (t, "arith.addi", nms__mosaic_iota (m, 1, TILE, 1),
      nms__mosaic_spread (m, nms__mosaic_place (m, row, TILE), 1, TILE));
  nms__value goes = op (t, "arith.andi", moving->is_kept,
      nms__mosaic_compare (m, "eq", moving->place, spread (t, slot, TILE)));
  nms__value filled = op (t, "arith.andi", nms__mosaic_compare (m, "sge", slot, moving->count),
      nms__mosaic_compare (m, "slt", slot, moving->more));
  nms__value least = nms__mosaic_f32 (m, TILE, TILE, -INFINITY);
  for (int i = 0; i < 4; i++)
    move_field (t, goes, filled, nms__mosaic_load (m, t->column[i], t->zero, t->zero, TILE, TILE),
        least, t->kept[i], row);
  if (has_class (t))
    move_field (t, goes, filled,
        nms__mosaic_load (m, t->column_class, t->zero, t->zero, TILE, TILE),
        s32 (t, TILE, INT32_MIN), t->kept_class, row);
  move_field (t, goes, op (t, "arith.andi", filled,
      nms__mosaic_compare (m, "slt", slot, most)), moving->index,
      nms__mosaic_f32 (m, TILE, TILE, 0.0f), t->layout->picks, row);
}

/* Appends those kept to the rows of kept boxes, as far as there is room. */
static void
print_append (Tiles *t, nms__value kept_row)
{
  nms__mosaic *m = t->m;
  Moving moving;
  nms__value sublane = nms__mosaic_iota (m, TILE, TILE, 0);
  nms__value lane = nms__mosaic_iota (m, TILE, TILE, 1);
  nms__value kept = spread (t, kept_row, TILE), none = s32 (t, TILE, 0);
  nms__value two = op (t, "arith.addi", kept, kept);
  /* twice the number of those kept before, and 1 if kept itself */
  nms__value places = nms__mosaic_select (m, nms__mosaic_compare (m, "slt", lane, sublane), two,
      nms__mosaic_select (m, nms__mosaic_compare (m, "eq", lane, sublane), kept, none));
  /* (sums of floats cross the lanes in one pass, integers need two) */
  places = nms__mosaic_to_s32 (m, spread (t, nms__mosaic_reduce (m, "add", "0x00000000",
      nms__mosaic_to_f32 (m, places), 1), TILE));
  moving.count = load_row (t, t->count, t->zero);
  moving.place = op (t, "arith.addi", op (t, "arith.shrui", places, s32 (t, TILE, 1)),
      spread (t, moving.count, TILE));
  moving.is_kept = nms__mosaic_compare (m, "eq",
      op (t, "arith.andi", places, s32 (t, TILE, 1)), s32 (t, TILE, 1));
  moving.index = nms__mosaic_turn (m, spread (t,
      nms__mosaic_to_f32 (m, load_row (t, t->in[INDEX], t->row)), TILE));
  moving.more = op (t, "arith.addi", moving.count,
      spread (t, nms__mosaic_reduce (m, "add", "0", kept_row, 1), 1));

  KeptRows rows = { .loop = { .count = 0 } };
  while (next_kept_row (t, &rows))
    print_append_row (t, rows.loop.index, &moving);
  nms__mosaic_store (m, moving.more, t->count, t->zero, t->zero);
}

void
nms__mosaic_tiles_print (nms__mosaic *m, const nms_mosaic_spec *spec,
    const nms__mosaic_layout *layout)
{
  Tiles t = { .m = m, .spec = spec, .layout = layout };
  nms__value words[WORDS], kept[WORDS];
  nms__value step = nms__mosaic_begin (m, layout);

  name_arrays (&t);
  t.zero = nms__mosaic_index (m, 0);
  nms__mosaic_open_if (m, nms__mosaic_compare (m, "eq", step, nms__mosaic_s32 (m, 0, 0, 0)));
  print_start (&t);
  nms__mosaic_close_if (m);

  /* once the run's picks are complete there is nothing left to do */
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
