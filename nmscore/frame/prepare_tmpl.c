/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prepare_tmpl: checks and copies a block of the caller's boxes, compiled once per instruction
 * set. */
#include "prepare_kernels.h"

#include "frame.h"
#include "order.h"
#include "simd/screen.h"

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

/* Works on whole vectors, the last one with padding after the n boxes: the columns have space
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

const nms__prepare_kernels CONCAT (nms__prepare_kernels_, ISA) = { take_block };
