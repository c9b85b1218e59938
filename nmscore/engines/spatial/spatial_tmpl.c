/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * places_tmpl: decides all boxes of a grid in the order of their places, so
 * that everything it touches is near in memory; compiled once per instruction
 * set. Which box is kept depends on the scores around it only: an open box
 * looks at the open boxes that overlap it too much. If it ranks above them all
 * it is kept, and they are suppressed; else the best of them has its turn
 * first, and so on upwards: there is always a best one. Boxes that wait for it
 * form a chain, and those that are still open afterwards look again.
 *
 * A box looks again only when the one that it waited for was suppressed, by a
 * kept box near by, of which there are few.
 */
#include "spatial_query.h"
#include "spatial_scatter.h"

#include "simd/kernels.h"
#include "simd/screen.h"

#define NOTES 30
#define NOBODY UINT32_MAX
#define CROWD 3  /* boxes with others in a row: their best ones first */
#define CHUNK 16 /* places whose cells are found at once */

/* What a look finds: groups of LANES places, of which those in `bits` are open
 * and may exceed. More than NOTES: the last ones are not noted. */
typedef struct findings {
  uint64_t best; /* the highest rank found, and its place */
  uint32_t best_at;
  uint32_t count;
  uint32_t from[NOTES + 2];
  uint32_t bits[NOTES + 2];
} findings;

/* The bits of the LANES places from `at` on. Whole words only: a load of parts
 * of two recent stores would wait for both. */
INLINE uint32_t
open_bits (const uint64_t *open, size_t at)
{
  const size_t word = at / 64, shift = at % 64;
  return (uint32_t) (open[word] >> shift | open[word + 1] << 1 << (63 - shift));
}

INLINE void
close_bits (uint64_t *open, size_t at, uint64_t bits)
{
  const size_t word = at / 64, shift = at % 64;
  open[word] &= ~(bits << shift);
  open[word + 1] &= ~(bits >> 1 >> (63 - shift));
}

/* Of the places from .. end-1, those of the first LANES with a box that may
 * exceed. */
INLINE uint32_t
hits_from (const nms__places *s, size_t from, size_t end, const wide *b, int grouped)
{
  const size_t n = end - from < LANES ? end - from : LANES;
  return (uint32_t) m_bits (screen_lanes (&s->columns, from, b, grouped))
      & (uint32_t) ((UINT64_C (1) << n) - 1);
}

/* Of the boxes of `bits`, those that are open and exceed. */
INLINE uint32_t
exact_bits (const nms__places *s, size_t from, uint32_t bits, const wide *b,
    const nms__looker *k)
{
  bits &= open_bits (s->open, from);
  const nms__box box = { k->x1, k->y1, k->x2, k->y2, 0.0f, 0 };
  const nms__bounds *bounds = &s->frame->bounds;
  uint32_t unsure = bits & ~(uint32_t) m_bits (certain_lanes (&s->columns, from, b, bounds));

  for (; unsure; unsure &= unsure - 1) {
    const unsigned i = nms__lowest_bit (unsure);
    if (!nms__column_exceeds (&s->columns, from + i, &box, s->frame->settings->limit))
      bits &= ~(1u << i);
  }
  return bits;
}

/* Order of places: greater is better, never 0. */
INLINE uint64_t
rank_of (const nms__places *s, size_t at)
{
  return nms__pack (nms__order_key (s->score[at]), s->position[at]);
}

/* What is done with the boxes that a look finds. */
enum { NOTE, FIND_BEST, CLOSE };

INLINE void
find_best (const nms__places *s, size_t from, uint32_t bits, findings *found)
{
  for (; bits; bits &= bits - 1) {
    const size_t at = from + nms__lowest_bit (bits);
    const uint64_t rank = rank_of (s, at);
    found->best_at = rank > found->best ? (uint32_t) at : found->best_at;
    found->best = rank > found->best ? rank : found->best;
  }
}

INLINE void
look_at_places (const nms__places *s, size_t from, size_t end, const wide *b,
    const nms__looker *k, findings *found, int what, int grouped)
{
  for (; from < end; from += LANES) {
    uint32_t bits = hits_from (s, from, end, b, grouped);
    bits &= k->at - from < LANES ? ~(1u << (k->at - from)) : ~0u; /* not itself */
    if (what == NOTE) {
      found->from[found->count] = (uint32_t) from;
      found->bits[found->count] = bits;
      found->count += bits != 0 && found->count <= NOTES;
    } else if (what == FIND_BEST)
      find_best (s, from, exact_bits (s, from, bits, b, k), found);
    else
      close_bits (s->open, from, exact_bits (s, from, bits, b, k));
  }
}

INLINE void
look_at_run (const nms__places *s, uint32_t first, uint32_t end, const wide *b,
    const nms__looker *k, findings *found, int what, int grouped)
{
  look_at_places (s, s->grid->begin[first], s->grid->begin[end], b, k, found, what, grouped);
}

typedef struct level_look {
  const nms__places *s;
  const wide *b;
  const nms__looker *k;
  findings *found;
  int what, grouped;
} level_look;

INLINE int
take_run (void *data, uint32_t first, uint32_t end)
{
  const level_look *a = data;

  look_at_run (a->s, first, end, a->b, a->k, a->found, a->what, a->grouped);
  return 1;
}

static void
look_at_levels (const nms__places *s, const wide *b, const nms__looker *k, findings *found,
    int what, int grouped)
{
  const nms__hull hull = nms__hull_of (k->x1, k->y1, k->x2, k->y2);
  level_look a = { s, b, k, found, what, grouped };

  nms__take_runs (s->grid, &hull, k->group, take_run, &a);
}

INLINE void
look_at_few_rows (const nms__places *s, const wide *b, const nms__looker *k, findings *found,
    int grouped)
{
  for (unsigned r = 0; r < NMS__FEW_ROWS; r++)
    look_at_run (s, k->run[r][0], k->run[r][1], b, k, found, NOTE, grouped);
}

INLINE void
look (const nms__places *s, const wide *b, nms__looker *k, findings *found, int grouped)
{
  if (nms__see_simply (s->grid, k))
    look_at_few_rows (s, b, k, found, grouped);
  else
    look_at_levels (s, b, k, found, NOTE, grouped);
}

/* Leaves in the notes what surely exceeds; the best that ranks above the box
 * of place `at`, if any. */
INLINE void
judge (const nms__places *s, uint32_t at, const wide *b, const nms__looker *k, findings *found,
    int grouped)
{
  const vf mine = v_set (s->score[at]);
  uint32_t above = 0;

  found->best = 0;
  found->best_at = 0;
  if (found->count > NOTES) {
    look_at_levels (s, b, k, found, FIND_BEST, grouped);
    return;
  }
  for (uint32_t i = 0; i < found->count; i++) {
    found->bits[i] = exact_bits (s, found->from[i], found->bits[i], b, k);
    above |= found->bits[i] & (uint32_t) m_bits (v_ge (v_load (s->score + found->from[i]), mine));
  }
  if (above)
    for (uint32_t i = 0; i < found->count; i++)
      find_best (s, found->from[i], found->bits[i]
          & (uint32_t) m_bits (v_ge (v_load (s->score + found->from[i]), mine)), found);
}

INLINE void
keep (const nms__places *s, uint32_t at, const wide *b, nms__looker *k, findings *found,
    int grouped)
{
  s->open[at / 64] &= ~((uint64_t) 1 << at % 64);
  s->kept[s->position[at] / 32] |= 1u << s->position[at] % 32;
  if (found->count > NOTES)
    look_at_levels (s, b, k, found, CLOSE, grouped);
  else
    for (uint32_t i = 0; i < found->count; i++)
      close_bits (s->open, found->from[i], found->bits[i]);
}

INLINE void
take_box (const nms__columns *c, uint32_t at, nms__looker *k, int grouped)
{
  k->at = at;
  k->x1 = c->x1[at];
  k->y1 = c->y1[at];
  k->x2 = c->x2[at];
  k->y2 = c->y2[at];
  k->area = nms__area (k->x1, k->y1, k->x2, k->y2);
  k->group = grouped ? c->group[at] : 0;
}

INLINE void
take_looker (const nms__columns *c, uint32_t at, nms__looker *k, int grouped)
{
  take_box (c, at, k, grouped);
  k->hull = nms__hull_of (k->x1, k->y1, k->x2, k->y2);
}

INLINE wide
widen_looker (const nms__places *s, const nms__looker *k)
{
  const nms__box box = { k->x1, k->y1, k->x2, k->y2, s->columns.share[k->at], k->group };
  return widen (&box);
}

/* Decides the box of place `at`, and those that wait for it or must be decided
 * before. */
static void
resolve (const nms__places *s, uint32_t at, int grouped)
{
  nms__looker k;
  findings found;
  wide b;

  while (at != NOBODY) {
    if (!(s->open[at / 64] >> at % 64 & 1)) {
      at = s->waiting[at];
      continue;
    }
    take_looker (&s->columns, at, &k, grouped);
    b = widen_looker (s, &k);
    found.count = 0;
    look (s, &b, &k, &found, grouped);
    judge (s, at, &b, &k, &found, grouped);
    if (found.best > rank_of (s, at)) {
      s->waiting[found.best_at] = at;
      at = found.best_at;
    } else {
      keep (s, at, &b, &k, &found, grouped);
      at = s->waiting[at];
    }
  }
}

/* ------------------------------------------ the usual box, many at a time */

/* Cells that CHUNK places see in their own level, both ends included, as
 * floats whose lower bits are the number; `simple`: a bit for each place for
 * which that is right, and which sees no other level; `noted`: for each other one
 * whose looker knows the cells. */
typedef struct chunk {
  float from_x[CHUNK], to_x[CHUNK], from_y[CHUNK], to_y[CHUNK];
  nms__looker looker[CHUNK];
  uint32_t simple, noted;
} chunk;

/* What a level's boxes need to be among `simple`, rounded to float. */
typedef struct bounds_of_level {
  float least_area, most_area, least_aspect, most_aspect, per_x, per_y;
} bounds_of_level;

/* Rounds |v| < CELL_MOST to a whole number in the lower bits. */
#define ROUNDING 0x1.8p23f
#define ROUNDING_BITS 0x4b400000u
#define CELL_MOST 0x1p17f
#define CELL_SLACK 0.125f /* more than all roundings of floats below CELL_MOST */

INLINE vm
see_along (vf low, vf high, float per, float most, const nms__reach *r, float *from, float *to)
{
  const vf side = v_sub (high, low), middle = v_mul (v_set (0.5f), v_add (low, high));
  const vf other = v_min (v_mul (side, v_set (r->most_side)), v_set (most));
  const vf far = v_mul (v_set ((float) r->distance), v_add (side, other));
  const vf first = v_sub (v_mul (v_sub (middle, far), v_set (per)), v_set (CELL_SLACK));
  const vf last = v_add (v_mul (v_add (middle, far), v_set (per)), v_set (CELL_SLACK));

  v_store (from, v_add (first, v_set (ROUNDING)));
  v_store (to, v_add (last, v_set (ROUNDING)));
  return m_and (v_gt (first, v_set (-CELL_MOST)), v_gt (v_set (CELL_MOST), last));
}

INLINE void
see_chunk (const nms__places *s, const nms__level *l, const bounds_of_level *of, uint32_t at,
    chunk *c)
{
  const nms__reach *r = &s->grid->reach;

  c->simple = c->noted = 0;
  for (unsigned i = 0; i < CHUNK; i += LANES) {
    const vf x1 = v_load (s->columns.x1 + at + i), x2 = v_load (s->columns.x2 + at + i);
    const vf y1 = v_load (s->columns.y1 + at + i), y2 = v_load (s->columns.y2 + at + i);
    const vf w = v_sub (x2, x1), h = v_sub (y2, y1), area = v_mul (w, h);
    vm ok = m_and (v_ge (area, v_set (of->least_area)), v_gt (v_set (of->most_area), area));
    ok = m_and (ok, m_and (v_ge (w, v_mul (h, v_set (of->least_aspect))),
            v_gt (v_mul (h, v_set (of->most_aspect)), w)));
    ok = m_and (ok, see_along (x1, x2, of->per_x, l->most_w, r, c->from_x + i, c->to_x + i));
    ok = m_and (ok, see_along (y1, y2, of->per_y, l->most_h, r, c->from_y + i, c->to_y + i));
    c->simple |= (uint32_t) m_bits (ok) << i;
  }
}

INLINE uint32_t
cell_of (float rounded)
{
  return nms__float_bits (rounded) - ROUNDING_BITS;
}

/* The two rows of cells that the place sees; 0 if that is not all. */
INLINE int
see_two_rows (const nms__grid *g, const nms__level *l, const chunk *c, unsigned i,
    nms__looker *k)
{
  const uint32_t column = cell_of (c->from_x[i]), row = cell_of (c->from_y[i]);
  const uint32_t cells = cell_of (c->to_x[i]) - column + 1;
  const uint32_t second = cell_of (c->to_y[i]) - row; /* 0 or 1 */
  const uint32_t columns = (uint32_t) l->columns;
  const uint32_t number = row * columns + column + (g->group
      ? (uint32_t) nms__group_shift (k->group) : 0);
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

/* The first places of a run: a group that straddles two lines of memory. */
INLINE void
fetch_run (const nms__places *s, uint32_t first)
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
  __builtin_prefetch (c->share + from);
  __builtin_prefetch (c->share + last);
}

/* A function of its own: within note_chunk it would take its registers away. */
static int __attribute__ ((noinline))
see_levels (const nms__grid *g, nms__looker *k)
{
  return nms__see (g, k);
}

/* What the places of `bits` see in several levels, fetched from memory: those
 * other than their own are not near. */
INLINE void
note_chunk (const nms__places *s, uint32_t at, uint32_t bits, chunk *c, int grouped)
{
  for (; bits; bits &= bits - 1) {
    const unsigned i = nms__lowest_bit (bits);
    nms__looker *k = &c->looker[i];
    take_looker (&s->columns, at + i, k, grouped);
    if (!see_levels (s->grid, k))
      continue;
    c->noted |= 1u << i;
    for (uint32_t r = 0; r < k->run_count; r++)
      __builtin_prefetch (s->grid->begin + k->run[r][0]);
  }
  for (bits = c->noted; bits; bits &= bits - 1) {
    const nms__looker *k = &c->looker[nms__lowest_bit (bits)];
    for (uint32_t r = 0; r < k->run_count; r++)
      fetch_run (s, k->run[r][0]);
  }
}

/* Once it is known what the looker sees. Returns whether those are any. */
INLINE int
decide_found (const nms__places *s, const wide *b, nms__looker *k, findings *found, int grouped)
{
  judge (s, k->at, b, k, found, grouped);
  if (found->best > rank_of (s, k->at)) {
    s->waiting[found->best_at] = k->at;
    resolve (s, found->best_at, grouped);
  } else
    keep (s, k->at, b, k, found, grouped);
  return found->count > 0;
}

static int
resolve_noted (const nms__places *s, nms__looker *k, int grouped)
{
  const wide b = widen_looker (s, k);
  findings found;

  found.count = 0;
  for (uint32_t r = 0; r < k->run_count; r++)
    look_at_run (s, k->run[r][0], k->run[r][1], &b, k, &found, NOTE, grouped);
  return decide_found (s, &b, k, &found, grouped);
}

/* Returns whether it found others. */
INLINE int
resolve_of_chunk (const nms__places *s, const nms__level *l, chunk *c, uint32_t at, unsigned i,
    int grouped)
{
  nms__looker k;
  findings found;

  s->waiting[at] = NOBODY;
  if (c->noted >> i & 1)
    return resolve_noted (s, &c->looker[i], grouped);
  take_box (&s->columns, at, &k, grouped);
  if (!see_two_rows (s->grid, l, c, i, &k)) {
    resolve (s, at, grouped);
    return 1;
  }
  const wide b = widen_looker (s, &k);
  found.count = 0;
  look_at_few_rows (s, &b, &k, &found, grouped);
  return decide_found (s, &b, &k, &found, grouped);
}

/* Of the places of `bits`. */
INLINE unsigned
best_of (const nms__places *s, uint32_t at, uint32_t bits)
{
  unsigned best = nms__lowest_bit (bits);
  for (bits &= bits - 1; bits; bits &= bits - 1) {
    const unsigned i = nms__lowest_bit (bits);
    best = s->score[at + i] > s->score[at + best] ? i : best;
  }
  return best;
}

INLINE void
decide_level (const nms__places *s, const nms__level *l, const bounds_of_level *of, int grouped)
{
  const uint32_t end = s->grid->begin[l->first + l->mask + 1];
  uint32_t crowd = 0;
  chunk c;

  for (uint32_t at = s->grid->begin[l->first]; at < end; at += CHUNK) {
    const uint32_t n = end - at < CHUNK ? end - at : CHUNK;
    uint32_t bits = open_bits (s->open, at) & ((1u << n) - 1);
    if (bits) {
      see_chunk (s, l, of, at, &c);
      if (crowd < CROWD) /* in a crowd most are decided before their turn */
        note_chunk (s, at, bits & ~c.simple, &c, grouped);
    }
    while (bits) {
      const unsigned i = crowd >= CROWD ? best_of (s, at, bits) : nms__lowest_bit (bits);
      bits &= ~(1u << i);
      if (!(s->open[(at + i) / 64] >> (at + i) % 64 & 1))
        continue;
      crowd = resolve_of_chunk (s, l, &c, at + i, i, grouped) ? crowd + 1 : 0;
      if (crowd >= CROWD)
        bits &= open_bits (s->open, at);
    }
  }
}

INLINE void
decide_all (const nms__places *s, int grouped)
{
  const nms__grid *g = s->grid;
  const nms__reach *r = &g->reach;

  for (unsigned size = 0; size < NMS__SIZES; size++)
    for (unsigned mask = g->occupied[size]; mask; mask &= mask - 1) {
      const unsigned aspect = nms__lowest_bit (mask);
      const nms__level *l = &g->level[size * NMS__ASPECTS + aspect];
      const bounds_of_level of = { nms__least_area_of (g, size) / r->least_area,
        nms__least_area_of (g, size + 1) / r->most_area,
        nms__least_aspect_of (aspect) / r->least_aspect,
        nms__least_aspect_of (aspect + 1) / r->most_aspect, (float) l->per[0],
        (float) l->per[1] };
      decide_level (s, l, &of, grouped);
    }
}

void CONCAT (nms__decide_places_, ISA) (nms__places *places);

void
CONCAT (nms__decide_places_, ISA) (nms__places *places)
{
  if (places->columns.group)
    decide_all (places, 1);
  else
    decide_all (places, 0);
}
