/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rescoregraph: the loops of soft-NMS and Matrix NMS. A step takes the box with the greatest score
 * and updates columns of all boxes in one pass. The column of scores also holds the state: a box
 * that is kept, suppressed or not valid has the score GONE.
 */
#include "rescoregraph.h"

#include "lazynodes.h"
#include "overlapgraph.h"

#include <float.h>

typedef nms_lazy_tensor tensor;

#define GONE (-1.0f)

typedef struct graph {
  nms_lazy *lz;
  int32_t n;
  int gaussian;
  int lowers; /* 0: the loop only orders the boxes by score */
  tensor class_id, limit, least, sigma, cap, position;
  nms__overlap_columns boxes;
} graph;

static tensor
f32 (const graph *g, float value)
{
  return nms_lazy_f32 (g->lz, value);
}

static tensor
s32 (const graph *g, int32_t value)
{
  return nms_lazy_s32 (g->lz, value);
}

static tensor
binary (const graph *g, nms_lazy_op op, tensor a, tensor b)
{
  return nms_lazy_binary (g->lz, op, a, b);
}

static tensor
where (const graph *g, tensor condition, tensor a, tensor b)
{
  return nms_lazy_select (g->lz, condition, a, b);
}

static tensor
fill (const graph *g, tensor x)
{
  return nms_lazy_broadcast (g->lz, x, 1, &g->n, 0);
}

static tensor
element (const graph *g, tensor column, tensor at)
{
  const int32_t one = 1;
  return nms_lazy_reshape (g->lz, nms_lazy_slice (g->lz, column, &at, &one), 0, NULL);
}

/* Finds the position of the box with the greatest score, INT32_MAX if all are GONE. */
static tensor
best (const graph *g, tensor score)
{
  tensor greatest = nms_lazy_reduce (g->lz, NMS_LAZY_MAX, score, 0);
  tensor there = binary (g, NMS_LAZY_AND, binary (g, NMS_LAZY_EQ, score, greatest),
      binary (g, NMS_LAZY_GE, score, f32 (g, 0.0f)));

  return nms_lazy_reduce (g->lz, NMS_LAZY_MIN, where (g, there, g->position, s32 (g, INT32_MAX)),
      0);
}

/* Computes the IoU of the box at `pick` and each box, 0 for those of other classes. */
static tensor
row (const graph *g, tensor pick)
{
  const nms__overlap_columns *b = &g->boxes;
  nms__overlap_columns box = { element (g, b->x1, pick), element (g, b->y1, pick),
    element (g, b->x2, pick), element (g, b->y2, pick), element (g, b->area, pick), 0 };
  tensor iou = nms__iou_graph (g->lz, b, &box);

  if (g->class_id)
    iou = where (g, binary (g, NMS_LAZY_EQ, g->class_id, element (g, g->class_id, pick)), iou,
        f32 (g, 0.0f));
  return iou;
}

/* --------------------------------------------------------------------- soft */

enum { COUNT, PICK, SCORE, PICKS, NEW_SCORES, STATES };

static tensor
go_on (nms_lazy *lz, const tensor *s, void *user)
{
  const graph *g = user;
  return nms_lazy_binary (lz, NMS_LAZY_AND, binary (g, NMS_LAZY_LT, s[COUNT], g->cap),
      binary (g, NMS_LAZY_LT, s[PICK], s32 (g, INT32_MAX)));
}

/* Lowers the scores of the boxes that the box at `pick` overlaps. */
static tensor
lowered (const graph *g, tensor score, tensor pick)
{
  tensor v = row (g, pick), hit, weight;

  if (g->gaussian) {
    hit = binary (g, NMS_LAZY_GT, v, f32 (g, 0.0f));
    weight = nms_lazy_exp (g->lz,
        nms_lazy_unary (g->lz, NMS_LAZY_NEG,
            binary (g, NMS_LAZY_DIV, binary (g, NMS_LAZY_MUL, v, v), g->sigma)));
  } else {
    hit = binary (g, NMS_LAZY_AND, binary (g, NMS_LAZY_GT, v, g->limit),
        binary (g, NMS_LAZY_GT, v, f32 (g, 0.0f)));
    weight = binary (g, NMS_LAZY_SUB, f32 (g, 1.0f), v);
  }
  hit = binary (g, NMS_LAZY_AND, hit, binary (g, NMS_LAZY_GE, score, f32 (g, 0.0f)));
  tensor next = where (g, hit, binary (g, NMS_LAZY_MUL, score, weight), score);
  return where (g, binary (g, NMS_LAZY_GE, next, g->least), next, f32 (g, GONE));
}

static void
step (nms_lazy *lz, const tensor *s, tensor *next, void *user)
{
  const graph *g = user;
  const int32_t one = 1;
  tensor pick = s[PICK], score = g->lowers ? lowered (g, s[SCORE], pick) : s[SCORE];

  next[SCORE] = where (g, binary (g, NMS_LAZY_EQ, g->position, pick), f32 (g, GONE), score);
  next[COUNT] = binary (g, NMS_LAZY_ADD, s[COUNT], s32 (g, 1));
  next[PICK] = best (g, next[SCORE]);
  next[PICKS] = nms_lazy_update (lz, s[PICKS], nms_lazy_reshape (lz, pick, 1, &one), &s[COUNT]);
  next[NEW_SCORES] = nms_lazy_update (lz, s[NEW_SCORES],
      nms_lazy_reshape (lz, element (g, s[SCORE], pick), 1, &one), &s[COUNT]);
}

static nms_lazy_rescored
pick_all (graph *g, tensor score)
{
  tensor s[STATES], end[STATES];

  s[COUNT] = s32 (g, 0);
  s[SCORE] = score;
  s[PICK] = best (g, score);
  s[PICKS] = fill (g, s32 (g, -1));
  s[NEW_SCORES] = fill (g, f32 (g, GONE));
  nms_lazy_while (g->lz, STATES, s, go_on, step, g, end);
  return (nms_lazy_rescored) { end[PICKS], end[NEW_SCORES], end[COUNT] };
}

/* Fills `g`. Returns the scores, GONE for boxes that take no part. */
static tensor
begin (graph *g, nms_lazy *lz, const nms_lazy_boxes *b, tensor score, tensor least, tensor sigma,
    int gaussian)
{
  *g = (graph) { .lz = lz,
    .n = nms_lazy_shape_of (lz, score).dims[0],
    .gaussian = gaussian,
    .class_id = b->class_id,
    .limit = b->limit,
    .least = least,
    .sigma = sigma };
  if (!lz->status && nms_lazy_shape_of (lz, score).rank != 1)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms: boxes are vectors");
  g->boxes = (nms__overlap_columns) { b->x1, b->y1, b->x2, b->y2, 0, 0 };
  nms__overlap_areas (lz, &g->boxes);
  g->position = nms_lazy_iota (lz, 1, &g->n, 0);
  g->cap = b->cap
      ? where (g, binary (g, NMS_LAZY_GT, b->cap, s32 (g, 0)), b->cap, s32 (g, INT32_MAX))
      : s32 (g, INT32_MAX);
  score = where (g, binary (g, NMS_LAZY_GE, score, least), score, f32 (g, GONE));
  return b->valid ? where (g, b->valid, score, f32 (g, GONE)) : score;
}

nms_lazy_rescored
nms_lazy_soft_nms (nms_lazy *lz, const nms_lazy_boxes *boxes, tensor score, tensor min_score,
    tensor sigma, int gaussian)
{
  graph g;
  score = begin (&g, lz, boxes, score, min_score, sigma, gaussian);
  g.lowers = 1;
  return pick_all (&g, score);
}

/* ------------------------------------------------------------------- matrix */

enum { M_PICK, M_LEFT, M_MOST, M_LOSS, M_STATES };

static tensor
matrix_go_on (nms_lazy *lz, const tensor *s, void *user)
{
  return nms_lazy_binary (lz, NMS_LAZY_LT, s[M_PICK], s32 (user, INT32_MAX));
}

/* Updates, for each box that ranks below the pick, its greatest IoU with a higher-ranked box, and
 * its greatest loss: for the linear kernel the factor times -1, for the gaussian kernel the
 * exponent divided by -sigma. */
static void
matrix_step (nms_lazy *lz, const tensor *s, tensor *next, void *user)
{
  const graph *g = user;
  tensor zero = f32 (g, 0.0f), one = f32 (g, 1.0f);
  tensor pick = s[M_PICK], v = row (g, pick), most = element (g, s[M_MOST], pick);
  tensor left = where (g, binary (g, NMS_LAZY_EQ, g->position, pick), f32 (g, GONE), s[M_LEFT]);
  tensor hit = binary (g, NMS_LAZY_AND, binary (g, NMS_LAZY_GT, v, zero),
      binary (g, NMS_LAZY_GE, left, zero));
  tensor loss;

  if (g->gaussian)
    loss = binary (g, NMS_LAZY_SUB, binary (g, NMS_LAZY_MUL, v, v),
        binary (g, NMS_LAZY_MUL, most, most));
  else
    loss = nms_lazy_unary (lz, NMS_LAZY_NEG,
        binary (g, NMS_LAZY_DIV, binary (g, NMS_LAZY_SUB, one, v),
            binary (g, NMS_LAZY_SUB, one, most)));
  tensor counts = g->gaussian ? hit
                              : binary (g, NMS_LAZY_AND, hit, binary (g, NMS_LAZY_LT, most, one));
  next[M_LEFT] = left;
  next[M_MOST] = where (g, hit, binary (g, NMS_LAZY_MAX, s[M_MOST], v), s[M_MOST]);
  next[M_LOSS] = where (g,
      binary (g, NMS_LAZY_AND, counts, binary (g, NMS_LAZY_GT, loss, s[M_LOSS])), loss, s[M_LOSS]);
  next[M_PICK] = best (g, left);
}

nms_lazy_rescored
nms_lazy_matrix_nms (nms_lazy *lz, const nms_lazy_boxes *boxes, tensor score, tensor min_score,
    tensor sigma, int gaussian)
{
  graph g;
  tensor s[M_STATES], end[M_STATES], factor;

  score = begin (&g, lz, boxes, score, min_score, sigma, gaussian);
  s[M_LEFT] = score;
  s[M_PICK] = best (&g, score);
  s[M_MOST] = fill (&g, f32 (&g, 0.0f));
  s[M_LOSS] = fill (&g, f32 (&g, gaussian ? 0.0f : -1.0f));
  nms_lazy_while (lz, M_STATES, s, matrix_go_on, matrix_step, &g, end);
  factor = nms_lazy_unary (lz, NMS_LAZY_NEG,
      gaussian ? binary (&g, NMS_LAZY_MUL, sigma, end[M_LOSS]) : end[M_LOSS]);
  if (gaussian)
    factor = nms_lazy_exp (lz, factor);
  tensor lower = binary (&g, NMS_LAZY_MUL, score, factor);
  tensor keeps = binary (&g, NMS_LAZY_AND, binary (&g, NMS_LAZY_GE, score, f32 (&g, 0.0f)),
      binary (&g, NMS_LAZY_GE, lower, min_score));
  return pick_all (&g, where (&g, keeps, lower, f32 (&g, GONE)));
}
