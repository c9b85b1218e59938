/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlocandidates: finds the last candidate of each image by a sort, and compares all boxes
 * with it. */
#include "stablehlocandidates.h"

typedef nms_lazy_tensor tensor;

static tensor
op (nms_lazy *lz, nms_lazy_op name, tensor a, tensor b)
{
  return nms_lazy_binary (lz, name, a, b);
}

tensor
nms__stablehlo_keys (nms_lazy *lz, const nms_lazy_boxes *b)
{
  tensor part = b->valid;

  if (b->least)
    part = op (lz, NMS_LAZY_AND, part, op (lz, NMS_LAZY_GE, b->key, b->least));
  return nms_lazy_select (lz, part, b->key, nms_lazy_s32 (lz, INT32_MIN));
}

/* Returns the position of the last candidate in each row. */
static tensor
last_of (nms_lazy *lz, tensor keys, const int32_t dims[2], int32_t most)
{
  const tensor from[] = { nms_lazy_s32 (lz, 0), nms_lazy_s32 (lz, most - 1) };
  const int32_t column[] = { dims[0], 1 };

  return nms_lazy_reshape (lz, nms_lazy_slice (lz, nms_lazy_order (lz, keys), from, column), 1,
      dims);
}

/* Returns the element at `position` of each row. */
static tensor
element_of (nms_lazy *lz, tensor keys, tensor position, const int32_t dims[2])
{
  const int32_t all = dims[0] * dims[1];
  tensor first = op (lz, NMS_LAZY_MUL, nms_lazy_iota (lz, 1, dims, 0), nms_lazy_s32 (lz, dims[1]));

  return nms_lazy_take (lz, nms_lazy_reshape (lz, keys, 1, &all),
      op (lz, NMS_LAZY_ADD, first, position));
}

tensor
nms__stablehlo_candidates (nms_lazy *lz, const nms__stablehlo_job *job, const nms_lazy_boxes *b)
{
  const int32_t dims[] = { job->images, job->spec->boxes };
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, b->key);
  const uint64_t most = job->options->max_candidates;

  if (!most || most >= (uint64_t) dims[1])
    return b->valid;
  tensor keys = nms_lazy_reshape (lz, nms__stablehlo_keys (lz, b), 2, dims);
  tensor last = last_of (lz, keys, dims, (int32_t) most);
  tensor key = nms_lazy_broadcast (lz, element_of (lz, keys, last, dims), 2, dims, 0);
  tensor tie = op (lz, NMS_LAZY_AND, op (lz, NMS_LAZY_EQ, keys, key),
      op (lz, NMS_LAZY_LE, nms_lazy_iota (lz, 2, dims, 1),
          nms_lazy_broadcast (lz, last, 2, dims, 0)));
  tensor candidate = op (lz, NMS_LAZY_OR, op (lz, NMS_LAZY_GT, keys, key), tie);

  return op (lz, NMS_LAZY_AND, b->valid, nms_lazy_reshape (lz, candidate, shape.rank, shape.dims));
}
