/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order: the total order of boxes. A score becomes an unsigned key with the same order. The key
 * and, below it, the complement of the position make one number, so that a single maximum finds
 * the best score and, among equal scores, the first box. The sequential-grid paper packs the
 * index into the score's low bits; here no bit of the score or the index is lost.
 */
#ifndef NMS_ORDER_H
#define NMS_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t
nms__float_bits (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
nms__float_of_bits (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Returns a key that ascends with the value; -0 and +0 have the same key. The key of a number
 * is never 0. `value` must not be NaN. */
static inline uint32_t
nms__order_key (float value)
{
  uint32_t bits;
  value += 0.0f; /* -0 becomes +0 */
  memcpy (&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* Returns the score of a key; 0 for the key of -0. */
static inline float
nms__score_of_key (uint32_t key)
{
  float value;
  key = key & 0x80000000u ? key & 0x7fffffff : ~key;
  memcpy (&value, &key, sizeof value);
  return value;
}

/* Packs a key and a position. Greater numbers rank higher; the result is never 0. */
static inline uint64_t
nms__pack (uint32_t key, uint32_t position)
{
  return (uint64_t) key << 32 | (uint32_t) ~position;
}

static inline uint32_t
nms__packed_position (uint64_t packed)
{
  return ~(uint32_t) packed;
}

/* Sorts `count` packed keys in descending order of their upper 32 bits; equal ones stay in the
 * given order. `scratch` has the same size. Returns the one of the two arrays that holds the
 * result. */
struct nms__kernels;
uint64_t *nms__sort (const struct nms__kernels *kernels, uint64_t *packed, uint64_t *scratch,
    size_t count);

/* Returns a pivot: about `wanted` of the `count` packed keys, or somewhat more, are equal to it or
 * above it. It is a sampled key whose lower 32 bits are set to 0, so that keys of equal scores are
 * on one side. `wanted` is at most half of `count`. */
uint64_t nms__pivot (const struct nms__kernels *kernels, const uint64_t *packed, size_t count,
    size_t wanted);

/* Up to this many keys are sorted by counting or merging, more by radix. */
#define NMS__MERGE_MOST 512

/* Inserts `value` into the n ascending values; the array has space for one more. */
static inline void
nms__insert_sorted (double *values, size_t n, double value)
{
  size_t i = n;
  for (; i > 0 && values[i - 1] > value; i--)
    values[i] = values[i - 1];
  values[i] = value;
}

#endif
