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
 */
#include "tpupicks.h"
#include "tpupair.h"

#include "accel/lazy/boxrules.h"

#include <math.h>
#include <stdint.h>

/* Rows of a chunk: enough independent registers to hide latency. */
#define CHUNK_ROWS 32

enum { X1, Y1, X2, Y2, KEY, PARAMETERS, CLASS, LIMIT, CLASS_MOST, PARENT, INPUTS };

/* The rows of the arrays that describe the last pick. */
enum { LAST_X1, LAST_Y1, LAST_X2, LAST_Y2 };
enum { LAST_INDEX, LAST_CLASS, LAST_PARENT };

typedef struct {
  nms__tpu *m;
  const nms__tpu_spec *spec;
  const nms__tpu_layout *layout;
  nms__array in[INPUTS];
  nms__array undecided, area, cap_left, last, last_bits;
  nms__value zero; /* index */
} Picks;

/* The best box so far at each position of a chunk. */
typedef struct {
  nms__value key, index, corner[4], class_id, parent;
} Best;

void
nms__tpu_picks_layout (const nms__tpu_spec *spec, nms__tpu_layout *layout)
{
  int rows = (spec->boxes + 1023) / 1024 * 8;
  int chunk = rows < CHUNK_ROWS ? rows : CHUNK_ROWS;

  *layout = (nms__tpu_layout) { .chunk = chunk,
    .steps = spec->picks,
    .images = nms__tpu_images (spec) };
  layout->rows = (rows + chunk - 1) / chunk * chunk;
  layout->positions = layout->rows * NMS__TPU_LANES;
  for (int i = 0; i < 4; i++)
    nms__tpu_add_input (layout, NMS__TPU_F32, layout->rows);
  nms__tpu_add_input (layout, NMS__TPU_S32, layout->rows);
  layout->shared = layout->input_count;
  nms__tpu_add_input (layout, NMS__TPU_F32, 8);
  if (nms__tpu_uses_class (spec))
    nms__tpu_add_input (layout, NMS__TPU_S32, layout->rows);
  if (spec->box_limits)
    nms__tpu_add_input (layout, NMS__TPU_F32, 3 * layout->rows);
  if (spec->class_caps)
    nms__tpu_add_input (layout, NMS__TPU_S32, layout->rows);
  if (spec->parents)
    nms__tpu_add_input (layout, NMS__TPU_S32, layout->rows);
  nms__tpu_set_picks (layout, spec->picks);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->rows);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, layout->rows);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 8);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, 8);
  if (spec->class_caps)
    nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->rows);
}

static void
assign_arrays (Picks *p)
{
  const nms__array *next = p->layout->input;

  for (int i = 0; i < INPUTS; i++) {
    if ((i == CLASS && !nms__tpu_uses_class (p->spec)) || (i == LIMIT && !p->spec->box_limits)
        || (i == CLASS_MOST && !p->spec->class_caps) || (i == PARENT && !p->spec->parents))
      continue;
    p->in[i] = *next++;
  }
  p->undecided = p->layout->scratch[0];
  p->area = p->layout->scratch[1];
  p->last = p->layout->scratch[2];
  p->last_bits = p->layout->scratch[3];
  if (p->spec->class_caps)
    p->cap_left = p->layout->scratch[4];
}

static nms__value
load_chunk (Picks *p, nms__array array, nms__value row)
{
  return nms__tpu_load (p->m, array, row, p->zero, p->layout->chunk, NMS__TPU_LANES);
}

static nms__value
constant (Picks *p, int32_t value)
{
  return nms__tpu_s32 (p->m, p->layout->chunk, NMS__TPU_LANES, value);
}

/* Prints row `field` of an array repeated for a whole chunk. */
static nms__value
load_field (Picks *p, nms__array array, int field)
{
  nms__value row = nms__tpu_load (p->m, array, nms__tpu_index (p->m, field), p->zero, 1,
      NMS__TPU_LANES);
  return nms__tpu_spread (p->m, row, p->layout->chunk, NMS__TPU_LANES);
}

/* Prints the load of one of the three numbers of a limit, for each box of a chunk. */
static nms__value
load_limit (Picks *p, int field, nms__value row)
{
  if (!p->spec->box_limits)
    return load_field (p, p->in[PARAMETERS], field);
  return load_chunk (p, p->in[LIMIT],
      nms__tpu_op (p->m, "arith.addi", row, nms__tpu_index (p->m, field * p->layout->rows)));
}

static void
store_field (Picks *p, nms__value scalar, nms__array array, int field)
{
  nms__value row = nms__tpu_spread (p->m, scalar, 1, NMS__TPU_LANES);
  nms__tpu_store (p->m, row, array, nms__tpu_index (p->m, field), p->zero);
}

/* Prints the start of the first step: all boxes that take part are undecided, and the
 * last pick is a box far outside, without area and with index -1. */
static void
print_start (Picks *p)
{
  nms__tpu *m = p->m;
  nms__loop loop = { .count = 0 };
  nms__value none = nms__tpu_s32 (m, 1, 1, -1);
  nms__value far = nms__tpu_f32 (m, 1, 1, -2 * NMS__MOST_COORDINATE);

  nms__tpu_open_loop (m, &loop, p->layout->rows, p->layout->chunk);
  nms__value row = loop.index;
  nms__tpu_store (m, load_chunk (p, p->in[KEY], row), p->undecided, row, p->zero);
  nms__tpu_box box = { load_chunk (p, p->in[X1], row), load_chunk (p, p->in[Y1], row),
    load_chunk (p, p->in[X2], row), load_chunk (p, p->in[Y2], row), { "", 0, 0, 0 } };
  nms__tpu_store (m, nms__tpu_area (m, &box), p->area, row, p->zero);
  if (p->spec->class_caps) {
    nms__value most = load_chunk (p, p->in[CLASS_MOST], row);
    nms__value unlimited = nms__tpu_compare (m, "sle", most, constant (p, 0));
    nms__tpu_store (m, nms__tpu_select (m, unlimited, constant (p, INT32_MAX), most),
        p->cap_left, row, p->zero);
  }
  nms__tpu_close_loop (m, &loop);

  loop = (nms__loop) { .count = 0 };
  nms__tpu_open_loop (m, &loop, p->layout->picks.rows, 8);
  nms__tpu_store (m, nms__tpu_s32 (m, 8, NMS__TPU_LANES, -1), p->layout->picks, loop.index,
      p->zero);
  nms__tpu_close_loop (m, &loop);

  for (int i = LAST_X1; i <= LAST_Y2; i++)
    store_field (p, far, p->last, i);
  store_field (p, none, p->last_bits, LAST_INDEX);
  store_field (p, none, p->last_bits, LAST_CLASS);
  if (p->spec->parents)
    store_field (p, none, p->last_bits, LAST_PARENT);
}

/* What a pass reads of the boxes of a chunk besides corners. */
typedef struct {
  nms__value position, class_id, parent;
} Chunk;

/* Prints the test which boxes of a chunk are neither parents nor parts of the last pick. */
static nms__value
print_unrelated (Picks *p, const Chunk *chunk)
{
  nms__tpu_relation box = { chunk->position, chunk->parent };
  nms__tpu_relation last = { load_field (p, p->last_bits, LAST_INDEX),
    load_field (p, p->last_bits, LAST_PARENT) };

  return nms__tpu_unrelated (p->m, &box, &last);
}

/* Prints the tests whether the box at a position of a chunk is removed, because the last
 * pick suppresses it, it is the last pick, or its class is full. */
static nms__value
print_removed (Picks *p, nms__value row, const Chunk *chunk, const nms__tpu_box *box,
    const nms__tpu_box *last)
{
  nms__tpu *m = p->m;
  nms__tpu_limit limit = { load_limit (p, 0, row), load_limit (p, 1, row),
    load_limit (p, 2, row) };
  nms__value removed = nms__tpu_exceeds (m, box, last, &limit);
  nms__value self = nms__tpu_compare (m, "eq", chunk->position,
      load_field (p, p->last_bits, LAST_INDEX));

  if (p->spec->parents)
    removed = nms__tpu_op (m, "arith.andi", removed, print_unrelated (p, chunk));

  if (nms__tpu_uses_class (p->spec)) {
    nms__value same = nms__tpu_compare (m, "eq", chunk->class_id,
        load_field (p, p->last_bits, LAST_CLASS));
    if (!p->spec->class_agnostic)
      removed = nms__tpu_op (m, "arith.andi", removed, same);
    if (p->spec->class_caps) {
      nms__value cap_left = load_chunk (p, p->cap_left, row);
      nms__value was = nms__tpu_compare (m, "sge", load_field (p, p->last_bits, LAST_INDEX),
          constant (p, 0));
      nms__value one = nms__tpu_select (m, nms__tpu_op (m, "arith.andi", same, was),
          constant (p, 1), constant (p, 0));
      cap_left = nms__tpu_op (m, "arith.subi", cap_left, one);
      nms__tpu_store (m, cap_left, p->cap_left, row, p->zero);
      nms__value full = nms__tpu_compare (m, "sle", cap_left, constant (p, 0));
      removed = nms__tpu_op (m, "arith.ori", removed, full);
    }
  }
  return nms__tpu_op (m, "arith.ori", removed, self);
}

/* Prints the pass of a step. */
static void
print_pass (Picks *p, Best *best)
{
  nms__tpu *m = p->m;
  int rows = p->layout->chunk, cols = NMS__TPU_LANES;
  nms__tpu_box last = { load_field (p, p->last, LAST_X1), load_field (p, p->last, LAST_Y1),
    load_field (p, p->last, LAST_X2), load_field (p, p->last, LAST_Y2), { "", 0, 0, 0 } };
  nms__value number = nms__tpu_op (m, "arith.addi",
      nms__tpu_op (m, "arith.muli", nms__tpu_iota (m, rows, cols, 0), constant (p, cols)),
      nms__tpu_iota (m, rows, cols, 1));
  nms__value dead = constant (p, NMS__TPU_ABSENT);
  nms__value *corners[4] = { &last.x1, &last.y1, &last.x2, &last.y2 };

  last.area = nms__tpu_area (m, &last);
  best->key = dead;
  best->index = constant (p, INT32_MAX);
  best->class_id = best->parent = constant (p, 0);
  for (int i = 0; i < 4; i++)
    best->corner[i] = *corners[i];

  nms__loop loop = { .count = 6,
    .carried = { &best->key, &best->index, &best->corner[0], &best->corner[1], &best->corner[2],
        &best->corner[3] } };
  if (nms__tpu_uses_class (p->spec))
    loop.carried[loop.count++] = &best->class_id;
  if (p->spec->parents)
    loop.carried[loop.count++] = &best->parent;
  nms__tpu_open_loop (m, &loop, p->layout->rows, rows);
  nms__value row = loop.index;
  Chunk chunk = {
    .position = nms__tpu_op (m, "arith.addi", number,
        nms__tpu_spread (m, nms__tpu_first_of_row (m, row, cols), rows, cols))
  };
  nms__value corner[4];
  for (int i = 0; i < 4; i++)
    corner[i] = load_chunk (p, p->in[X1 + i], row);
  nms__tpu_box box = { corner[0], corner[1], corner[2], corner[3],
    load_chunk (p, p->area, row) };
  if (nms__tpu_uses_class (p->spec))
    chunk.class_id = load_chunk (p, p->in[CLASS], row);
  if (p->spec->parents)
    chunk.parent = load_chunk (p, p->in[PARENT], row);

  nms__value removed = print_removed (p, row, &chunk, &box, &last);
  nms__value undecided = nms__tpu_select (m, removed, dead, load_chunk (p, p->undecided, row));
  nms__tpu_store (m, undecided, p->undecided, row, p->zero);

  /* strictly greater, so that of equal keys the lowest position is kept */
  nms__value better = nms__tpu_compare (m, "sgt", undecided, best->key);
  best->key = nms__tpu_select (m, better, undecided, best->key);
  best->index = nms__tpu_select (m, better, chunk.position, best->index);
  for (int i = 0; i < 4; i++)
    best->corner[i] = nms__tpu_select (m, better, corner[i], best->corner[i]);
  if (nms__tpu_uses_class (p->spec))
    best->class_id = nms__tpu_select (m, better, chunk.class_id, best->class_id);
  if (p->spec->parents)
    best->parent = nms__tpu_select (m, better, chunk.parent, best->parent);
  nms__tpu_close_loop (m, &loop);
}

/* Prints the reduction of a chunk to one element, across sublanes first, because that
 * takes fewer cycles. */
static nms__value
reduce_all (Picks *p, const char *kind, const char *start, nms__value a)
{
  return nms__tpu_reduce (p->m, kind, start, nms__tpu_reduce (p->m, kind, start, a, 0), 1);
}

/* Prints the store of the one chosen element of a chunk of integers. */
static void
store_chosen (Picks *p, nms__value chosen, nms__value a, int field)
{
  store_field (p, reduce_all (p, "add", "0", nms__tpu_select (p->m, chosen, a, constant (p, 0))),
      p->last_bits, field);
}

/* Prints the search for the best position of the chunk, which is the next pick, and
 * stores it as the last pick. Returns its index. */
static nms__value
print_search (Picks *p, const Best *best)
{
  nms__tpu *m = p->m;
  int rows = p->layout->chunk, cols = NMS__TPU_LANES;
  nms__value key = reduce_all (p, "maxsi", "-2147483648", best->key);
  nms__value first = nms__tpu_compare (m, "eq", best->key,
      nms__tpu_spread (m, key, rows, cols));
  nms__value index = reduce_all (p, "minsi", "2147483647",
      nms__tpu_select (m, first, best->index, constant (p, INT32_MAX)));
  nms__value chosen = nms__tpu_compare (m, "eq", best->index,
      nms__tpu_spread (m, index, rows, cols));
  nms__value low = nms__tpu_f32 (m, rows, cols, -INFINITY);

  for (int i = 0; i < 4; i++)
    store_field (p,
        reduce_all (p, "maximumf", "0xFF800000",
            nms__tpu_select (m, chosen, best->corner[i], low)),
        p->last, i);
  if (nms__tpu_uses_class (p->spec))
    store_chosen (p, chosen, best->class_id, LAST_CLASS);
  if (p->spec->parents)
    store_chosen (p, chosen, best->parent, LAST_PARENT);

  /* if no box is undecided, there is no pick */
  nms__value absent = nms__tpu_s32 (m, 1, 1, NMS__TPU_ABSENT);
  nms__value none = nms__tpu_s32 (m, 1, 1, -1);
  index = nms__tpu_select (m, nms__tpu_compare (m, "sgt", key, absent), index, none);
  store_field (p, index, p->last_bits, LAST_INDEX);
  return index;
}

/* Prints the store of the pick to the result, unless the run has all its picks. */
static void
print_pick (Picks *p, nms__value step, nms__value index)
{
  nms__tpu *m = p->m;
  int cols = NMS__TPU_LANES;
  nms__value row = nms__tpu_row_of (m, step, cols);
  nms__value number = nms__tpu_spread (m, step, 1, cols);
  nms__value lane = nms__tpu_op (m, "arith.andi", number,
      nms__tpu_s32 (m, 1, cols, cols - 1));
  nms__value here = nms__tpu_compare (m, "eq", nms__tpu_iota (m, 1, cols, 1), lane);
  nms__value most = nms__tpu_load (m, p->in[PARAMETERS], nms__tpu_index (m, NMS__TPU_MOST),
      p->zero, 1, cols);
  nms__value below_cap = nms__tpu_compare (m, "olt", nms__tpu_to_f32 (m, number), most);
  nms__value old = nms__tpu_load (m, p->layout->picks, row, p->zero, 1, cols);
  nms__value picks = nms__tpu_select (m, nms__tpu_op (m, "arith.andi", here, below_cap),
      nms__tpu_spread (m, index, 1, cols), old);

  nms__tpu_store (m, picks, p->layout->picks, row, p->zero);
}

void
nms__tpu_picks_print (nms__tpu *m, const nms__tpu_spec *spec,
    const nms__tpu_layout *layout)
{
  Picks p = { .m = m, .spec = spec, .layout = layout };
  Best best;
  nms__value step = nms__tpu_begin (m, layout);

  assign_arrays (&p);
  p.zero = nms__tpu_index (m, 0);
  nms__tpu_open_if (m, nms__tpu_compare (m, "eq", step, nms__tpu_s32 (m, 0, 0, 0)));
  print_start (&p);
  nms__tpu_close_if (m);
  print_pass (&p, &best);
  print_pick (&p, step, print_search (&p, &best));
  nms__tpu_end (m, layout);
}
