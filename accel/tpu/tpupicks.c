/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpupicks: prints the kernel with one grid step for each pick.
 *
 * A step passes over the boxes once, in chunks. It removes the boxes that the last pick
 * suppresses. Of the remaining ones, each position of a chunk remembers the best box so
 * far, with its corners. Then one search over a single chunk finds the best of these,
 * of equal keys the lowest index, which is the next pick. The first step starts with a
 * pick that overlaps no box. Every step has one search, whatever N is, and the pass
 * reads the chip's memory sequentially.
 *
 * This is the step structure of the article "Implementing Sequential Algorithms on TPU". It has
 * none of the options of a spec.
 */
#include "tpupicks.h"
#include "tpupair.h"

#include "accel/lazy/boxrules.h"

#include <math.h>
#include <stdint.h>

/* Rows of a chunk: enough independent registers to hide latency. */
#define CHUNK_ROWS 32

#define COLS NMS__TPU_LANES

enum { CORNERS = NMS__TPU_KEY }; /* the first fields of a box */

typedef struct {
  nms__tpu *m;
  const nms__tpu_layout *layout;
  nms__array parameters;
  nms__array undecided;   /* keys; NMS__TPU_ABSENT for a box that is decided */
  nms__array area;        /* areas of the boxes */
  nms__array last, index; /* the last pick: rows of its corners, and a row of its index */
  nms__value zero;        /* 0 of type index */
} Picks;

/* The best box so far at each position of a chunk. */
typedef struct {
  nms__value key, index, corner[CORNERS];
} Best;

void
nms__tpu_picks_layout (const nms__tpu_spec *spec, nms__tpu_layout *layout)
{
  int rows = (spec->boxes + 1023) / 1024 * 8;
  int chunk = rows < CHUNK_ROWS ? rows : CHUNK_ROWS;

  *layout = (nms__tpu_layout) { .chunk = chunk,
    .fields = NMS__TPU_KEY + 1,
    .steps = spec->picks,
    .images = 1 };
  layout->rows = (rows + chunk - 1) / chunk * chunk;
  layout->positions = layout->rows * COLS;
  nms__tpu_add_input (layout, NMS__TPU_S32, layout->fields * layout->rows);
  layout->shared = layout->input_count;
  nms__tpu_add_input (layout, NMS__TPU_F32, 8);
  nms__tpu_set_picks (layout, spec->picks);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->rows);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, layout->rows);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 8);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, 1);
}

static nms__value
op (Picks *p, const char *name, nms__value a, nms__value b)
{
  return nms__tpu_op (p->m, name, a, b);
}

static nms__value
load_chunk (Picks *p, nms__array array, nms__value row)
{
  return nms__tpu_load (p->m, array, row, p->zero, p->layout->chunk, COLS);
}

/* Prints the load of a field of the boxes of a chunk. */
static nms__value
load_field (Picks *p, int field, nms__value row)
{
  nms__value first = nms__tpu_index (p->m, field * p->layout->rows);
  nms__value value = load_chunk (p, p->layout->input[0], op (p, "arith.addi", row, first));

  return field < CORNERS ? nms__tpu_bitcast (p->m, NMS__TPU_F32, value) : value;
}

/* Prints row `row` of an array repeated for a whole chunk. */
static nms__value
load_repeated (Picks *p, nms__array array, int row)
{
  return nms__tpu_spread (p->m, nms__tpu_load_rows (p->m, array, row, 1), p->layout->chunk, COLS);
}

static nms__tpu_box
load_box (Picks *p, nms__value row)
{
  return (nms__tpu_box) { load_field (p, 0, row), load_field (p, 1, row), load_field (p, 2, row),
    load_field (p, 3, row), { "", 0, 0, 0 } };
}

static nms__value
constant (Picks *p, int32_t value)
{
  return nms__tpu_s32 (p->m, p->layout->chunk, COLS, value);
}

static void
store_scalar (Picks *p, nms__value scalar, nms__array array, int row)
{
  nms__tpu_store_rows (p->m, nms__tpu_spread (p->m, scalar, 1, COLS), array, row);
}

/* Prints the start of the first step: all boxes that take part are undecided, and the
 * last pick is a box far outside, without area and with index -1. */
static void
print_start (Picks *p)
{
  nms__tpu *m = p->m;
  nms__loop loop = { .count = 0 };
  nms__value far = nms__tpu_f32 (m, 1, 1, -2 * NMS__MOST_COORDINATE);

  nms__tpu_open_loop (m, &loop, p->layout->rows, p->layout->chunk);
  nms__tpu_box box = load_box (p, loop.index);
  nms__tpu_store (m, load_field (p, NMS__TPU_KEY, loop.index), p->undecided, loop.index, p->zero);
  nms__tpu_store (m, nms__tpu_area (m, &box), p->area, loop.index, p->zero);
  nms__tpu_close_loop (m, &loop);

  loop = (nms__loop) { .count = 0 };
  nms__tpu_open_loop (m, &loop, p->layout->picks.rows, 8);
  nms__tpu_store (m, nms__tpu_s32 (m, 8, COLS, -1), p->layout->picks, loop.index, p->zero);
  nms__tpu_close_loop (m, &loop);

  for (int i = 0; i < CORNERS; i++)
    store_scalar (p, far, p->last, i);
  store_scalar (p, nms__tpu_s32 (m, 1, 1, -1), p->index, 0);
}

/* Prints the pass of a step. */
static void
print_pass (Picks *p, Best *best)
{
  nms__tpu *m = p->m;
  int rows = p->layout->chunk;
  nms__tpu_box last = { load_repeated (p, p->last, 0), load_repeated (p, p->last, 1),
    load_repeated (p, p->last, 2), load_repeated (p, p->last, 3), { "", 0, 0, 0 } };
  nms__tpu_limit limit = { load_repeated (p, p->parameters, 0), load_repeated (p, p->parameters, 1),
    load_repeated (p, p->parameters, 2) };
  nms__value last_index = load_repeated (p, p->index, 0);
  nms__value number = op (p, "arith.addi",
      op (p, "arith.muli", nms__tpu_iota (m, rows, COLS, 0), constant (p, COLS)),
      nms__tpu_iota (m, rows, COLS, 1));
  nms__value decided = constant (p, NMS__TPU_ABSENT);

  last.area = nms__tpu_area (m, &last);
  *best = (Best) { decided, constant (p, INT32_MAX), { last.x1, last.y1, last.x2, last.y2 } };
  nms__loop loop = { .count = 2 + CORNERS,
    .carried = { &best->key, &best->index, &best->corner[0], &best->corner[1], &best->corner[2],
        &best->corner[3] } };
  nms__tpu_open_loop (m, &loop, p->layout->rows, rows);
  nms__value row = loop.index;
  nms__value position = op (p, "arith.addi", number,
      nms__tpu_spread (m, nms__tpu_first_of_row (m, row, COLS), rows, COLS));
  nms__tpu_box box = load_box (p, row);
  box.area = load_chunk (p, p->area, row);

  nms__value removed = op (p, "arith.ori", nms__tpu_exceeds (m, &box, &last, &limit),
      nms__tpu_compare (m, "eq", position, last_index));
  nms__value undecided = nms__tpu_select (m, removed, decided, load_chunk (p, p->undecided, row));
  nms__tpu_store (m, undecided, p->undecided, row, p->zero);

  /* strictly greater, so that of equal keys the lowest position is kept */
  const nms__value corner[] = { box.x1, box.y1, box.x2, box.y2 };
  nms__value better = nms__tpu_compare (m, "sgt", undecided, best->key);
  best->key = nms__tpu_select (m, better, undecided, best->key);
  best->index = nms__tpu_select (m, better, position, best->index);
  for (int i = 0; i < CORNERS; i++)
    best->corner[i] = nms__tpu_select (m, better, corner[i], best->corner[i]);
  nms__tpu_close_loop (m, &loop);
}

/* Prints the reduction of a chunk to one element, across sublanes first, because that
 * takes fewer cycles. */
static nms__value
reduce_all (Picks *p, const char *kind, const char *start, nms__value a)
{
  return nms__tpu_reduce (p->m, kind, start, nms__tpu_reduce (p->m, kind, start, a, 0), 1);
}

/* Prints the search for the best position of the chunk, which is the next pick, and
 * stores it as the last pick. Returns its index. */
static nms__value
print_search (Picks *p, const Best *best)
{
  nms__tpu *m = p->m;
  int rows = p->layout->chunk;
  nms__value key = reduce_all (p, "maxsi", "-2147483648", best->key);
  nms__value first = nms__tpu_compare (m, "eq", best->key, nms__tpu_spread (m, key, rows, COLS));
  nms__value index = reduce_all (p, "minsi", "2147483647",
      nms__tpu_select (m, first, best->index, constant (p, INT32_MAX)));
  nms__value chosen = nms__tpu_compare (m, "eq", best->index,
      nms__tpu_spread (m, index, rows, COLS));
  nms__value low = nms__tpu_f32 (m, rows, COLS, -INFINITY);

  for (int i = 0; i < CORNERS; i++)
    store_scalar (p,
        reduce_all (p, "maximumf", "0xFF800000", nms__tpu_select (m, chosen, best->corner[i], low)),
        p->last, i);

  /* if no box is undecided, there is no pick */
  nms__value absent = nms__tpu_s32 (m, 1, 1, NMS__TPU_ABSENT);
  index = nms__tpu_select (m, nms__tpu_compare (m, "sgt", key, absent), index,
      nms__tpu_s32 (m, 1, 1, -1));
  store_scalar (p, index, p->index, 0);
  return index;
}

/* Prints the store of the pick to the result, unless the run has all its picks. */
static void
print_pick (Picks *p, nms__value step, nms__value index)
{
  nms__tpu *m = p->m;
  nms__value row = nms__tpu_row_of (m, step, COLS), number = nms__tpu_spread (m, step, 1, COLS);
  nms__value lane = op (p, "arith.andi", number, nms__tpu_s32 (m, 1, COLS, COLS - 1));
  nms__value here = nms__tpu_compare (m, "eq", nms__tpu_iota (m, 1, COLS, 1), lane);
  nms__value most = nms__tpu_load_rows (m, p->parameters, NMS__TPU_MOST, 1);
  nms__value below_cap = nms__tpu_compare (m, "olt", nms__tpu_to_f32 (m, number), most);
  nms__value old = nms__tpu_load (m, p->layout->picks, row, p->zero, 1, COLS);

  nms__tpu_store (m,
      nms__tpu_select (m, op (p, "arith.andi", here, below_cap),
          nms__tpu_spread (m, index, 1, COLS), old),
      p->layout->picks, row, p->zero);
}

void
nms__tpu_picks_print (nms__tpu *m, const nms__tpu_layout *layout)
{
  const nms__array *s = layout->scratch;
  Picks p = { .m = m,
    .layout = layout,
    .parameters = layout->input[1],
    .undecided = s[0],
    .area = s[1],
    .last = s[2],
    .index = s[3] };
  Best best;
  nms__value step = nms__tpu_begin (m, layout);

  p.zero = nms__tpu_index (m, 0);
  nms__tpu_open_if (m, nms__tpu_compare (m, "eq", step, nms__tpu_s32 (m, 0, 0, 0)));
  print_start (&p);
  nms__tpu_close_if (m);
  print_pass (&p, &best);
  print_pick (&p, step, print_search (&p, &best));
  nms__tpu_end (m, layout);
}
