/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_scatter: puts boxes into the cells of a grid. The boxes are in any order, so doing this
 * at once would access memory at random. Therefore it first copies the boxes, as structs, into at
 * most BUCKETS buckets of neighbouring cells, each of which is written from front to back. Then it
 * sorts each bucket, which fits into the processor's caches, by cell. Both steps prefetch the
 * addresses that they will write, because the processor cannot predict them.
 */
#include "spatial_scatter.h"
#include "box4.h"

#define BUCKETS 1024
/* Approximate number of boxes in a bucket. In larger buckets consecutive boxes often increment the
 * same counter, and each increment waits for the store of the one before. */
#define BUCKET_BOXES 64
#define LINE 64 /* bytes of a cache line */
/* Number of boxes by which prefetches run ahead: when boxes are scattered, and when the frame
 * position of a scattered box is read. */
#define NEXT_LINES 4
#define NEXT_BOXES 24

typedef struct buckets {
  unsigned shift, count;
  uint32_t end[BUCKETS + 1]; /* end of each bucket's boxes so far */
} buckets;

void
nms__spatial_layout (nms__spatial_scratch *s, nms__arena *a, size_t boxes)
{
  s->level = nms__take (a, boxes, sizeof *s->level);
  s->begin = nms__take (a, 2 * boxes + 4, sizeof *s->begin);
  s->scattered = nms__take (a, boxes, sizeof *s->scattered);
  s->class_id = nms__take (a, boxes, sizeof *s->class_id);
  nms__arena before = *a, walk = *a, sweep = *a;

  /* cell_of is not needed any more when `index` or `waiting` is written */
  s->cell_of = nms__take (&before, boxes, sizeof *s->cell_of);
  s->index = nms__take (&walk, boxes, sizeof *s->index);
  s->waiting = nms__take (&sweep, boxes, sizeof *s->waiting);

  s->box4 = nms__take (&walk, boxes / NMS__BOX4 + 1, sizeof *s->box4);
  s->class_entry = nms__take (&walk, boxes, sizeof *s->class_entry);
  s->undecided = nms__take (&walk, boxes / NMS__BOX4 + 1, sizeof *s->undecided);
  s->order = nms__take (&walk, boxes, sizeof *s->order);

  s->kept = nms__take (&sweep, boxes / 32 + 1, sizeof *s->kept);
  s->undecided_bits = nms__take (&sweep, boxes / 64 + 2, sizeof *s->undecided_bits);
  nms__arena after = sweep;
  s->score = nms__take (&sweep, boxes, sizeof *s->score);
  s->position = nms__take (&sweep, boxes, sizeof *s->position);
  s->keys = nms__take (&after, boxes, sizeof *s->keys);

  const size_t most = walk.used > sweep.used ? walk.used : sweep.used;
  a->used = most > after.used ? most : after.used;
}

/* Returns the number of a cell outside of the first tile. Not inline, because such cells are
 * rare. */
static uint32_t __attribute__ ((noinline))
other_tile_number (const nms__grid *g, const nms__level *l, double x, double y, uint64_t class_hash)
{
  return nms__cell_number (g, l, nms__cell_along (x), nms__cell_along (y), class_hash);
}

static inline uint32_t
cell_number (const nms__grid *g, const nms__level *l, double x, double y, uint64_t class_hash)
{
  const uint64_t column = nms__cell_bits (x), row = nms__cell_bits (y);

  if (nms__other_tile (l, column, row))
    return other_tile_number (g, l, x, y, class_hash);
  return nms__first_tile_number (l, column, row, class_hash >> l->shift);
}

/* Writes the cell of each box to s->cell_of, and the number of boxes of each bucket to b->end.
 * Boxes without area get the cell after the last one. */
static void
number_cells (const nms__grid *g, const nms__frame *f, const nms__spatial_scratch *s, buckets *b)
{
  for (size_t i = 0; i < f->count; i++) {
    uint32_t cell = g->cells;
    if (s->level[i] != NMS__NO_LEVEL) {
      const nms__level *l = &g->level[s->level[i]];
      const double middle[2] = { 0.5 * ((double) f->x1[i] + (double) f->x2[i]),
        0.5 * ((double) f->y1[i] + (double) f->y2[i]) };
      cell = l->first
          + cell_number (g, l, middle[0] * l->per[0] - l->origin[0],
              middle[1] * l->per[1] - l->origin[1],
              f->class_id ? nms__class_hash (g, f->class_id[i]) : 0);
    }
    s->cell_of[i] = cell;
    b->end[cell >> b->shift]++;
  }
}

static void
scatter (const nms__frame *f, const nms__spatial_scratch *s, buckets *b)
{
  uint32_t sum = 0;

  for (unsigned k = 0; k < b->count; k++) {
    const uint32_t n = b->end[k];
    b->end[k] = sum;
    sum += n;
  }
  for (size_t i = 0; i < f->count; i++) {
    nms__scattered_box *r = &s->scattered[b->end[s->cell_of[i] >> b->shift]++];
    *r = (nms__scattered_box) { f->x1[i], f->y1[i], f->x2[i], f->y2[i], f->packed[i], s->cell_of[i],
      f->class_id ? f->class_id[i] : 0 };
    __builtin_prefetch (r + NEXT_LINES, 1);
  }
}

static void
fill_buckets (nms__grid *g, const nms__frame *f, const nms__spatial_scratch *s, buckets *b)
{
  const size_t wanted = f->count / BUCKET_BOXES + 1;
  const size_t most = wanted < BUCKETS ? wanted : BUCKETS;

  memset (b->end, 0, sizeof b->end);
  for (b->shift = 0; g->cells >> b->shift >= most;)
    b->shift++;
  b->count = (g->cells >> b->shift) + 1;
  number_cells (g, f, s, b);
  scatter (f, s, b);
  g->begin = s->begin;
  g->begin[0] = 0;
}

/* Sets begin[cell + 1] of the bucket's cells to the first grid position of the cell. */
static void
begin_cells (const nms__grid *g, const nms__scattered_box *scattered, const buckets *b,
    unsigned bucket)
{
  const uint32_t first = bucket << b->shift;
  const uint32_t behind = bucket + 1 < b->count ? first + (1u << b->shift) : g->cells + 1;
  uint32_t *begin = g->begin + 1;
  uint32_t sum = bucket ? b->end[bucket - 1] : 0;

  memset (begin + first, 0, (behind - first) * sizeof *begin);
  for (uint32_t r = sum; r < b->end[bucket]; r++)
    begin[scattered[r].cell]++;
  for (uint32_t c = first; c < behind; c++) {
    const uint32_t n = begin[c];
    begin[c] = sum;
    sum += n;
  }
}

/* -------------------------------------------------------- for the walk */

static inline void
put_in_box4 (const nms__grid *g, nms__frame *f, const nms__scattered_box *r)
{
  const uint32_t at = g->begin[r->cell + 1]++;
  const uint32_t position = nms__packed_position (r->packed);
  nms__box4 *q = &g->box4[at / NMS__BOX4];
  const unsigned lane = at % NMS__BOX4;

  q->x1[lane] = r->x1;
  q->y1[lane] = r->y1;
  q->x2[lane] = r->x2;
  q->y2[lane] = r->y2;
  g->index[at] = f->index[position];
  if (g->class_id)
    g->class_id[at] = r->class_id;
  if (g->class_entry)
    g->class_entry[at] = f->class_entry[position];
  f->packed[position] = nms__pack ((uint32_t) (r->packed >> 32), at);
}

/* Prefetches the grid positions from .. end-1, which will be written in any order. */
static void
prefetch_box4 (const nms__grid *g, size_t from, size_t end)
{
  for (size_t at = from; at < end; at += NMS__BOX4) {
    __builtin_prefetch (&g->box4[at / NMS__BOX4], 1);
    __builtin_prefetch (&g->index[at], 1);
    if (g->class_id)
      __builtin_prefetch (&g->class_id[at], 1);
    if (g->class_entry)
      __builtin_prefetch (&g->class_entry[at], 1);
  }
}

static void
start_undecided (nms__grid *g, size_t count)
{
  const size_t whole = count / NMS__BOX4, rest = count % NMS__BOX4;

  memset (g->undecided, (1 << NMS__BOX4) - 1, whole);
  if (rest)
    g->undecided[whole] = (uint8_t) ((1 << rest) - 1);
}

void
nms__scatter_to_box4 (nms__grid *g, nms__frame *f, const nms__spatial_scratch *s)
{
  buckets b;

  fill_buckets (g, f, s, &b);
  g->box4 = s->box4;
  g->class_id = f->class_id ? s->class_id : NULL;
  g->index = s->index;
  g->class_entry = f->class_entry ? s->class_entry : NULL;
  g->undecided = s->undecided;
  /* The lanes after the last box are read but not used. */
  memset (&g->box4[f->count / NMS__BOX4], 0, sizeof *g->box4);
  for (unsigned k = 0; k < b.count; k++) {
    const uint32_t from = k ? b.end[k - 1] : 0;
    prefetch_box4 (g, from, b.end[k]);
    begin_cells (g, s->scattered, &b, k);
    for (uint32_t r = from; r < b.end[k]; r++) {
      const uint32_t next = r + NEXT_BOXES < b.end[k] ? r + NEXT_BOXES : r;
      const uint32_t position = nms__packed_position (s->scattered[next].packed);
      __builtin_prefetch (&f->packed[position], 1);
      __builtin_prefetch (&f->index[position]);
      __builtin_prefetch (&s->scattered[r] + BUCKET_BOXES);
      put_in_box4 (g, f, &s->scattered[r]);
    }
  }
  g->in_cells = g->begin[g->cells];
  start_undecided (g, f->count);
}

/* -------------------------------------------------------- for the sweep */

static inline void
put_in_columns (const nms__grid *g, nms__frame *f, const nms__cell_boxes *s,
    const nms__scattered_box *r)
{
  const uint32_t at = g->begin[r->cell + 1]++;

  f->x1[at] = r->x1;
  f->y1[at] = r->y1;
  f->x2[at] = r->x2;
  f->y2[at] = r->y2;
  f->scaled[at] = f->bounds.factor * nms__area (r->x1, r->y1, r->x2, r->y2);
  s->score[at] = nms__score_of_key ((uint32_t) (r->packed >> 32));
  s->position[at] = nms__packed_position (r->packed);
  if (g->class_id)
    g->class_id[at] = r->class_id;
}

/* Does the same as prefetch_box4 for columns. It prefetches one cache line of every column before
 * the next line, which is faster than one column after another. */
static void
prefetch_columns (const nms__grid *g, const nms__frame *f, const nms__cell_boxes *s, size_t from,
    size_t end)
{
  for (size_t at = from; at < end; at += LINE / sizeof (float)) {
    __builtin_prefetch (&f->x1[at], 1);
    __builtin_prefetch (&f->y1[at], 1);
    __builtin_prefetch (&f->x2[at], 1);
    __builtin_prefetch (&f->y2[at], 1);
    __builtin_prefetch (&f->scaled[at], 1);
    __builtin_prefetch (&s->score[at], 1);
    __builtin_prefetch (&s->position[at], 1);
    if (g->class_id)
      __builtin_prefetch (&g->class_id[at], 1);
  }
}

/* Keeps the boxes without area, because no box suppresses them. */
static void
keep_rest (const nms__grid *g, const nms__frame *f, nms__cell_boxes *s)
{
  for (size_t at = g->in_cells; at < f->count; at++)
    s->kept[s->position[at] / 32] |= 1u << s->position[at] % 32;
}

void
nms__scatter_to_columns (nms__grid *g, nms__frame *f, const nms__spatial_scratch *own,
    nms__cell_boxes *s)
{
  buckets b;

  fill_buckets (g, f, own, &b);
  g->class_id = f->class_id ? own->class_id : NULL;
  s->frame = f;
  s->score = own->score;
  s->position = own->position;
  for (unsigned k = 0; k < b.count; k++) {
    const uint32_t from = k ? b.end[k - 1] : 0;
    prefetch_columns (g, f, s, from, b.end[k]);
    begin_cells (g, own->scattered, &b, k);
    for (uint32_t r = from; r < b.end[k]; r++) {
      __builtin_prefetch (&own->scattered[r] + BUCKET_BOXES);
      put_in_columns (g, f, s, &own->scattered[r]);
    }
  }
  g->in_cells = g->begin[g->cells];

  s->grid = g;
  s->columns = (nms__columns) { f->x1, f->y1, f->x2, f->y2, f->scaled, g->class_id };
  s->undecided = own->undecided_bits;
  s->waiting = own->waiting;
  s->kept = own->kept;
  memset (s->kept, 0, (f->count / 32 + 1) * sizeof *s->kept);
  memset (s->undecided, 0, (f->count / 64 + 2) * sizeof *s->undecided);
  memset (s->undecided, 0xff, g->in_cells / 64 * sizeof *s->undecided);
  if (g->in_cells % 64)
    s->undecided[g->in_cells / 64] = ((uint64_t) 1 << g->in_cells % 64) - 1;
  keep_rest (g, f, s);
}
