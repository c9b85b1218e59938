/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decode: turns a detector's head into boxes, in the same program as the selection.
 * Scores are compared as integer keys, because devices differ in how they compare
 * NaN and subnormal floats.
 */
#include "nmsgraph.h"

#include "lazynodes.h"

typedef nms_lazy_tensor tensor;

/* Takes row `row` of the head as a vector, or, if `to_end`, the rows from `row` to the
 * end as a matrix. */
static tensor
rows (nms_lazy *lz, tensor head, int32_t row, int to_end)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, head);
  const tensor from[] = { nms_lazy_s32 (lz, row), nms_lazy_s32 (lz, 0) };
  const int32_t dims[] = { to_end ? shape.dims[0] - row : 1, shape.dims[1] };
  tensor part = nms_lazy_slice (lz, head, from, dims);

  return to_end ? part : nms_lazy_reshape (lz, part, 1, &dims[1]);
}

/* Turns keys back into scores. */
static tensor
score_of (nms_lazy *lz, tensor key)
{
  tensor zero = nms_lazy_s32 (lz, 0);
  tensor negative = nms_lazy_binary (lz, NMS_LAZY_OR, nms_lazy_binary (lz, NMS_LAZY_SUB, zero, key),
      nms_lazy_s32 (lz, INT32_MIN));
  tensor bits = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_GE, key, zero), key, negative);

  return nms_lazy_unary (lz, NMS_LAZY_AS_F32, bits);
}

nms_lazy_boxes
nms_lazy_decode_head (nms_lazy *lz, tensor head, tensor *score)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, head);
  nms_lazy_boxes b = { 0 };

  if (!lz->status && (shape.rank != 2 || shape.dims[0] < 5))
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT,
        "decode_head: a head must have two axes and at least 5 rows");
  tensor *const low[] = { &b.x1, &b.y1 }, *const high[] = { &b.x2, &b.y2 };
  tensor scores = rows (lz, head, 4, 1);
  tensor keys = nms__nan_last_key (lz, scores);

  for (int i = 0; i < 2; i++) {
    tensor center = rows (lz, head, i, 0);
    tensor half = nms_lazy_binary (lz, NMS_LAZY_MUL, rows (lz, head, 2 + i, 0),
        nms_lazy_f32 (lz, 0.5f));
    *low[i] = nms_lazy_binary (lz, NMS_LAZY_SUB, center, half);
    *high[i] = nms_lazy_binary (lz, NMS_LAZY_ADD, center, half);
  }
  b.valid = nms_lazy_clean_boxes (lz, &b);
  b.key = nms_lazy_argmax (lz, keys, 0, &b.class_id);
  b.valid = nms_lazy_binary (lz, NMS_LAZY_AND, b.valid,
      nms_lazy_binary (lz, NMS_LAZY_GT, b.key, nms_lazy_s32 (lz, INT32_MIN)));
  if (score)
    *score = score_of (lz, b.key);
  return b;
}
