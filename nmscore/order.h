/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order: the total order of boxes. A score becomes an unsigned key that orders
 * like the score; a key with its position packed below it is unique, so that
 * one maximum finds both the best score and, among equal ones, the first box:
 * the packing of the sequential-grid kernel, without its loss of index bits.
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

/* Monotone from float to uint32_t; -0 and +0 give one key; never 0 for a
 * number. NaN must not come here. */
static inline uint32_t
nms__order_key (float value)
{
  uint32_t bits;
  value += 0.0f;                /* -0 becomes +0 */
  memcpy (&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* The way back; 0 for -0. */
static inline float
nms__score_of_key (uint32_t key)
{
  float value;
  key = key & 0x80000000u ? key & 0x7fffffff : ~key;
  memcpy (&value, &key, sizeof value);
  return value;
}

/* Best first when taken from the greatest down. Never 0: 0 can mean "gone". */
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

/* Sorts `count` packed keys, greatest key first and, among equal keys, in the
 * order given. Uses `scratch` of the same size; the result is in the array
 * returned, one of the two. */
struct nms__kernels;
uint64_t *nms__sort (const struct nms__kernels *kernels, uint64_t *packed, uint64_t *scratch,
    size_t count);

/* Up to so many keys are merged, or counted; more are sorted by their digits. */
#define NMS__MERGE_MOST 512

/* `values` has n, ascending, and room for one more. */
static inline void
nms__insert_sorted (double *values, size_t n, double value)
{
  size_t i = n;
  for (; i > 0 && values[i - 1] > value; i--)
    values[i] = values[i - 1];
  values[i] = value;
}

#endif
