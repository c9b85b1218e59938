/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge: methods merge, greedy-merge and average. The boxes are visited in rank order. A box that
 * no better box has claimed is the head of a cluster. A box claims all unclaimed boxes of lower
 * rank that it overlaps; with method merge every box does so, with the other two only kept heads. A
 * claimed box joins its cluster when it is visited, because sums are computed in rank order.
 */
#include "fused_box.h"
#include "method.h"
#include "row.h"
#include "visits.h"
#include "frame/order.h"

#include <string.h>

#define NO_CLUSTER UINT32_MAX

/* A box, with its corners as a member of its cluster, and the rank of the cluster's head. */
typedef struct member {
  float corners[4];
  uint32_t head;
} member;

typedef struct merge {
  nms__frame *frame;
  nms__box_blocks blocks;
  nms__visits visits;
  /* the boxes that can be claimed; with visits, those that still need one */
  nms__places waiting;
  uint64_t *order, *order2; /* packed keys, for sorting */
  /* frame position of the cluster's head, by frame position; initially each box is its own head */
  uint32_t *head;
  /* number in `kept`, by frame position of the head; NO_CLUSTER if the head is over-cap */
  uint32_t *cluster;
  /* sum of the weights of a cluster, by number; negated if it has one member only */
  float *weights;
  member *members; /* used with visits; indexed by rank */
} merge;

static void
layout (merge *m, nms__arena *a, size_t boxes)
{
  nms__box_blocks_take (a, &m->blocks, boxes);
  m->order = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *m->order);
  m->order2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *m->order2);
  nms__places_take (a, &m->waiting, boxes);
  m->head = nms__take (a, boxes, sizeof *m->head);
  m->cluster = nms__take (a, boxes, sizeof *m->cluster);
  m->weights = nms__take (a, boxes, sizeof *m->weights);
  m->members = nms__take (a, boxes, sizeof *m->members);
}

size_t
nms__merge_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  merge m;

  layout (&m, &arena, boxes);
  return arena.used;
}

/* Lets the box at `pos` claim the boxes that it overlaps for its cluster, except parts of the head
 * and its parent. */
static void
claim (const merge *m, size_t pos)
{
  const nms__frame *f = m->frame;
  const uint32_t head = m->head[pos];
  nms__row row;

  nms__row_begin (&row, f, &m->blocks, m->blocks.place[pos], &m->waiting);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const unsigned i = nms__lowest_bit (left);
      const uint32_t other = m->blocks.position[row.first + i];
      if (!nms__overlaps (f, other, row.value[i]) || nms__positions_related (f, head, other))
        continue;
      m->head[other] = head;
      nms__place_clear (&m->waiting, row.first + i);
    }
}

/* Does the same for the box at `place` if the boxes are not visited by rank: a box belongs to the
 * highest-ranked box that can claim it, not to the first one. `by` has the rank of that box, `head`
 * the place of the cluster's head, both by place. */
static void
claim_by_rank (const merge *m, size_t place, uint32_t *by, uint32_t *head, int transitive)
{
  const nms__frame *f = m->frame;
  const uint32_t *rank = m->visits.rank, own = rank[place], own_head = head[place];
  nms__row row;

  nms__row_begin (&row, f, &m->blocks, place, transitive ? &m->waiting : NULL);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const size_t i = nms__lowest_bit (left), other = row.first + i;
      const uint32_t pos = m->blocks.position[other];
      if (rank[other] < own || by[other] < own || !nms__overlaps (f, pos, row.value[i])
          || nms__positions_related (f, m->blocks.position[own_head], pos))
        continue;
      by[other] = own;
      head[other] = own_head;
      if (!transitive)
        nms__place_clear (&m->waiting, other);
    }
}

/* Writes the corners of the box at `place` in the coordinates of the cluster's head, which is at
 * the place `head`. */
static void
corners_of (const merge *m, size_t place, size_t head, float c[4])
{
  const nms__box_blocks *b = &m->blocks;

  if (m->frame->rotated)
    nms__rotated_turn (&b->rotation[head], &b->rotation[place],
        m->frame->method.method != NMS_METHOD_AVERAGE, c);
  else
    nms__box_blocks_corners (b, place, c);
}

/* Makes the box at `pos` with `score` the head of a cluster; `corners` are those of corners_of.
 * Returns the cluster's number, or NO_CLUSTER if a cap is full. */
static uint32_t
start_cluster (const merge *m, size_t pos, const float corners[4], float score)
{
  nms__frame *f = m->frame;
  const size_t k = f->kept_count;

  if (!nms__take_next (f, pos, score))
    return NO_CLUSTER;
  m->weights[k] = -nms__fused_weight (score);
  if (f->kept_box)
    memcpy (&f->kept_box[4 * k], corners, 4 * sizeof *corners);
  return (uint32_t) k;
}

/* Adds a box with a score to cluster k, whose box holds the sum of the weighted corners from its
 * second member on with method average. */
static void
add (const merge *m, uint32_t k, const float corners[4], float score)
{
  const nms__frame *f = m->frame;

  if (!f->kept_box)
    return;
  float *box = &f->kept_box[4 * (size_t) k];
  const int alone = m->weights[k] < 0.0f;
  if (alone)
    m->weights[k] = -m->weights[k];
  if (f->method.method != NMS_METHOD_AVERAGE) {
    nms__fused_widen (box, corners);
    return;
  }
  const float weight = nms__fused_weight (score);
  if (alone)
    nms__fused_start (box, box, m->weights[k]);
  m->weights[k] += weight;
  nms__fused_add (box, corners, weight);
}

/* Decides the box at `pos`. Returns whether it claims others. */
static int
decide (const merge *m, size_t pos, int transitive)
{
  nms__frame *f = m->frame;
  const uint32_t head = m->head[pos], *place = m->blocks.place;
  float corners[4];

  corners_of (m, place[pos], place[head], corners);
  if (head == pos) {
    nms__place_clear (&m->waiting, place[pos]);
    m->cluster[pos] = start_cluster (m, pos, corners, nms__method_score (f, pos));
    return m->cluster[pos] != NO_CLUSTER || transitive;
  }
  const uint32_t k = m->cluster[head];
  if (k == NO_CLUSTER || (!transitive && nms__cap_is_full (f, pos)))
    nms__over_cap (f, pos);
  else {
    nms__suppress (f, pos, head);
    add (m, k, corners, nms__method_score (f, pos));
  }
  return transitive;
}

/* Finds the cluster of each box, in the order of the visits. Writes the members by rank. Returns 0
 * if the frame is crowded. */
static int
find_clusters (merge *m, int transitive)
{
  nms__frame *f = m->frame;
  const uint32_t *rank = m->visits.rank;
  uint32_t *by = m->visits.rank + f->count, *head = m->head;
  size_t place;

  memset (by, 0xff, f->count * sizeof *by);
  for (place = 0; place < f->count; place++)
    head[place] = (uint32_t) place;
  while (nms__visits_next (&m->visits, &place)) {
    nms__place_clear (&m->waiting, place);
    claim_by_rank (m, place, by, head, transitive);
  }
  if (nms__tiles_crowded (&m->visits.tiles))
    return 0;
  for (place = 0; place < f->count; place++) {
    const size_t pos = m->blocks.position[place], head_pos = m->blocks.position[head[place]];
    member *c = &m->members[rank[place]];
    c->head = rank[head[place]];
    corners_of (m, place, head[place], c->corners);
    if (head_pos != pos)
      nms__suppress (f, pos, head_pos);
  }
  return 1;
}

/* Returns the score of a packed key. */
static float
score_of (uint64_t key)
{
  const float score = nms__score_of_key ((uint32_t) (key >> 32));
  return score > FLT_MAX ? FLT_MAX : score;
}

/* Keeps the heads and adds up the members. */
static void
join_members (const merge *m, const uint64_t *order)
{
  uint32_t *cluster = m->cluster; /* cluster numbers by rank of the head */

  for (size_t n = 0; n < m->frame->count; n++) {
    const member *c = &m->members[n];
    const float score = score_of (order[n]);
    if (c->head == n)
      cluster[n] = start_cluster (m, nms__packed_position (order[n]), c->corners, score);
    else if (cluster[c->head] == NO_CLUSTER)
      nms__over_cap (m->frame, nms__packed_position (order[n]));
    else
      add (m, cluster[c->head], c->corners, score);
  }
}

static void
decide_by_rank (const merge *m, const uint64_t *order, int transitive)
{
  const size_t count = m->frame->count;

  nms__places_set_all (&m->waiting, count);
  for (size_t pos = 0; pos < count; pos++)
    m->head[pos] = (uint32_t) pos;
  for (size_t n = 0; n < count; n++) {
    const uint32_t pos = nms__packed_position (order[n]);
    if (decide (m, pos, transitive))
      claim (m, pos);
  }
}

/* Turns the box of a cluster back. Its head is at `index` in the caller's columns. */
static void
turn_back (const nms_boxes *boxes, size_t index, float box[4])
{
  float c[4], angle;

  nms__caller_corners (boxes, index, c);
  nms__load (&angle, &boxes->angle, index, sizeof angle);
  const nms__rotated head = nms__rotated_of (c, angle);
  nms__rotated_turn_back (&head, box);
}

/* Completes the boxes of the clusters. The box of a cluster with one member is that of the caller:
 * the columns have both corners of a box without area at one point. */
static void
finish_boxes (const merge *m)
{
  const nms__frame *f = m->frame;

  for (size_t k = 0; f->kept_box && k < f->kept_count; k++) {
    float *box = &f->kept_box[4 * k];
    if (m->weights[k] < 0.0f) {
      nms__caller_corners (f->boxes, (size_t) f->kept[k], box);
      continue;
    }
    if (f->method.method == NMS_METHOD_AVERAGE)
      nms__fused_mean (box, m->weights[k], box);
    if (f->rotated)
      turn_back (f->boxes, (size_t) f->kept[k], box);
  }
}

void
nms__merge (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  merge m;
  const int transitive = f->method.method == NMS_METHOD_MERGE;

  layout (&m, &arena, f->capacity);
  m.frame = f;
  nms__box_blocks_fill (f, &m.blocks);
  memcpy (m.order, f->packed, f->count * sizeof *m.order);
  const uint64_t *order = nms__sort (f->kernels, m.order, m.order2, f->count);
  uint64_t *spare = order == m.order ? m.order2 : m.order;
  if ((transitive || !nms__tiles_are_capped (f))
      && nms__visits_begin (&m.visits, f, &m.blocks, order, spare, &m.waiting)
      && find_clusters (&m, transitive))
    join_members (&m, order);
  else
    decide_by_rank (&m, order, transitive);
  finish_boxes (&m);
}
