/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial: for large frames; its time is close to linear. All boxes lie in the cells of a grid
 * (spatial_grid.c). Each kept box queries the cells around it and suppresses the boxes that it
 * finds there. Only kept boxes make queries: where a detector reports each object many times,
 * these are few, and each box is tested against the few kept boxes near it.
 *
 * Without caps the engine sweeps over the cells, in which neighbours are near in memory
 * (spatial_tmpl.c), and then sorts the kept boxes only. With caps, with suppressors requested,
 * or where a pair needs more than its overlap to be decided, it walks in score order and stops
 * at the total cap. A box's suppressor is then its highest-ranked one, as for all engines.
 *
 * In score order the boxes lie anywhere in memory, and the number of boxes nearby varies, so
 * that a plain walk would wait for memory and mispredict branches. The walk therefore takes
 * batches of boxes through stages: it collects the undecided boxes, finds the runs of cells
 * that each one queries, lists the groups of four boxes (box4) in these runs, tests all listed
 * pairs, and then decides the boxes in order. The queries of boxes that another box of the same
 * batch suppresses are wasted; these are few in the frames for which the engine is fast.
 *
 * Every decision is made on the boxes themselves, so it does no harm that a box4 has boxes of a
 * cell that was not queried.
 */
#include "box4.h"
#include "spatial_query.h"
#include "spatial_scatter.h"

#include "engines/engine.h"
#include "engines/tuning.h"

#define BATCH 64
#define PAIRS (BATCH * 16)
#define SMALL_RUN 4 /* most runs have at most this many box4 */

/* A box of the current batch. */
typedef struct member {
  uint32_t at;
  uint32_t rank;
  uint32_t query; /* number of its query, or NO_QUERY */
} member;

#define NO_QUERY BATCH

typedef struct walk {
  nms__frame *f;
  nms__grid *g;
  const uint64_t *order;
  nms__bounds bounds;
  size_t rank; /* rank of the first box that is in no batch yet */
  unsigned members, queries, pairs, hits;
  member member[BATCH];
  nms__query query[BATCH];
  nms__wide_box wide[BATCH]; /* the boxes of the queries */

  /* pairs of a query and a box4 in one of its cells */
  uint32_t pair_box4[PAIRS + SMALL_RUN];
  uint8_t pair_query[PAIRS + SMALL_RUN];

  /* the pairs in which a box may exceed the limit */
  uint32_t hit_box4[PAIRS];
  uint8_t hit_query[PAIRS];
  uint8_t hit_bits[PAIRS];
} walk;

/* ------------------------------------------------------ decided boxes */

/* Marks the box at a grid position as decided. */
static inline void
mark_decided (nms__grid *g, uint32_t at)
{
  g->undecided[at / NMS__BOX4] &= (uint8_t) ~(1u << at % NMS__BOX4);
}

static inline int
is_undecided (const nms__grid *g, uint32_t at)
{
  return g->undecided[at / NMS__BOX4] >> at % NMS__BOX4 & 1;
}

/* Tests the boxes of `hits` exactly, one by one, and writes their suppressor. */
static void
decide_box4 (const walk *w, uint32_t box4, unsigned hits, const nms__query *k)
{
  nms__frame *f = w->f;
  nms__grid *g = w->g;
  const nms__box4 *q = &g->box4[box4];

  for (; hits; hits &= hits - 1) {
    const unsigned i = nms__lowest_bit (hits);
    const uint32_t at = box4 * NMS__BOX4 + i;
    const float inter = nms__inter (q->x1[i], q->y1[i], q->x2[i], q->y2[i], k->x1, k->y1, k->x2,
        k->y2);
    const float area = nms__area (q->x1[i], q->y1[i], q->x2[i], q->y2[i]);
    const double limit = g->class_entry ? f->classes.entry[g->class_entry[at]].limit : f->limit;
    if (!nms__exceeds (inter, area, k->area, limit) || nms__related (f, k->index, g->index[at]))
      continue;
    mark_decided (g, at);
    if (f->suppressed_by)
      f->suppressed_by[g->index[at]] = k->index;
  }
}

static inline void
apply_hits (const walk *w, uint32_t box4, unsigned hits, const nms__query *k, int precise)
{
  hits &= w->g->undecided[box4];
  if (!hits)
    return;
  if (precise || (hits & ~nms__box4_surely (&w->g->box4[box4], &w->wide[k - w->query], &w->bounds)))
    decide_box4 (w, box4, hits, k);
  else
    w->g->undecided[box4] &= (uint8_t) ~hits;
}

/* Returns the first box4 from q on that has an undecided box, or `end`. Tests eight box4 at a time,
 * because most boxes of a long run may be decided. */
static inline size_t
next_undecided (const nms__grid *g, size_t q, size_t end)
{
  for (uint64_t eight = 0; q + sizeof eight <= end; q += sizeof eight) {
    memcpy (&eight, g->undecided + q, sizeof eight);
    if (eight)
      break;
  }
  while (q < end && !g->undecided[q])
    q++;
  return q;
}

static void
probe_cells (const walk *w, uint32_t first, uint32_t end, const nms__query *k, int precise)
{
  const nms__grid *g = w->g;
  const size_t from = g->begin[first] / NMS__BOX4;
  const size_t to = ((size_t) g->begin[end] + NMS__BOX4 - 1) / NMS__BOX4;

  for (size_t n = next_undecided (g, from, to); n < to; n = next_undecided (g, n + 1, to)) {
    const uint32_t q = (uint32_t) n;
    unsigned hits = nms__box4_may (&g->box4[q], &w->wide[k - w->query], &w->bounds);
    if (g->class_id)
      hits &= nms__box4_of_class (g->class_id + (size_t) q * NMS__BOX4, k->class_id);
    apply_hits (w, q, hits, k, precise);
  }
}

/* -------------------------------------------------------------- probes */

typedef struct probe {
  const walk *w;
  const nms__query *k;
  int precise;
} probe;

static inline int
probe_run (void *data, uint32_t first, uint32_t end)
{
  const probe *a = data;

  probe_cells (a->w, first, end, a->k, a->precise);
  return 1;
}

/* Probes all cells of a query at once; for queries with more runs than a query can hold. */
static void
probe_directly (const walk *w, const nms__query *k, int precise)
{
  probe a = { w, k, precise };

  nms__for_runs (w->g, &k->hull, k->class_id, probe_run, &a);
}

/* ------------------------------------------------- walk in score order */

static void
add_member (walk *w, uint32_t at, int undecided)
{
  nms__grid *g = w->g;
  const int queries_cells = undecided && at < g->in_cells;

  w->member[w->members++] = (member) { at, (uint32_t) w->rank,
    queries_cells ? w->queries : NO_QUERY };
  if (queries_cells) {
    w->query[w->queries].at = at;
    w->queries++;
    __builtin_prefetch (&g->box4[at / NMS__BOX4]);
  }
  if (undecided)
    __builtin_prefetch (&g->index[at]);
}

static void
choose_members (walk *w)
{
  const nms__grid *g = w->g;
  const size_t count = w->f->count;
  const int all = g->class_entry != NULL; /* classes with caps count every box */

  w->members = 0;
  w->queries = 0;
  for (; w->rank < count && w->members < BATCH; w->rank++) {
    uint32_t at = nms__packed_position (w->order[w->rank]);
    int undecided = is_undecided (g, at);
    if (undecided || all)
      add_member (w, at, undecided);
  }
}

static inline void
start_query (const nms__grid *g, nms__query *k, nms__wide_box *box, float factor)
{
  const nms__box4 *q = &g->box4[k->at / NMS__BOX4];
  const unsigned lane = k->at % NMS__BOX4;

  k->x1 = q->x1[lane];
  k->y1 = q->y1[lane];
  k->x2 = q->x2[lane];
  k->y2 = q->y2[lane];
  k->area = nms__area (k->x1, k->y1, k->x2, k->y2);
  k->hull = nms__hull_of (k->x1, k->y1, k->x2, k->y2);
  k->class_id = g->class_id ? g->class_id[k->at] : 0;
  k->index = g->index[k->at];
  k->direct = 0;
  for (int i = 0; i < NMS__BOX4; i++) {
    box->x1[i] = k->x1;
    box->y1[i] = k->y1;
    box->x2[i] = k->x2;
    box->y2[i] = k->y2;
    box->scaled[i] = factor * k->area;
  }
}

static void
find_all_runs (walk *w)
{
  const nms__grid *g = w->g;

  for (unsigned j = 0; j < w->queries; j++) {
    nms__query *k = &w->query[j];
    start_query (g, k, &w->wide[j], w->bounds.factor);
    if (w->f->outcome)
      __builtin_prefetch (&w->f->outcome[k->index], 1);
    if (!nms__query_few_rows (g, k))
      k->direct = !nms__query_cells (g, k);
    for (uint32_t r = 0; r < k->run_count; r++)
      __builtin_prefetch (&g->begin[k->run[r][0]]);
  }
}

static inline void
add_pairs (walk *w, size_t n, uint32_t first, size_t count4, unsigned j)
{
  for (size_t q = 0; q < count4; q++) {
    w->pair_box4[n + q] = first + (uint32_t) q;
    w->pair_query[n + q] = (uint8_t) j;
  }
}

/* Lists the pairs of one run. Up to SMALL_RUN pairs are written without a branch that depends
 * on their number. Returns the number of pairs; if they do not fit, it writes none. */
static inline size_t
add_run_pairs (walk *w, size_t n, const uint32_t run[2], unsigned j)
{
  const nms__grid *g = w->g;
  const uint32_t from = g->begin[run[0]], to = g->begin[run[1]];
  const uint32_t first = from / NMS__BOX4;
  const uint32_t any = (uint32_t) 0 - (uint32_t) (from < to);
  const size_t count4 = ((to + NMS__BOX4 - 1) / NMS__BOX4 - first) & any;

  if (count4 > PAIRS - n)
    return count4;
  add_pairs (w, n, first, SMALL_RUN, j);
  if (count4 > SMALL_RUN)
    add_pairs (w, n, first, count4, j);
  __builtin_prefetch (&g->box4[first]);
  __builtin_prefetch (&g->box4[first + 1]);
  __builtin_prefetch (&g->box4[first + 2]);
  return count4;
}

static void
find_pairs (walk *w)
{
  size_t n = 0;

  for (unsigned j = 0; j < w->queries; j++) {
    nms__query *k = &w->query[j];
    const size_t before = n;
    for (uint32_t r = 0; r < k->run_count; r++) {
      n += add_run_pairs (w, n, k->run[r], j);
      if (n > PAIRS) {
        k->direct = 1;
        n = before;
        break;
      }
    }
  }
  w->pairs = (unsigned) n;
}

static inline void
test_pairs (walk *w, int by_class)
{
  const nms__grid *g = w->g;
  const nms__bounds bounds = w->bounds;
  unsigned n = 0;

  for (unsigned p = 0; p < w->pairs; p++) {
    const uint32_t box4 = w->pair_box4[p];
    const unsigned j = w->pair_query[p];
    unsigned hits = nms__box4_may (&g->box4[box4], &w->wide[j], &bounds) & g->undecided[box4];
    if (by_class)
      hits &= nms__box4_of_class (g->class_id + (size_t) box4 * NMS__BOX4, w->query[j].class_id);
    w->hit_box4[n] = box4;
    w->hit_query[n] = (uint8_t) j;
    w->hit_bits[n] = (uint8_t) hits;
    n += hits != 0;
  }
  w->hits = n;
}

/* Decides a member of the batch, in order of rank. Returns whether it is kept. */
static inline int
visit (const walk *w, const member *m)
{
  nms__frame *f = w->f;
  nms__grid *g = w->g;
  const int undecided = is_undecided (g, m->at);

  if (g->class_entry) {
    nms__class *class = &f->classes.entry[g->class_entry[m->at]];
    if (class->kept >= class->cap) {
      mark_decided (g, m->at);
      nms__over_cap_index (f, g->index[m->at]);
      return 0;
    }
    class->kept += (uint32_t) undecided;
  }
  if (!undecided)
    return 0;
  mark_decided (g, m->at);
  nms__keep_index (f, g->index[m->at]);
  return 1;
}

/* Returns one more than the rank of the box that filled the total cap, or 0 if none did. */
static inline size_t
decide (walk *w, uint64_t cap, int precise)
{
  unsigned h = 0;

  for (unsigned i = 0; i < w->members; i++) {
    const member *m = &w->member[i];
    const int kept = visit (w, m);
    if (kept && w->f->kept_count >= cap)
      return (size_t) m->rank + 1;
    if (m->query == NO_QUERY)
      continue;
    nms__query *k = &w->query[m->query];
    for (; h < w->hits && w->hit_query[h] == m->query; h++)
      if (kept)
        apply_hits (w, w->hit_box4[h], w->hit_bits[h], k, precise);
    if (kept && k->direct)
      probe_directly (w, k, precise);
  }
  return 0;
}

/* Returns the rank at which the walk ended. */
static size_t
walk_all (walk *w)
{
  nms__frame *f = w->f;
  const uint64_t cap = f->cap;
  const int precise = f->suppressed_by || f->class_entry || f->parent.data;

  while (w->rank < f->count) {
    choose_members (w);
    find_all_runs (w);
    find_pairs (w);
    if (w->g->class_id)
      test_pairs (w, 1);
    else
      test_pairs (w, 0);
    size_t full = precise ? decide (w, cap, 1) : decide (w, cap, 0);
    if (full)
      return full;
  }
  return w->rank;
}

/* Decides all boxes in score order, which caps and suppressors require. */
static void
decide_by_score (nms__frame *f, nms__grid *g, const nms__spatial_scratch *s)
{
  walk w;

  nms__scatter_to_box4 (g, f, s);
  w.f = f;
  w.g = g;
  w.rank = 0;
  w.bounds = f->bounds;
  w.order = nms__sort (f->kernels, f->packed, s->order, f->count);
  size_t rank = walk_all (&w);

  nms__over_cap_keys (f, g->index, w.order + rank, f->count - rank);
}

/* ------------------------------------------------------------- the sweep */

static void
list_kept (nms__frame *f, const uint32_t *kept, uint64_t *keys)
{
  size_t n = 0;

  for (size_t i = 0; i < f->count; i++) {
    const uint32_t is_kept = kept[i / 32] >> i % 32 & 1;
    keys[n] = nms__pack ((uint32_t) (f->packed[i] >> 32), (uint32_t) f->index[i]);
    n += is_kept;
    if (f->outcome)
      f->outcome[f->index[i]] = is_kept ? NMS_OUTCOME_KEPT : NMS_OUTCOME_SUPPRESSED;
  }
  const uint64_t *sorted = nms__sort (f->kernels, keys, f->packed, n);
  for (size_t i = 0; i < n; i++)
    f->kept[i] = (int32_t) nms__packed_position (sorted[i]);
  f->kept_count = n;
}

static void
decide_by_cell (nms__frame *f, nms__grid *g, const nms__spatial_scratch *s)
{
  nms__cell_boxes boxes;

  nms__scatter_to_columns (g, f, s, &boxes);
  f->kernels->spatial->decide_cells (&boxes);
  list_kept (f, boxes.kept, s->keys);
}

size_t
nms__spatial_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  nms__spatial_scratch s;

  nms__spatial_layout (&s, &arena, boxes);
  return arena.used;
}

int
nms__spatial (nms__frame *f)
{
  nms__arena arena = { f->scratch, 0 };
  nms__spatial_scratch s;
  nms__grid grid;

  if (!f->count)
    return NMS_OK;
  nms__spatial_layout (&s, &arena, f->capacity);
  nms__grid_plan (&grid, f, s.level);
  if (nms__takes_score_order (f))
    decide_by_score (f, &grid, &s);
  else
    decide_by_cell (f, &grid, &s);
  return NMS_OK;
}
