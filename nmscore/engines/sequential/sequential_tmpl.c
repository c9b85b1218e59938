/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sequential_tmpl: the loops of engine sequential, compiled once per instruction set. */
#include "sequential_state.h"

#include "simd/screen.h"

#include <math.h>

static void
begin (nms__undecided *a)
{
  const size_t end = (a->width + NMS__BLOCK - 1) / NMS__BLOCK * NMS__BLOCK;
  const uint64_t *packed = a->f->packed;

  for (size_t i = 0; i < a->width; i++) {
    a->key[i] = (int32_t) ((uint32_t) (packed[i] >> 32) ^ 0x80000000u);
    a->pos[i] = (uint32_t) i;
  }
  for (size_t i = a->width; i < end; i++)
    a->key[i] = NMS__GONE;
}

/* The keys are read as 16 columns, each of which has a greatest key. `pick` takes all keys
 * above the greatest key number `wanted` + 1, which are `wanted` or a few more. */
#define COLUMNS 16

/* With at most this many boxes `pick` takes all of them. */
#define ALL_OF (NMS__BLOCK / 2)

static size_t
pick (const nms__undecided *a, int wanted, uint32_t *positions)
{
  vi best[COLUMNS / LANES], below = i_set (NMS__GONE);
  int32_t greatest[COLUMNS];
  size_t n = 0;

#pragma GCC unroll 16
  for (size_t v = 0; v < COLUMNS / LANES; v++)
    best[v] = i_set (NMS__GONE);
  for (size_t i = 0; i < a->width; i += COLUMNS)
#pragma GCC unroll 16
    for (size_t v = 0; v < COLUMNS / LANES; v++)
      best[v] = i_max (best[v], i_load (a->key + i + v * LANES));
#pragma GCC unroll 16
  for (size_t v = 0; v < COLUMNS / LANES; v++)
    i_store (greatest + v * LANES, best[v]);
  for (size_t v = 0; v < COLUMNS / LANES; v++) {
    vi before = i_set (0);
#pragma GCC unroll 16
    for (size_t l = 0; l < COLUMNS; l++)
      before = i_count_gt (before, i_set (greatest[l]), best[v]);
    below = i_max (below, i_where (i_gt (i_set (wanted), before), below, best[v]));
  }
  below = i_set (a->width > ALL_OF ? i_greatest (below) : NMS__GONE);
#if defined(HAVE_SQUEEZE)
  static const int32_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  vi position = i_load (numbers);
  for (size_t i = 0; i < a->width; i += LANES) {
    uint64_t bits = m_bits (i_gt (i_load (a->key + i), below));
    i_squeeze (positions + n, position, (unsigned) bits);
    position = i_sub (position, i_set (-LANES));
    n += (size_t) __builtin_popcountll (bits);
  }
#else
  for (size_t i = 0; i < a->width; i += LANES) {
    uint64_t bits = m_bits (i_gt (i_load (a->key + i), below));
    for (size_t k = 0; k < LANES; k++, bits >>= 1) {
      positions[n] = (uint32_t) (i + k);
      n += bits & 1;
    }
  }
#endif
  return n;
}

static uint64_t
rows (const nms__undecided *a, size_t n, uint64_t *may, uint64_t *surely)
{
  const nms__columns c = { a->x1, a->y1, a->x2, a->y2, a->scaled, a->class_id };
  const nms__bounds *bounds = &a->f->bounds;
  const vf certain = v_set (bounds->certain), least = v_set (bounds->least);
  const uint64_t all = ~(uint64_t) 0 >> (NMS__BLOCK - n);
  uint64_t any = 0;

  for (size_t i = 0; i < n; i++) {
    const wide b = { v_set (c.x1[i]), v_set (c.y1[i]), v_set (c.x2[i]), v_set (c.y2[i]),
      v_set (c.scaled[i]), v_set (0.0f), c.class_id ? c.class_id[i] : 0 };
    uint64_t over = 0, sure = 0;
    for (size_t k = (i + 1) / LANES * LANES; k < n; k += LANES) {
      vf inter = v_mul (v_max (width_lanes (&c, k, &b), b.zero), height_lanes (&c, k, &b));
      vf scaled_sum = v_add (v_load (c.scaled + k), b.scaled);
      vm hit = v_gt (inter, scaled_sum);
      if (c.class_id)
        hit = m_and (hit, v_class_is (c.class_id + k, b.class_id));
      over |= m_bits (hit) << k;
      sure |= m_bits (v_gt (inter, v_max (v_mul (certain, scaled_sum), least))) << k;
    }
    may[i] = over &= all & ~(((uint64_t) 2 << i) - 1);
    surely[i] = sure;
    any |= (uint64_t) (over != 0) << i;
  }
  return any;
}

/* Number of vectors of boxes that are tested together against each pick. */
#define VECTORS_A_TIME (LANES == 16 ? 4 : LANES == 1 ? 1 : 2)

/* Computes, for each box in the `vectors` vectors starting at `first`, the greatest value over all
 * picks of the intersection minus the pick's far scaled area (see nms__bounds). */
INLINE void
most_over (const nms__undecided *a, size_t first, size_t vectors, const nms__picks *p, vf *over,
    int by_class)
{
  const nms__columns c = { a->x1, a->y1, a->x2, a->y2, a->scaled, a->class_id };

#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++)
    over[v] = v_set (-INFINITY);
  for (size_t k = 0; k < p->count; k++) {
    const wide b = { v_set (p->x1[k]), v_set (p->y1[k]), v_set (p->x2[k]), v_set (p->y2[k]),
      v_set (p->far[k]), v_set (0.0f), 0 };
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
      const size_t i = first + v * LANES;
      const vf width = v_max (width_lanes (&c, i, &b), b.zero);
      const vf more = v_max (v_mul_sub (width, height_lanes (&c, i, &b), b.scaled), over[v]);
      over[v] = by_class ? v_where (v_class_is (c.class_id + i, p->class_id[k]), more, over[v])
                         : more;
    }
  }
}

/* Computes that difference for one pick only, the first one that may exceed the limit with the
 * box, and the pick's number. The loop runs from the last pick to the first, so that the first
 * one remains. */
INLINE void
first_over (const nms__undecided *a, size_t first, size_t vectors, const nms__picks *p, vf near,
    vf *over, vi *by, int by_class)
{
  const nms__columns c = { a->x1, a->y1, a->x2, a->y2, a->scaled, a->class_id };
  vf enough[VECTORS_A_TIME];

#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++) {
    enough[v] = v_mul (near, v_load (a->scaled + first + v * LANES));
    over[v] = v_set (-INFINITY);
    by[v] = i_set (0);
  }
  for (size_t k = p->count; k-- > 0;) {
    const wide b = { v_set (p->x1[k]), v_set (p->y1[k]), v_set (p->x2[k]), v_set (p->y2[k]),
      v_set (p->far[k]), v_set (0.0f), 0 };
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
      const size_t i = first + v * LANES;
      const vf width = v_max (width_lanes (&c, i, &b), b.zero);
      const vf more = v_mul_sub (width, height_lanes (&c, i, &b), b.scaled);
      vm hit = v_gt (more, enough[v]);
      if (by_class)
        hit = m_and (hit, v_class_is (c.class_id + i, p->class_id[k]));
      over[v] = v_where (hit, more, over[v]);
      by[v] = i_where (hit, i_set ((int32_t) k), by[v]);
    }
  }
}

/* Writes the suppressors of the boxes `gone` in the vector starting at `first`. */
INLINE void
note_suppressors (const nms__undecided *a, size_t first, uint64_t gone, vi by,
    const nms__picks *picks)
{
  const nms__frame *f = a->f;
  int32_t suppressor[LANES];

  i_store (suppressor, by);
  for (; gone; gone &= gone - 1) {
    const unsigned l = nms__lowest_bit (gone);
    f->suppressed_by[f->index[a->pos[first + l]]] = picks->index[suppressor[l]];
  }
}

/* Moves the boxes of `keep` in the vector starting at `from` to positions `to`, to + 1, ... */
INLINE void
squeeze (nms__undecided *a, size_t to, size_t from, uint64_t keep, int by_class)
{
  float *columns[] = { a->x1, a->y1, a->x2, a->y2, a->scaled, (float *) a->key, (float *) a->pos,
    (float *) a->class_id };
  const int count = by_class ? 8 : 7;
#if defined(HAVE_SQUEEZE)
#pragma GCC unroll 8
  for (int c = 0; c < count; c++)
    i_squeeze (columns[c] + to, i_load ((int32_t *) columns[c] + from), (unsigned) keep);
#else
  for (size_t k = from; keep; k++, keep >>= 1)
    if (keep & 1) {
      for (int c = 0; c < count; c++)
        memcpy (columns[c] + to, columns[c] + k, sizeof (float));
      to++;
    }
#endif
}

/* Moves the boxes that no pick suppresses in `vectors` vectors starting at `first` to `to`.
 * Returns the position after the last one moved. */
INLINE size_t
step_vectors (nms__undecided *a, size_t first, size_t vectors, const nms__picks *picks, size_t to,
    int by_class, int with_suppressors)
{
  const nms__frame *f = a->f;
  const nms__bounds *bounds = &f->bounds;
  const uint64_t careful = f->parent.data ? ~(uint64_t) 0 : 0;
  const vf near = v_set (bounds->near), surely = v_set (bounds->surely);
  const vf least = v_set (bounds->least);
  vf over[VECTORS_A_TIME];
  vi by[VECTORS_A_TIME];

  if (with_suppressors)
    first_over (a, first, vectors, picks, near, over, by, by_class);
  else
    most_over (a, first, vectors, picks, over, by_class);
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++) {
    const size_t i = first + v * LANES;
    const vf scaled = v_load (a->scaled + i);
    uint64_t keep = ~m_bits (v_class_is (a->key + i, NMS__GONE)) & (((uint64_t) 1 << LANES) - 1);
    uint64_t gone = keep & m_bits (v_gt (over[v], v_mul (near, scaled)));
    uint64_t sure = m_bits (v_gt (over[v], v_add (v_mul (surely, scaled), least)));
    uint64_t unsure = gone & (~sure | careful);
    if (with_suppressors)
      note_suppressors (a, i, gone & ~unsure, by[v], picks);
    if (__builtin_expect (unsure != 0, 0))
      gone &= ~unsure | nms__confirm (a, i, unsure, picks);
    keep &= ~gone;
    squeeze (a, to, i, keep, by_class);
    to += (size_t) __builtin_popcountll (keep);
  }
  return to;
}

INLINE void
step_lanes (nms__undecided *a, const nms__picks *picks, int by_class, int with_suppressors)
{
  size_t first = 0, to = 0;

  for (; first + VECTORS_A_TIME * LANES <= a->width; first += VECTORS_A_TIME * LANES)
    to = step_vectors (a, first, VECTORS_A_TIME, picks, to, by_class, with_suppressors);
  for (; first < a->width; first += LANES)
    to = step_vectors (a, first, 1, picks, to, by_class, with_suppressors);
  a->width = to;
  for (; to % NMS__BLOCK; to++)
    a->key[to] = NMS__GONE;
}

static void
step (nms__undecided *a, const nms__picks *picks)
{
  if (a->f->suppressed_by)
    a->class_id ? step_lanes (a, picks, 1, 1) : step_lanes (a, picks, 0, 1);
  else if (a->class_id)
    step_lanes (a, picks, 1, 0);
  else
    step_lanes (a, picks, 0, 0);
}

const nms__sequential_kernels CONCAT (nms__sequential_kernels_, ISA) = { begin, pick, rows, step };
