/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order: a stable sort of packed keys by their upper 32 bits, in descending order. Up to
 * NMS__MERGE_MOST keys it is a merge sort, because the counters of a radix sort would take
 * longer than the keys of a small frame. More keys are sorted by radix.
 */
#include "order.h"

#include "simd/kernels.h"

#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)
#define RADIX_PASSES 3
#define NEXT_LINE 8
#define RUN 8

static void
insert_runs (uint64_t *a, size_t count)
{
  for (size_t from = 0; from < count; from += RUN) {
    size_t to = from + RUN < count ? from + RUN : count;
    for (size_t i = from + 1; i < to; i++) {
      uint64_t v = a[i];
      size_t j = i;
      for (; j > from && a[j - 1] >> 32 < v >> 32; j--)
        a[j] = a[j - 1];
      a[j] = v;
    }
  }
}

static uint64_t *
merge_sort (uint64_t *from, uint64_t *to, size_t count)
{
  insert_runs (from, count);
  for (size_t width = RUN; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      size_t middle = start + width < count ? start + width : count;
      size_t end = middle + width < count ? middle + width : count;
      size_t l = start, r = middle;
      for (size_t k = start; k < end; k++) {
        int left = l < middle && (r >= end || from[l] >> 32 >= from[r] >> 32);
        to[k] = left ? from[l++] : from[r++];
      }
    }
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

static uint64_t *
radix_sort (uint64_t *from, uint64_t *to, size_t count)
{
  uint32_t counters[RADIX_PASSES][RADIX];

  memset (counters, 0, sizeof counters);
  for (size_t i = 0; i < count; i++) {
    uint32_t k = ~(uint32_t) (from[i] >> 32);
    for (unsigned p = 0; p < RADIX_PASSES; p++)
      counters[p][k >> (p * RADIX_BITS) & (RADIX - 1)]++;
  }
  for (unsigned p = 0; p < RADIX_PASSES; p++) {
    uint32_t first = ~(uint32_t) (from[0] >> 32) >> (p * RADIX_BITS) & (RADIX - 1);
    uint32_t sum = 0;
    if (counters[p][first] == count)
      continue; /* all keys have the same digit */
    for (unsigned d = 0; d < RADIX; d++) {
      uint32_t c = counters[p][d];
      counters[p][d] = sum;
      sum += c;
    }
    for (size_t i = 0; i < count; i++) {
      uint32_t k = ~(uint32_t) (from[i] >> 32);
      uint64_t *target = &to[counters[p][k >> (p * RADIX_BITS) & (RADIX - 1)]++];
      *target = from[i];
      __builtin_prefetch (target + NEXT_LINE, 1); /* The processor cannot predict which line is
                                                   * written next. */
    }
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

uint64_t *
nms__sort (const nms__kernels *kernels, uint64_t *packed, uint64_t *scratch, size_t count)
{
  if (count <= kernels->few && kernels->sort_few (packed, count, scratch))
    return scratch;
  return count <= NMS__MERGE_MOST ? merge_sort (packed, scratch, count)
                                  : radix_sort (packed, scratch, count);
}

#define SAMPLES 64

/* Returns the rank of the pivot among SAMPLES keys of `count`. A low rank is increased, because a
 * pivot from few samples is imprecise, and too few keys above the pivot cost more than too many. */
static size_t
pivot_rank (size_t count, size_t wanted)
{
  const size_t rank = wanted * SAMPLES / count;
  return rank + (rank && rank < 8 ? 2 : 1);
}

uint64_t
nms__pivot (const nms__kernels *kernels, const uint64_t *packed, size_t count, size_t wanted)
{
  uint64_t sample[SAMPLES], scratch[SAMPLES];
  const size_t rank = pivot_rank (count, wanted);

  for (size_t i = 0; i < SAMPLES; i++)
    sample[i] = packed[i * count / SAMPLES];
  return nms__sort (kernels, sample, scratch, SAMPLES)[rank] >> 32 << 32;
}
