/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_place: puts boxes into the cells of a grid, which come in any order,
 * without a walk all over memory: first the boxes are strewn, as records, into
 * some hundred buckets of neighbouring cells, each of which is written from
 * front to back; then each bucket, small enough for a near cache, is sorted by
 * cell. Both write where the processor sees no order, so it is told in advance
 * what will be written.
 */
#include "spatial_scatter.h"
#include "box4.h"

#define BUCKETS 1024
#define BUCKET_BOXES 1024 /* about */
#define LINE 64        /* bytes that are fetched at once */
/* how many records ahead memory is fetched, beside the next bucket's: when strewn,
 * and where a record's position leads */
#define NEXT_LINES 4
#define NEXT_RECORDS 24

typedef struct buckets {
  unsigned shift, count;
  uint32_t end[BUCKETS + 1]; /* of each: behind its last record so far */
} buckets;

void
nms__spatial_layout (nms__spatial_scratch *s, nms__arena *a, size_t boxes)
{
  s->level = nms__take (a, boxes, sizeof *s->level);
  s->begin = nms__take (a, 2 * boxes + 4, sizeof *s->begin);
  s->records = nms__take (a, boxes, sizeof *s->records);
  s->group = nms__take (a, boxes, sizeof *s->group);
  nms__arena before = *a, walk = *a, sweep = *a;

  /* the cells are known to the records when these are written */
  s->cell_of = nms__take (&before, boxes, sizeof *s->cell_of);
  s->index = nms__take (&walk, boxes, sizeof *s->index);
  s->waiting = nms__take (&sweep, boxes, sizeof *s->waiting);

  s->box4 = nms__take (&walk, boxes / NMS__BOX4 + 1, sizeof *s->box4);
  s->slot = nms__take (&walk, boxes, sizeof *s->slot);
  s->open = nms__take (&walk, boxes / NMS__BOX4 + 1, sizeof *s->open);
  s->order = nms__take (&walk, boxes, sizeof *s->order);

  s->columns.x1 = nms__take (&sweep, boxes, sizeof *s->columns.x1);
  s->columns.y1 = nms__take (&sweep, boxes, sizeof *s->columns.y1);
  s->columns.x2 = nms__take (&sweep, boxes, sizeof *s->columns.x2);
  s->columns.y2 = nms__take (&sweep, boxes, sizeof *s->columns.y2);
  s->columns.share = nms__take (&sweep, boxes, sizeof *s->columns.share);
  s->columns.group = s->group;
  s->kept = nms__take (&sweep, boxes / 32 + 1, sizeof *s->kept);
  s->open_bits = nms__take (&sweep, boxes / 64 + 2, sizeof *s->open_bits);
  nms__arena after = sweep;
  s->score = nms__take (&sweep, boxes, sizeof *s->score);
  s->position = nms__take (&sweep, boxes, sizeof *s->position);
  s->keys = nms__take (&after, boxes, sizeof *s->keys);

  const size_t most = walk.used > sweep.used ? walk.used : sweep.used;
  a->used = most > after.used ? most : after.used;
}

/* The cell of each box, and in end[bucket] how many boxes it has; boxes
 * without area come behind the last cell. */
static void
number_cells (const nms__grid *g, const nms__frame *f, const nms__spatial_scratch *s, buckets *b)
{
  for (size_t i = 0; i < f->count; i++) {
    uint32_t cell = g->cells;
    if (s->level[i] != NMS__NO_LEVEL) {
      const nms__level *l = &g->level[s->level[i]];
      const double middle[2] = { 0.5 * ((double) f->x1[i] + (double) f->x2[i]),
        0.5 * ((double) f->y1[i] + (double) f->y2[i]) };
      uint64_t number = nms__cell_along (middle[1] * l->per[1]) * l->columns
          + nms__cell_along (middle[0] * l->per[0]);
      if (f->group)
        number += nms__group_shift (f->group[i]);
      cell = l->first + ((uint32_t) number & l->mask);
    }
    s->cell_of[i] = cell;
    b->end[cell >> b->shift]++;
  }
}

static void
strew (const nms__frame *f, const nms__spatial_scratch *s, buckets *b)
{
  uint32_t sum = 0;

  for (unsigned k = 0; k < b->count; k++) {
    const uint32_t n = b->end[k];
    b->end[k] = sum;
    sum += n;
  }
  for (size_t i = 0; i < f->count; i++) {
    nms__record *r = &s->records[b->end[s->cell_of[i] >> b->shift]++];
    *r = (nms__record) { f->x1[i], f->y1[i], f->x2[i], f->y2[i], f->packed[i], s->cell_of[i],
      f->group ? f->group[i] : 0 };
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
  strew (f, s, b);
  g->begin = s->begin;
  g->begin[0] = 0;
}

/* Sets begin[cell + 1] for the bucket's cells to the first place of `cell`. */
static void
begin_cells (const nms__grid *g, const nms__record *records, const buckets *b, unsigned bucket)
{
  const uint32_t first = bucket << b->shift;
  const uint32_t behind = bucket + 1 < b->count ? first + (1u << b->shift) : g->cells + 1;
  uint32_t *begin = g->begin + 1;
  uint32_t sum = bucket ? b->end[bucket - 1] : 0;

  memset (begin + first, 0, (behind - first) * sizeof *begin);
  for (uint32_t r = sum; r < b->end[bucket]; r++)
    begin[records[r].cell]++;
  for (uint32_t c = first; c < behind; c++) {
    const uint32_t n = begin[c];
    begin[c] = sum;
    sum += n;
  }
}

/* ------------------------------------------------------------ for the walk */

static inline void
put_in_box4 (const nms__grid *g, nms__frame *f, const nms__record *r)
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
  if (g->group)
    g->group[at] = r->group;
  if (g->slot)
    g->slot[at] = f->slot[position];
  f->packed[position] = nms__pack ((uint32_t) (r->packed >> 32), at);
}

/* The places from .. end-1 will be written, in any order. */
static void
expect_box4 (const nms__grid *g, size_t from, size_t end)
{
  for (size_t at = from; at < end; at += NMS__BOX4) {
    __builtin_prefetch (&g->box4[at / NMS__BOX4], 1);
    __builtin_prefetch (&g->index[at], 1);
    if (g->group)
      __builtin_prefetch (&g->group[at], 1);
    if (g->slot)
      __builtin_prefetch (&g->slot[at], 1);
  }
}

static void
open_box4 (nms__grid *g, size_t count)
{
  const size_t whole = count / NMS__BOX4, rest = count % NMS__BOX4;

  memset (g->open, (1 << NMS__BOX4) - 1, whole);
  if (rest)
    g->open[whole] = (uint8_t) ((1 << rest) - 1);
}

void
nms__scatter_to_box4 (nms__grid *g, nms__frame *f, const nms__spatial_scratch *s)
{
  buckets b;

  fill_buckets (g, f, s, &b);
  g->box4 = s->box4;
  g->group = f->group ? s->group : NULL;
  g->index = s->index;
  g->slot = f->slot ? s->slot : NULL;
  g->open = s->open;
  /* the lanes behind the last box are read, never used */
  memset (&g->box4[f->count / NMS__BOX4], 0, sizeof *g->box4);
  for (unsigned k = 0; k < b.count; k++) {
    const uint32_t from = k ? b.end[k - 1] : 0;
    expect_box4 (g, from, b.end[k]);
    begin_cells (g, s->records, &b, k);
    for (uint32_t r = from; r < b.end[k]; r++) {
      const uint32_t next = r + NEXT_RECORDS < b.end[k] ? r + NEXT_RECORDS : r;
      const uint32_t position = nms__packed_position (s->records[next].packed);
      __builtin_prefetch (&f->packed[position], 1);
      __builtin_prefetch (&f->index[position]);
      __builtin_prefetch (&s->records[r] + BUCKET_BOXES);
      put_in_box4 (g, f, &s->records[r]);
    }
  }
  g->in_cells = g->begin[g->cells];
  open_box4 (g, f->count);
}

/* ----------------------------------------------------------- for the sweep */

static inline void
place_in_columns (const nms__grid *g, const nms__places *s, const nms__box_columns *c,
    const nms__record *r)
{
  const uint32_t at = g->begin[r->cell + 1]++;

  c->x1[at] = r->x1;
  c->y1[at] = r->y1;
  c->x2[at] = r->x2;
  c->y2[at] = r->y2;
  c->share[at] = s->frame->bounds.factor * nms__area (r->x1, r->y1, r->x2, r->y2);
  s->score[at] = nms__score_of_key ((uint32_t) (r->packed >> 32));
  s->position[at] = nms__packed_position (r->packed);
  if (g->group)
    g->group[at] = r->group;
}

/* Likewise. Line by line of all columns: column by column is slower. */
static void
expect_columns (const nms__grid *g, const nms__places *s, const nms__box_columns *c, size_t from,
    size_t end)
{
  for (size_t at = from; at < end; at += LINE / sizeof (float)) {
    __builtin_prefetch (&c->x1[at], 1);
    __builtin_prefetch (&c->y1[at], 1);
    __builtin_prefetch (&c->x2[at], 1);
    __builtin_prefetch (&c->y2[at], 1);
    __builtin_prefetch (&c->share[at], 1);
    __builtin_prefetch (&s->score[at], 1);
    __builtin_prefetch (&s->position[at], 1);
    if (g->group)
      __builtin_prefetch (&g->group[at], 1);
  }
}

/* Boxes without area are kept: nobody suppresses them. */
static void
keep_rest (const nms__grid *g, const nms__frame *f, nms__places *s)
{
  for (size_t at = g->in_cells; at < f->count; at++)
    s->kept[s->position[at] / 32] |= 1u << s->position[at] % 32;
}

void
nms__scatter_to_columns (nms__grid *g, nms__frame *f, const nms__spatial_scratch *own, nms__places *s)
{
  const nms__box_columns *c = &own->columns;
  buckets b;

  fill_buckets (g, f, own, &b);
  g->group = f->group ? own->group : NULL;
  s->frame = f;
  s->score = own->score;
  s->position = own->position;
  for (unsigned k = 0; k < b.count; k++) {
    const uint32_t from = k ? b.end[k - 1] : 0;
    expect_columns (g, s, c, from, b.end[k]);
    begin_cells (g, own->records, &b, k);
    for (uint32_t r = from; r < b.end[k]; r++) {
      __builtin_prefetch (&own->records[r] + BUCKET_BOXES);
      place_in_columns (g, s, c, &own->records[r]);
    }
  }
  g->in_cells = g->begin[g->cells];

  s->grid = g;
  s->columns = (nms__columns) { c->x1, c->y1, c->x2, c->y2, c->share, g->group };
  s->open = own->open_bits;
  s->waiting = own->waiting;
  s->kept = own->kept;
  memset (s->kept, 0, (f->count / 32 + 1) * sizeof *s->kept);
  memset (s->open, 0, (f->count / 64 + 2) * sizeof *s->open);
  memset (s->open, 0xff, g->in_cells / 64 * sizeof *s->open);
  if (g->in_cells % 64)
    s->open[g->in_cells / 64] = ((uint64_t) 1 << g->in_cells % 64) - 1;
  keep_rest (g, f, s);
}
