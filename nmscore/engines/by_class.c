/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * by_class: decides each class partition as a frame of its own, by the engine that auto chooses
 * for it. It is for frames of large classes without a total cap, such as the boxes of many images
 * with the number of the image as class id.
 *
 * The boxes of the frame are first moved together by class, the values of each box side by side,
 * because one stream of stores for each class is faster than one for each class and column. The
 * kept boxes of all partitions are sorted once at the end.
 */
#include "engine.h"
#include "partitions.h"

/* Number of boxes by which prefetches run ahead of the stores. */
#define NEXT_BOXES 4

/* The values of one box, which are moved together. */
typedef struct moved_box {
  float x1, y1, x2, y2, scaled;
  int32_t index;
  uint32_t key;
} moved_box;

typedef struct scratch {
  uint64_t *kept_bits; /* a bit for each position in the caller's columns */
  uint32_t *key;       /* score key of each box, by the same position; in the memory of the class
                        * ids, which are not needed after the boxes are grouped */
  size_t own;          /* bytes of the parts above, which the engines that decide the partitions
                        * must not overwrite */

  /* used before and after the partitions are decided, in the memory of their engines */
  uint32_t *number; /* partition of each box (nms__partitions.number) */
  moved_box *moved;
  uint64_t *keys; /* for sorting */
} scratch;

static void
layout (scratch *s, nms__arena *a, size_t boxes)
{
  s->kept_bits = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *s->kept_bits);
  s->own = a->used;
  s->number = nms__take (a, boxes, sizeof *s->number);
  s->moved = nms__take (a, boxes, sizeof *s->moved);
  s->keys = nms__take (a, boxes + NMS__KEY_PADDING, sizeof *s->keys);
}

size_t
nms__by_class_scratch_size (size_t boxes, size_t engine_size)
{
  nms__arena arena = { NULL, 0 };
  scratch s;

  layout (&s, &arena, boxes);
  return arena.used > s.own + engine_size ? arena.used : s.own + engine_size;
}

/* Counts the boxes of each partition. Returns whether the boxes are already grouped by class. */
static int
count_boxes (const nms__frame *f, const nms__partitions *p)
{
  uint32_t last = 0, descents = 0;

  memset (p->end, 0, p->count * sizeof *p->end);
  for (size_t i = 0; i < f->count; i++) {
    p->end[p->number[i]]++;
    descents += p->number[i] < last;
    last = p->number[i];
  }
  return descents == 0;
}

/* Groups the boxes by partition, in input order within each, and sets p->end. */
static void
move_boxes (nms__frame *f, const nms__partitions *p, const scratch *s)
{
  for (size_t i = 0; i < f->count; i++) {
    moved_box *r = &s->moved[p->end[p->number[i]]++];
    *r = (moved_box) { f->x1[i], f->y1[i], f->x2[i], f->y2[i], f->scaled[i], f->index[i],
      (uint32_t) (f->packed[i] >> 32) };
    __builtin_prefetch (r + NEXT_BOXES, 1); /* The processor cannot predict which line is
                                               * written next. */
  }
  for (size_t i = 0; i < f->count; i++) {
    const moved_box *r = &s->moved[i];
    f->x1[i] = r->x1;
    f->y1[i] = r->y1;
    f->x2[i] = r->x2;
    f->y2[i] = r->y2;
    f->scaled[i] = r->scaled;
    f->index[i] = r->index;
    f->packed[i] = nms__pack (r->key, 0);
  }
}

/* Groups the boxes by partition, fills s->key, and sets p->end. Sets the position in each packed
 * key to that within the partition. */
static void
group_boxes (nms__frame *f, const nms__partitions *p, const scratch *s)
{
  const int grouped = count_boxes (f, p);
  size_t begin = 0;

  nms__partitions_begin (p);
  if (!grouped)
    move_boxes (f, p, s);
  for (size_t k = 0; grouped && k < p->count; k++)
    p->end[k] = k + 1 < p->count ? p->end[k + 1] : (uint32_t) f->count;
  for (size_t k = 0; k < p->count; begin = p->end[k++])
    for (size_t i = begin; i < p->end[k]; i++) {
      const uint32_t key = (uint32_t) (f->packed[i] >> 32);
      s->key[f->index[i]] = key;
      f->packed[i] = nms__pack (key, (uint32_t) (i - begin));
    }
}

/* Fills *part with the frame of the partition begin..end-1, whose scratch begins after the first
 * `own` bytes. */
static void
start_part (const nms__frame *f, size_t begin, size_t end, const nms__class *class, size_t own,
    nms__frame *part)
{
  *part = *f;
  part->scratch += own;
  part->cap = UINT64_MAX;
  if (class) {
    part->limit = class->limit;
    part->cap = class->cap < end - begin ? class->cap : UINT64_MAX;
  }
  part->count = end - begin;
  part->x1 += begin;
  part->y1 += begin;
  part->x2 += begin;
  part->y2 += begin;
  part->scaled += begin;
  part->index += begin;
  part->packed += begin;
  part->class_id = NULL;
  part->class_entry = NULL;
  part->kept_count = 0;
  part->over_cap_count = 0;
  part->pairs = 0;
  part->pair_budget = UINT64_MAX;
}

/* Decides the partition begin..end-1 of the frame f, and sets the bits of its kept boxes. Returns
 * 0 or NMS__OVER_BUDGET. */
static int
decide_part (nms__frame *f, const scratch *s, size_t begin, size_t end, const nms__class *class,
    int *used)
{
  nms__frame part;

  start_part (f, begin, end, class, s->own, &part);
  const int error = nms__engine_run (&part, NMS_ENGINE_AUTO, used);
  if (error)
    return error;
  for (size_t k = 0; k < part.kept_count; k++) {
    const uint32_t index = (uint32_t) part.kept[k];
    s->kept_bits[index / NMS__BLOCK] |= (uint64_t) 1 << index % NMS__BLOCK;
  }
  f->kept_count += part.kept_count;
  f->over_cap_count += part.over_cap_count;
  return NMS_OK;
}

/* Decides the partitions from the last to the first, because an engine may overwrite the columns
 * after the last box of its frame. Sets *used to the engine of the largest partition. */
static int
decide_parts (nms__frame *f, const nms__partitions *p, const scratch *s, int *used)
{
  size_t largest = 0;
  int engine;

  for (size_t k = p->count; k-- > 0;) {
    const size_t begin = k ? p->end[k - 1] : 0, count = p->end[k] - begin;
    if (!count)
      continue;
    const nms__class *class = f->class_entry ? &f->classes.entry[k] : NULL;
    const int error = decide_part (f, s, begin, p->end[k], class, &engine);
    if (error)
      return error;
    *used = count > largest ? engine : *used;
    largest = count > largest ? count : largest;
  }
  return NMS_OK;
}

/* Sorts the kept boxes by rank. Their keys are collected by ascending index, because the sort
 * leaves equal scores in that order. */
static void
sort_kept (nms__frame *f, const scratch *s)
{
  uint64_t *keys = f->packed;
  size_t n = 0;

  for (size_t first = 0; n < f->kept_count; first += NMS__BLOCK)
    for (uint64_t left = s->kept_bits[first / NMS__BLOCK]; left; left &= left - 1) {
      const size_t index = first + nms__lowest_bit (left);
      keys[n++] = nms__pack (s->key[index], (uint32_t) index);
    }
  keys = nms__sort (f->kernels, keys, s->keys, n);
  for (size_t k = 0; k < n; k++)
    f->kept[k] = (int32_t) nms__packed_position (keys[k]);
}

int
nms__by_class (nms__frame *f, int *used)
{
  nms__arena arena = { f->scratch, 0 };
  scratch s;

  layout (&s, &arena, f->capacity);
  const nms__partitions p = nms__partitions_of (f, s.number);

  s.key = (uint32_t *) f->class_id;
  memset (s.kept_bits, 0, (f->parent_count / NMS__BLOCK + 1) * sizeof *s.kept_bits);
  group_boxes (f, &p, &s);
  const int error = decide_parts (f, &p, &s, used);
  if (!error)
    sort_kept (f, &s);
  return error;
}
