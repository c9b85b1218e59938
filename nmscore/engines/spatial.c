/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial: for large frames, in time close to linear. All boxes lie in the
 * cells of a grid (spatial_grid.c); they are taken in score order, and each one
 * that is still open is kept and decides the boxes around it that it
 * suppresses. Only kept boxes look around: where detectors repeat themselves
 * that is one box of many, and a box is looked at by the few kept ones near it
 * that could be like it. The walk stops at the total cap; any box is decided
 * by its highest-ranked suppressor, as all engines have it.
 *
 * The places that follow each other in score order lie anywhere in memory and
 * how many boxes are near is anyone's guess: a plain walk waits for memory and
 * mispredicted branches. So it goes in batches, in stages without surprises:
 * which boxes are open; the runs of cells that each asks; the quads in them;
 * the tests of all those pairs; and only then, in order, what follows. Boxes
 * of a batch that another one of it suppresses were looked from in vain, which
 * is rare where it matters.
 *
 * Looking at boxes beyond a cell's own does no harm, since every decision is
 * made on the boxes; so whole quads are tested, whatever cells they straddle.
 */
#include "spatial.h"

#define BATCH 32
#define RUNS 8                  /* of one looker; more: it looks directly */
#define PAIRS (BATCH * 16)

/* A box that looks around. */
typedef struct looker {
  nms__wide_box box;
  float w, h;
  int32_t group;
  uint32_t at;             /* its place */
  uint32_t run_count;
  int direct;              /* has more runs or pairs than there is room for */
  uint32_t run[RUNS][2];   /* first cell; the one behind the last */
} looker;

typedef struct pair {
  uint32_t quad;
  uint16_t looker;
  uint8_t hits, sure; /* bits of the quad's boxes */
} pair;

/* A box whose turn comes in this batch. */
typedef struct member {
  uint32_t at;
  uint32_t rank;
  uint32_t looker; /* or NO_LOOKER */
} member;

#define NO_LOOKER BATCH

typedef struct walk {
  nms__frame *f;
  nms__grid *g;
  const uint64_t *order;
  float lower, upper; /* what is not above `lower` x union does not exceed, what
                       * is above `upper` x union does */
  size_t rank;        /* the next one to take into a batch */
  unsigned members, lookers, pairs, hits;
  member member[BATCH];
  looker looker[BATCH];
  pair pair[PAIRS];
  pair hit[PAIRS];
} walk;

/* --------------------------------------------------------- what it decides */

static inline void
close_box (nms__grid *g, uint32_t at)
{
  g->open[at / NMS__QUAD] &= (uint8_t) ~(1u << at % NMS__QUAD);
}

static inline int
is_open (const nms__grid *g, uint32_t at)
{
  return g->open[at / NMS__QUAD] >> at % NMS__QUAD & 1;
}

/* One by one, exactly, and noting the suppressor. */
static void
decide_quad (const walk *w, uint32_t quad, unsigned hits, const looker *k)
{
  nms__frame *f = w->f;
  const nms__quad *q = &w->g->quads[quad];
  const int32_t suppressor = f->index[w->g->pos[k->at]];

  for (; hits; hits &= hits - 1) {
    unsigned i = nms__lowest_bit (hits);
    uint32_t at = quad * NMS__QUAD + i, pos = w->g->pos[at];
    float inter = nms__inter (q->x1[i], q->y1[i], q->x2[i], q->y2[i], k->box.x1[0], k->box.y1[0],
        k->box.x2[0], k->box.y2[0]);
    if (!nms__exceeds (inter, f->area[pos], k->box.area[0], nms__candidate_limit (f, pos))
        || nms__related (f, suppressor, f->index[pos]))
      continue;
    close_box (w->g, at);
    if (f->suppressed_by)
      f->suppressed_by[f->index[pos]] = suppressor;
  }
}

static inline void
apply_hits (const walk *w, uint32_t quad, unsigned hits, unsigned sure, const looker *k,
    int precise)
{
  hits &= w->g->open[quad];
  if (!hits)
    return;
  if (precise || (hits & ~sure))
    decide_quad (w, quad, hits, k);
  else
    w->g->open[quad] &= (uint8_t) ~hits;
}

/* All at once, for a box that sees more than there is room for. */
static void
look_at_cells (const walk *w, uint32_t first, uint32_t end, const looker *k, int precise)
{
  const nms__grid *g = w->g;
  const uint32_t from = g->begin[first], to = g->begin[end];

  for (uint32_t q = from / NMS__QUAD; q * NMS__QUAD < to; q++) {
    if (!g->open[q])
      continue;
    nms__quad_hits hits = nms__test_quad (&g->quads[q], &k->box, w->lower, w->upper);
    if (g->group)
      hits.may &= nms__test_groups (g->group + (size_t) q * NMS__QUAD, k->group);
    apply_hits (w, q, hits.may, hits.sure, k, precise);
  }
}

/* ------------------------------------------------------- what a box may see */

static inline double
reach_at (double per_side, float side, float most_side, float most)
{
  float other = side * most_side;
  return per_side * ((double) side + (double) (other < most ? other : most));
}

/* What is done with a run of cells that a box sees. */
enum { NOTE, LOOK, LOOK_PRECISE };

static inline void
take_run (const walk *w, const nms__level *l, uint32_t first, uint32_t end, looker *k, int what)
{
  if (what != NOTE)
    look_at_cells (w, l->first + first, l->first + end, k, what == LOOK_PRECISE);
  else if (k->run_count == RUNS)
    k->direct = 1;
  else {
    k->run[k->run_count][0] = l->first + first;
    k->run[k->run_count][1] = l->first + end;
    k->run_count++;
  }
}

static inline void
see_level (const walk *w, const nms__level *l, looker *k, int what)
{
  const nms__reach *r = &w->g->reach;
  const double cx = 0.5 * ((double) k->box.x1[0] + k->box.x2[0]);
  const double cy = 0.5 * ((double) k->box.y1[0] + k->box.y2[0]);
  const double reach_x = reach_at (r->distance, k->w, r->most_side, l->most_w);
  const double reach_y = reach_at (r->distance, k->h, r->most_side, l->most_h);
  const uint64_t x = nms__cell_along ((cx - reach_x) * l->per_x);
  const uint64_t y = nms__cell_along ((cy - reach_y) * l->per_y);
  const uint64_t wide = nms__cell_along ((cx + reach_x) * l->per_x) - x;
  const uint64_t rows = nms__cell_along ((cy + reach_y) * l->per_y) - y;
  uint64_t number = y * l->columns + x;

  if (wide >= l->mask || rows >= l->mask || (wide + 1) * (rows + 1) > l->mask) {
    take_run (w, l, 0, l->mask + 1, k, what);
    return;
  }
  if (w->g->group)
    number += nms__group_shift (k->group);
  for (uint64_t row = 0; row <= rows; row++, number += l->columns) {
    uint32_t first = (uint32_t) number & l->mask;
    uint32_t end = first + (uint32_t) wide + 1;
    if (end > l->mask + 1) {
      take_run (w, l, 0, end - (l->mask + 1), k, what);
      end = l->mask + 1;
    }
    take_run (w, l, first, end, k, what);
    if (k->direct && what == NOTE)
      return;
  }
}

static inline void
see (const walk *w, looker *k, int what)
{
  const nms__grid *g = w->g;
  const nms__reach *r = &g->reach;
  const float aspect = k->w / k->h;
  const unsigned least_size = nms__size_class (g, k->box.area[0] * r->least_area);
  const unsigned most_size = nms__size_class (g, k->box.area[0] * r->most_area);
  const unsigned least_aspect = nms__aspect_class (g, aspect * r->least_aspect);
  const unsigned most_aspect = nms__aspect_class (g, aspect * r->most_aspect);
  const unsigned aspects = (2u << most_aspect) - (1u << least_aspect);

  for (unsigned size = least_size; size <= most_size; size++)
    for (unsigned mask = g->occupied[size] & aspects; mask; mask &= mask - 1)
      see_level (w, &g->level[size * NMS__ASPECTS + nms__lowest_bit (mask)], k, what);
}

static void
look_directly (const walk *w, looker *k)
{
  see (w, k, LOOK);
}

static void
look_directly_precise (const walk *w, looker *k)
{
  see (w, k, LOOK_PRECISE);
}

static inline void
look_from (const nms__grid *g, looker *k)
{
  nms__widen_box (&g->quads[k->at / NMS__QUAD], k->at % NMS__QUAD, &k->box);
  k->w = k->box.x2[0] - k->box.x1[0];
  k->h = k->box.y2[0] - k->box.y1[0];
  k->group = g->group ? g->group[k->at] : 0;
}

/* ---------------------------------------------------------------- the walk */

static void
add_member (walk *w, uint32_t at, int open)
{
  nms__grid *g = w->g;
  const int looks = open && at < g->in_cells;

  w->member[w->members++] = (member) { at, (uint32_t) w->rank, looks ? w->lookers : NO_LOOKER };
  if (looks) {
    w->looker[w->lookers].at = at;
    w->lookers++;
    __builtin_prefetch (&g->quads[at / NMS__QUAD]);
  }
  if (open)
    __builtin_prefetch (&g->pos[at]);
}

static void
choose_members (walk *w)
{
  const size_t count = w->f->count;
  const int all = w->f->slot != NULL; /* a full class counts them */

  w->members = 0;
  w->lookers = 0;
  for (; w->rank < count && w->members < BATCH; w->rank++) {
    uint32_t at = nms__packed_position (w->order[w->rank]);
    int open = is_open (w->g, at);
    if (open || all)
      add_member (w, at, open);
  }
}

static void
find_all_runs (walk *w)
{
  const nms__grid *g = w->g;

  for (unsigned j = 0; j < w->lookers; j++) {
    looker *k = &w->looker[j];
    look_from (g, k);
    k->run_count = 0;
    k->direct = 0;
    see (w, k, NOTE);
    for (uint32_t r = 0; r < k->run_count; r++)
      __builtin_prefetch (&g->begin[k->run[r][0]]);
  }
}

static void
find_pairs (walk *w)
{
  const nms__grid *g = w->g;
  unsigned n = 0;

  for (unsigned j = 0; j < w->lookers; j++) {
    looker *k = &w->looker[j];
    const unsigned before = n;
    for (uint32_t r = 0; r < k->run_count && !k->direct; r++) {
      const uint32_t from = g->begin[k->run[r][0]], to = g->begin[k->run[r][1]];
      const uint32_t first = from / NMS__QUAD;
      const uint32_t quads = from < to ? (to - 1) / NMS__QUAD - first + 1 : 0;
      if (quads > PAIRS - n) {
        k->direct = 1;
        n = before;
        break;
      }
      for (uint32_t q = 0; q < quads; q++) {
        __builtin_prefetch (&g->quads[first + q]);
        w->pair[n++] = (pair) { first + q, (uint16_t) j, 0, 0 };
      }
    }
  }
  w->pairs = n;
}

static inline void
test_pairs (walk *w, int grouped)
{
  const nms__grid *g = w->g;
  const float lower = w->lower, upper = w->upper;
  unsigned n = 0;

  for (unsigned p = 0; p < w->pairs; p++) {
    const pair *t = &w->pair[p];
    const looker *k = &w->looker[t->looker];
    nms__quad_hits hits = nms__test_quad (&g->quads[t->quad], &k->box, lower, upper);
    hits.may &= g->open[t->quad];
    if (grouped)
      hits.may &= nms__test_groups (g->group + (size_t) t->quad * NMS__QUAD, k->group);
    w->hit[n] = (pair) { t->quad, t->looker, (uint8_t) hits.may, (uint8_t) hits.sure };
    n += hits.may != 0;
  }
  w->hits = n;
}

/* Whether the member is kept, now that its turn has come. */
static inline int
take (const walk *w, const member *m)
{
  nms__frame *f = w->f;
  const int open = is_open (w->g, m->at);

  if (f->slot) {
    uint32_t pos = w->g->pos[m->at];
    nms__class *class = &f->classes.entry[f->slot[pos]];
    if (class->kept >= class->cap) {
      close_box (w->g, m->at);
      nms__over_cap (f, pos);
      return 0;
    }
    class->kept += (uint64_t) open;
  }
  if (!open)
    return 0;
  close_box (w->g, m->at);
  nms__keep (f, w->g->pos[m->at]);
  return 1;
}

/* Returns the rank behind the box that filled the total cap, 0 if none did. */
static inline size_t
decide (walk *w, uint64_t cap, int precise)
{
  unsigned h = 0;

  for (unsigned i = 0; i < w->members; i++) {
    const member *m = &w->member[i];
    const int kept = take (w, m);
    if (kept && w->f->kept_count >= cap)
      return (size_t) m->rank + 1;
    if (m->looker == NO_LOOKER)
      continue;
    looker *k = &w->looker[m->looker];
    for (; h < w->hits && w->hit[h].looker == m->looker; h++)
      if (kept)
        apply_hits (w, w->hit[h].quad, w->hit[h].hits, w->hit[h].sure, k, precise);
    if (kept && k->direct && precise)
      look_directly_precise (w, k);
    else if (kept && k->direct)
      look_directly (w, k);
  }
  return 0;
}

/* Returns the rank at which it stopped. */
static size_t
walk_all (walk *w)
{
  nms__frame *f = w->f;
  const uint64_t cap = nms__total_cap (f);
  const int precise = f->suppressed_by || f->slot || f->parent.data;

  while (w->rank < f->count) {
    choose_members (w);
    find_all_runs (w);
    find_pairs (w);
    if (w->g->group)
      test_pairs (w, 1);
    else
      test_pairs (w, 0);
    size_t full = precise ? decide (w, cap, 1) : decide (w, cap, 0);
    if (full)
      return full;
  }
  return w->rank;
}

void
nms__spatial (nms__frame *f)
{
  nms__grid grid;
  walk w;

  if (!f->count)
    return;
  nms__grid_build (&grid, f);
  w.f = f;
  w.g = &grid;
  w.rank = 0;
  w.lower = nms__lower_bound (f->settings->lowest_limit);
  w.upper = (float) (f->settings->lowest_limit * (1.0 + 0x1p-20));
  if (!(w.upper > 0x1p-100f))
    w.upper = 0x1p-100f;
  w.order = nms__sort (f->packed, f->packed2, f->count);
  size_t rank = walk_all (&w);

  if (!f->outcome && !f->suppressed_by) {
    f->over_cap_count += f->count - rank;
    return;
  }
  for (; rank < f->count; rank++)
    nms__over_cap (f, grid.pos[nms__packed_position (w.order[rank])]);
}
