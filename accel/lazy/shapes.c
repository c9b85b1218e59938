/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shapes: the public calls that repeat, reshape, transpose, cut, replace and join. */
#include "lazynodes.h"

#include <stdlib.h>

nms_lazy_tensor
nms_lazy_broadcast (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims, int axis)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__BROADCAST, a, NMS__ANY_TYPE);
  nms_lazy_shape shape;

  if (!s || !nms__shape_make (lz, s->type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (s->rank > 1 || (s->rank && (axis < 0 || axis >= rank || s->dims[0] != dims[axis])))
    return nms__misfit (lz, NMS__BROADCAST, 1, &a, &shape);
  return nms__append (lz, NMS__BROADCAST, shape, 1, &a, s->rank ? axis : 0, 0);
}

nms_lazy_tensor
nms_lazy_reshape (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__RESHAPE, a, NMS__ANY_TYPE);
  nms_lazy_shape shape;

  if (!s || !nms__shape_make (lz, s->type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (nms_lazy_shape_elements (&shape) != nms_lazy_shape_elements (s))
    return nms__misfit (lz, NMS__RESHAPE, 1, &a, &shape);
  return nms__append (lz, NMS__RESHAPE, shape, 1, &a, 0, 0);
}

nms_lazy_tensor
nms_lazy_transpose (nms_lazy *lz, nms_lazy_tensor a)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__TRANSPOSE, a, NMS__ANY_TYPE);

  if (!s || s->rank != 2)
    return s ? nms__misfit (lz, NMS__TRANSPOSE, 1, &a, NULL) : NMS_LAZY_NONE;
  return nms__append (lz, NMS__TRANSPOSE,
      (nms_lazy_shape) { s->type, 2, { s->dims[1], s->dims[0] } }, 1, &a, 0, 0);
}

/* Records a slice of the extents of `part`, or an update by a tensor of that shape.
 * `operands` has `count` tensors: `a` and, for an update, the part; the starts
 * follow. */
static nms_lazy_tensor
cut (nms_lazy *lz, int op, const nms_lazy_shape *part, int count, nms_lazy_tensor *operands,
    const nms_lazy_tensor *from)
{
  const nms_lazy_shape *a = nms__shape_get (lz, op, operands[0], NMS__TYPE (part->type));

  if (!a)
    return NMS_LAZY_NONE;
  if (a->rank != part->rank || (a->rank && !from))
    return nms__misfit (lz, op, count, operands, part);
  for (int i = 0; i < a->rank; i++) {
    const nms_lazy_shape *start = nms__shape_get (lz, op, from[i], NMS__TYPE (NMS_LAZY_S32));
    if (!start)
      return NMS_LAZY_NONE;
    operands[count++] = from[i];
    if (start->rank || part->dims[i] > a->dims[i])
      return nms__misfit (lz, op, count, operands, part);
  }
  return nms__append (lz, op, op == NMS__UPDATE ? *a : *part, count, operands, 0, 0);
}

nms_lazy_tensor
nms_lazy_slice (nms_lazy *lz, nms_lazy_tensor a, const nms_lazy_tensor *from, const int32_t *dims)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__SLICE, a, NMS__ANY_TYPE);
  nms_lazy_tensor operands[1 + NMS_LAZY_MAX_RANK] = { a };
  nms_lazy_shape part;

  return s && nms__shape_make (lz, s->type, s->rank, dims, &part)
      ? cut (lz, NMS__SLICE, &part, 1, operands, from)
      : NMS_LAZY_NONE;
}

nms_lazy_tensor
nms_lazy_update (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor part, const nms_lazy_tensor *from)
{
  const nms_lazy_shape *p = nms__shape_get (lz, NMS__UPDATE, part, NMS__ANY_TYPE);
  nms_lazy_tensor operands[2 + NMS_LAZY_MAX_RANK] = { a, part };

  return p ? cut (lz, NMS__UPDATE, p, 2, operands, from) : NMS_LAZY_NONE;
}

nms_lazy_tensor
nms_lazy_stride (nms_lazy *lz, nms_lazy_tensor a, const int32_t *steps)
{
  const nms_lazy_shape *s = nms__shape_get (lz, NMS__STRIDE, a, NMS__ANY_TYPE);
  int32_t sign[NMS_LAZY_MAX_RANK] = { 1, 1 }, step[NMS_LAZY_MAX_RANK] = { 1, 1 };
  nms_lazy_shape shape;

  if (!s)
    return NMS_LAZY_NONE;
  shape = *s;
  for (int i = 0; i < shape.rank; i++) {
    if (!steps || !steps[i] || steps[i] == INT32_MIN)
      return nms__lazy_fail (lz, NMS_ERROR_RANGE, "a step of a slice is 0 or too large");
    sign[i] = steps[i] < 0 ? -1 : 1;
    step[i] = abs (steps[i]);
    shape.dims[i] = (shape.dims[i] - 1) / step[i] + 1;
  }
  if (sign[0] < 0 || sign[1] < 0)
    a = nms__append (lz, NMS__REVERSE, nms_lazy_shape_of (lz, a), 1, &a, sign[0], sign[1]);
  if (step[0] > 1 || step[1] > 1)
    a = nms__append (lz, NMS__STRIDE, shape, 1, &a, step[0], step[1]);
  return a;
}

/* Joins parts that fit. More than NMS__OPERANDS parts are joined in groups first. */
static nms_lazy_tensor
join (nms_lazy *lz, size_t count, const nms_lazy_tensor *parts, int axis)
{
  const size_t group = (count + NMS__OPERANDS - 1) / NMS__OPERANDS;
  nms_lazy_tensor operands[NMS__OPERANDS] = { 0 };
  nms_lazy_shape shape;
  int used = 0;

  if (count == 1)
    return *parts;
  for (size_t from = 0; from < count; from += group) {
    const size_t rest = count - from;
    operands[used++] = join (lz, rest < group ? rest : group, parts + from, axis);
  }
  shape = nms_lazy_shape_of (lz, operands[0]);
  for (int k = 1; k < used; k++)
    shape.dims[axis] += nms_lazy_shape_of (lz, operands[k]).dims[axis];
  return nms__append (lz, NMS__CONCATENATE, shape, used, operands, axis, 0);
}

nms_lazy_tensor
nms_lazy_concatenate (nms_lazy *lz, size_t count, const nms_lazy_tensor *parts, int axis)
{
  const nms_lazy_shape *first = NULL, *s = NULL;
  size_t extent = 0;

  if (!count || !parts)
    return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "concatenate: no tensors");
  for (size_t i = 0; i < count; i++) {
    s = nms__shape_get (lz, NMS__CONCATENATE, parts[i], NMS__ANY_TYPE);
    first = first ? first : s;
    if (!s)
      return NMS_LAZY_NONE;
    if (axis < 0 || axis >= s->rank || s->rank != first->rank || s->type != first->type
        || (s->rank == 2 && s->dims[!axis] != first->dims[!axis]))
      return nms__misfit (lz, NMS__CONCATENATE, i ? 2 : 1,
          (nms_lazy_tensor[]) { parts[0], parts[i] }, NULL);
    extent += (size_t) s->dims[axis];
    if (extent * (size_t) (s->rank == 2 ? s->dims[!axis] : 1) > NMS_LAZY_MAX_ELEMENTS)
      return nms__lazy_fail (lz, NMS_ERROR_RANGE, "concatenate: too many elements");
  }
  return join (lz, count, parts, axis);
}
