/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sequential: the sequential-grid algorithm of "Implementing Sequential Algorithms on TPU",
 * with several picks in a step. The undecided candidates stay in scratch memory. A step takes
 * the few best ones, decides among them, and in one pass over the others removes those that the
 * kept ones suppress. Only boxes that become one of the best are ever sorted, and there is no N
 * x N mask. It suits frames of up to some thousand boxes and small caps.
 *
 * The paper packs the index into the low bits of the score to find the best box. Here the boxes
 * stay in the order of their index and a maximum over columns of keys finds the best ones, so
 * that no box is lost and no bit of an index.
 */
#include "sequential_state.h"

#include "engines/engine.h"
#include "engines/suppressor.h"

/* Target number of boxes per step (`pick` in sequential_state.h). The first step takes fewer,
 * because one box may suppress many. */
#define WANTED_FIRST 10
#define WANTED 13

typedef struct scratch {
  int32_t *key; /* keys of the undecided boxes; their frame positions are in `pos` */
  uint32_t *pos;
  nms__box_columns top; /* the best boxes, in order of rank */
  int32_t *top_key;
  uint32_t *top_pos;
  uint32_t *positions;    /* positions of the best boxes among the undecided ones */
  uint64_t *sort, *sort2; /* keys of the best boxes, and a buffer for sorting */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  s->key = nms__take (a, boxes, sizeof *s->key);
  s->pos = nms__take (a, boxes, sizeof *s->pos);
  nms__take_columns (a, &s->top, boxes);
  s->top_key = nms__take (a, boxes, sizeof *s->top_key);
  s->top_pos = nms__take (a, boxes, sizeof *s->top_pos);
  s->positions = nms__take (a, boxes, sizeof *s->positions);
  s->sort = nms__take (a, boxes, sizeof *s->sort);
  s->sort2 = nms__take (a, boxes, sizeof *s->sort2);
}

size_t
nms__sequential_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used;
}

uint64_t
nms__confirm (const nms__undecided *a, size_t first, uint64_t mask, const nms__picks *p)
{
  const nms__frame *f = a->f;
  const nms__columns columns = { p->x1, p->y1, p->x2, p->y2, p->scaled,
    a->class_id ? p->class_id : NULL };

  for (uint64_t left = mask; left; left &= left - 1) {
    const size_t at = first + nms__lowest_bit (left);
    const nms__box box = { a->x1[at], a->y1[at], a->x2[at], a->y2[at], a->scaled[at],
      a->class_id ? a->class_id[at] : 0 };
    const int32_t index = f->index[a->pos[at]];
    size_t by = nms__first_suppressor (f, &columns, p->count, &box, index, p->index,
        nms__candidate_limit (f, a->pos[at]));
    if (by == p->count)
      mask &= ~(left & -left);
    else if (f->suppressed_by)
      f->suppressed_by[index] = p->index[by];
  }
  return mask;
}

/* Returns the boxes of `mask` that exceed the limit with box i; `mask` has those that may. Only the
 * boxes in `unsure` need the exact test. Writes the suppressor of the returned boxes. */
static uint64_t
decide (const nms__undecided *a, uint64_t mask, uint64_t unsure, size_t i)
{
  const nms__frame *f = a->f;
  const nms__columns columns = { a->x1, a->y1, a->x2, a->y2, a->scaled, a->class_id };
  const nms__box box = { a->x1[i], a->y1[i], a->x2[i], a->y2[i], a->scaled[i], 0 };
  const int32_t index = f->index[a->pos[i]];

  for (uint64_t left = f->parent.data ? mask : mask & unsure; left; left &= left - 1) {
    const size_t k = nms__lowest_bit (left);
    if (!nms__column_exceeds (&columns, k, &box, nms__candidate_limit (f, a->pos[k]))
        || nms__related (f, index, f->index[a->pos[k]]))
      mask &= ~(left & -left);
  }
  if (f->suppressed_by)
    for (uint64_t left = mask; left; left &= left - 1)
      f->suppressed_by[f->index[a->pos[nms__lowest_bit (left)]]] = index;
  return mask;
}

/* Keeps the boxes whose bits are set in `kept`, and copies them to p. */
static void
fill_picks (nms__picks *p, const nms__undecided *a, uint64_t kept)
{
  const float far = a->f->bounds.far;
  size_t k = 0;

  for (; kept; kept &= kept - 1, k++) {
    const size_t i = nms__lowest_bit (kept);
    p->x1[k] = a->x1[i];
    p->y1[k] = a->y1[i];
    p->x2[k] = a->x2[i];
    p->y2[k] = a->y2[i];
    p->scaled[k] = a->scaled[i];
    p->far[k] = far * a->scaled[i];
    if (a->class_id)
      p->class_id[k] = a->class_id[i];
    p->index[k] = a->f->index[a->pos[i]];
    nms__keep_index (a->f, p->index[k]);
  }
  p->count = k;
}

/* Returns whether the cap of the box's class is not full yet, and if so counts the box. */
static int
class_takes (nms__frame *f, uint32_t pos)
{
  nms__class *class = nms__frame_class (f, pos);

  if (!class)
    return 1;
  if (class->kept >= class->cap)
    return 0;
  if (++class->kept == class->cap)
    class->last = f->packed[pos];
  return 1;
}

/* Decides the first n boxes, which rank above all others, and adds the number of boxes whose
 * class is full to *over. Returns the key of the box that fills the total cap, 0 if none does. */
static uint64_t
decide_top (const nms__undecided *top, size_t n, uint64_t cap, nms__picks *picks, size_t *over)
{
  nms__frame *f = top->f;
  const int careful = f->parent.data || f->suppressed_by;
  uint64_t may[NMS__BLOCK], surely[NMS__BLOCK];
  uint64_t undecided = ~(uint64_t) 0 >> (NMS__BLOCK - n);
  uint64_t todo = f->kernels->sequential->rows (top, n, may, surely);

  /* Most of the best boxes overlap no other one; they need a visit only where classes count. */
  for (todo |= f->class_entry ? undecided : 0; todo & undecided;) {
    const unsigned i = nms__lowest_bit (todo & undecided);
    const uint64_t bit = (uint64_t) 1 << i;
    todo &= ~bit;
    if (!class_takes (f, top->pos[i])) {
      undecided &= ~bit;
      ++*over;
      continue;
    }
    uint64_t gone = may[i] & undecided;
    if ((gone & ~surely[i]) || (careful && gone))
      gone = decide (top, gone, ~surely[i], i);
    undecided &= ~gone;
  }
  while (f->kept_count + nms__count_bits (undecided) > cap)
    undecided &= ~((uint64_t) 1 << (63 - __builtin_clzll (undecided)));
  fill_picks (picks, top, undecided);
  return f->kept_count == cap ? f->packed[top->pos[63 - __builtin_clzll (undecided)]] : 0;
}

/* Moves the n boxes at s->positions from `a` to `top`, in order of rank. */
static void
take_top (nms__undecided *a, const scratch *s, size_t n, nms__undecided *top)
{
  const uint64_t *order;

  for (size_t i = 0; i < n; i++) {
    uint32_t key = (uint32_t) a->key[s->positions[i]] ^ 0x80000000u;
    s->sort[i] = (uint64_t) key << 32 | s->positions[i];
  }
  order = nms__sort (a->f->kernels, s->sort, s->sort2, n);
  for (size_t i = 0; i < n; i++) {
    const size_t at = (uint32_t) order[i];
    top->x1[i] = a->x1[at];
    top->y1[i] = a->y1[at];
    top->x2[i] = a->x2[at];
    top->y2[i] = a->y2[at];
    top->scaled[i] = a->scaled[at];
    top->key[i] = 0;
    top->pos[i] = a->pos[at];
    if (a->class_id)
      top->class_id[i] = a->class_id[at];
    a->key[at] = NMS__GONE;
  }
  top->width = n;
  for (; n % NMS__BLOCK; n++)
    top->key[n] = NMS__GONE;
}

/* Advances the columns of `top` past its first n boxes. */
static void
pass_over (nms__undecided *top, size_t n)
{
  top->x1 += n;
  top->y1 += n;
  top->x2 += n;
  top->y2 += n;
  top->scaled += n;
  if (top->class_id)
    top->class_id += n;
  top->key += n;
  top->pos += n;
  top->width -= n;
}

/* Removes all boxes of full classes at once; otherwise each would be picked in a later step.
 * Their suppressors are not needed, because nms__mark_over_cap marks all of them. */
static void
drop_full (nms__undecided *a)
{
  size_t to = 0;

  for (size_t i = 0; i < a->width; i++) {
    const nms__class *class = nms__frame_class (a->f, a->pos[i]);
    if (a->key[i] == NMS__GONE || class->kept >= class->cap)
      continue;
    a->x1[to] = a->x1[i];
    a->y1[to] = a->y1[i];
    a->x2[to] = a->x2[i];
    a->y2[to] = a->y2[i];
    a->scaled[to] = a->scaled[i];
    a->key[to] = a->key[i];
    a->pos[to] = a->pos[i];
    if (a->class_id)
      a->class_id[to] = a->class_id[i];
    to++;
  }
  a->width = to;
  for (; to % NMS__BLOCK; to++)
    a->key[to] = NMS__GONE;
}

/* Decides boxes until all are decided, the cap is full or the pair budget is spent. Returns the
 * key of the box that filled the cap, or 0 if the cap is not full. */
static uint64_t
run_steps (nms__frame *f, const scratch *s, uint64_t cap)
{
  const nms__box_columns *c = &s->top;
  nms__undecided rest = { f, f->x1, f->y1, f->x2, f->y2, f->scaled, f->class_id, s->key, s->pos,
    f->count };
  const nms__undecided start = { f, c->x1, c->y1, c->x2, c->y2, c->scaled,
    f->class_id ? c->class_id : NULL, s->top_key, s->top_pos, 0 };
  const nms__sequential_kernels *kernels = f->kernels->sequential;
  nms__picks picks;

  kernels->begin (&rest);
  while (rest.width && !nms__over_budget (f)) {
    nms__undecided top = start;
    size_t n = kernels->pick (&rest, f->kept_count ? WANTED : WANTED_FIRST, s->positions);
    const size_t taken = n;
    size_t over = 0;
    take_top (&rest, s, n, &top);
    while (top.width && !nms__over_budget (f)) {
      n = top.width < NMS__PICKS ? top.width : NMS__PICKS;
      uint64_t last = decide_top (&top, n, cap, &picks, &over);
      if (last)
        return last;
      pass_over (&top, n);
      if (!picks.count)
        continue;
      if (top.width)
        kernels->step (&top, &picks);
      f->pairs += (top.width + rest.width) * picks.count;
      kernels->step (&rest, &picks);
    }
    if (over > taken / 2)
      drop_full (&rest);
  }
  return 0;
}

int
nms__sequential (nms__frame *f)
{
  nms__arena arena = { f->scratch, 0 };
  scratch s;

  layout (&s, &arena, f->capacity);
  const uint64_t last = run_steps (f, &s, f->cap);

  if (nms__over_budget (f))
    return NMS__OVER_BUDGET;
  if (f->class_entry || last)
    nms__mark_over_cap (f, last);
  return NMS_OK;
}
