/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels_tmpl: the loops that several folders use, compiled once per instruction set, as the
 * ..._tmpl.c of these folders are. Meson passes -DNMS__ISA_<name> and the flags of that set to
 * these files only. Each exports one symbol, a table of its functions.
 */
#include "kernels.h"
#include "rotated_tmpl.h"
#include "screen.h"

/* Screens n boxes of a block and the padding of the last vector. A block that is more than half
 * full is screened as a whole, without a loop. */
INLINE uint64_t
screen_block (const nms__columns *c, size_t first, size_t n, const wide *b, int by_class)
{
  uint64_t bits = 0;
  if (LANES > 1 && n > NMS__BLOCK / 2) {
#pragma GCC unroll 16
    for (size_t i = 0; i < NMS__BLOCK; i += LANES)
      bits |= m_bits (screen_lanes (c, first + i, b, by_class)) << i;
  } else
    for (size_t i = 0; i < n; i += LANES)
      bits |= m_bits (screen_lanes (c, first + i, b, by_class)) << i;
  return bits;
}

/* Returns the boxes of `mask` that certainly exceed the limit. Tests a whole block unrolled if
 * all of its boxes are in `mask`. */
INLINE uint64_t
certain_block (const nms__columns *c, size_t first, uint64_t mask, const wide *b,
    const nms__bounds *bounds)
{
  uint64_t certain = 0;
  if (LANES > 1 && mask == ~(uint64_t) 0) {
#pragma GCC unroll 16
    for (size_t i = 0; i < NMS__BLOCK; i += LANES)
      certain |= m_bits (certain_lanes (c, first + i, b, bounds)) << i;
    return certain;
  }
  for (uint64_t left = mask; left;) {
    unsigned i = (unsigned) __builtin_ctzll (left) / LANES * LANES;
    certain |= m_bits (certain_lanes (c, first + i, b, bounds)) << i;
    left &= ~(uint64_t) 0 << i << (LANES - 1) << 1;
  }
  return certain & mask;
}

INLINE uint64_t
overlap_lanes (const nms__columns *c, size_t first, size_t n, const nms__box *box,
    const nms__bounds *bounds, uint64_t *certain, int by_class)
{
  const wide b = widen (box);
  uint64_t bits = screen_block (c, first, n, &b, by_class) & ~(uint64_t) 0 >> (NMS__BLOCK - n);

  if (certain)
    *certain = certain_block (c, first, bits, &b, bounds);
  return bits;
}

static uint64_t
overlap_block (const nms__columns *columns, size_t first, size_t n, const nms__box *box,
    const nms__bounds *bounds, uint64_t *certain)
{
  return columns->class_id ? overlap_lanes (columns, first, n, box, bounds, certain, 1)
                           : overlap_lanes (columns, first, n, box, bounds, certain, 0);
}

/* Number of vectors whose areas are tested before a branch. */
#define AREAS_AT_ONCE 4

/* Skips groups of AREAS_AT_ONCE vectors, starting at `first`, in which no scaled area lies between
 * the bounds. Returns the first position that is not skipped. */
INLINE size_t
skip_areas (const nms__columns *c, size_t first, size_t end, float above, float below)
{
  const vf least = v_set (above), most = v_set (below);

  for (; first + AREAS_AT_ONCE * LANES <= end; first += AREAS_AT_ONCE * LANES) {
    uint64_t bits = 0;
#pragma GCC unroll 4
    for (size_t v = 0; v < AREAS_AT_ONCE; v++) {
      const vf scaled = v_load (c->scaled + first + v * LANES);
      bits |= m_bits (m_and (v_gt (scaled, least), v_gt (most, scaled)));
    }
    if (bits)
      break;
  }
  return first;
}

INLINE size_t
find_lanes (const nms__columns *c, size_t first, size_t end, const nms__box *box, float least_area,
    uint64_t *mask, int by_class)
{
  const wide b = widen (box);

  for (size_t i = first; i < end; i += LANES) {
    if (least_area > 0.0f)
      i = skip_areas (c, i, end, box->scaled * least_area, box->scaled / least_area);
    if (i >= end)
      break;
    uint64_t bits = m_bits (screen_lanes (c, i, &b, by_class));
    if (end - i < LANES)
      bits &= ((uint64_t) 1 << (end - i)) - 1;
    if (bits) {
      *mask = bits;
      return i;
    }
  }
  return end;
}

static size_t
find_overlap (const nms__columns *columns, size_t first, size_t end, const nms__box *box,
    float least_area, uint64_t *mask)
{
  if (columns->class_id)
    return find_lanes (columns, first, end, box, least_area, mask, 1);
  return least_area > 0.0f ? find_lanes (columns, first, end, box, least_area, mask, 0)
                           : find_lanes (columns, first, end, box, 0.0f, mask, 0);
}

static size_t
split (uint64_t *keys, size_t count, uint64_t pivot, uint64_t *top)
{
  size_t i = 0, moved = 0;
#if defined(HAVE_SPLIT_KEYS)
  for (; i + 8 <= count; i += 8)
    moved += split_keys (keys + i, pivot, top + moved, keys + i - moved);
#endif
  for (; i < count; i++) {
    uint64_t key = keys[i];
    top[moved] = key;
    keys[i - moved] = key;
    moved += key >= pivot;
  }
  return moved;
}

/* Number of vectors of keys whose ranks are counted together, so that each key is copied to all
 * lanes once for both. */
#define RANKED 2

/* Computes the ranks of the keys in `vectors` vectors starting at `first`: the rank of a key is
 * the number of keys that precede it. It has no branches, only comparisons. */
INLINE void
count_before (const int32_t *key, size_t first, size_t vectors, size_t count, int32_t *rank)
{
  enum { KEYS = RANKED * LANES };
  static const int32_t behind[2 * KEYS] = { [KEYS... 2 * KEYS - 1] = 1 };
  const size_t end = first + vectors * LANES < count ? first + vectors * LANES : count;
  vi mine[RANKED], below[RANKED], before[RANKED];
  size_t j = 0;

#pragma GCC unroll 2
  for (size_t v = 0; v < vectors; v++) {
    mine[v] = i_load (key + first + v * LANES);
    below[v] = i_sub (mine[v], i_set (1));
    before[v] = i_set (0);
  }
  for (; j < first; j++) /* an equal key precedes, too */
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; v++)
      before[v] = i_count_gt (before[v], i_set (key[j]), below[v]);
  for (; j < end; j++) /* an equal key precedes in the lanes after its own */
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; v++) {
      const int32_t *lower = behind + KEYS - 1 - (j - first) + v * LANES;
      before[v] = i_count_gt (before[v], i_set (key[j]), i_sub (mine[v], i_load (lower)));
    }
  for (; j < count; j++)
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; v++)
      before[v] = i_count_gt (before[v], i_set (key[j]), mine[v]);
#pragma GCC unroll 2
  for (size_t v = 0; v < vectors; v++)
    i_store (rank + first + v * LANES, before[v]);
}

static int
sort_few (const uint64_t *packed, size_t count, uint64_t *sorted)
{
  int32_t key[NMS__FEW + RANKED * LANES], rank[NMS__FEW + RANKED * LANES];
  uint32_t none = 0;
  size_t i = 0;

  for (; i < count; i++) {
    uint32_t k = (uint32_t) (packed[i] >> 32);
    none |= k == 0;
    key[i] = (int32_t) (k ^ 0x80000000u);
  }
  for (; i % (RANKED * LANES); i++)
    key[i] = 0;
  if (none)
    return 0;
  for (i = 0; i + LANES < count; i += RANKED * LANES)
    count_before (key, i, RANKED, count, rank);
  if (i < count)
    count_before (key, i, 1, count, rank);
  for (i = 0; i < count; i++)
    sorted[rank[i]] = packed[i];
  return 1;
}

#define TABLE(user) CONCAT (nms__##user##_kernels_, ISA)
extern const struct nms__prepare_kernels TABLE (prepare);
extern const struct nms__sequential_kernels TABLE (sequential);
extern const struct nms__sorted_kernels TABLE (sorted);
extern const struct nms__spatial_kernels TABLE (spatial);
extern const struct nms__method_kernels TABLE (method);

const nms__kernels CONCAT (nms__kernels_, ISA) = {
  .name = ISA_NAME,
  .lanes = LANES,
  .overlap_block = overlap_block,
  .find_overlap = find_overlap,
  .find_rotated = find_rotated,
  .split = split,
  .sort_few = sort_few,
  .few = LANES == 1 ? 24
      : LANES == 4  ? 128
      : LANES == 8  ? 256
                    : NMS__FEW,
  .prepare = &TABLE (prepare),
  .sequential = &TABLE (sequential),
  .sorted = &TABLE (sorted),
  .spatial = &TABLE (spatial),
  .method = &TABLE (method),
};
