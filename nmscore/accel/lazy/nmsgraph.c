/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsgraph: the selection loop. The time of a loop compiled by XLA for a CPU grows
 * with the number of kernels and of arrays that it carries. So one array, `state`,
 * holds the whole state of each box: its suppressor, or kept, or undecided. A step
 * computes the next state in one pass, finds the best undecided key in a second one
 * and its position in a third one.
 */
#include "nmsgraph.h"

#include "lazynodes.h"
#include "overlap.h"
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
  int32_t n;
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

/* Takes element `at` of a column, as a scalar. */
static tensor
element (const graph *g, tensor column, tensor at)
{
  const int32_t one = 1;
  return nms_lazy_reshape (g->lz, nms_lazy_slice (g->lz, column, &at, &one), 0, NULL);
}

/* Returns x as a column, a scalar repeated for each box. */
static tensor
column (const graph *g, tensor x)
{
  return nms_lazy_shape_of (g->lz, x).rank ? x : nms_lazy_broadcast (g->lz, x, 1, &g->n, 0);
}

/* Finds the position of the best undecided box, INT32_MAX if there is none. */
static tensor
best (const graph *g, tensor state)
{
  const tensor *c = g->c;
  tensor undecided = compare (g, NMS_LAZY_EQ, state, number (g, UNDECIDED));
  tensor key = nms_lazy_select (g->lz, undecided, c[KEY], number (g, INT32_MIN));
  tensor greatest = nms_lazy_reduce (g->lz, NMS_LAZY_MAX, key, 0);
  tensor is_greatest = both (g, undecided, compare (g, NMS_LAZY_EQ, c[KEY], greatest));
  tensor position = nms_lazy_select (g->lz, is_greatest, c[POSITION], number (g, INT32_MAX));

  return nms_lazy_reduce (g->lz, NMS_LAZY_MIN, position, 0);
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
  return both (g, compare (g, NMS_LAZY_LT, s[COUNT], g->c[CAP]),
      compare (g, NMS_LAZY_LT, s[PICK], number (g, INT32_MAX)));
}

/* Marks the boxes that the pick suppresses if they are undecided. */
static tensor
overlaps (const graph *g, tensor pick)
{
  const tensor *c = g->c;
  nms__overlap_columns columns = { c[X1], c[Y1], c[X2], c[Y2], c[AREA], c[LIMIT] };
  nms__overlap_columns box = { element (g, c[X1], pick), element (g, c[Y1], pick),
    element (g, c[X2], pick), element (g, c[Y2], pick), element (g, c[AREA], pick), 0 };
  tensor hit = nms__overlap_graph (g->lz, &columns, &box, g->flags & NMS_LAZY_NO_DIVISION);

  if (g->has_classes)
    hit = both (g, hit, compare (g, NMS_LAZY_EQ, c[CLASS], element (g, c[CLASS], pick)));
  if (g->has_parents)
    hit = both (g, hit,
        both (g, compare (g, NMS_LAZY_NE, c[PARENT], element (g, c[INDEX], pick)),
            compare (g, NMS_LAZY_NE, c[INDEX], element (g, c[PARENT], pick))));
  return hit;
}

static void
step (nms_lazy *lz, const tensor *s, tensor *next, void *user)
{
  const graph *g = user;
  const tensor *c = g->c;
  const int32_t one = 1;
  tensor pick = s[PICK];
  tensor undecided = compare (g, NMS_LAZY_EQ, s[STATE], number (g, UNDECIDED));
  tensor state = nms_lazy_select (lz, both (g, undecided, overlaps (g, pick)), pick, s[STATE]);

  state = nms_lazy_select (lz, compare (g, NMS_LAZY_EQ, c[POSITION], pick),
      number (g, NMS_LAZY_KEPT), state);
  if (g->has_caps) {
    /* when the pick fills its class, all boxes of the class that rank below it are
     * over-cap, also those that are suppressed already, because outcomes follow from
     * the order of rank (nmscore.h) */
    tensor same = compare (g, NMS_LAZY_EQ, c[CAP_CLASS], element (g, c[CAP_CLASS], pick));
    tensor full = compare (g, NMS_LAZY_EQ, element (g, s[CAP_LEFT], pick), number (g, 1));
    tensor over = both (g, both (g, same, full),
        both (g, after (g, element (g, c[KEY], pick), pick), uncapped (g, state)));
    state = nms_lazy_select (lz, over, number (g, NMS_LAZY_OVER_CAP), state);
    next[CAP_LEFT] = nms_lazy_binary (lz, NMS_LAZY_SUB, s[CAP_LEFT],
        nms_lazy_unary (lz, NMS_LAZY_TO_S32, same));
  }
  next[COUNT] = nms_lazy_binary (lz, NMS_LAZY_ADD, s[COUNT], number (g, 1));
  next[STATE] = state;
  next[PICK] = best (g, state);
  next[PICKS] = nms_lazy_update (lz, s[PICKS], nms_lazy_reshape (lz, pick, 1, &one),
      &s[COUNT]);
}

/* Computes the states before the loop. */
static tensor
first_state (const graph *g, const nms_lazy_boxes *b)
{
  tensor state = nms_lazy_broadcast (g->lz, number (g, UNDECIDED), 1, &g->n, 0);

  if (b->least)
    state = nms_lazy_select (g->lz, compare (g, NMS_LAZY_GE, b->key, b->least), state,
        number (g, NMS_LAZY_FILTERED));
  if (b->valid)
    state = nms_lazy_select (g->lz, b->valid, state, number (g, NMS_LAZY_INVALID));
  return state;
}

/* Computes the states after the loop: if the total cap is full, the boxes that rank
 * below the last pick are over-cap. */
static tensor
last_state (const graph *g, const tensor *end)
{
  const tensor *c = g->c;
  tensor full = compare (g, NMS_LAZY_GE, end[COUNT], c[CAP]);
  tensor last = element (g, end[PICKS],
      nms_lazy_binary (g->lz, NMS_LAZY_SUB, end[COUNT], number (g, 1)));
  tensor over = both (g, uncapped (g, end[STATE]),
      after (g, element (g, c[KEY], last), last));

  return nms_lazy_select (g->lz, both (g, over, full), number (g, NMS_LAZY_OVER_CAP), end[STATE]);
}

nms_lazy_kept
nms_lazy_nms (nms_lazy *lz, const nms_lazy_boxes *b, unsigned flags)
{
  graph g = { lz, flags, nms_lazy_shape_of (lz, b->key).dims[0], b->class_id != 0,
    b->class_cap != 0, b->parent != 0 };
  tensor most = number (&g, INT32_MAX);
  if (!lz->status && nms_lazy_shape_of (lz, b->key).rank != 1)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms: boxes are vectors");
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
  c[POSITION] = nms_lazy_iota (lz, 1, &g.n, 0);
  c[CAP] = b->cap ? nms_lazy_select (lz, compare (&g, NMS_LAZY_GT, b->cap, number (&g, 0)),
      b->cap, most) : most;
  c[CLASS] = b->class_id;
  c[CAP_CLASS] = b->cap_class ? b->cap_class : b->class_id;
  c[INDEX] = b->index ? b->index : c[POSITION];
  c[PARENT] = b->parent;
  if (!c[CAP_CLASS])
    c[CAP_CLASS] = nms_lazy_broadcast (lz, number (&g, 0), 1, &g.n, 0);

  s[COUNT] = number (&g, 0);
  s[STATE] = first_state (&g, b);
  s[PICK] = best (&g, s[STATE]);
  s[PICKS] = nms_lazy_broadcast (lz, number (&g, -1), 1, &g.n, 0);
  s[CAP_LEFT] = b->class_cap;
  nms_lazy_while (lz, g.has_caps ? STATES : CAP_LEFT, s, go_on, step, &g, end);
  return (nms_lazy_kept){ end[PICKS], end[COUNT], last_state (&g, end) };
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
