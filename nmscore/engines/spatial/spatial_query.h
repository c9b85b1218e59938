/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_query: finds the levels and cells of the grid that may hold boxes which a given box
 * suppresses. It is inline and computes both axes at once, because it runs for each kept box.
 */
#ifndef NMS_SPATIAL_QUERY_H
#define NMS_SPATIAL_QUERY_H

#include "spatial_grid.h"

#define NMS__RUNS 8          /* most runs of a query; one with more probes directly */
#define NMS__CELLS_OF_RUN 16 /* a run of few boxes takes as long as the boxes of this many cells */
#define NMS__FEW_ROWS 2      /* most queries need at most this many rows */

/* Values of both axes. */
typedef double nms__pair __attribute__ ((vector_size (16)));
typedef int64_t nms__pair_bits __attribute__ ((vector_size (16)));

static inline nms__pair
nms__lesser (nms__pair a, nms__pair b)
{
  const nms__pair_bits less = a < b;
  return (nms__pair) (((nms__pair_bits) a & less) | ((nms__pair_bits) b & ~less));
}

static inline nms__pair
nms__greater (nms__pair a, nms__pair b)
{
  const nms__pair_bits less = a < b;
  return (nms__pair) (((nms__pair_bits) b & less) | ((nms__pair_bits) a & ~less));
}

/* Bounds of the centres of some boxes (low, high) and of their sides (least, most). */
typedef struct nms__hull {
  nms__pair low, high, least, most;
} nms__hull;

static inline nms__hull
nms__hull_of (float x1, float y1, float x2, float y2)
{
  const nms__pair low = { x1, y1 }, high = { x2, y2 };
  const nms__pair side = high - low, middle = 0.5 * (low + high);
  return (nms__hull) { middle, middle, side, side };
}

/* A box and the runs of cells that it queries. */
typedef struct nms__query {
  nms__hull hull;
  float x1, y1, x2, y2, area;
  int32_t class_id;
  uint32_t at;   /* grid position */
  int32_t index; /* position in the caller's columns */
  uint32_t run_count;
  int direct;                 /* nonzero if it has more runs than `run` can hold */
  uint32_t run[NMS__RUNS][2]; /* first cell; cell after the last */
} nms__query;

/* The rectangle of cells that a query needs of a level. */
typedef struct nms__cell_rect {
  uint64_t column, row; /* column and row of the first cell, counted from the level's origin */
  uint64_t wide, rows;  /* number of columns and rows, minus 1 */
} nms__cell_rect;

static inline nms__cell_rect
nms__cell_rect_of (const nms__grid *g, const nms__level *l, const nms__hull *h)
{
  const nms__reach *r = &g->reach;
  const nms__pair per = { l->per[0], l->per[1] }, most = { l->most_w, l->most_h };
  const nms__pair origin = { l->origin[0], l->origin[1] };
  const nms__pair far = r->distance
      * (h->most + nms__lesser (h->most * (double) r->most_side, most));
  nms__pair from = (h->low - far) * per - origin, to = (h->high + far) * per - origin;
  const nms__pair least = { -0x1p51, -0x1p51 }, greatest = -1.0 - least;

  from = nms__lesser (nms__greater (from, least), greatest) + NMS__CELL_MAGIC;
  to = nms__lesser (nms__greater (to, least), greatest) + NMS__CELL_MAGIC;
  const nms__pair_bits first = (nms__pair_bits) from - (int64_t) NMS__CELL_ZERO;
  const nms__pair_bits size = (nms__pair_bits) to - (nms__pair_bits) from;
  return (nms__cell_rect) { (uint64_t) first[0], (uint64_t) first[1], (uint64_t) size[0],
    (uint64_t) size[1] };
}

/* The size classes and aspect classes that a query needs. */
typedef struct nms__level_range {
  unsigned least_size, most_size, least_aspect, most_aspect;
} nms__level_range;

static inline nms__level_range
nms__level_range_of (const nms__grid *g, const nms__hull *h)
{
  const nms__reach *r = &g->reach;
  const float least_area = (float) (h->least[0] * h->least[1]);
  const float most_area = (float) (h->most[0] * h->most[1]);
  const float least_aspect = (float) (h->least[0] / h->most[1]);
  const float most_aspect = (float) (h->most[0] / h->least[1]);

  return (nms__level_range) { nms__size_class (g, least_area * r->least_area),
    nms__size_class (g, most_area * r->most_area),
    nms__aspect_class (g, least_aspect * r->least_aspect),
    nms__aspect_class (g, most_aspect * r->most_aspect) };
}

static inline const nms__level *
nms__only_level (const nms__grid *g, const nms__hull *h)
{
  const nms__level_range c = nms__level_range_of (g, h);

  if (c.least_size != c.most_size || c.least_aspect != c.most_aspect)
    return NULL;
  return &g->level[c.least_size * NMS__ASPECTS + c.least_aspect];
}

/* Handles the cells first .. end-1. Returns 0 to end the loop. */
typedef int (*nms__run_function) (void *data, uint32_t first, uint32_t end);

/* Calls `visit` for a row of n cells in one tile: once, or twice if the cell numbers wrap around.
 * Returns 0 if `visit` ended the loop. */
static inline __attribute__ ((always_inline)) int
nms__visit_row (const nms__level *l, uint32_t first, uint32_t n, nms__run_function visit,
    void *data)
{
  const uint32_t cells = l->mask + 1;
  uint32_t end = first + n;

  if (end > cells) {
    if (!visit (data, l->first, l->first + end - cells))
      return 0;
    end = cells;
  }
  return visit (data, l->first + first, l->first + end);
}

/* Calls `visit` for each run of cells of a level that a query needs: one for each row in each
 * tile, two if the cell numbers of the row wrap around, or a single one for the whole level if that
 * takes less time. Returns 0 if `visit` ended the loop. */
static inline __attribute__ ((always_inline)) int
nms__for_runs_of_level (const nms__grid *g, const nms__level *l, const nms__hull *h,
    int32_t class_id, nms__run_function visit, void *data)
{
  const nms__cell_rect v = nms__cell_rect_of (g, l, h);
  const uint64_t class_hash = nms__class_hash (g, class_id);

  if (v.wide >= l->mask || v.rows >= l->mask / NMS__CELLS_OF_RUN
      || (v.wide + 1) * (v.rows + 1) > l->mask)
    return visit (data, l->first, l->first + l->mask + 1);
  for (uint64_t row = 0; row <= v.rows; row++)
    for (uint64_t left = v.wide + 1; left;) {
      const uint64_t column = v.column + v.wide + 1 - left;
      const uint64_t in_tile = l->tile_mask[0] - (column & l->tile_mask[0]) + 1;
      const uint64_t n = left < in_tile ? left : in_tile;
      if (!nms__visit_row (l, nms__cell_number (g, l, column, v.row + row, class_hash),
              (uint32_t) n, visit, data))
        return 0;
      left -= n;
    }
  return 1;
}

/* Returns whether a box of the level may exceed the limit with one of the hull: their intersection
 * is at most that of the largest sides. This excludes bars that cross. */
static inline int
nms__level_may_exceed (const nms__grid *g, const nms__level *l, const nms__hull *h)
{
  const double w = h->most[0] < l->most_w ? h->most[0] : l->most_w;
  const double height = h->most[1] < l->most_h ? h->most[1] : l->most_h;

  return w * height >= (double) g->reach.least_area * h->least[0] * h->least[1];
}

/* Calls `visit` for the runs of all levels. Returns 0 if `visit` ended the loop. */
static inline __attribute__ ((always_inline)) int
nms__for_runs (const nms__grid *g, const nms__hull *h, int32_t class_id, nms__run_function visit,
    void *data)
{
  const nms__level_range c = nms__level_range_of (g, h);
  const unsigned aspects = (2u << c.most_aspect) - (1u << c.least_aspect);

  for (unsigned size = c.least_size; size <= c.most_size; size++)
    for (unsigned mask = g->occupied[size] & aspects; mask; mask &= mask - 1) {
      const nms__level *l = &g->level[size * NMS__ASPECTS + nms__lowest_bit (mask)];
      if (nms__level_may_exceed (g, l, h)
          && !nms__for_runs_of_level (g, l, h, class_id, visit, data))
        return 0;
    }
  return 1;
}

static inline __attribute__ ((always_inline)) int
nms__add_run (void *data, uint32_t first, uint32_t end)
{
  nms__query *k = data;

  if (k->run_count == NMS__RUNS)
    return 0;
  k->run[k->run_count][0] = first;
  k->run[k->run_count][1] = end;
  k->run_count++;
  return 1;
}

/* Writes all runs of the query to k->run. Returns 0 if they do not fit. */
static inline int
nms__query_cells (const nms__grid *g, nms__query *k)
{
  k->run_count = 0;
  return nms__for_runs (g, &k->hull, k->class_id, nms__add_run, k);
}

/* Writes the runs of a usual query to k->run. Returns 0 if the query is not usual: if it needs
 * several levels, more than NMS__FEW_ROWS rows or columns of two tiles, or if cell numbers wrap
 * around. No branch depends on the number of rows. */
static inline int
nms__query_few_rows (const nms__grid *g, nms__query *k)
{
  const nms__level *l = nms__only_level (g, &k->hull);
  if (!l)
    return 0;
  const nms__cell_rect v = nms__cell_rect_of (g, l, &k->hull);
  const uint64_t class_hash = nms__class_hash (g, k->class_id);
  uint32_t past_end = 0;

  if (v.rows >= NMS__FEW_ROWS || v.wide >= l->mask / NMS__FEW_ROWS
      || (v.column & l->tile_mask[0]) + v.wide > l->tile_mask[0])
    return 0;
  for (uint64_t row = 0; row < NMS__FEW_ROWS; row++) {
    const uint64_t seen = (uint64_t) 0 - (row <= v.rows); /* all bits set, or all clear */
    const uint32_t first = nms__cell_number (g, l, v.column, v.row + (row & seen), class_hash);
    const uint32_t end = first + (((uint32_t) v.wide + 1) & (uint32_t) seen);
    past_end |= end > l->mask + 1;
    k->run[row][0] = l->first + first;
    k->run[row][1] = l->first + end;
  }
  k->run_count = NMS__FEW_ROWS;
  return !past_end;
}

#endif
