/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reductions: the public calls that reduce, sort and gather. A sum is a sequence of
 * recorded additions, because the order in which devices reduce floats is not defined.
 */
#include "lazynodes.h"
#include "nmsgraph.h"

nms_lazy_tensor
nms_lazy_reduce (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a, int axis)
{
  const int known = op >= NMS_LAZY_MAX && op <= NMS_LAZY_OR;
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__REDUCE, a, known ? nms__infos[op].types : 0);
  nms_lazy_tensor operands[2] = { a };
  int32_t neutral[] = { INT32_MIN, INT32_MAX, -1, 0 };
  nms_lazy_shape shape;

  if (!s)
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= s->rank)
    return nms__misfit (lz, NMS__REDUCE, 1, &a, NULL);
  if (s->type == NMS_LAZY_F32) {
    neutral[0] = (int32_t) 0xff800000;
    neutral[1] = 0x7f800000;
  }
  operands[1] = nms__append (lz, NMS__CONSTANT, (nms_lazy_shape) { s->type }, 0, NULL,
      neutral[op - NMS_LAZY_MAX], 0);
  shape = (nms_lazy_shape) { s->type, s->rank - 1, { s->rank == 2 ? s->dims[!axis] : 0 } };
  return nms__append (lz, NMS__REDUCE, shape, 2, operands, (int32_t) op, axis);
}

/* The maximum, then the least index of an element that equals it. */
nms_lazy_tensor
nms_lazy_argmax (nms_lazy *lz, nms_lazy_tensor a, int axis, nms_lazy_tensor *index)
{
  const nms_lazy_tensor greatest = nms_lazy_reduce (lz, NMS_LAZY_MAX, a, axis);
  const nms_lazy_shape s = nms_lazy_shape_of (lz, a);
  nms_lazy_tensor all = nms_lazy_broadcast (lz, greatest, s.rank, s.dims, !axis);
  nms_lazy_tensor here = nms_lazy_binary (lz, NMS_LAZY_EQ, a, all);
  nms_lazy_tensor place = nms_lazy_iota (lz, s.rank, s.dims, axis);

  place = nms_lazy_select (lz, here, place, nms_lazy_s32 (lz, INT32_MAX));
  *index = nms_lazy_reduce (lz, NMS_LAZY_MIN, place, axis);
  return *index ? greatest : NMS_LAZY_NONE;
}

/* Returns the slice of `a` that begins at `from` along `axis` and has `extent` elements. */
static nms_lazy_tensor
part_of (nms_lazy *lz, nms_lazy_tensor a, int axis, int32_t from, int32_t extent)
{
  const nms_lazy_shape s = nms_lazy_shape_of (lz, a);
  const nms_lazy_tensor zero = nms_lazy_s32 (lz, 0), first = nms_lazy_s32 (lz, from);
  const nms_lazy_tensor starts[] = { axis == 0 ? first : zero, axis == 1 ? first : zero };
  const int32_t dims[] = { axis == 0 ? extent : s.dims[0], axis == 1 ? extent : s.dims[1] };

  return nms_lazy_slice (lz, a, starts, dims);
}

/* Adds the end of the elements to their beginning until one is left. */
nms_lazy_tensor
nms_lazy_sum (nms_lazy *lz, nms_lazy_tensor a, int axis)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS_LAZY_ADD, a, nms__infos[NMS_LAZY_ADD].types);
  const nms_lazy_tensor start[] = { nms_lazy_s32 (lz, 0), nms_lazy_s32 (lz, 0) };
  int32_t count = s && axis >= 0 && axis < s->rank ? s->dims[axis] : 0;

  if (!count)
    return s ? nms__misfit (lz, NMS_LAZY_ADD, 1, &a, NULL) : NMS_LAZY_NONE;
  const int rank = s->rank - 1;
  const int32_t left = s->dims[!axis];
  for (int32_t rest; count > 1; count -= rest) {
    rest = count / 2;
    nms_lazy_tensor end = part_of (lz, a, axis, count - rest, rest);
    nms_lazy_tensor begin = part_of (lz, a, axis, 0, count - rest);
    nms_lazy_tensor sum = nms_lazy_binary (lz, NMS_LAZY_ADD, part_of (lz, a, axis, 0, rest), end);
    a = count % 2 ? nms_lazy_update (lz, begin, sum, start) : sum;
  }
  return nms_lazy_reshape (lz, a, rank, &left);
}

/* ---------------------------------------------------------------------- order */

nms_lazy_tensor
nms_lazy_order (nms_lazy *lz, nms_lazy_tensor a)
{
  const int types = NMS__TYPE (NMS_LAZY_F32) | NMS__TYPE (NMS_LAZY_S32);
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__SORT, a, types);
  nms_lazy_tensor operands[2] = { a };

  if (!s || !s->rank)
    return s ? nms__misfit (lz, NMS__SORT, 1, &a, NULL) : NMS_LAZY_NONE;
  const nms_lazy_shape shape = { NMS_LAZY_S32, s->rank, { s->dims[0], s->dims[1] } };
  if (s->type == NMS_LAZY_F32)
    operands[0] = nms__nan_last_key (lz, a);
  operands[1] = nms_lazy_iota (lz, shape.rank, shape.dims, shape.rank - 1);
  return nms__append (lz, NMS__SORT, shape, 2, operands, 0, 0);
}

nms_lazy_tensor
nms__lazy_sort (nms_lazy *lz, size_t count, nms_lazy_tensor *columns, size_t key)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (lz, columns[key]);
  nms_lazy_tensor operands[2] = { columns[key],
    nms_lazy_iota (lz, shape.rank, shape.dims, shape.rank - 1) };

  for (size_t k = count; k-- > 0;)
    if (k != key)
      operands[1] = nms__append (lz, NMS__CARRY, shape, 2,
          (nms_lazy_tensor[]) { columns[k], operands[1] }, 0, 0);
  const nms_lazy_tensor index = nms__append (lz, NMS__SORT, shape, 2, operands, (int) count - 1, 0);
  for (size_t k = 0; k < count; k++)
    columns[k] = nms__append (lz, NMS__SORTED, shape, 1, &index,
        (int) (k == key ? 0 : k + (k < key)), 0);
  return index;
}

nms_lazy_tensor
nms_lazy_take (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor index)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__TAKE, a, NMS__ANY_TYPE);
  const nms_lazy_shape *i = nms__shape_get (lz, NMS__TAKE, index, NMS__TYPE (NMS_LAZY_S32));
  const nms_lazy_tensor operands[] = { a, index };

  if (!s || !i)
    return NMS_LAZY_NONE;
  if (!s->rank || i->rank != 1)
    return nms__misfit (lz, NMS__TAKE, 2, operands, NULL);
  const nms_lazy_shape shape = { s->type, s->rank, { i->dims[0], s->dims[1] } };
  return nms__append (lz, NMS__TAKE, shape, 2, operands, 0, 0);
}
