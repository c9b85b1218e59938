/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted: one sort, then each box in order against the boxes kept so far of its
 * group; the first suppressor ends the test. Work follows boxes times kept
 * boxes; the caps end it early. For frames with more than a few boxes.
 */
#include "../turned.h"
#include "engine.h"

/* Boxes of different groups never meet. Where there are groups, those kept of
 * one lie together, so that a candidate is tested against its own group alone
 * and many classes cost no more than one. A group's list is an entry of the
 * class table: `last` is where it begins, `kept` how long it is. */
#define LISTS_LEAST 128 /* boxes that make it worth while */

static nms__class *
group_list (const nms__frame *f, const uint32_t *number, size_t pos)
{
  return number ? &f->classes.entry[number[pos]] : NULL;
}

/* The number of each box's group, or NULL: no groups, too few boxes, or classes
 * are numbered otherwise already. */
static const uint32_t *
number_groups (nms__frame *f)
{
  nms__classes *c = &f->classes;
  uint32_t *number = f->slot;
  uint64_t begin = 0;

  if (!f->group || f->count < LISTS_LEAST || (f->slot && !c->add))
    return NULL;
  if (!number) {
    number = f->number;
    nms__classes_start (c, f->count);
    for (size_t pos = 0; pos < f->count; pos++)
      number[pos] = nms__class_slot (c, f->group[pos]);
  }
  for (size_t pos = 0; pos < f->count; pos++)
    c->entry[number[pos]].last++;
  for (uint32_t i = 0; i < c->count; i++) {
    uint64_t boxes = c->entry[i].last;
    c->entry[i].last = begin;
    begin += boxes;
  }
  return number;
}

/* The position among the kept columns from..end-1 of the first one that
 * suppresses the candidate, or `end`. Forward, so that it is the highest-ranked
 * one. `index`: of the candidate; `who`: of the kept ones. */
static size_t
first_suppressor (const nms__frame *f, const nms__columns *columns, size_t from, size_t end,
    const nms__box *box, int32_t index, const int32_t *who, double limit)
{
  uint64_t mask;
  size_t k = 0;

  for (size_t first = from; first < end; first = k + 1) {
    first = f->kernels->find_overlap (columns, first, end, box, &mask);
    if (first >= end)
      break;
    for (; mask; mask &= mask - 1) {
      k = first + nms__lowest_bit (mask);
      if (nms__pair_exceeds (f, columns, k, who[k], box, index, limit)
          && !nms__related (f, index, who[k]))
        return k;
    }
  }
  return end;
}

/* A cap far below the number of boxes makes most of the sorting idle: only the
 * boxes above a pivot, which a sample of keys gives, are sorted at first, and
 * the rest if those were not enough. */
#define WAVE_SAMPLES 64

/* Sorted keys, best first, of the next boxes; `left` unsorted ones remain at
 * the start of f->packed. */
typedef struct wave {
  const uint64_t *order;
  size_t count;
  size_t left;
} wave;

static uint64_t
sample_pivot (const nms__frame *f, size_t wanted)
{
  uint64_t sample[WAVE_SAMPLES], scratch[WAVE_SAMPLES];
  size_t rank = wanted * WAVE_SAMPLES / f->count + 1;

  for (size_t i = 0; i < WAVE_SAMPLES; i++)
    sample[i] = f->packed[i * f->count / WAVE_SAMPLES];
  /* equal scores stay together, or their order would be lost */
  return nms__sort (sample, scratch, WAVE_SAMPLES)[rank] >> 32 << 32;
}

static wave
first_wave (nms__frame *f, uint64_t cap)
{
  wave w = { NULL, 0, f->count };

  if (nms__sorts_in_waves (f)) {
    uint64_t pivot = sample_pivot (f, (size_t) cap * NMS__WAVE_CANDIDATES);
    w.count = f->kernels->partition (f->packed, f->count, pivot, f->packed2);
    w.left = f->count - w.count;
    w.order = nms__sort (f->packed2, f->packed + w.left, w.count);
  }
  return w;
}

static void
next_wave (nms__frame *f, wave *w)
{
  w->order = nms__sort (f->packed, f->packed2, w->left);
  w->count = w->left;
  w->left = 0;
}

void
nms__sorted (nms__frame *f)
{
  const uint64_t cap = nms__total_cap (f);
  const uint32_t *number = number_groups (f);
  const nms__columns columns = { f->wx1, f->wy1, f->wx2, f->wy2, f->wshare,
    f->group && !number ? f->wgroup : NULL };
  const int32_t *who = number ? f->wgroup : f->kept;
  wave w = first_wave (f, cap);
  size_t rank = 0;

  for (; f->kept_count < cap; rank++) {
    if (rank == w.count) {
      if (!w.left)
        break;
      next_wave (f, &w);
      rank = 0;
    }
    size_t pos = nms__packed_position (w.order[rank]);
    nms__class *class = nms__frame_class (f, pos);
    if (class && class->kept >= class->cap) {
      nms__over_cap (f, pos);
      continue;
    }
    nms__class *list = group_list (f, number, pos);
    nms__box box = nms__frame_box (f, pos);
    size_t from = list ? (size_t) list->last : 0;
    size_t end = list ? from + (size_t) list->kept : f->kept_count;
    size_t by = first_suppressor (f, &columns, from, end, &box, f->index[pos], who,
        class ? class->limit : f->settings->limit);
    if (by < end) {
      if (f->suppressed_by)
        f->suppressed_by[f->index[pos]] = who[by];
      continue;
    }
    f->wx1[end] = box.x1;
    f->wy1[end] = box.y1;
    f->wx2[end] = box.x2;
    f->wy2[end] = box.y2;
    f->wshare[end] = box.share;
    if (f->group)
      f->wgroup[end] = number ? f->index[pos] : box.group;
    nms__keep (f, pos);
    if (list)
      list->kept++;
    else if (class)
      class->kept++;
  }
  /* what is left has not been looked at */
  if (!f->outcome && !f->suppressed_by) {
    f->over_cap_count += w.count - rank + w.left;
    return;
  }
  for (; rank < w.count; rank++)
    nms__over_cap (f, nms__packed_position (w.order[rank]));
  for (size_t i = 0; i < w.left; i++)
    nms__over_cap (f, nms__packed_position (f->packed[i]));
}
