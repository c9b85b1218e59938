/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operations: the calls that record one operation each: what types and shapes
 * they take, and what shape they give.
 */
#include "lazy.h"

#include <string.h>

#define MOST_CONSTANT 65536

#define F32 (1 << NMS_LAZY_F32)
#define S32 (1 << NMS_LAZY_S32)
#define U32 (1 << NMS_LAZY_U32)
#define PRED (1 << NMS_LAZY_PRED)

/* The node of a tensor whose type is among `types`, copied, since recording
 * moves nodes; 0: it has failed. */
static int
get (nms_lazy *lz, const char *call, nms_lazy_tensor x, int types, nms__node *node)
{
  const nms__recorded *r = nms__recorded_of (lz, x);

  if (!r)
    return 0;
  *node = r->node;
  if (1 << node->shape.type & types)
    return 1;
  nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s: not possible for tensors of type %d", call,
      node->shape.type);
  return 0;
}

static int
same_extents (const nms_lazy_shape *a, const nms_lazy_shape *b)
{
  return a->rank == b->rank && !memcmp (a->dims, b->dims, sizeof a->dims);
}

static nms_lazy_tensor
misfit (nms_lazy *lz, const char *call)
{
  return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s: types or shapes do not fit", call);
}

/* ------------------------------------------------------ inputs, constants */

static nms_lazy_tensor
no_data (nms_lazy *lz)
{
  return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "an input or constant has no data");
}

nms_lazy_tensor
nms_lazy_input (nms_lazy *lz, nms_lazy_type type, int rank, const int32_t *dims, const void *data)
{
  nms_lazy_shape shape;
  nms_lazy_tensor x;
  unsigned char *value;
  size_t bytes;

  if (!nms__shape_make (lz, (int32_t) type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (!data)
    return no_data (lz);
  if (lz->region)
    return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "an input inside a loop's function");
  bytes = nms_lazy_shape_bytes (&shape);
  value = nms__value_memory (lz, bytes);
  if (!value)
    return NMS_LAZY_NONE;
  memcpy (value, data, bytes);
  for (size_t i = 0; shape.type == NMS_LAZY_PRED && i < bytes; i++)
    value[i] = value[i] != 0;
  x = nms__record (lz, NMS__INPUT, 0, &shape, 0, NULL, NULL);
  if (x)
    ((nms__recorded *) lz->recorded.data)[nms__tensor_index (x)].value = value;
  return x;
}

nms_lazy_tensor
nms_lazy_input_f32 (nms_lazy *lz, float value)
{
  return nms_lazy_input (lz, NMS_LAZY_F32, 0, NULL, &value);
}

nms_lazy_tensor
nms_lazy_input_s32 (nms_lazy *lz, int32_t value)
{
  return nms_lazy_input (lz, NMS_LAZY_S32, 0, NULL, &value);
}

nms_lazy_tensor
nms_lazy_constant (nms_lazy *lz, nms_lazy_type type, int rank, const int32_t *dims,
    const void *data)
{
  nms_lazy_shape shape;
  int32_t attr[NMS__ATTRS] = { 0 };
  unsigned char *room;
  size_t bytes, padded;

  if (!nms__shape_make (lz, (int32_t) type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  bytes = nms_lazy_shape_bytes (&shape);
  padded = (bytes + 3) / 4 * 4;
  if (!data)
    return no_data (lz);
  if (bytes > MOST_CONSTANT)
    return nms__lazy_fail (lz, NMS_ERROR_RANGE, "a constant of %zu bytes, at most %d", bytes,
        MOST_CONSTANT);
  room = nms__array_room (&lz->bytes, padded, 1);
  if (!room)
    return nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a constant");
  memset (room + padded - 4, 0, 4);
  memcpy (room, data, bytes);
  for (size_t i = 0; shape.type == NMS_LAZY_PRED && i < bytes; i++)
    room[i] = room[i] != 0;
  attr[0] = (int32_t) lz->bytes.count;
  attr[1] = (int32_t) padded;
  lz->bytes.count += padded;
  return nms__record (lz, NMS__CONSTANT, 0, &shape, 0, NULL, attr);
}

nms_lazy_tensor
nms_lazy_f32 (nms_lazy *lz, float value)
{
  return nms_lazy_constant (lz, NMS_LAZY_F32, 0, NULL, &value);
}

nms_lazy_tensor
nms_lazy_s32 (nms_lazy *lz, int32_t value)
{
  return nms_lazy_constant (lz, NMS_LAZY_S32, 0, NULL, &value);
}

nms_lazy_tensor
nms_lazy_pred (nms_lazy *lz, int value)
{
  unsigned char byte = value != 0;
  return nms_lazy_constant (lz, NMS_LAZY_PRED, 0, NULL, &byte);
}

nms_lazy_tensor
nms_lazy_iota (nms_lazy *lz, int rank, const int32_t *dims, int axis)
{
  nms_lazy_shape shape;

  if (!nms__shape_make (lz, NMS_LAZY_S32, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= rank)
    return misfit (lz, "iota");
  return nms__record (lz, NMS__IOTA, 0, &shape, 0, NULL, (int32_t[NMS__ATTRS]){ axis });
}

/* -------------------------------------------------------- element by element */

static nms_lazy_tensor
unary (nms_lazy *lz, const char *call, nms__op op, nms_lazy_tensor a, int types, int result_type)
{
  nms__node n;

  if (!get (lz, call, a, types, &n))
    return NMS_LAZY_NONE;
  n.shape.type = result_type ? result_type : n.shape.type;
  return nms__record (lz, op, 0, &n.shape, 1, &a, NULL);
}

/* x, broadcast to `shape` if it is a scalar and that is not. */
static nms_lazy_tensor
spread (nms_lazy *lz, nms_lazy_tensor x, const nms__node *node, const nms_lazy_shape *shape)
{
  return node->shape.rank || !shape->rank ? x
      : nms_lazy_broadcast (lz, x, shape->rank, shape->dims, NULL);
}

static nms_lazy_tensor
binary (nms_lazy *lz, const char *call, nms__op op, int how, nms_lazy_tensor a,
    nms_lazy_tensor b, int types)
{
  nms__node na, nb;
  nms_lazy_shape shape;

  if (!get (lz, call, a, types, &na) || !get (lz, call, b, types, &nb))
    return NMS_LAZY_NONE;
  if (na.shape.type != nb.shape.type
      || (na.shape.rank && nb.shape.rank && !same_extents (&na.shape, &nb.shape)))
    return misfit (lz, call);
  shape = na.shape.rank ? na.shape : nb.shape;
  nms_lazy_tensor operands[] = { spread (lz, a, &na, &shape), spread (lz, b, &nb, &shape) };
  if (op == NMS__COMPARE)
    shape.type = NMS_LAZY_PRED;
  return nms__record (lz, op, how, &shape, 2, operands, NULL);
}

#define BINARY(name, op, types)                                                                  \
  nms_lazy_tensor nms_lazy_##name (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor b)           \
  {                                                                                              \
    return binary (lz, #name, op, 0, a, b, types);                                               \
  }
#define UNARY(name, op, types)                                                                   \
  nms_lazy_tensor nms_lazy_##name (nms_lazy *lz, nms_lazy_tensor a)                              \
  {                                                                                              \
    return unary (lz, #name, op, a, types, 0);                                                   \
  }

BINARY (add, NMS__ADD, F32 | S32 | U32)
BINARY (sub, NMS__SUB, F32 | S32 | U32)
BINARY (mul, NMS__MUL, F32 | S32 | U32)
BINARY (div, NMS__DIV, F32)
BINARY (max, NMS__MAX, F32 | S32 | U32 | PRED)
BINARY (min, NMS__MIN, F32 | S32 | U32 | PRED)
BINARY (and, NMS__AND, S32 | U32 | PRED)
BINARY (or, NMS__OR, S32 | U32 | PRED)
BINARY (xor, NMS__XOR, S32 | U32 | PRED)
BINARY (shl, NMS__SHL, S32 | U32)
BINARY (shr, NMS__SHR, S32 | U32)
UNARY (not, NMS__NOT, S32 | U32 | PRED)
UNARY (neg, NMS__NEG, F32 | S32)
UNARY (abs, NMS__ABS, F32 | S32)

nms_lazy_tensor
nms_lazy_bitcast (nms_lazy *lz, nms_lazy_type type, nms_lazy_tensor a)
{
  if (type < NMS_LAZY_F32 || type > NMS_LAZY_U32)
    return misfit (lz, "bitcast");
  return unary (lz, "bitcast", NMS__BITCAST, a, F32 | S32 | U32, (int) type);
}

nms_lazy_tensor
nms_lazy_convert (nms_lazy *lz, nms_lazy_type type, nms_lazy_tensor a)
{
  if (type < NMS_LAZY_F32 || type > NMS_LAZY_U32)
    return misfit (lz, "convert");
  return unary (lz, "convert", NMS__CONVERT, a,
      PRED | S32 | U32 | (type == NMS_LAZY_F32 ? F32 : 0), (int) type);
}

nms_lazy_tensor
nms_lazy_compare (nms_lazy *lz, nms_lazy_order order, nms_lazy_tensor a, nms_lazy_tensor b)
{
  if ((int) order < NMS_LAZY_EQ || order > NMS_LAZY_LT)
    return misfit (lz, "compare");
  return binary (lz, "compare", NMS__COMPARE, (int) order, a, b, F32 | S32 | U32 | PRED);
}

nms_lazy_tensor
nms_lazy_select (nms_lazy *lz, nms_lazy_tensor p, nms_lazy_tensor a, nms_lazy_tensor b)
{
  const int any = F32 | S32 | U32 | PRED;
  nms__node n[3];
  const nms_lazy_tensor in[] = { p, a, b };
  nms_lazy_tensor operands[3];
  nms_lazy_shape shape;

  for (int i = 0; i < 3; i++)
    if (!get (lz, "select", in[i], i ? any : PRED, &n[i]))
      return NMS_LAZY_NONE;
  shape = n[1].shape;
  for (int i = 0; i < 3; i++)
    if (n[i].shape.rank > shape.rank)
      memcpy (shape.dims, n[i].shape.dims, sizeof shape.dims), shape.rank = n[i].shape.rank;
  for (int i = 0; i < 3; i++) {
    if (n[i].shape.rank && !same_extents (&n[i].shape, &shape))
      return misfit (lz, "select");
    operands[i] = spread (lz, in[i], &n[i], &shape);
  }
  if (n[1].shape.type != n[2].shape.type)
    return misfit (lz, "select");
  return nms__record (lz, NMS__SELECT, 0, &shape, 3, operands, NULL);
}

/* ----------------------------------------------------------------- shapes */

#define ANY (F32 | S32 | U32 | PRED)

nms_lazy_tensor
nms_lazy_broadcast (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims,
    const int32_t *axes)
{
  nms__node n;
  nms_lazy_shape shape;
  int32_t attr[NMS__ATTRS] = { 0 };

  if (!get (lz, "broadcast", a, ANY, &n)
      || !nms__shape_make (lz, n.shape.type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  for (int i = 0; i < n.shape.rank; i++) {
    if (!axes || axes[i] < (i ? axes[i - 1] + 1 : 0) || axes[i] >= rank
        || (n.shape.dims[i] != 1 && n.shape.dims[i] != dims[axes[i]]))
      return misfit (lz, "broadcast");
    attr[i] = axes[i];
  }
  return nms__record (lz, NMS__BROADCAST, 0, &shape, 1, &a, attr);
}

nms_lazy_tensor
nms_lazy_reshape (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims)
{
  nms__node n;
  nms_lazy_shape shape;

  if (!get (lz, "reshape", a, ANY, &n) || !nms__shape_make (lz, n.shape.type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (nms_lazy_shape_elements (&shape) != nms_lazy_shape_elements (&n.shape))
    return misfit (lz, "reshape");
  return nms__record (lz, NMS__RESHAPE, 0, &shape, 1, &a, NULL);
}

nms_lazy_tensor
nms_lazy_transpose (nms_lazy *lz, nms_lazy_tensor a, const int32_t *axes)
{
  nms__node n;
  nms_lazy_shape shape;
  int32_t attr[NMS__ATTRS] = { 0 };
  unsigned seen = 0;

  if (!get (lz, "transpose", a, ANY, &n))
    return NMS_LAZY_NONE;
  shape = n.shape;
  for (int i = 0; i < shape.rank; i++) {
    if (!axes || axes[i] < 0 || axes[i] >= shape.rank || seen >> axes[i] & 1)
      return misfit (lz, "transpose");
    seen |= 1u << axes[i];
    attr[i] = axes[i];
    shape.dims[i] = n.shape.dims[axes[i]];
  }
  return nms__record (lz, NMS__TRANSPOSE, 0, &shape, 1, &a, attr);
}

nms_lazy_tensor
nms_lazy_slice (nms_lazy *lz, nms_lazy_tensor a, const int32_t *from, const int32_t *to)
{
  nms__node n;
  int32_t attr[NMS__ATTRS] = { 0 };

  if (!get (lz, "slice", a, ANY, &n))
    return NMS_LAZY_NONE;
  for (int i = 0; i < n.shape.rank; i++) {
    if (!from || !to || from[i] < 0 || to[i] <= from[i] || to[i] > n.shape.dims[i])
      return misfit (lz, "slice");
    attr[i] = from[i];
    attr[NMS_LAZY_MAX_RANK + i] = to[i];
    n.shape.dims[i] = to[i] - from[i];
  }
  return nms__record (lz, NMS__SLICE, 0, &n.shape, 1, &a, attr);
}

/* Checks the starts, one S32 scalar an axis, and puts them at operands. */
static int
get_starts (nms_lazy *lz, const char *call, int rank, const nms_lazy_tensor *from,
    nms_lazy_tensor *operands)
{
  nms__node n;

  for (int i = 0; i < rank; i++) {
    if (!from || !get (lz, call, from[i], S32, &n) || n.shape.rank) {
      misfit (lz, call);
      return 0;
    }
    operands[i] = from[i];
  }
  return 1;
}

nms_lazy_tensor
nms_lazy_dynamic_slice (nms_lazy *lz, nms_lazy_tensor a, const nms_lazy_tensor *from,
    const int32_t *dims)
{
  nms__node n;
  nms_lazy_shape shape;
  nms_lazy_tensor operands[1 + NMS_LAZY_MAX_RANK] = { a };

  if (!get (lz, "dynamic_slice", a, ANY, &n)
      || !nms__shape_make (lz, n.shape.type, n.shape.rank, dims, &shape)
      || !get_starts (lz, "dynamic_slice", n.shape.rank, from, operands + 1))
    return NMS_LAZY_NONE;
  for (int i = 0; i < shape.rank; i++)
    if (shape.dims[i] > n.shape.dims[i])
      return misfit (lz, "dynamic_slice");
  return nms__record (lz, NMS__DYNAMIC_SLICE, 0, &shape, 1 + (size_t) shape.rank, operands, NULL);
}

nms_lazy_tensor
nms_lazy_dynamic_update (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor part,
    const nms_lazy_tensor *from)
{
  nms__node n, p;
  nms_lazy_tensor operands[2 + NMS_LAZY_MAX_RANK] = { a, part };

  if (!get (lz, "dynamic_update", a, ANY, &n) || !get (lz, "dynamic_update", part, ANY, &p)
      || !get_starts (lz, "dynamic_update", n.shape.rank, from, operands + 2))
    return NMS_LAZY_NONE;
  if (n.shape.type != p.shape.type || n.shape.rank != p.shape.rank)
    return misfit (lz, "dynamic_update");
  for (int i = 0; i < n.shape.rank; i++)
    if (p.shape.dims[i] > n.shape.dims[i])
      return misfit (lz, "dynamic_update");
  return nms__record (lz, NMS__DYNAMIC_UPDATE, 0, &n.shape, 2 + (size_t) n.shape.rank, operands,
      NULL);
}

/* ------------------------------------------------------------- reductions */

nms_lazy_tensor
nms_lazy_reduce (nms_lazy *lz, nms_lazy_reduction how, nms_lazy_tensor a, int axis)
{
  static const int types[] = { F32 | S32 | U32, F32 | S32 | U32, S32 | U32, PRED, PRED };
  nms__node n;
  nms_lazy_shape shape;

  if ((int) how < NMS_LAZY_MAX || how > NMS_LAZY_ANY)
    return misfit (lz, "reduce");
  if (!get (lz, "reduce", a, types[how], &n))
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= n.shape.rank)
    return misfit (lz, "reduce");
  shape = (nms_lazy_shape){ .type = n.shape.type, .rank = n.shape.rank - 1 };
  for (int i = 0; i < shape.rank; i++)
    shape.dims[i] = n.shape.dims[i + (i >= axis)];
  return nms__record (lz, NMS__REDUCE, (int) how, &shape, 1, &a,
      (int32_t[NMS__ATTRS]){ axis });
}

/* Made of others: the greatest, and the first place where it is. */
nms_lazy_tensor
nms_lazy_argmax (nms_lazy *lz, nms_lazy_tensor a, int axis, nms_lazy_tensor *index)
{
  nms_lazy_tensor greatest = nms_lazy_reduce (lz, NMS_LAZY_MAX, a, axis);
  nms_lazy_shape shape = { 0 };
  int32_t axes[NMS_LAZY_MAX_RANK] = { 0 };

  if (!index)
    return greatest;
  *index = NMS_LAZY_NONE;
  if (!greatest)
    return greatest;
  shape = nms_lazy_shape_of (lz, a);
  for (int i = 0; i < shape.rank - 1; i++)
    axes[i] = i + (i >= axis);
  nms_lazy_tensor all = nms_lazy_broadcast (lz, greatest, shape.rank, shape.dims, axes);
  nms_lazy_tensor here = nms_lazy_compare (lz, NMS_LAZY_EQ, a, all);
  nms_lazy_tensor place = nms_lazy_iota (lz, shape.rank, shape.dims, axis);
  place = nms_lazy_select (lz, here, place, nms_lazy_s32 (lz, INT32_MAX));
  *index = nms_lazy_reduce (lz, NMS_LAZY_MIN, place, axis);
  return *index ? greatest : NMS_LAZY_NONE;
}
