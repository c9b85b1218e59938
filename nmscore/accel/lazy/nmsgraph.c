/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsgraph: the selection loop. XLA's loops on a CPU cost by the kernel and by
 * the array they carry, so one array, `state`, says all about a box: who
 * suppressed it, or whether it is kept, or still in play. A step is one pass
 * that computes the next state, one that finds the best key in play, and one
 * that finds where it is.
 */
#include "nmsgraph.h"

#include "lazy.h"
#include "overlap.h"
#include "overlapgraph.h"

#include <math.h>
#include <string.h>

typedef nms_lazy_tensor tensor;

#define IN_PLAY (-5) /* state of a box that is undecided */

/* What the loop looks at, and what it carries. */
enum { X1, Y1, X2, Y2, AREA, LIMIT, KEY, PLACE, CAP, GROUP, CLASS, INDEX, PARENT, COLUMNS };
enum { COUNT, PICK, STATE, PICKS, ROOM, STATES };

typedef struct graph {
  nms_lazy *lz;
  unsigned flags;
  int32_t n;
  int has_group, has_caps, has_parents;
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

/* Element `at` of a column, a scalar. */
static tensor
element (const graph *g, tensor column, tensor at)
{
  const int32_t one = 1;
  return nms_lazy_reshape (g->lz, nms_lazy_slice (g->lz, column, &at, &one), 0, NULL);
}

/* x for all boxes, where it is a scalar. */
static tensor
column (const graph *g, tensor x)
{
  return nms_lazy_shape_of (g->lz, x).rank ? x : nms_lazy_broadcast (g->lz, x, 1, &g->n, 0);
}

/* The place of the best box in play, INT32_MAX if there is none. */
static tensor
best (const graph *g, tensor state)
{
  const tensor *c = g->c;
  tensor in_play = compare (g, NMS_LAZY_EQ, state, number (g, IN_PLAY));
  tensor key = nms_lazy_select (g->lz, in_play, c[KEY], number (g, INT32_MIN));
  tensor greatest = nms_lazy_reduce (g->lz, NMS_LAZY_MAX, key, 0);
  tensor is_greatest = both (g, in_play, compare (g, NMS_LAZY_EQ, c[KEY], greatest));
  tensor place = nms_lazy_select (g->lz, is_greatest, c[PLACE], number (g, INT32_MAX));

  return nms_lazy_reduce (g->lz, NMS_LAZY_MIN, place, 0);
}

/* Boxes whose turn comes after that of the box at `place` with `key`. */
static tensor
after (const graph *g, tensor key, tensor place)
{
  const tensor *c = g->c;
  tensor equal = both (g, compare (g, NMS_LAZY_EQ, c[KEY], key),
      compare (g, NMS_LAZY_GT, c[PLACE], place));
  return nms_lazy_binary (g->lz, NMS_LAZY_OR, compare (g, NMS_LAZY_LT, c[KEY], key), equal);
}

/* Those that no cap has met: suppressed, or in play. */
static tensor
uncapped (const graph *g, tensor state)
{
  return nms_lazy_binary (g->lz, NMS_LAZY_OR, compare (g, NMS_LAZY_GE, state, number (g, 0)),
      compare (g, NMS_LAZY_EQ, state, number (g, IN_PLAY)));
}

static tensor
go_on (nms_lazy *lz, const tensor *s, void *user)
{
  const graph *g = user;
  return both (g, compare (g, NMS_LAZY_LT, s[COUNT], g->c[CAP]),
      compare (g, NMS_LAZY_LT, s[PICK], number (g, INT32_MAX)));
}

/* Whom the pick suppresses if they are in play. */
static tensor
hits (const graph *g, tensor pick)
{
  const tensor *c = g->c;
  nms__overlap_columns columns = { c[X1], c[Y1], c[X2], c[Y2], c[AREA], c[LIMIT] };
  nms__overlap_columns box = { element (g, c[X1], pick), element (g, c[Y1], pick),
    element (g, c[X2], pick), element (g, c[Y2], pick), element (g, c[AREA], pick), 0 };
  tensor hit = nms__overlap_graph (g->lz, &columns, &box, g->flags & NMS_LAZY_NO_DIVISION);

  if (g->has_group)
    hit = both (g, hit, compare (g, NMS_LAZY_EQ, c[GROUP], element (g, c[GROUP], pick)));
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
  tensor in_play = compare (g, NMS_LAZY_EQ, s[STATE], number (g, IN_PLAY));
  tensor state = nms_lazy_select (lz, both (g, in_play, hits (g, pick)), pick, s[STATE]);

  state = nms_lazy_select (lz, compare (g, NMS_LAZY_EQ, c[PLACE], pick),
      number (g, NMS_LAZY_KEPT), state);
  if (g->has_caps) {
    /* when this fills its class, all later ones of it are over-cap, those that
     * an earlier box has suppressed too, since their turn has not come */
    tensor same = compare (g, NMS_LAZY_EQ, c[CLASS], element (g, c[CLASS], pick));
    tensor full = compare (g, NMS_LAZY_EQ, element (g, s[ROOM], pick), number (g, 1));
    tensor over = both (g, both (g, same, full),
        both (g, after (g, element (g, c[KEY], pick), pick), uncapped (g, state)));
    state = nms_lazy_select (lz, over, number (g, NMS_LAZY_OVER_CAP), state);
    next[ROOM] = nms_lazy_binary (lz, NMS_LAZY_SUB, s[ROOM],
        nms_lazy_unary (lz, NMS_LAZY_TO_S32, same));
  }
  next[COUNT] = nms_lazy_binary (lz, NMS_LAZY_ADD, s[COUNT], number (g, 1));
  next[STATE] = state;
  next[PICK] = best (g, state);
  next[PICKS] = nms_lazy_update (lz, s[PICKS], nms_lazy_reshape (lz, pick, 1, &one),
      &s[COUNT]);
}

/* States before the loop. */
static tensor
first_state (const graph *g, const nms_lazy_boxes *b)
{
  tensor state = nms_lazy_broadcast (g->lz, number (g, IN_PLAY), 1, &g->n, 0);

  if (b->least)
    state = nms_lazy_select (g->lz, compare (g, NMS_LAZY_GE, b->key, b->least), state,
        number (g, NMS_LAZY_FILTERED));
  if (b->valid)
    state = nms_lazy_select (g->lz, b->valid, state, number (g, NMS_LAZY_INVALID));
  return state;
}

/* When the total cap is full, whoever comes after the last pick is over-cap. */
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
  graph g = { lz, flags, nms_lazy_shape_of (lz, b->key).dims[0], b->group != 0,
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
  c[PLACE] = nms_lazy_iota (lz, 1, &g.n, 0);
  c[CAP] = b->cap ? nms_lazy_select (lz, compare (&g, NMS_LAZY_GT, b->cap, number (&g, 0)),
      b->cap, most) : most;
  c[GROUP] = b->group;
  c[CLASS] = b->class_id ? b->class_id : b->group;
  c[INDEX] = b->index ? b->index : c[PLACE];
  c[PARENT] = b->parent;
  if (!c[CLASS])
    c[CLASS] = nms_lazy_broadcast (lz, number (&g, 0), 1, &g.n, 0);

  s[COUNT] = number (&g, 0);
  s[STATE] = first_state (&g, b);
  s[PICK] = best (&g, s[STATE]);
  s[PICKS] = nms_lazy_broadcast (lz, number (&g, -1), 1, &g.n, 0);
  s[ROOM] = b->class_cap;
  nms_lazy_while (lz, g.has_caps ? STATES : ROOM, s, go_on, step, &g, end);
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
