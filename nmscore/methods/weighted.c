/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weighted: weighted box fusion (Solovyev, Wang and Gabruseva, "Weighted boxes fusion", 2021),
 * with the rules of ensemble-boxes. The fused box of a cluster replaces its head's box in the
 * blocks, so that the row of the next box is computed from the fused boxes; the bounding box of the
 * block grows with them. The heads of a block are moved to its front, because rows read only those:
 * a fifth of the boxes, if each object has five.
 */
#include "fused_box.h"
#include "fused_score.h"
#include "method.h"
#include "row.h"
#include "visits.h"
#include "frame/order.h"

#include <string.h>

#define NONE UINT32_MAX

/* A cluster, by the place of its head. Its box is that of the blocks at this place. */
typedef struct cluster {
  uint32_t rank; /* rank of the head */
  uint32_t last; /* the member that joined last; `previous` links it to the others */
  uint32_t kept; /* number of the kept box; NONE if over-cap */
  nms__cluster_sums sums;
  float corners[4]; /* sum of the corners times the scores, in the coordinates of the head */
} cluster;

typedef struct weighted {
  nms__frame *frame;
  nms__box_blocks blocks;
  nms__visits visits;
  int by_tile;              /* whether the boxes are visited by tiles */
  int strayed;              /* whether nms__tiles_hold returned 0 */
  uint64_t *order, *order2; /* packed keys, for sorting */
  nms__places heads;        /* the boxes that are a cluster's head */
  nms__places waiting;      /* boxes that `visits` has not returned yet */
  cluster *clusters;        /* indexed by place of the head */
  float *score;             /* score of the cluster, indexed by place of the head */
  size_t count;             /* number of clusters */
  uint8_t *has;             /* by source: nonzero if the current cluster has a member of it */

  /* Boxes move, but their numbers as members do not change: these are the frame positions or, by
   * tiles, the places at the start, because what lies by position is elsewhere in memory. */
  uint32_t *at, *was; /* place by member, and member by place */
  uint32_t *tracks;   /* space for both, if by tiles */
  uint32_t *head;     /* place of the cluster's head, by member */
  uint32_t *previous; /* member that joined before, by member; NONE if head */
} weighted;

static weighted
weighted_layout (nms__arena *a, size_t boxes)
{
  weighted w = { NULL };

  nms__box_blocks_take (a, &w.blocks, boxes);
  w.order = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *w.order);
  w.order2 = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *w.order2);
  nms__places_take (a, &w.heads, boxes);
  nms__places_take (a, &w.waiting, boxes);
  w.clusters = nms__take (a, boxes, sizeof *w.clusters);
  w.score = nms__take (a, boxes, sizeof *w.score);
  w.head = nms__take (a, boxes, sizeof *w.head);
  w.previous = nms__take (a, boxes, sizeof *w.previous);
  w.tracks = nms__take (a, 2 * boxes, sizeof *w.tracks);
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
  return nms__source_weight (&w->frame->method, source_of (w->frame, pos));
}

/* Multiplies the scores by the weights of their sources. Returns the packed keys in rank order. */
static const uint64_t *
rank (const weighted *w)
{
  const nms__frame *f = w->frame;

  for (size_t pos = 0; pos < f->count; pos++) {
    const float score = nms__fused_weight (nms__method_score (f, pos) * weight_of (w, pos));
    w->order[pos] = nms__pack (nms__order_key (score), (uint32_t) pos);
  }
  return nms__sort (f->kernels, w->order, w->order2, f->count);
}

/* Returns the head of the cluster whose fused box the box at `place` overlaps most, the first one
 * of several, or NONE. */
static uint32_t
find (const weighted *w, size_t place, size_t pos)
{
  uint32_t best = NONE;
  float most = 0.0f;
  nms__row row;

  nms__row_begin (&row, w->frame, &w->blocks, place, &w->heads);
  while (nms__row_next (&row))
    for (uint64_t left = row.mask; left; left &= left - 1) {
      const unsigned i = nms__lowest_bit (left);
      const uint32_t head = (uint32_t) (row.first + i);
      if (!nms__overlaps (w->frame, pos, row.value[i]))
        continue;
      if (best == NONE || row.value[i] > most
          || (row.value[i] == most && w->clusters[head].rank < w->clusters[best].rank)) {
        best = head;
        most = row.value[i];
      }
    }
  return best;
}

/* Moves the box at `place` to the first place of its block that no head has. Returns that place. */
static uint32_t
move_to_front (weighted *w, size_t place)
{
  const nms__box_blocks *b = &w->blocks;
  const size_t block = place / NMS__BLOCK, first = block * NMS__BLOCK;
  const size_t begin = nms__partition_begin (b, place);
  uint64_t free = ~w->heads.bits[block];

  if (begin > first) /* the boxes before it are of another class */
    free &= ~(uint64_t) 0 << (begin - first);
  const size_t front = first + nms__lowest_bit (free);
  if (w->by_tile)
    nms__visits_swap (&w->visits, place, front);
  else
    nms__box_blocks_swap (w->frame, &w->blocks, place, front);
  return (uint32_t) front;
}

static void
start_cluster (weighted *w, size_t place, uint32_t rank, float score)
{
  const uint32_t head = move_to_front (w, place), member = w->was[head];

  w->head[member] = head;
  w->previous[member] = NONE;
  nms__place_set (&w->heads, head);
  w->count++;
  w->clusters[head] = (cluster) { .rank = rank,
    .last = member,
    .sums = { .members = 1,
        .scores = score,
        .best = score,
        .weights = weight_of (w, w->blocks.position[head]) } };
}

/* Writes the corners of the box at `place` as a member of the cluster whose head is at `head`. */
static void
corners_of (const weighted *w, size_t place, size_t head, float c[4])
{
  const nms__box_blocks *b = &w->blocks;

  if (w->frame->rotated)
    nms__rotated_turn (&b->rotation[head], &b->rotation[place], 0, c);
  else
    nms__box_blocks_corners (b, place, c);
}

/* Adds the box at `place` to the cluster with that head, and moves the head. */
static void
join (weighted *w, size_t place, float score, uint32_t head)
{
  const nms__frame *f = w->frame;
  const uint32_t member = w->was[place];
  float corners[4], box[4];
  cluster *c = &w->clusters[head];

  if (c->sums.members == 1) {
    corners_of (w, head, head, corners);
    nms__fused_start (c->corners, corners, c->sums.scores);
  }
  corners_of (w, place, head, corners);
  nms__fused_add (c->corners, corners, score);
  c->sums.members++;
  c->sums.scores += score;
  c->sums.weights += weight_of (w, w->blocks.position[place]);
  w->head[member] = head;
  w->previous[member] = c->last;
  c->last = member;
  nms__fused_mean (c->corners, c->sums.scores, box);
  if (f->rotated)
    nms__rotated_turn_back (&w->blocks.rotation[head], box);
  nms__box_blocks_move (f, &w->blocks, head, box);
  w->strayed |= w->by_tile && !nms__tiles_hold (&w->visits.tiles, head, place);
}

static float
score_of (uint64_t key)
{
  return nms__score_of_key ((uint32_t) (key >> 32));
}

/* Begins without clusters. */
static void
start (weighted *w)
{
  nms__box_blocks_fill (w->frame, &w->blocks);
  nms__places_clear_all (&w->heads, w->frame->count);
  w->at = w->blocks.place;
  w->was = w->blocks.position;
  w->count = 0;
  w->by_tile = w->strayed = 0;
}

/* Prepares to visit the boxes by tiles, if that is possible. */
static void
start_tiles (weighted *w, const uint64_t *order)
{
  const nms__frame *f = w->frame;
  uint64_t *spare = order == w->order ? w->order2 : w->order;

  if (!nms__visits_begin (&w->visits, f, &w->blocks, order, spare, &w->waiting))
    return;
  w->by_tile = 1;
  w->at = w->tracks;
  w->was = w->tracks + f->count;
  nms__visits_track (&w->visits, w->at, w->was);
  for (size_t n = 0; n < f->count; n++)
    w->score[w->blocks.place[nms__packed_position (order[n])]] = score_of (order[n]);
}

/* Lets each box join a cluster or begin one. Returns 0 if by tiles the result may differ from that
 * in rank order. */
static int
visit_all (weighted *w, const uint64_t *order)
{
  for (size_t n = 0; n < w->frame->count; n++) {
    size_t rank = n, place;
    float score;
    if (w->by_tile) {
      if (w->strayed || !nms__visits_next (&w->visits, &place))
        return 0;
      nms__place_clear (&w->waiting, place);
      rank = w->visits.rank[place];
      score = w->score[w->was[place]];
    } else {
      place = w->blocks.place[nms__packed_position (order[n])];
      score = score_of (order[n]);
    }
    const uint32_t head = find (w, place, w->blocks.position[place]);
    if (head == NONE)
      start_cluster (w, place, (uint32_t) rank, score);
    else
      join (w, place, score, head);
  }
  return !w->strayed;
}

static void
find_clusters (weighted *w, const uint64_t *order)
{
  int tiles = 1;

  do {
    start (w);
    if (tiles)
      start_tiles (w, order);
    tiles = 0;
  } while (!visit_all (w, order));
}

/* Adds up the weights of the sources that have a member of the cluster, and of the others. */
static void
sum_sources (const weighted *w, cluster *c)
{
  const nms__method *o = &w->frame->method;

  memset (w->has, 0, nms__source_count (o));
  for (uint32_t member = c->last; member != NONE; member = w->previous[member])
    w->has[source_of (w->frame, w->blocks.position[w->at[member]])] = 1;
  for (size_t s = 0; s < nms__source_count (o); s++)
    if (w->has[s])
      c->sums.found += nms__source_weight (o, s);
    else
      c->sums.absent += nms__source_weight (o, s);
}

/* Computes the scores of the clusters. */
static void
score_clusters (const weighted *w)
{
  const nms__method *o = &w->frame->method;
  float all = 0.0f, greatest = 0.0f;

  for (size_t s = 0; s < nms__source_count (o); s++) {
    const float weight = nms__source_weight (o, s);
    all += weight;
    greatest = weight > greatest ? weight : greatest;
  }
  for (size_t place = 0; place < w->frame->count; place++) {
    if (!nms__place_is_set (&w->heads, place))
      continue;
    cluster *c = &w->clusters[place];
    if (o->fused_score >= NMS_FUSED_BOX_AND_MODEL_AVG)
      sum_sources (w, c);
    w->score[place] = nms__fused_score (o, &c->sums, all, greatest);
  }
}

/* Returns packed keys of the heads, in the order of the scores of their clusters. */
static const uint64_t *
rank_clusters (const weighted *w)
{
  const nms__frame *f = w->frame;
  size_t n = 0;

  /* by ascending position of the heads, because sorting keeps the order of equal scores */
  for (size_t pos = 0; pos < f->count; pos++) {
    const uint32_t place = w->blocks.place[pos];
    if (nms__place_is_set (&w->heads, place))
      w->order[n++] = nms__pack (nms__order_key (w->score[place]), (uint32_t) pos);
  }
  return nms__sort (f->kernels, w->order, w->order2, n);
}

/* Keeps the head at `pos`, with the fused score and box, if the caps allow it. */
static void
keep (const weighted *w, size_t pos)
{
  nms__frame *f = w->frame;
  const size_t k = f->kept_count, place = w->blocks.place[pos];
  cluster *c = &w->clusters[place];

  c->kept = NONE;
  if (!nms__take_next (f, pos, w->score[place]))
    return;
  c->kept = (uint32_t) k;
  if (!f->kept_box)
    return;
  float *box = &f->kept_box[4 * k];
  if (c->sums.members == 1)
    nms__caller_corners (f->boxes, (size_t) f->index[pos], box);
  else if (f->rotated)
    memcpy (box, w->blocks.rotation[place].corners, 4 * sizeof *box);
  else
    nms__box_blocks_corners (&w->blocks, place, box);
}

/* Gives the members that are no heads their outcomes. */
static void
finish_members (const weighted *w)
{
  for (size_t place = 0; place < w->frame->count; place++) {
    const uint32_t head = w->head[w->was[place]], pos = w->blocks.position[place];
    if (head == place)
      continue;
    if (w->clusters[head].kept == NONE)
      nms__over_cap (w->frame, pos);
    else
      nms__suppress (w->frame, pos, w->blocks.position[head]);
  }
}

void
nms__weighted (nms__frame *f)
{
  nms__arena arena = { f->method_scratch, 0 };
  weighted w = weighted_layout (&arena, f->capacity);

  w.frame = f;
  find_clusters (&w, rank (&w));
  score_clusters (&w);
  const uint64_t *order = rank_clusters (&w);
  for (size_t n = 0; n < w.count; n++)
    keep (&w, nms__packed_position (order[n]));
  finish_members (&w);
}
