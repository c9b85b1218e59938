/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsgraph: the selection loop. The time of a loop compiled by XLA for a CPU grows
 * with the number of operations and of arrays that it carries. So one array, `state`,
 * holds the whole state of each box: its suppressor, or kept, or undecided. A step
 * computes the next state in one pass, finds the best undecided key in a second one
 * and its position in a third one. Several images take each step together, until none
 * has an undecided box; in an image that has none a step changes nothing.
 */
#include "nmsgraph.h"

#include "lazynodes.h"
#include "accel/lazy/boxrules.h"
#include "overlapgraph.h"

#include <math.h>
#include <string.h>

typedef nms_lazy_tensor tensor;

#define UNDECIDED (-5) /* a state besides those of nmsgraph.h */

/* The columns that the loop reads, and the tensors that it carries. */
enum { X1, Y1, X2, Y2, AREA, LIMIT, KEY, POSITION, CAP, CLASS, CAP_CLASS, INDEX, PARENT, COLUMNS };
enum { COUNT, PICK, STATE, PICKS, CAP_LEFT, STATES };

typedef struct graph {
  nms_lazy *lz;
  unsigned flags;
  int32_t rank, dims[2]; /* shape of a column: N boxes, or B images x N boxes */
  int has_classes, has_caps, has_parents;
  tensor c[COLUMNS];
} graph;

static tensor
compare (const graph *g, nms_lazy_op order, tensor a, tensor b)
{
  return nms_lazy_binary (g->lz, order, a, b);
}

static tensor
both (const graph *g, tensor a, tensor b)
{
  return nms_lazy_binary (g->lz, NMS_LAZY_AND, a, b);
}

static tensor
number (const graph *g, int32_t value)
{
  return nms_lazy_s32 (g->lz, value);
}

/* Returns element `at` of a column, a scalar. With several images `at` has a number for each, and
 * the result is a vector with an element of each image. */
static tensor
element (const graph *g, tensor column, tensor at)
{
  const int32_t one = 1, all = g->dims[0] * g->dims[1];

  if (g->rank == 1)
    return nms_lazy_reshape (g->lz, nms_lazy_slice (g->lz, column, &at, &one), 0, NULL);
  tensor first = nms_lazy_binary (g->lz, NMS_LAZY_MUL, nms_lazy_iota (g->lz, 1, g->dims, 0),
      number (g, g->dims[1]));
  return nms_lazy_take (g->lz, nms_lazy_reshape (g->lz, column, 1, &all),
      nms_lazy_binary (g->lz, NMS_LAZY_ADD, first, at));
}

/* Expands `x`, a vector with a number for each image, to a number for each box. With a single image
 * `x` is a scalar and is returned. */
static tensor
per_box (const graph *g, tensor x)
{
  return g->rank == 1 ? x : nms_lazy_broadcast (g->lz, x, 2, g->dims, 0);
}

/* Returns a column's element at the pick, for all boxes. */
static tensor
of_pick (const graph *g, int which, tensor pick)
{
  return per_box (g, element (g, g->c[which], pick));
}

/* Returns x as a column, a scalar repeated for each box. */
static tensor
column (const graph *g, tensor x)
{
  return nms_lazy_shape_of (g->lz, x).rank ? x : nms_lazy_broadcast (g->lz, x, g->rank, g->dims, 0);
}

/* Reduces the boxes of each image. */
static tensor
reduce (const graph *g, nms_lazy_op order, tensor x)
{
  return nms_lazy_reduce (g->lz, order, x, g->rank - 1);
}

/* Finds the position of the best undecided box, INT32_MAX if there is none. */
static tensor
best (const graph *g, tensor state)
{
  const tensor *c = g->c;
  tensor undecided = compare (g, NMS_LAZY_EQ, state, number (g, UNDECIDED));
  tensor key = nms_lazy_select (g->lz, undecided, c[KEY], number (g, INT32_MIN));
  tensor greatest = per_box (g, reduce (g, NMS_LAZY_MAX, key));
  tensor is_greatest = both (g, undecided, compare (g, NMS_LAZY_EQ, c[KEY], greatest));
  tensor position = nms_lazy_select (g->lz, is_greatest, c[POSITION], number (g, INT32_MAX));

  return reduce (g, NMS_LAZY_MIN, position);
}

/* Marks the boxes that rank below the box at `position`, which has `key`. */
static tensor
after (const graph *g, tensor key, tensor position)
{
  const tensor *c = g->c;
  tensor equal = both (g, compare (g, NMS_LAZY_EQ, c[KEY], key),
      compare (g, NMS_LAZY_GT, c[POSITION], position));
  return nms_lazy_binary (g->lz, NMS_LAZY_OR, compare (g, NMS_LAZY_LT, c[KEY], key), equal);
}

/* Marks the boxes that are suppressed or undecided. */
static tensor
uncapped (const graph *g, tensor state)
{
  return nms_lazy_binary (g->lz, NMS_LAZY_OR, compare (g, NMS_LAZY_GE, state, number (g, 0)),
      compare (g, NMS_LAZY_EQ, state, number (g, UNDECIDED)));
}

static tensor
go_on (nms_lazy *lz, const tensor *s, void *user)
{
  const graph *g = user;
  tensor first = g->rank == 1 ? s[PICK] : nms_lazy_reduce (lz, NMS_LAZY_MIN, s[PICK], 0);

  return both (g, compare (g, NMS_LAZY_LT, s[COUNT], g->c[CAP]),
      compare (g, NMS_LAZY_LT, first, number (g, INT32_MAX)));
}

/* Marks the boxes that the pick suppresses if they are undecided. */
static tensor
overlaps (const graph *g, tensor pick)
{
  const tensor *c = g->c;
  nms__overlap_columns columns = { c[X1], c[Y1], c[X2], c[Y2], c[AREA], c[LIMIT] };
  nms__overlap_columns box = { of_pick (g, X1, pick), of_pick (g, Y1, pick), of_pick (g, X2, pick),
    of_pick (g, Y2, pick), of_pick (g, AREA, pick), 0 };
  tensor hit = nms__overlap_graph (g->lz, &columns, &box, g->flags & NMS_LAZY_NO_DIVISION);

  if (g->has_classes)
    hit = both (g, hit, compare (g, NMS_LAZY_EQ, c[CLASS], of_pick (g, CLASS, pick)));
  if (g->has_parents)
    hit = both (g, hit,
        both (g, compare (g, NMS_LAZY_NE, c[PARENT], of_pick (g, INDEX, pick)),
            compare (g, NMS_LAZY_NE, c[INDEX], of_pick (g, PARENT, pick))));
  return hit;
}

/* Marks the boxes that become over-cap: when the pick fills its class, all boxes of the class
 * that rank below it, also those that are suppressed already, because outcomes follow from the
 * order of rank (nmscore.h). `same` marks the boxes of the pick's class. */
static tensor
over_cap (const graph *g, tensor state, tensor cap_left, tensor pick, tensor same)
{
  tensor full = compare (g, NMS_LAZY_EQ, per_box (g, element (g, cap_left, pick)), number (g, 1));

  if (g->rank > 1)
    full = both (g, full, per_box (g, compare (g, NMS_LAZY_LT, pick, number (g, INT32_MAX))));
  return both (g, both (g, same, full),
      both (g, after (g, of_pick (g, KEY, pick), per_box (g, pick)), uncapped (g, state)));
}

/* Writes the picks of a step; of an image without one, -1. */
static tensor
add_pick (const graph *g, const tensor *s)
{
  const tensor at[] = { g->rank == 1 ? s[COUNT] : number (g, 0), s[COUNT] };
  const int32_t one[] = { g->rank == 1 ? 1 : g->dims[0], 1 };
  tensor pick = s[PICK];

  if (g->rank > 1)
    pick = nms_lazy_select (g->lz, compare (g, NMS_LAZY_LT, pick, number (g, INT32_MAX)), pick,
        number (g, -1));
  return nms_lazy_update (g->lz, s[PICKS], nms_lazy_reshape (g->lz, pick, g->rank, one), at);
}

static void
step (nms_lazy *lz, const tensor *s, tensor *next, void *user)
{
  const graph *g = user;
  const tensor *c = g->c;
  tensor pick = s[PICK], wide = per_box (g, pick);
  tensor undecided = compare (g, NMS_LAZY_EQ, s[STATE], number (g, UNDECIDED));
  tensor state = nms_lazy_select (lz, both (g, undecided, overlaps (g, pick)), wide, s[STATE]);

  state = nms_lazy_select (lz, compare (g, NMS_LAZY_EQ, c[POSITION], wide),
      number (g, NMS_LAZY_KEPT), state);
  if (g->has_caps) {
    tensor same = compare (g, NMS_LAZY_EQ, c[CAP_CLASS], of_pick (g, CAP_CLASS, pick));
    state = nms_lazy_select (lz, over_cap (g, state, s[CAP_LEFT], pick, same),
        number (g, NMS_LAZY_OVER_CAP), state);
    next[CAP_LEFT] = nms_lazy_binary (lz, NMS_LAZY_SUB, s[CAP_LEFT],
        nms_lazy_unary (lz, NMS_LAZY_TO_S32, same));
  }
  next[COUNT] = nms_lazy_binary (lz, NMS_LAZY_ADD, s[COUNT], number (g, 1));
  next[STATE] = state;
  next[PICK] = best (g, state);
  next[PICKS] = add_pick (g, s);
}

/* Computes the states before the loop. */
static tensor
first_state (const graph *g, const nms_lazy_boxes *b)
{
  tensor state = column (g, number (g, UNDECIDED));

  if (b->least)
    state = nms_lazy_select (g->lz, compare (g, NMS_LAZY_GE, b->key, b->least), state,
        number (g, NMS_LAZY_FILTERED));
  if (b->valid)
    state = nms_lazy_select (g->lz, b->valid, state, number (g, NMS_LAZY_INVALID));
  return state;
}

/* Returns the number of each image's picks. For one image it is the number of steps of the loop,
 * for several it is the position of the first -1. */
static tensor
count_picks (const graph *g, const tensor *end)
{
  if (g->rank == 1)
    return end[COUNT];
  return reduce (g, NMS_LAZY_MIN,
      nms_lazy_select (g->lz, compare (g, NMS_LAZY_GE, end[PICKS], number (g, 0)),
          number (g, g->dims[1]), g->c[POSITION]));
}

/* Computes the states after the loop: if the total cap is full, the boxes that rank
 * below the last pick are over-cap. */
static tensor
last_state (const graph *g, const tensor *end, tensor count)
{
  tensor full = per_box (g, compare (g, NMS_LAZY_GE, count, g->c[CAP]));
  tensor last = element (g, end[PICKS],
      nms_lazy_binary (g->lz, NMS_LAZY_SUB, count, number (g, 1)));
  tensor over = both (g, uncapped (g, end[STATE]),
      after (g, of_pick (g, KEY, last), per_box (g, last)));

  return nms_lazy_select (g->lz, both (g, over, full), number (g, NMS_LAZY_OVER_CAP), end[STATE]);
}

nms_lazy_kept
nms_lazy_nms (nms_lazy *lz, const nms_lazy_boxes *b, unsigned flags)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, b->key);
  graph g = { lz, flags, shape.rank, { shape.dims[0], shape.dims[1] }, b->class_id != 0,
    b->class_cap != 0, b->parent != 0 };
  tensor most = number (&g, INT32_MAX);
  if (!lz->status && !shape.rank)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms: boxes are vectors or matrices");
  tensor *c = g.c, s[STATES], end[STATES];

  nms__overlap_columns columns = { b->x1, b->y1, b->x2, b->y2, 0, column (&g, b->limit) };
  nms__overlap_prepare (lz, &columns, flags & NMS_LAZY_NO_DIVISION);
  c[X1] = b->x1;
  c[Y1] = b->y1;
  c[X2] = b->x2;
  c[Y2] = b->y2;
  c[AREA] = columns.area;
  c[LIMIT] = columns.limit;
  c[KEY] = b->key;
  c[POSITION] = nms_lazy_iota (lz, g.rank, g.dims, g.rank - 1);
  c[CAP] = b->cap
      ? nms_lazy_select (lz, compare (&g, NMS_LAZY_GT, b->cap, number (&g, 0)), b->cap, most)
      : most;
  c[CLASS] = b->class_id;
  c[CAP_CLASS] = b->cap_class ? b->cap_class : b->class_id;
  c[INDEX] = b->index ? b->index : c[POSITION];
  c[PARENT] = b->parent;
  if (!c[CAP_CLASS])
    c[CAP_CLASS] = column (&g, number (&g, 0));

  s[COUNT] = number (&g, 0);
  s[STATE] = first_state (&g, b);
  s[PICK] = best (&g, s[STATE]);
  s[PICKS] = column (&g, number (&g, -1));
  s[CAP_LEFT] = b->class_cap;
  nms_lazy_while (lz, g.has_caps ? STATES : CAP_LEFT, s, go_on, step, &g, end);
  tensor count = count_picks (&g, end);
  return (nms_lazy_kept) { end[PICKS], count, last_state (&g, end, count) };
}

/* ----------------------------------------------------------- keys and limits */

int32_t
nms_lazy_order_key_of (float score)
{
  int32_t bits;
  memcpy (&bits, &score, sizeof bits);
  return bits >= 0 ? bits : -(bits & INT32_MAX);
}

float
nms_lazy_limit_of (float iou_threshold, int inclusive)
{
  float t = iou_threshold < 0x1p-24f ? 0.0f : iou_threshold;
  return !inclusive ? t : t > 0.0f ? nextafterf (t, 0.0f) : -1.0f;
}

tensor
nms_lazy_order_key (nms_lazy *lz, tensor score, tensor *valid)
{
  tensor bits = nms_lazy_unary (lz, NMS_LAZY_AS_S32, score);
  tensor size = nms_lazy_binary (lz, NMS_LAZY_AND, bits, nms_lazy_s32 (lz, INT32_MAX));
  tensor zero = nms_lazy_s32 (lz, 0);

  if (valid && *valid)
    *valid = nms_lazy_binary (lz, NMS_LAZY_AND, *valid,
        nms_lazy_binary (lz, NMS_LAZY_LE, size, nms_lazy_s32 (lz, 0x7f800000)));
  return nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_GE, bits, zero), bits,
      nms_lazy_binary (lz, NMS_LAZY_SUB, zero, size));
}

tensor
nms__nan_last_key (nms_lazy *lz, tensor x)
{
  tensor size = nms_lazy_binary (lz, NMS_LAZY_AND, nms_lazy_unary (lz, NMS_LAZY_AS_S32, x),
      nms_lazy_s32 (lz, INT32_MAX));
  tensor is_nan = nms_lazy_binary (lz, NMS_LAZY_GT, size, nms_lazy_s32 (lz, 0x7f800000));

  return nms_lazy_select (lz, is_nan, nms_lazy_s32 (lz, INT32_MIN),
      nms_lazy_order_key (lz, x, NULL));
}

tensor
nms_lazy_clean_boxes (nms_lazy *lz, nms_lazy_boxes *b)
{
  tensor *const pairs[2][2] = { { &b->x1, &b->x2 }, { &b->y1, &b->y2 } };
  tensor most = nms_lazy_f32 (lz, NMS__MOST_COORDINATE), valid = NMS_LAZY_NONE;

  for (int i = 0; i < 2; i++) {
    tensor low = *pairs[i][0], high = *pairs[i][1];
    for (int k = 0; k < 2; k++) {
      tensor size = nms_lazy_unary (lz, NMS_LAZY_ABS, *pairs[i][k]);
      tensor ok = nms_lazy_binary (lz, NMS_LAZY_LE, size, most);
      valid = valid ? nms_lazy_binary (lz, NMS_LAZY_AND, valid, ok) : ok;
    }
    *pairs[i][0] = nms_lazy_binary (lz, NMS_LAZY_MIN, low, high);
    *pairs[i][1] = nms_lazy_binary (lz, NMS_LAZY_MAX, low, high);
  }
  return valid;
}
