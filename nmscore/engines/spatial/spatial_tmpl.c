/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_tmpl: decides all boxes of a grid in the order of their cells, so that all data it
 * needs is near in memory. Compiled once per instruction set. Whether a box is kept depends on
 * nearby scores only: an undecided box finds the undecided boxes that exceed the limit with it.
 * If it ranks above all of them, it is kept and they are suppressed. Otherwise the best of them
 * is decided first, and so on until a box is the best of its neighbours. The boxes that wait
 * for it form a chain; those that are still undecided afterwards are tried again.
 *
 * A box is tried again only if the box it waited for was suppressed, by a kept box nearby, of
 * which there are few.
 */
#include "spatial_query.h"
#include "spatial_scatter.h"

#include "simd/screen.h"

#define MOST_HITS 30
#define NO_BOX UINT32_MAX
/* After this many boxes in a row that had neighbors, a chunk's best box is decided first. */
#define DENSE 3
#define LONG_RUN 256 /* boxes; only in longer runs are decided boxes skipped word by word */
#define CHUNK 16     /* grid positions whose cells are computed at once */

/* The result of a query: groups of LANES grid positions, with a bit for each undecided box that
 * may exceed the limit. With `count` above MOST_HITS, the last groups are missing. */
typedef struct hits {
  uint64_t best; /* greatest rank found, and its grid position */
  uint32_t best_at;
  uint32_t count;
  uint32_t from[MOST_HITS + 2];
  uint32_t bits[MOST_HITS + 2];
} hits;

/* Returns the bits of LANES grid positions starting at `at`. It reads whole words, because a
 * load that overlaps two recent smaller stores would have to wait for both. */
INLINE uint32_t
undecided_bits (const uint64_t *undecided, size_t at)
{
  const size_t word = at / 64, shift = at % 64;
  return (uint32_t) (undecided[word] >> shift | undecided[word + 1] << 1 << (63 - shift));
}

INLINE void
clear_bits (uint64_t *undecided, size_t at, uint64_t bits)
{
  const size_t word = at / 64, shift = at % 64;
  undecided[word] &= ~(bits << shift);
  undecided[word + 1] &= ~(bits >> 1 >> (63 - shift));
}

/* Returns which of the first LANES grid positions in from .. end-1 have a box that may exceed
 * the limit. */
INLINE uint32_t
hits_from (const nms__cell_boxes *s, size_t from, size_t end, const wide *b, int by_class)
{
  const size_t n = end - from < LANES ? end - from : LANES;
  return (uint32_t) m_bits (screen_lanes (&s->columns, from, b, by_class))
      & (uint32_t) ((UINT64_C (1) << n) - 1);
}

/* Returns those boxes of `bits` that are undecided and exceed the limit. */
INLINE uint32_t
exact_bits (const nms__cell_boxes *s, size_t from, uint32_t bits, const wide *b,
    const nms__query *k)
{
  bits &= undecided_bits (s->undecided, from);
  const nms__box box = { k->x1, k->y1, k->x2, k->y2, 0.0f, 0 };
  const nms__bounds *bounds = &s->frame->bounds;
  uint32_t unsure = bits & ~(uint32_t) m_bits (certain_lanes (&s->columns, from, b, bounds));

  for (; unsure; unsure &= unsure - 1) {
    const unsigned i = nms__lowest_bit (unsure);
    if (!nms__column_exceeds (&s->columns, from + i, &box, s->frame->limit))
      bits &= ~(1u << i);
  }
  return bits;
}

/* Returns the rank of a grid position: greater is better, never 0. */
INLINE uint64_t
rank_of (const nms__cell_boxes *s, size_t at)
{
  return nms__pack (nms__order_key (s->score[at]), s->position[at]);
}

/* Actions of a probe on the boxes that it finds. */
enum { RECORD, FIND_BEST, SUPPRESS };

INLINE void
find_best (const nms__cell_boxes *s, size_t from, uint32_t bits, hits *found)
{
  for (; bits; bits &= bits - 1) {
    const size_t at = from + nms__lowest_bit (bits);
    const uint64_t rank = rank_of (s, at);
    found->best_at = rank > found->best ? (uint32_t) at : found->best_at;
    found->best = rank > found->best ? rank : found->best;
  }
}

INLINE void
probe_positions (const nms__cell_boxes *s, size_t from, size_t end, const wide *b,
    const nms__query *k, hits *found, int action, int by_class)
{
  for (; from < end; from += LANES) {
    uint32_t bits = hits_from (s, from, end, b, by_class);
    bits &= k->at - from < LANES ? ~(1u << (k->at - from)) : ~0u; /* not the box itself */
    if (action == RECORD) {
      found->from[found->count] = (uint32_t) from;
      found->bits[found->count] = bits;
      found->count += bits != 0 && found->count <= MOST_HITS;
    } else if (action == FIND_BEST)
      find_best (s, from, exact_bits (s, from, bits, b, k), found);
    else
      clear_bits (s->undecided, from, exact_bits (s, from, bits, b, k));
  }
}

/* Probes a long run. Skips words of 64 boxes that are all decided: at thresholds of about 0 a query
 * may reach most boxes of the frame, nearly all of which one kept box may have suppressed. */
static void __attribute__ ((noinline)) probe_long_run (const nms__cell_boxes *s, size_t from,
    size_t end, const wide *b, const nms__query *k, hits *found, int action, int by_class)
{
  const uint64_t *u = s->undecided;
  const size_t words = (end + 63) / 64;

  for (size_t word = from / 64; word < words; word++) {
    while (word + 4 < words && !(u[word] | u[word + 1] | u[word + 2] | u[word + 3]))
      word += 4;
    const size_t first = word * 64, behind = first + 64;
    if (u[word])
      probe_positions (s, first > from ? first : from, behind < end ? behind : end, b, k, found,
          action, by_class);
  }
}

INLINE void
probe_run (const nms__cell_boxes *s, uint32_t first, uint32_t end, const wide *b,
    const nms__query *k, hits *found, int action, int by_class)
{
  const size_t from = s->grid->begin[first], to = s->grid->begin[end];

  if (to - from >= LONG_RUN)
    probe_long_run (s, from, to, b, k, found, action, by_class);
  else
    probe_positions (s, from, to, b, k, found, action, by_class);
}

typedef struct level_probe {
  const nms__cell_boxes *s;
  const wide *b;
  const nms__query *k;
  hits *found;
  int action, by_class;
} level_probe;

INLINE int
probe_level_run (void *data, uint32_t first, uint32_t end)
{
  const level_probe *a = data;

  probe_run (a->s, first, end, a->b, a->k, a->found, a->action, a->by_class);
  return 1;
}

static void
probe_levels (const nms__cell_boxes *s, const wide *b, const nms__query *k, hits *found, int action,
    int by_class)
{
  const nms__hull hull = nms__hull_of (k->x1, k->y1, k->x2, k->y2);
  level_probe a = { s, b, k, found, action, by_class };

  nms__for_runs (s->grid, &hull, k->class_id, probe_level_run, &a);
}

INLINE void
probe_few_rows (const nms__cell_boxes *s, const wide *b, const nms__query *k, hits *found,
    int by_class)
{
  for (unsigned r = 0; r < NMS__FEW_ROWS; r++)
    probe_positions (s, s->grid->begin[k->run[r][0]], s->grid->begin[k->run[r][1]], b, k, found,
        RECORD, by_class);
}

INLINE void
probe (const nms__cell_boxes *s, const wide *b, nms__query *k, hits *found, int by_class)
{
  if (nms__query_few_rows (s->grid, k))
    probe_few_rows (s, b, k, found, by_class);
  else
    probe_levels (s, b, k, found, RECORD, by_class);
}

/* Reduces the hits to the boxes that exceed the limit, and sets found->best to the best one
 * that ranks above the box at `at`, 0 if there is none. */
INLINE void
classify (const nms__cell_boxes *s, uint32_t at, const wide *b, const nms__query *k, hits *found,
    int by_class)
{
  const vf mine = v_set (s->score[at]);
  uint32_t above = 0;

  found->best = 0;
  found->best_at = 0;
  if (found->count > MOST_HITS) {
    probe_levels (s, b, k, found, FIND_BEST, by_class);
    return;
  }
  for (uint32_t i = 0; i < found->count; i++) {
    found->bits[i] = exact_bits (s, found->from[i], found->bits[i], b, k);
    above |= found->bits[i] & (uint32_t) m_bits (v_ge (v_load (s->score + found->from[i]), mine));
  }
  if (above)
    for (uint32_t i = 0; i < found->count; i++)
      find_best (s, found->from[i],
          found->bits[i] & (uint32_t) m_bits (v_ge (v_load (s->score + found->from[i]), mine)),
          found);
}

INLINE void
keep (const nms__cell_boxes *s, uint32_t at, const wide *b, nms__query *k, hits *found,
    int by_class)
{
  s->undecided[at / 64] &= ~((uint64_t) 1 << at % 64);
  s->kept[s->position[at] / 32] |= 1u << s->position[at] % 32;
  if (found->count > MOST_HITS)
    probe_levels (s, b, k, found, SUPPRESS, by_class);
  else
    for (uint32_t i = 0; i < found->count; i++)
      clear_bits (s->undecided, found->from[i], found->bits[i]);
}

INLINE void
load_box (const nms__columns *c, uint32_t at, nms__query *k, int by_class)
{
  k->at = at;
  k->x1 = c->x1[at];
  k->y1 = c->y1[at];
  k->x2 = c->x2[at];
  k->y2 = c->y2[at];
  k->area = nms__area (k->x1, k->y1, k->x2, k->y2);
  k->class_id = by_class ? c->class_id[at] : 0;
}

INLINE void
load_query (const nms__columns *c, uint32_t at, nms__query *k, int by_class)
{
  load_box (c, at, k, by_class);
  k->hull = nms__hull_of (k->x1, k->y1, k->x2, k->y2);
}

INLINE wide
widen_query (const nms__cell_boxes *s, const nms__query *k)
{
  const nms__box box = { k->x1, k->y1, k->x2, k->y2, s->columns.scaled[k->at], k->class_id };
  return widen (&box);
}

/* Decides the box at grid position `at`, the boxes that must be decided before it, and those
 * that wait for it. */
static void
resolve (const nms__cell_boxes *s, uint32_t at, int by_class)
{
  nms__query k;
  hits found;
  wide b;

  while (at != NO_BOX) {
    if (!(s->undecided[at / 64] >> at % 64 & 1)) {
      at = s->waiting[at];
      continue;
    }
    load_query (&s->columns, at, &k, by_class);
    b = widen_query (s, &k);
    found.count = 0;
    probe (s, &b, &k, &found, by_class);
    classify (s, at, &b, &k, &found, by_class);
    if (found.best > rank_of (s, at)) {
      s->waiting[found.best_at] = at;
      at = found.best_at;
    } else {
      keep (s, at, &b, &k, &found, by_class);
      at = s->waiting[at];
    }
  }
}

/* ----------------------------------------- usual queries, several at a time */

/* Cells that the boxes at CHUNK grid positions query in their own level: the first and the last
 * column and row, as floats whose lower bits are the number. `simple` has a bit for each box
 * that needs no other cells. `queried` has a bit for each other box whose runs of cells are in
 * `query`. */
typedef struct chunk {
  float from_x[CHUNK], to_x[CHUNK], from_y[CHUNK], to_y[CHUNK];
  nms__query query[CHUNK];
  uint32_t simple, queried;
} chunk;

/* Bounds of a level, rounded to float: a box is `simple` if its area, its aspect and the cells
 * that it queries are within them. `base`: number of the cell in column 0 and row 0. */
typedef struct bounds_of_level {
  float least_area, most_area, least_aspect, most_aspect, per[2], least_cell[2], most_cell[2];
  uint32_t base;
} bounds_of_level;

/* Adding it rounds |v| < CELL_MOST to a whole number in the lower bits. */
#define ROUNDING 0x1.8p23f
#define ROUNDING_BITS 0x4b400000u
#define CELL_MOST 0x1p17f
#define CELL_SLACK 0.125f /* more than all rounding errors of floats below CELL_MOST */

/* Sets the bounds to the cells of the first tile, and the base. */
static void
bound_cells (const nms__level *l, bounds_of_level *of)
{
  for (int axis = 0; axis < 2; axis++) {
    const double end = l->origin[axis] + (double) l->tile_mask[axis];
    of->per[axis] = (float) l->per[axis];
    of->least_cell[axis] = (float) (l->origin[axis] > -CELL_MOST ? l->origin[axis] : -CELL_MOST);
    of->most_cell[axis] = (float) (end < CELL_MOST ? end : CELL_MOST);
  }
  of->base = 0 - (uint32_t) (int64_t) l->origin[0]
      - (uint32_t) (int64_t) l->origin[1] * (uint32_t) l->columns;
}

INLINE vm
cells_along (vf low, vf high, int axis, const bounds_of_level *of, float most, const nms__reach *r,
    float *from, float *to)
{
  const float per = of->per[axis];
  const vf side = v_sub (high, low), middle = v_mul (v_set (0.5f), v_add (low, high));
  const vf other = v_min (v_mul (side, v_set (r->most_side)), v_set (most));
  const vf far = v_mul (v_set ((float) r->distance), v_add (side, other));
  const vf first = v_sub (v_mul (v_sub (middle, far), v_set (per)), v_set (CELL_SLACK));
  const vf last = v_add (v_mul (v_add (middle, far), v_set (per)), v_set (CELL_SLACK));

  v_store (from, v_add (first, v_set (ROUNDING)));
  v_store (to, v_add (last, v_set (ROUNDING)));
  return m_and (v_gt (first, v_set (of->least_cell[axis])),
      v_gt (v_set (of->most_cell[axis]), last));
}

INLINE void
cells_of_chunk (const nms__cell_boxes *s, const nms__level *l, const bounds_of_level *of,
    uint32_t at, chunk *c)
{
  const nms__reach *r = &s->grid->reach;

  c->simple = c->queried = 0;
  for (unsigned i = 0; i < CHUNK; i += LANES) {
    const vf x1 = v_load (s->columns.x1 + at + i), x2 = v_load (s->columns.x2 + at + i);
    const vf y1 = v_load (s->columns.y1 + at + i), y2 = v_load (s->columns.y2 + at + i);
    const vf w = v_sub (x2, x1), h = v_sub (y2, y1), area = v_mul (w, h);
    vm ok = m_and (v_ge (area, v_set (of->least_area)), v_gt (v_set (of->most_area), area));
    ok = m_and (ok,
        m_and (v_ge (w, v_mul (h, v_set (of->least_aspect))),
            v_gt (v_mul (h, v_set (of->most_aspect)), w)));
    ok = m_and (ok, cells_along (x1, x2, 0, of, l->most_w, r, c->from_x + i, c->to_x + i));
    ok = m_and (ok, cells_along (y1, y2, 1, of, l->most_h, r, c->from_y + i, c->to_y + i));
    c->simple |= (uint32_t) m_bits (ok) << i;
  }
}

INLINE uint32_t
cell_of (float rounded)
{
  return nms__float_bits (rounded) - ROUNDING_BITS;
}

/* Writes to k->run the two rows of cells that the box queries. Returns 0 if it needs more. */
INLINE int
query_two_rows (const nms__grid *g, const nms__level *l, const bounds_of_level *of, const chunk *c,
    unsigned i, nms__query *k)
{
  const uint32_t column = cell_of (c->from_x[i]), row = cell_of (c->from_y[i]);
  const uint32_t cells = cell_of (c->to_x[i]) - column + 1;
  const uint32_t second = cell_of (c->to_y[i]) - row; /* 0 or 1 */
  const uint32_t columns = (uint32_t) l->columns;
  const uint32_t number = row * columns + column + of->base
      + (uint32_t) (nms__class_hash (g, k->class_id) >> l->shift);
  const uint32_t first = number & l->mask;
  const uint32_t next = (number + columns) & l->mask & (0 - second);

  k->run[0][0] = l->first + first;
  k->run[0][1] = l->first + first + cells;
  k->run[1][0] = l->first + next;
  k->run[1][1] = l->first + next + (cells & (0 - second));
  return (c->simple >> i & 1) & (second < 2) & (cells < l->mask / 2)
      & ((uint64_t) first + cells <= (uint64_t) l->mask + 1)
      & ((uint64_t) next + cells <= (uint64_t) l->mask + 1);
}

/* Prefetches the first boxes of a run, which may lie in two cache lines. */
INLINE void
fetch_run (const nms__cell_boxes *s, uint32_t first)
{
  const nms__columns *c = &s->columns;
  const size_t from = s->grid->begin[first], last = from + LANES - 1;

  __builtin_prefetch (c->x1 + from);
  __builtin_prefetch (c->x1 + last);
  __builtin_prefetch (c->y1 + from);
  __builtin_prefetch (c->y1 + last);
  __builtin_prefetch (c->x2 + from);
  __builtin_prefetch (c->x2 + last);
  __builtin_prefetch (c->y2 + from);
  __builtin_prefetch (c->y2 + last);
  __builtin_prefetch (c->scaled + from);
  __builtin_prefetch (c->scaled + last);
}

/* Not inline, because within query_chunk it would take registers from the loop. */
static int __attribute__ ((noinline)) query_levels (const nms__grid *g, nms__query *k)
{
  return nms__query_cells (g, k);
}

/* Finds the runs of cells of those boxes of a chunk that query several levels (`bits`), and
 * prefetches their boxes, because other levels are not near in memory. */
INLINE void
query_chunk (const nms__cell_boxes *s, uint32_t at, uint32_t bits, chunk *c, int by_class)
{
  for (; bits; bits &= bits - 1) {
    const unsigned i = nms__lowest_bit (bits);
    nms__query *k = &c->query[i];
    load_query (&s->columns, at + i, k, by_class);
    if (!query_levels (s->grid, k))
      continue;
    c->queried |= 1u << i;
    for (uint32_t r = 0; r < k->run_count; r++)
      __builtin_prefetch (s->grid->begin + k->run[r][0]);
  }
  for (bits = c->queried; bits; bits &= bits - 1) {
    const nms__query *k = &c->query[nms__lowest_bit (bits)];
    for (uint32_t r = 0; r < k->run_count; r++)
      fetch_run (s, k->run[r][0]);
  }
}

/* Decides a box from its query's hits. Returns whether there were any. */
INLINE int
decide_found (const nms__cell_boxes *s, const wide *b, nms__query *k, hits *found, int by_class)
{
  classify (s, k->at, b, k, found, by_class);
  if (found->best > rank_of (s, k->at)) {
    s->waiting[found->best_at] = k->at;
    resolve (s, found->best_at, by_class);
  } else
    keep (s, k->at, b, k, found, by_class);
  return found->count > 0;
}

static int
resolve_query (const nms__cell_boxes *s, nms__query *k, int by_class)
{
  const wide b = widen_query (s, k);
  hits found;

  found.count = 0;
  for (uint32_t r = 0; r < k->run_count; r++)
    probe_run (s, k->run[r][0], k->run[r][1], &b, k, &found, RECORD, by_class);
  return decide_found (s, &b, k, &found, by_class);
}

/* Decides box i of a chunk, at grid position `at`. Returns whether its query had hits. */
INLINE int
resolve_of_chunk (const nms__cell_boxes *s, const nms__level *l, const bounds_of_level *of,
    chunk *c, uint32_t at, unsigned i, int by_class)
{
  nms__query k;
  hits found;

  s->waiting[at] = NO_BOX;
  if (c->queried >> i & 1)
    return resolve_query (s, &c->query[i], by_class);
  load_box (&s->columns, at, &k, by_class);
  if (!query_two_rows (s->grid, l, of, c, i, &k)) {
    resolve (s, at, by_class);
    return 1;
  }
  const wide b = widen_query (s, &k);
  found.count = 0;
  probe_few_rows (s, &b, &k, &found, by_class);
  return decide_found (s, &b, &k, &found, by_class);
}

/* Returns the bit number of the box with the greatest score among the boxes `bits`. */
INLINE unsigned
best_of (const nms__cell_boxes *s, uint32_t at, uint32_t bits)
{
  unsigned best = nms__lowest_bit (bits);
  for (bits &= bits - 1; bits; bits &= bits - 1) {
    const unsigned i = nms__lowest_bit (bits);
    best = s->score[at + i] > s->score[at + best] ? i : best;
  }
  return best;
}

INLINE void
decide_level (const nms__cell_boxes *s, const nms__level *l, const bounds_of_level *of,
    int by_class)
{
  const uint32_t end = s->grid->begin[l->first + l->mask + 1];
  uint32_t dense = 0;
  chunk c;

  for (uint32_t at = s->grid->begin[l->first]; at < end; at += CHUNK) {
    const uint32_t n = end - at < CHUNK ? end - at : CHUNK;
    uint32_t bits = undecided_bits (s->undecided, at) & ((1u << n) - 1);
    if (bits) {
      cells_of_chunk (s, l, of, at, &c);
      if (dense < DENSE) /* where boxes are dense, most of them are decided by another box before
                          * their turn */
        query_chunk (s, at, bits & ~c.simple, &c, by_class);
    }
    while (bits) {
      const unsigned i = dense >= DENSE ? best_of (s, at, bits) : nms__lowest_bit (bits);
      bits &= ~(1u << i);
      if (!(s->undecided[(at + i) / 64] >> (at + i) % 64 & 1))
        continue;
      dense = resolve_of_chunk (s, l, of, &c, at + i, i, by_class) ? dense + 1 : 0;
      if (dense >= DENSE)
        bits &= undecided_bits (s->undecided, at);
    }
  }
}

INLINE void
decide_all (const nms__cell_boxes *s, int by_class)
{
  const nms__grid *g = s->grid;
  const nms__reach *r = &g->reach;

  for (unsigned size = 0; size < NMS__SIZES; size++)
    for (unsigned mask = g->occupied[size]; mask; mask &= mask - 1) {
      const unsigned aspect = nms__lowest_bit (mask);
      const nms__level *l = &g->level[size * NMS__ASPECTS + aspect];
      bounds_of_level of = { .least_area = nms__least_area_of (g, size) / r->least_area,
        .most_area = nms__least_area_of (g, size + 1) / r->most_area,
        .least_aspect = nms__least_aspect_of (aspect) / r->least_aspect,
        .most_aspect = nms__least_aspect_of (aspect + 1) / r->most_aspect };
      bound_cells (l, &of);
      decide_level (s, l, &of, by_class);
    }
}

static void
decide_cells (nms__cell_boxes *boxes)
{
  if (boxes->columns.class_id)
    decide_all (boxes, 1);
  else
    decide_all (boxes, 0);
}

const nms__spatial_kernels CONCAT (nms__spatial_kernels_, ISA) = { decide_cells };
