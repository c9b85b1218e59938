/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted_classes: engine sorted for boxes that suppress only within their class. The keys are
 * scattered into one partition for each class. Each partition is sorted and decided alone, with
 * all its data in the first-level cache, and the kept boxes of all partitions are sorted once
 * more. The time does not grow with the number of classes.
 *
 * The total cap only cuts the list of kept boxes, because no box depends on boxes that rank
 * below it. Where the cap is far below the number of boxes, a first batch of the best boxes is
 * decided alone. If it does not fill the cap, it is decided again with more boxes.
 */
#include "sorted.h"
#include "sweep.h"

#include "engines/partitions.h"

/* Scatters the keys into the partitions, in which they stay in the same order. */
static void
scatter (const nms__partitions *p, const uint64_t *keys, size_t count, uint64_t *scattered)
{
  memset (p->end, 0, p->count * sizeof *p->end);
  for (size_t i = 0; i < count; i++)
    p->end[p->number[nms__packed_position (keys[i])]]++;
  nms__partitions_begin (p);
  for (size_t i = 0; i < count; i++)
    scattered[p->end[p->number[nms__packed_position (keys[i])]]++] = keys[i];
}

/* Tests one box after the other against the kept boxes. */
static size_t
list_partition (nms__frame *f, const nms__sorted_scratch *s, const uint64_t *keys, size_t count,
    double limit, uint64_t cap)
{
  const nms__ranked ranked = { keys, count };
  size_t kept_count = 0, n = 0;

  nms__rotated_restart (s->unit);
  for (size_t k = 0; k < count && kept_count < cap && !nms__over_budget (f); k++)
    if (nms__sorted_take (f, s, &ranked, k, &n, limit))
      s->kept[kept_count++] = (uint32_t) k;
  return kept_count;
}

/* Decides a partition whose boxes are of several classes, as list_partition does. */
static size_t
list_group (nms__frame *f, const nms__sorted_scratch *s, const uint64_t *keys, size_t count)
{
  const nms__ranked ranked = { keys, count };
  size_t kept_count = 0, n = 0;

  nms__rotated_restart (s->unit);
  for (size_t k = 0; k < count && !nms__over_budget (f); k++) {
    nms__class *class = nms__frame_class (f, nms__packed_position (keys[k]));
    if (class->kept >= class->cap || !nms__sorted_take (f, s, &ranked, k, &n, class->limit))
      continue;
    class->kept++;
    class->last = keys[k];
    s->kept[kept_count++] = (uint32_t) k;
  }
  return kept_count;
}

/* Decides boxes of one class and limit, given by their keys in order of rank, until `cap` are
 * kept. Returns the number of kept boxes and writes the numbers of their keys to s->kept, in
 * ascending order. */
static size_t
decide_partition (nms__frame *f, const nms__sorted_scratch *s, const uint64_t *keys, size_t count,
    double limit, uint64_t cap)
{
  if (count > NMS__SWEEP_MOST || f->rotated)
    return list_partition (f, s, keys, count, limit, cap);
  s->kept[0] = 0;
  return count == 1 ? 1 : nms__sweep_keys (f, &s->columns, keys, count, limit, cap, s->kept);
}

/* Decides all partitions. Sets a bit for the frame position of each kept box. */
static size_t
decide_partitions (nms__frame *f, const nms__sorted_scratch *s, const nms__partitions *p)
{
  size_t kept_count = 0, begin = 0;

  for (size_t i = 0; f->grouped && i < f->classes.count; i++)
    f->classes.entry[i].kept = f->classes.entry[i].last = 0;
  for (size_t k = 0; k < p->count && !nms__over_budget (f); begin = p->end[k++]) {
    const size_t count = p->end[k] - begin;
    if (count == 0)
      continue;
    const uint64_t *keys = s->keys + begin;
    if (count > 1)
      keys = nms__sort (f->kernels, s->keys + begin, s->keys2 + begin, count);
    nms__class *class = nms__frame_class (f, nms__packed_position (keys[0]));
    const size_t n = f->grouped
        ? list_group (f, s, keys, count)
        : decide_partition (f, s, keys, count, class ? class->limit : f->limit,
            class ? class->cap : UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
      const size_t pos = nms__packed_position (keys[s->kept[i]]);
      s->kept_bits[pos / NMS__BLOCK] |= (uint64_t) 1 << pos % NMS__BLOCK;
    }
    if (class && !f->grouped) {
      class->kept = (uint32_t) n;
      class->last = keys[s->kept[n - 1]];
    }
    kept_count += n;
  }
  return kept_count;
}

/* Keeps the boxes whose bits are set, in order of rank, up to the cap. Returns the key of the
 * box that fills the cap, 0 if none does. */
static uint64_t
keep_in_order (nms__frame *f, const nms__sorted_scratch *s, size_t count)
{
  const uint64_t cap = f->cap;
  uint64_t *keys = s->keys2;
  size_t n = 0;

  /* in order of position, because the sort keeps the order of equal scores */
  for (size_t first = 0; n < count; first += NMS__BLOCK)
    for (uint64_t left = s->kept_bits[first / NMS__BLOCK]; left; left &= left - 1)
      keys[n++] = f->packed[first + nms__lowest_bit (left)];
  keys = nms__sort (f->kernels, keys, s->keys, n);
  if (n > cap)
    n = (size_t) cap;
  for (size_t k = 0; k < n; k++)
    nms__keep (f, nms__packed_position (keys[k]));
  return n == cap ? keys[n - 1] : 0;
}

/* Decides the best boxes, about `wanted` of them, or all boxes if `wanted` is half of them or
 * more. Returns the number of boxes and sets *kept_count. */
static size_t
decide_best (nms__frame *f, const nms__sorted_scratch *s, const nms__partitions *p, size_t wanted,
    size_t *kept_count)
{
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  uint64_t *keys = f->packed;
  size_t count = f->count;

  if (wanted < count / 2) {
    const uint64_t pivot = nms__pivot (f->kernels, f->packed, count, wanted);
    keys = s->keys2;
    memcpy (s->keys, f->packed, count * sizeof *f->packed);
    count = f->kernels->split (s->keys, count, pivot, keys);
  }
  scatter (p, keys, count, s->keys);
  memset (s->kept_bits, 0, blocks * sizeof *s->kept_bits);
  *kept_count = decide_partitions (f, s, p);
  return count;
}

void
nms__sorted_classes (nms__frame *f, const nms__sorted_scratch *s)
{
  const nms__partitions p = nms__partitions_of (f, s->partition);
  const uint64_t cap = f->cap;
  size_t wanted = nms__sorts_in_batches (f) ? nms__first_batch (f) : f->count, kept_count;

  while (decide_best (f, s, &p, wanted, &kept_count) < f->count && kept_count < cap
      && !nms__over_budget (f))
    wanted *= NMS__BATCH_GROWTH;
  const uint64_t last = keep_in_order (f, s, kept_count);
  if (last || f->class_entry)
    nms__mark_over_cap (f, last);
}
