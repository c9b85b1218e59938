/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels_tmpl: the loops in which all engines spend most of their time, compiled once per
 * instruction set. Meson passes -DNMS__ISA_<name> and the flags of that set to this file and to
 * spatial_tmpl.c only. It exports one symbol, nms__kernels_<name>.
 */
#include "kernels.h"
#include "screen.h"

#include "engines/sequential/sequential_tmpl.h"
#include "engines/sorted/rotated_tmpl.h"
#include "engines/sorted/sweep_tmpl.h"
#include "internal.h"
#include "methods/metric_tmpl.h"
#include "order.h"

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

/* Returns those boxes of `mask` that surely exceed the limit. Tests a whole block without a loop if
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
  for (; j < end; j++) /* an equal key precedes in the lanes behind its own */
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

/* Copies n values of a column with any stride. */
INLINE void
load_column (void *to, const nms_column *column, size_t first, size_t n)
{
  if (column->stride == 0 || column->stride == sizeof (float))
    memcpy (to, (const char *) column->data + first * sizeof (float), n * sizeof (float));
  else
    for (size_t i = 0; i < n; i++)
      nms__load ((float *) to + i, column, first + i, sizeof (float));
}

/* Copies the four corners. Packed rows x1 y1 x2 y2, the usual form, are copied by vectors. */
INLINE void
load_corners (float (*to)[NMS__BLOCK], const nms_boxes *boxes, size_t first, size_t n)
{
  const char *base = boxes->x1.data;
  size_t i = 0;

  if (boxes->x1.stride == 16 && boxes->y1.stride == 16 && boxes->x2.stride == 16
      && boxes->y2.stride == 16 && boxes->y1.data == base + 4 && boxes->x2.data == base + 8
      && boxes->y2.data == base + 12) {
    for (; i + LANES <= n; i += LANES)
      rows_to_columns (base + (first + i) * 16, &to[0][i], &to[1][i], &to[2][i], &to[3][i]);
    for (; i < n; i++) {
      float row[4];
      memcpy (row, base + (first + i) * 16, sizeof row);
      for (int k = 0; k < 4; k++)
        to[k][i] = row[k];
    }
    return;
  }
  load_column (to[0], &boxes->x1, first, n);
  load_column (to[1], &boxes->y1, first, n);
  load_column (to[2], &boxes->x2, first, n);
  load_column (to[3], &boxes->y2, first, n);
}

/* Closes the gaps in a block whose columns are filled, and fills the columns that were not. */
static void
take_some (nms__frame *f, const nms_boxes *boxes, size_t first, const float *score, uint64_t taken)
{
  const size_t to = f->count;

  for (; taken; taken &= taken - 1) {
    const size_t k = (size_t) __builtin_ctzll (taken), n = f->count++;
    f->x1[n] = f->x1[to + k];
    f->y1[n] = f->y1[to + k];
    f->x2[n] = f->x2[to + k];
    f->y2[n] = f->y2[to + k];
    f->scaled[n] = f->scaled[to + k];
    f->side = f->x2[n] - f->x1[n] > f->side ? f->x2[n] - f->x1[n] : f->side;
    f->side = f->y2[n] - f->y1[n] > f->side ? f->y2[n] - f->y1[n] : f->side;
    f->index[n] = (int32_t) (first + k);
    f->packed[n] = nms__pack (nms__order_key (score[k]), (uint32_t) n);
    if (f->class_id)
      nms__load (&f->class_id[n], &boxes->class_id, first + k, sizeof *f->class_id);
    if (f->class_entry)
      f->class_entry[n] = f->class_entry[to + k];
  }
}

/* Works on whole vectors, the last one with padding behind the n boxes: the columns have space
 * for it, and only n boxes are counted. */
static void
take_block (nms__frame *f, const nms_options *o, const nms_boxes *boxes, size_t first, size_t n,
    const float *thresholds, uint64_t *invalid, uint64_t *filtered)
{
  const vf most = v_set (NMS__MOST_COORDINATE), threshold = v_set (o->score_threshold);
  const vf negative = v_set (-NMS__MOST_COORDINATE), factor = v_set (f->bounds.factor);
  const size_t to = f->count;
  const uint64_t all = ~(uint64_t) 0 >> (NMS__BLOCK - n);
  float c[4][NMS__BLOCK], score[NMS__BLOCK];
  vf side = v_set (f->side);
  uint64_t valid = 0, passed = 0;

  load_corners (c, boxes, first, n);
  if (boxes->score.data)
    load_column (score, &boxes->score, first, n);
  else
    memset (score, 0, sizeof score);

  for (size_t i = n; i % LANES; i++) /* padding has no extent */
    c[0][i] = c[1][i] = c[2][i] = c[3][i] = score[i] = 0.0f;
  for (size_t i = 0; i < n; i += LANES) {
    vf a = v_load (&c[0][i]), b = v_load (&c[2][i]);
    vf x1 = v_min (a, b), x2 = v_max (a, b);
    a = v_load (&c[1][i]);
    b = v_load (&c[3][i]);
    vf y1 = v_min (a, b), y2 = v_max (a, b);
    vf s = v_load (&score[i]), least = thresholds ? v_load (thresholds + i) : threshold;
    /* min and max may drop a NaN of a or b, so v_ordered tests both */
    vm ok = m_and (m_and (v_ge (x1, negative), v_ge (most, x2)),
        m_and (v_ge (y1, negative), v_ge (most, y2)));
    ok = m_and (ok, m_and (v_ordered (v_load (&c[0][i]), v_load (&c[2][i])), v_ordered (a, b)));
    ok = m_and (ok, v_ordered (s, s));
    valid |= m_bits (ok) << i;
    passed |= m_bits (o->score_strict ? v_gt (s, least) : v_ge (s, least)) << i;
    v_store (f->x1 + to + i, x1);
    v_store (f->y1 + to + i, y1);
    /* A box without area becomes a point, because products of its extents may be subnormal, which
     * processors multiply slowly. */
    vf width = v_sub (x2, x1), height = v_sub (y2, y1);
    vm has_area = v_gt (v_min (width, height), v_set (NMS__LEAST_EXTENT));
    width = v_where (has_area, width, v_set (0.0f));
    v_store (f->x2 + to + i, v_where (has_area, x2, x1));
    v_store (f->y2 + to + i, v_where (has_area, y2, y1));
    v_store (f->scaled + to + i, v_mul (factor, v_mul (width, height)));
    side = v_max (side, v_max (width, height));
  }
  for (size_t i = 0; boxes->exclude.data && i < n; i++) {
    uint8_t exclude;
    nms__load (&exclude, &boxes->exclude, first + i, sizeof exclude);
    passed &= ~((uint64_t) (exclude != 0) << i);
  }
  *invalid = all & ~valid;
  *filtered = all & valid & ~passed;
  if (*invalid | *filtered) {
    take_some (f, boxes, first, score, all & valid & passed);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    f->index[to + i] = (int32_t) (first + i);
    f->packed[to + i] = nms__pack (nms__order_key (score[i]), (uint32_t) (to + i));
  }
  if (f->class_id)
    load_column (f->class_id + to, &boxes->class_id, first, n);
  f->side = v_greatest (side);
  f->count += n;
}

void CONCAT (nms__decide_cells_, ISA) (struct nms__cell_boxes *boxes);

const nms__kernels CONCAT (nms__kernels_, ISA) = {
  .name = ISA_NAME,
  .lanes = LANES,
  .overlap_block = overlap_block,
  .find_overlap = find_overlap,
  .find_rotated = find_rotated,
  .begin = begin,
  .pick = pick,
  .rows = rows,
  .step = step,
  .split = split,
  .sort_few = sort_few,
  .few = LANES == 1 ? 24
      : LANES == 4  ? 128
      : LANES == 8  ? 256
                    : NMS__FEW,
  .sweep = sweep,
  .take_block = take_block,
  .metric_block = metric_block,
  .decide_cells = CONCAT (nms__decide_cells_, ISA),
};
