/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted_groups: engine sorted where boxes have classes that never meet. The
 * keys are dealt into one pile a class; each pile is sorted and decided by
 * itself, with all that it needs in the nearest cache; what was kept of all
 * piles is sorted once more. Many classes cost no more than one.
 *
 * A total cap only cuts the list of kept boxes, since no box depends on those
 * that rank below it. Under a cap far below the number of boxes the best boxes
 * are tried by themselves first.
 */
#include "sorted.h"
#include "sweep.h"

/* number[position]: the pile of a box. */
typedef struct partitions {
  const uint32_t *number;
  size_t count;
  uint32_t *end; /* of each pile among the keys that were dealt */
} partitions;

static partitions
number_partitions (nms__frame *f, const nms__sorted_scratch *s)
{
  nms__classes *c = &f->classes;
  uint32_t bits = 0;

  /* the buckets are not needed once boxes are numbered */
  if (f->class_entry)
    return (partitions) { f->class_entry, c->count, c->bucket };
  for (size_t pos = 0; pos < f->count; pos++)
    bits |= (uint32_t) f->class_id[pos];
  if (bits < nms__class_buckets (f->count)) { /* small ids are numbers already */
    size_t count = 1;
    while (count <= bits)
      count *= 2;
    return (partitions) { (const uint32_t *) f->class_id, count, c->bucket };
  }
  nms__classes_start (c, f->count);
  for (size_t pos = 0; pos < f->count; pos++)
    s->partition[pos] = nms__class_entry (c, f->class_id[pos]);
  return (partitions) { s->partition, c->count, c->bucket };
}

/* Deals keys into the piles; a pile keeps their order. */
static void
scatter (const partitions *p, const uint64_t *keys, size_t count, uint64_t *scattered)
{
  uint32_t begin = 0;

  memset (p->end, 0, p->count * sizeof *p->end);
  for (size_t i = 0; i < count; i++)
    p->end[p->number[nms__packed_position (keys[i])]]++;
  for (size_t k = 0; k < p->count; k++) {
    uint32_t n = p->end[k];
    p->end[k] = begin;
    begin += n;
  }
  for (size_t i = 0; i < count; i++)
    scattered[p->end[p->number[nms__packed_position (keys[i])]]++] = keys[i];
}

/* One box after the other against the list of kept ones. */
static size_t
list_partition (nms__frame *f, const nms__sorted_scratch *s, const uint64_t *keys, size_t count,
    double limit, uint64_t cap)
{
  size_t n = 0;

  for (size_t k = 0; k < count && n < cap; k++) {
    const size_t pos = nms__packed_position (keys[k]);
    if (!nms__sorted_take (f, s, pos, n, s->kept_index, limit))
      continue;
    s->kept_index[n] = f->index[pos];
    s->kept[n++] = (uint32_t) k;
  }
  return n;
}

/* Decides boxes of one limit that may all meet, given by their keys in order of rank,
 * until `cap` are kept. Returns how many are, and in s->kept which: numbers of keys,
 * ascending. */
static size_t
decide_partition (nms__frame *f, const nms__sorted_scratch *s, const uint64_t *keys, size_t count,
    double limit, uint64_t cap)
{
  if (count > NMS__SWEEP_MOST)
    return list_partition (f, s, keys, count, limit, cap);
  s->kept[0] = 0;
  return count == 1 ? 1 : nms__sweep_keys (f, &s->columns, keys, count, limit, cap, s->kept);
}

/* Decides all piles; sets a bit for the position of each kept box. */
static size_t
decide_partitions (nms__frame *f, const nms__sorted_scratch *s, const partitions *p)
{
  size_t kept_count = 0, begin = 0;

  for (size_t k = 0; k < p->count; begin = p->end[k++]) {
    const size_t count = p->end[k] - begin;
    if (count == 0)
      continue;
    const uint64_t *keys = s->keys + begin;
    if (count > 1)
      keys = nms__sort (f->kernels, s->keys + begin, s->keys2 + begin, count);
    nms__class *class = nms__frame_class (f, nms__packed_position (keys[0]));
    const size_t n = decide_partition (f, s, keys, count,
        class ? class->limit : f->settings->limit, class ? class->cap : UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
      const size_t pos = nms__packed_position (keys[s->kept[i]]);
      s->kept_bits[pos / NMS__BLOCK] |= (uint64_t) 1 << pos % NMS__BLOCK;
    }
    if (class) {
      class->kept = n;
      class->last = keys[s->kept[n - 1]];
    }
    kept_count += n;
  }
  return kept_count;
}

/* Keeps the boxes whose bits are set, in order of rank, up to the cap. The last
 * one's key if that fills the cap, else 0. */
static uint64_t
keep_in_order (nms__frame *f, const nms__sorted_scratch *s, size_t count)
{
  const uint64_t cap = nms__total_cap (f);
  uint64_t *keys = s->keys2;
  size_t n = 0;

  /* by position: equal scores are in order before they are sorted */
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

void
nms__sorted_classes (nms__frame *f, const nms__sorted_scratch *s)
{
  const partitions p = number_partitions (f, s);
  const uint64_t cap = nms__total_cap (f);
  const size_t blocks = (f->count + NMS__BLOCK - 1) / NMS__BLOCK;
  uint64_t *keys = f->packed;
  size_t kept_count, count = f->count;

  if (nms__sorts_in_batches (f)) {
    uint64_t pivot = nms__batch_pivot (f, f->count, nms__first_batch (f));
    keys = s->keys2;
    memcpy (s->keys, f->packed, f->count * sizeof *f->packed);
    count = f->kernels->split (s->keys, f->count, pivot, keys);
  }
  for (;;) {
    scatter (&p, keys, count, s->keys);
    memset (s->kept_bits, 0, blocks * sizeof *s->kept_bits);
    kept_count = decide_partitions (f, s, &p);
    if (kept_count >= cap || count == f->count)
      break;
    keys = f->packed; /* the best boxes were not enough */
    count = f->count;
  }
  uint64_t last = keep_in_order (f, s, kept_count);
  if (last || f->class_entry)
    nms__mark_over_cap (f, last);
}
