/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bits: the bits of a mask. */
#ifndef NMS_BITS_H
#define NMS_BITS_H

#include <stdint.h>

static inline unsigned
nms__lowest_bit (uint64_t mask)
{
  return (unsigned) __builtin_ctzll (mask);
}

static inline unsigned
nms__highest_bit (uint64_t mask)
{
  return 63u - (unsigned) __builtin_clzll (mask);
}

/* Counts bits by arithmetic, because without the instruction, which old processors lack, the
 * compiler's builtin is a function call. */
static inline unsigned
nms__count_bits (uint64_t mask)
{
  mask -= mask >> 1 & 0x5555555555555555u;
  mask = (mask & 0x3333333333333333u) + (mask >> 2 & 0x3333333333333333u);
  mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (unsigned) (mask * 0x0101010101010101u >> 56);
}

#endif
