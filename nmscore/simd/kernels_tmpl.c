/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels_tmpl: the loops that every engine spends its time in, compiled once
 * per instruction set (meson passes -DNMS__ISA_<name> and that set's flags to
 * this file alone). Exports one symbol, nms__kernels_<name>.
 */
#include "kernels.h"
#include "lanes.h"

#include "../internal.h"
#include "../order.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_ (a, b)

#if defined(NMS__ISA_avx512)
#define ISA avx512
#define ISA_NAME "avx512"
#elif defined(NMS__ISA_avx2)
#define ISA avx2
#define ISA_NAME "avx2"
#elif defined(NMS__ISA_sse2)
#define ISA sse2
#define ISA_NAME "sse2"
#elif defined(NMS__ISA_neon)
#define ISA neon
#define ISA_NAME "neon"
#else
#define ISA scalar
#define ISA_NAME "scalar"
#endif

/* The box of a test, in every lane. */
typedef struct wide {
  vf x1, y1, x2, y2, area, lower, least;
  int32_t group;
} wide;

INLINE wide
widen (const nms__box *b, const nms__bounds *bounds)
{
  return (wide) { v_set (b->x1), v_set (b->y1), v_set (b->x2), v_set (b->y2), v_set (b->area),
    v_set (bounds->lower), v_set (NMS__LEAST_EXTENT), b->group };
}

/* Intersection and union of LANES boxes from i on with the box; the lanes that
 * lie above the lower bound. */
INLINE vm
test_lanes (const nms__columns *c, size_t i, const wide *b, int grouped, vf *inter, vf *uni)
{
  vf w = v_sub (v_min (v_load (c->x2 + i), b->x2), v_max (v_load (c->x1 + i), b->x1));
  vf h = v_sub (v_min (v_load (c->y2 + i), b->y2), v_max (v_load (c->y1 + i), b->y1));
  vm hit = m_and (v_gt (w, b->least), v_gt (h, b->least));
  *inter = v_mul (w, h);
  *uni = v_sub (v_add (v_load (c->area + i), b->area), *inter);
  hit = m_and (hit, v_gt (*inter, v_mul (b->lower, *uni)));
  return grouped ? m_and (hit, v_group_is (c->group + i, b->group)) : hit;
}

INLINE uint64_t
overlap_lanes (const nms__columns *c, size_t first, size_t n, const nms__box *box,
    const nms__bounds *bounds, uint64_t *certain, int grouped)
{
  const wide b = widen (box, bounds);
  vf inter[NMS__BLOCK / LANES], uni[NMS__BLOCK / LANES];
  uint64_t bits = 0, sure = 0;
  size_t v, end = (n + LANES - 1) / LANES;

  for (v = 0; v < end; v++)
    bits |= m_bits (test_lanes (c, first + v * LANES, &b, grouped, &inter[v], &uni[v]))
        << (v * LANES);
  bits &= ~(uint64_t) 0 >> (NMS__BLOCK - n);
  if (bits) {
    vf upper = v_set (bounds->upper);
    for (v = 0; v < end; v++)
      sure |= m_bits (v_gt (inter[v], v_mul (upper, uni[v]))) << (v * LANES);
  }
  *certain = sure & bits;
  return bits;
}

static uint64_t
overlap_block (const nms__columns *columns, size_t first, size_t n, const nms__box *box,
    const nms__bounds *bounds, uint64_t *certain)
{
  return columns->group ? overlap_lanes (columns, first, n, box, bounds, certain, 1)
      : overlap_lanes (columns, first, n, box, bounds, certain, 0);
}

INLINE size_t
find_lanes (const nms__columns *c, size_t first, size_t end, const nms__box *box,
    const nms__bounds *bounds, uint64_t *mask, int grouped)
{
  const wide b = widen (box, bounds);
  vf inter, uni;

  for (size_t i = first; i < end; i += LANES) {
    uint64_t bits = m_bits (test_lanes (c, i, &b, grouped, &inter, &uni));
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
    const nms__bounds *bounds, uint64_t *mask)
{
  return columns->group ? find_lanes (columns, first, end, box, bounds, mask, 1)
      : find_lanes (columns, first, end, box, bounds, mask, 0);
}

static uint64_t
best (uint64_t *key, uint64_t kill)
{
  return best_of_block (key, kill);
}

static size_t
find (const uint64_t *keys, uint64_t key)
{
  return index_of_key (keys, key);
}

static size_t
squeeze (float *const *columns, int32_t *group, uint64_t *key, size_t n)
{
  size_t to = 0;
#if defined(HAVE_SQUEEZE_LANES)
  for (size_t i = 0; i < n; i += LANES) {
    unsigned keep = squeeze_keys (key + to, key + i);
    unsigned count = (unsigned) __builtin_popcount (keep);
    if (count < LANES || to < i) {
      for (int c = 0; c < 5; c++)
        squeeze_lanes (columns[c] + to, columns[c] + i, keep);
      if (group)
        squeeze_lanes ((float *) (group + to), (const float *) (group + i), keep);
    }
    to += count;
  }
#else
  for (size_t i = 0; i < n; i++) {
    for (int c = 0; c < 5; c++)
      columns[c][to] = columns[c][i];
    if (group)
      group[to] = group[i];
    key[to] = key[i];
    to += key[i] != 0;
  }
#endif
  return to;
}

/* One coordinate or score of a block, from any stride. */
INLINE void
load_floats (float *to, const nms_column *column, size_t first, size_t n)
{
  if (column->stride == 0 || column->stride == sizeof (float))
    memcpy (to, (const char *) column->data + first * sizeof (float), n * sizeof (float));
  else
    for (size_t i = 0; i < n; i++)
      nms__load (&to[i], column, first + i, sizeof to[i]);
}

/* The four corners, of packed rows x1 y1 x2 y2 faster. */
INLINE void
load_corners (float (*to)[NMS__BLOCK], const nms_boxes *boxes, size_t first, size_t n)
{
  const char *base = boxes->x1.data;

  if (boxes->x1.stride == 16 && boxes->y1.stride == 16 && boxes->x2.stride == 16
      && boxes->y2.stride == 16 && boxes->y1.data == base + 4 && boxes->x2.data == base + 8
      && boxes->y2.data == base + 12) {
    float rows[NMS__BLOCK][4];
    memcpy (rows, base + first * 16, n * 16);
    for (size_t i = 0; i < n; i++) {
      to[0][i] = rows[i][0];
      to[1][i] = rows[i][1];
      to[2][i] = rows[i][2];
      to[3][i] = rows[i][3];
    }
    return;
  }
  load_floats (to[0], &boxes->x1, first, n);
  load_floats (to[1], &boxes->y1, first, n);
  load_floats (to[2], &boxes->x2, first, n);
  load_floats (to[3], &boxes->y2, first, n);
}

static int
take_block (nms__frame *f, const nms_boxes *boxes, size_t first, size_t n)
{
  const nms_options *o = &f->settings->options;
  const float least = o->score_threshold, most = NMS__MOST_COORDINATE;
  const int strict = o->score_strict;
  float c[4][NMS__BLOCK], score[NMS__BLOCK];
  int32_t good = -1;
  size_t to = f->count;

  load_corners (c, boxes, first, n);
  if (boxes->score.data)
    load_floats (score, &boxes->score, first, n);
  else
    memset (score, 0, sizeof score);
  for (size_t i = 0; i < n; i++) {
    int32_t valid = (c[0][i] >= -most) & (c[0][i] <= most) & (c[1][i] >= -most) & (c[1][i] <= most)
        & (c[2][i] >= -most) & (c[2][i] <= most) & (c[3][i] >= -most) & (c[3][i] <= most);
    int32_t taken = strict ? score[i] > least : score[i] >= least;
    good &= -(valid & taken);
  }
  if (!good)
    return 0;
  for (size_t i = 0; i < n; i++) {
    float x1 = c[0][i] < c[2][i] ? c[0][i] : c[2][i];
    float x2 = c[0][i] < c[2][i] ? c[2][i] : c[0][i];
    float y1 = c[1][i] < c[3][i] ? c[1][i] : c[3][i];
    float y2 = c[1][i] < c[3][i] ? c[3][i] : c[1][i];
    f->x1[to + i] = x1;
    f->y1[to + i] = y1;
    f->x2[to + i] = x2;
    f->y2[to + i] = y2;
    f->area[to + i] = (x2 - x1) * (y2 - y1);
    f->index[to + i] = (int32_t) (first + i);
  }
  for (size_t i = 0; i < n; i++)
    f->packed[to + i] = nms__pack (nms__order_key (score[i]), (uint32_t) (to + i));
  if (f->group)
    for (size_t i = 0; i < n; i++)
      nms__load (&f->group[to + i], &boxes->class_id, first + i, sizeof (int32_t));
  f->count += n;
  return 1;
}

const nms__kernels CONCAT (nms__kernels_, ISA) = {
  .name = ISA_NAME,
  .overlap_block = overlap_block,
  .find_overlap = find_overlap,
  .best_of_block = best,
  .find_key = find,
  .squeeze = squeeze,
  .take_block = take_block,
};
