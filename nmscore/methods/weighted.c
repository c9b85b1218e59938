/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weighted: weighted box fusion (Solovyev, Wang and Gabruseva, "Weighted boxes fusion", 2021),
 * with the rules of ensemble-boxes. The fused box of a cluster replaces its head's box in the
 * blocks, so that the row of the next box is computed from the fused boxes; the bounding box of the
 * block grows with them.
 */
#include "box_blocks.h"
#include "fused_box.h"
#include "fused_score.h"
#include "method.h"
#include "frame/order.h"

#include <string.h>

#define NONE UINT32_MAX

typedef struct cluster {
  uint32_t head; /* frame position */
  uint32_t last; /* the member that joined last: first element of the list `previous` */
  uint32_t kept; /* number of the kept box; NONE: over-cap */
  nms__cluster_sums sums;
  float corners[4]; /* sum of the corners times the scores */
} cluster;

typedef struct weighted {
  nms__frame *frame;
  nms__box_blocks blocks;
  uint64_t *order, *order2; /* packed keys, for sorting */
  uint32_t *source;         /* by frame position */
  float *score;             /* score times the weight of the source, by frame position */
  uint64_t *heads;          /* a bit for each place: the boxes that are a cluster's head */
  uint32_t *of;             /* number of the cluster, by frame position */
  uint32_t *previous;       /* the member that joined before, by frame position; NONE: the head */
  cluster *clusters;        /* in the order in which they began */
  size_t count;
  uint8_t *has; /* not 0: the current cluster has a member of the source */
} weighted;

static weighted
weighted_layout (nms__arena *a, size_t boxes)
{
  weighted w = { NULL };

  nms__box_blocks_take (a, &w.blocks, boxes);
  w.order = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *w.order);
  w.order2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *w.order2);
  w.source = nms__take (a, boxes, sizeof *w.source);
  w.score = nms__take (a, boxes, sizeof *w.score);
  w.heads = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *w.heads);
  w.of = nms__take (a, boxes, sizeof *w.of);
  w.previous = nms__take (a, boxes, sizeof *w.previous);
  w.clusters = nms__take (a, boxes, sizeof *w.clusters);
  w.has = nms__take (a, NMS_MAX_SOURCES, sizeof *w.has);
  return w;
}

size_t
nms__weighted_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  weighted_layout (&arena, boxes);
  return arena.used;
}

static uint32_t
source_of (const nms__frame *f, size_t pos)
{
  int32_t source = 0;

  if (f->boxes->source.data)
    nms__load (&source, &f->boxes->source, (size_t) f->index[pos], sizeof source);
  return (uint32_t) source;
}

static float
weight_of (const weighted *w, size_t pos)
{
  return nms__source_weight (&w->frame->method, w->source[pos]);
}

/* Multiplies the scores by the weights of their sources. Returns the packed keys in rank order. */
static const uint64_t *
rank (const weighted *w)
{
  const nms__frame *f = w->frame;

  for (size_t pos = 0; pos < f->count; pos++) {
    w->source[pos] = source_of (f, pos);
    w->score[pos] = nms__fused_weight (nms__method_score (f, pos) * weight_of (w, pos));
    w->order[pos] = nms__pack (nms__order_key (w->score[pos]), (uint32_t) pos);
  }
  return nms__sort (f->kernels, w->order, w->order2, f->count);
}

/* Returns the cluster whose fused box the box at `pos` overlaps most, the first one of several, or
 * NONE. */
static uint32_t
find (const weighted *w, size_t pos)
{
  uint32_t best = NONE;
  float most = 0.0f;
  nms__row row;

  nms__row_begin (&row, w->frame, &w->blocks, w->blocks.place[pos], w->heads);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const unsigned i = nms__lowest_bit (left);
      const uint32_t number = w->of[w->blocks.position[row.first + i]];
      if (!nms__overlaps (w->frame, pos, row.value[i]))
        continue;
      if (best == NONE || row.value[i] > most || (row.value[i] == most && number < best)) {
        best = number;
        most = row.value[i];
      }
    }
  return best;
}

static void
start_cluster (weighted *w, size_t pos)
{
  w->of[pos] = (uint32_t) w->count;
  w->previous[pos] = NONE;
  nms__place_set (w->heads, w->blocks.place[pos]);
  w->clusters[w->count++] = (cluster) { .head = (uint32_t) pos,
    .last = (uint32_t) pos,
    .sums = { .members = 1,
        .scores = w->score[pos],
        .best = w->score[pos],
        .weights = weight_of (w, pos) } };
}

/* Stores the fused box of a cluster at the place of its head. */
static void
move_head (weighted *w, const cluster *c)
{
  float box[4];

  nms__fused_mean (c->corners, c->sums.scores, box);
  nms__box_blocks_move (&w->blocks, w->blocks.place[c->head], box);
}

static void
join (weighted *w, size_t pos, uint32_t number)
{
  const nms__frame *f = w->frame;
  const float corners[4] = { f->x1[pos], f->y1[pos], f->x2[pos], f->y2[pos] };
  cluster *c = &w->clusters[number];

  if (c->sums.members == 1) {
    const uint32_t h = c->head;
    const float first[4] = { f->x1[h], f->y1[h], f->x2[h], f->y2[h] };
    nms__fused_start (c->corners, first, w->score[h]);
  }
  nms__fused_add (c->corners, corners, w->score[pos]);
  c->sums.members++;
  c->sums.scores += w->score[pos];
  c->sums.weights += weight_of (w, pos);
  w->of[pos] = number;
  w->previous[pos] = c->last;
  c->last = (uint32_t) pos;
  move_head (w, c);
}

/* Adds up the weights of the sources that have a member of the cluster, and of the others. */
static void
sum_sources (const weighted *w, cluster *c)
{
  const nms__method *o = &w->frame->method;

  memset (w->has, 0, nms__source_count (o));
  for (uint32_t pos = c->last; pos != NONE; pos = w->previous[pos])
    w->has[w->source[pos]] = 1;
  for (size_t s = 0; s < nms__source_count (o); s++)
    if (w->has[s])
      c->sums.found += nms__source_weight (o, s);
    else
      c->sums.absent += nms__source_weight (o, s);
}

/* Computes the scores of the clusters. Returns packed keys of the heads, in the order of the
 * scores. */
static const uint64_t *
score_clusters (const weighted *w)
{
  const nms__frame *f = w->frame;
  const nms__method *o = &f->method;
  float all = 0.0f, greatest = 0.0f;
  size_t n = 0;

  for (size_t s = 0; s < nms__source_count (o); s++) {
    const float weight = nms__source_weight (o, s);
    all += weight;
    greatest = weight > greatest ? weight : greatest;
  }
  /* by ascending position of the heads, because sorting keeps the order of equal scores */
  for (size_t pos = 0; pos < f->count; pos++) {
    cluster *c = &w->clusters[w->of[pos]];
    if (c->head != pos)
      continue;
    if (o->fused_score >= NMS_FUSED_BOX_AND_MODEL_AVG)
      sum_sources (w, c);
    w->score[pos] = nms__fused_score (o, &c->sums, all, greatest);
    w->order[n++] = nms__pack (nms__order_key (w->score[pos]), (uint32_t) pos);
  }
  return nms__sort (f->kernels, w->order, w->order2, n);
}

/* Keeps a cluster's head, with the fused score and box, if the caps allow it. */
static void
keep (const weighted *w, cluster *c)
{
  nms__frame *f = w->frame;
  const size_t k = f->kept_count, place = w->blocks.place[c->head];

  c->kept = NONE;
  if (!nms__take_next (f, c->head, w->score[c->head]))
    return;
  c->kept = (uint32_t) k;
  if (!f->kept_box)
    return;
  float *box = &f->kept_box[4 * k];
  nms__fused_corners (f, c->head, box);
  if (c->sums.members > 1) {
    box[0] = w->blocks.box.x1[place];
    box[1] = w->blocks.box.y1[place];
    box[2] = w->blocks.box.x2[place];
    box[3] = w->blocks.box.y2[place];
  }
}

/* Gives the members that are no heads their outcomes. */
static void
finish_members (const weighted *w)
{
  nms__frame *f = w->frame;

  for (size_t pos = 0; pos < f->count; pos++) {
    const cluster *c = &w->clusters[w->of[pos]];
    if (c->head == pos)
      continue;
    if (c->kept == NONE)
      nms__over_cap (f, pos);
    else
      nms__suppress (f, pos, c->head);
  }
}

void
nms__weighted (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  weighted w = weighted_layout (&arena, f->capacity);

  w.frame = f;
  nms__box_blocks_fill (f, &w.blocks);
  memset (w.heads, 0, (f->capacity / NMS__BLOCK + 1) * sizeof *w.heads);
  const uint64_t *order = rank (&w);
  for (size_t n = 0; n < f->count; n++) {
    const uint32_t pos = nms__packed_position (order[n]);
    const uint32_t number = find (&w, pos);
    if (number == NONE)
      start_cluster (&w, pos);
    else
      join (&w, pos, number);
  }
  order = score_clusters (&w);
  for (size_t n = 0; n < w.count; n++)
    keep (&w, &w.clusters[w.of[nms__packed_position (order[n])]]);
  finish_members (&w);
}
