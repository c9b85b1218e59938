/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sweep_tmpl: the loops of a sweep, and the table of engine sorted; compiled once per instruction
 * set. */
#include "sweep.h"

#include "simd/screen.h"

/* Returns box i of the columns with each value in all lanes. */
INLINE wide
widen_at (const nms__columns *c, size_t i)
{
  return (wide) { v_set (c->x1[i]), v_set (c->y1[i]), v_set (c->x2[i]), v_set (c->y2[i]),
    v_set (c->scaled[i]), v_set (0.0f), 0 };
}

/* Number of vectors in a unit of a sweep. */
enum { VECTORS = NMS__UNIT / LANES };

/* Tests the unit starting at `first` against box b. Clears in `clear` the lanes of boxes that
 * may exceed the limit with b, and in `unsure` those of boxes that certainly do. bounds.least
 * excludes intersections with an extent that counts as 0. */
INLINE void
meet (const nms__columns *c, size_t first, const wide *b, vf factor, vf least, vm clear[VECTORS],
    vm unsure[VECTORS])
{
#pragma GCC unroll 16
  for (size_t v = 0; v < VECTORS; v++) {
    const size_t i = first + v * LANES;
    vf inter = v_mul (v_max (width_lanes (c, i, b), b->zero), height_lanes (c, i, b));
    vf scaled_sum = v_add (v_load (c->scaled + i), b->scaled);
    clear[v] = m_and_ngt (clear[v], inter, scaled_sum);
    unsure[v] = m_and_ngt (unsure[v], inter, v_max (v_mul (factor, scaled_sum), least));
  }
}

INLINE uint32_t
unit_bits (const vm mask[VECTORS])
{
  uint32_t bits = 0;
#pragma GCC unroll 16
  for (size_t v = 0; v < VECTORS; v++)
    bits |= (uint32_t) m_bits (mask[v]) << (v * LANES);
  return bits;
}

/* Returns the boxes of a unit that box i suppresses. */
INLINE uint32_t
sweep_row (const nms__sweep *s, size_t first, uint32_t undecided, size_t i)
{
  const nms__bounds *bounds = s->bounds;
  const wide b = widen_at (&s->columns, i);
  vm clear[VECTORS], unsure[VECTORS];

  for (size_t v = 0; v < VECTORS; v++)
    clear[v] = unsure[v] = v_ge (b.zero, b.zero);
  meet (&s->columns, first, &b, v_set (bounds->certain), v_set (bounds->least), clear, unsure);
  uint32_t gone = undecided & ~unit_bits (clear);
  const uint32_t doubt = s->careful ? gone : gone & unit_bits (unsure);
  return doubt ? nms__sweep_decide (s, first, gone, doubt, i) : gone;
}

/* Tests a unit against one kept box after the other. Returns the boxes that stay undecided. */
static uint32_t
sweep_one_by_one (const nms__sweep *s, size_t first, uint32_t undecided, size_t kept_count)
{
  for (size_t k = 0; k < kept_count && undecided; k++) {
    const uint32_t gone = sweep_row (s, first, undecided, s->kept[k]);
    if (gone)
      nms__sweep_note (s, first, gone, s->kept[k]);
    undecided &= ~gone;
  }
  return undecided;
}

/* Tests a unit against all boxes kept before it, without noting which one suppresses.
 * Returns the boxes that stay undecided. */
static uint32_t
sweep_kept (const nms__sweep *s, size_t first, uint32_t undecided, size_t kept_count)
{
  const nms__bounds *bounds = s->bounds;
  const vf factor = v_set (bounds->certain), least = v_set (bounds->least);
  vm clear[VECTORS], unsure[VECTORS];

  for (size_t v = 0; v < VECTORS; v++)
    clear[v] = unsure[v] = v_ge (factor, factor);
  for (size_t k = 0; k < kept_count; k++) {
    const wide b = widen_at (&s->columns, s->kept[k]);
    meet (&s->columns, first, &b, factor, least, clear, unsure);
  }
  const uint32_t bits = unit_bits (clear);
  if (!(undecided & unit_bits (unsure) & ~bits))
    return undecided & bits;
  return sweep_one_by_one (s, first, undecided, kept_count);
}

/* Does the same as sweep_kept, and notes the suppressors. The loop runs from the last kept box to
 * the first, so that each lane of `by` ends with the first kept box whose overlap may exceed the
 * limit. The lane of `above` is greater than 0 if this overlap certainly exceeds it. */
static uint32_t
sweep_kept_noting (const nms__sweep *s, size_t first, uint32_t undecided, size_t kept_count)
{
  const nms__columns *c = &s->columns;
  const vf factor = v_set (s->bounds->certain), least = v_set (s->bounds->least);
  const vf zero = v_set (0.0f);
  vf above[VECTORS];
  vi by[VECTORS];
  int32_t suppressor[NMS__UNIT];
  uint32_t gone = 0, sure = 0;

  for (size_t v = 0; v < VECTORS; v++) {
    above[v] = zero;
    by[v] = i_set (-1);
  }
  for (size_t k = kept_count; k-- > 0;) {
    const wide b = widen_at (c, s->kept[k]);
#pragma GCC unroll 16
    for (size_t v = 0; v < VECTORS; v++) {
      const size_t i = first + v * LANES;
      const vf inter = v_mul (v_max (width_lanes (c, i, &b), zero), height_lanes (c, i, &b));
      const vf scaled_sum = v_add (v_load (c->scaled + i), b.scaled);
      const vm hit = v_gt (inter, scaled_sum);
      above[v] = v_where (hit, v_sub (inter, v_max (v_mul (factor, scaled_sum), least)), above[v]);
      by[v] = i_where (hit, i_set ((int32_t) k), by[v]);
    }
  }
  for (size_t v = 0; v < VECTORS; v++) {
    gone |= (uint32_t) m_bits (i_gt (by[v], i_set (-1))) << v * LANES;
    sure |= (uint32_t) m_bits (v_gt (above[v], zero)) << v * LANES;
    i_store (suppressor + v * LANES, by[v]);
  }
  gone &= undecided;
  for (uint32_t left = gone & sure; left; left &= left - 1) {
    const unsigned l = nms__lowest_bit (left);
    nms__sweep_note (s, first, left & -left, s->kept[suppressor[l]]);
  }
  undecided &= ~(gone & sure);
  gone &= ~sure;
  return (undecided & ~gone) | (gone ? sweep_one_by_one (s, first, gone, kept_count) : 0);
}

static size_t
sweep (const nms__sweep *s)
{
  size_t n = 0;

  for (size_t first = 0; first < s->count; first += NMS__UNIT) {
    const size_t left = s->count - first;
    uint32_t undecided = left < NMS__UNIT ? (1u << left) - 1 : 0xffff;
    uint32_t row[NMS__UNIT];
    if (s->careful)
      undecided = sweep_one_by_one (s, first, undecided, n);
    else
      undecided = s->with_suppressors ? sweep_kept_noting (s, first, undecided, n)
                                      : sweep_kept (s, first, undecided, n);
    if (!s->careful) /* all at once, because most undecided boxes will be kept */
      for (uint32_t mask = undecided; mask; mask &= mask - 1) {
        unsigned i = (unsigned) __builtin_ctz (mask);
        row[i] = sweep_row (s, first, mask & (mask - 1), first + i);
      }
    while (undecided) {
      const unsigned i = (unsigned) __builtin_ctz (undecided);
      s->kept[n++] = (uint32_t) (first + i);
      if (n == s->cap)
        return n;
      undecided &= undecided - 1;
      const uint32_t gone = undecided
          & (s->careful ? sweep_row (s, first, undecided, first + i) : row[i]);
      if (s->with_suppressors && gone)
        nms__sweep_note (s, first, gone, first + i);
      undecided &= ~gone;
    }
  }
  return n;
}

const nms__sorted_kernels CONCAT (nms__sorted_kernels_, ISA) = { sweep };
