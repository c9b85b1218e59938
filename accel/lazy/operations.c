/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operations: the public calls that record inputs, constants, and operations that work
 * element by element. They check the types and shapes of their operands and compute the
 * shape of the result.
 */
#include "lazynodes.h"

#include <string.h>

static int
is_quotient (int op)
{
  return op == NMS_LAZY_DIV || op == NMS_LAZY_SQRT;
}

/* Inserts operations that keep compilers from changing a rounding. Compilers contract a
 * product and the sum that uses it (XLA does on a CPU), but not if a maximum with an
 * input stands between them. So a product passes through a maximum with -inf, an input,
 * unless a comparison, a selection or another product uses it. Compilers also replace
 * x / 3 by x * (1/3), combine quotients of quotients, and divide by a root with an inexact
 * instruction. So arithmetic uses constants, quotients and roots through a barrier. */
nms_lazy_tensor
nms__guarded (nms_lazy *lz, int op, nms_lazy_tensor x)
{
  const int multiplies = op == NMS_LAZY_MUL || op == NMS_LAZY_DIV;
  const int arithmetic = multiplies || op == NMS_LAZY_ADD || op == NMS_LAZY_SUB;
  const nms__operation *r = nms__operation_of (lz, x);
  const nms_lazy_shape shape = r ? r->node.shape : (nms_lazy_shape) { 0 };

  if (shape.type != NMS_LAZY_F32)
    return x;
  if (r->node.op == NMS_LAZY_MUL && (op < NMS_LAZY_MUL || op > NMS_LAZY_ABS))
    return nms_lazy_binary (lz, NMS_LAZY_MAX, x, lz->floor);
  while (r->node.op == NMS__BROADCAST)
    r = &lz->operations[r->node.operand[0]];
  if (arithmetic && (r->fixed || (multiplies && is_quotient (r->node.op))))
    return nms__append (lz, NMS__BARRIER, shape, 1, &x, 0, 0);
  return x;
}

/* ------------------------------------------------------ inputs, constants */

nms_lazy_tensor
nms_lazy_input (nms_lazy *lz, nms_lazy_type type, int rank, const int32_t *dims, const void *data)
{
  nms_lazy_shape shape;
  nms_lazy_tensor x;
  unsigned char *value;

  if (!data)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "an input has no data");
  if (!nms__shape_make (lz, (int32_t) type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  x = nms__append (lz, NMS__INPUT, shape, 0, NULL, 0, 0);
  value = x ? nms__value_memory (lz, &shape) : NULL;
  if (!value)
    return NMS_LAZY_NONE;
  memcpy (value, data, nms_lazy_shape_bytes (&shape));
  for (size_t i = 0; type == NMS_LAZY_PRED && i < nms_lazy_shape_bytes (&shape); i++)
    value[i] = value[i] != 0;
  nms__operation_of (lz, x)->value = value;
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

static nms_lazy_tensor
constant (nms_lazy *lz, int32_t type, int32_t bits, int is_number)
{
  return nms__append (lz, NMS__CONSTANT, (nms_lazy_shape) { type }, 0, NULL, bits, is_number);
}

static int32_t
bits_of (float value)
{
  int32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

nms_lazy_tensor
nms_lazy_f32 (nms_lazy *lz, float value)
{
  return constant (lz, NMS_LAZY_F32, bits_of (value), 0);
}

nms_lazy_tensor
nms_lazy_s32 (nms_lazy *lz, int32_t value)
{
  return constant (lz, NMS_LAZY_S32, value, 0);
}

nms_lazy_tensor
nms_lazy_pred (nms_lazy *lz, int value)
{
  return constant (lz, NMS_LAZY_PRED, value != 0, 0);
}

nms_lazy_tensor
nms_lazy_number_f32 (nms_lazy *lz, float value)
{
  return constant (lz, NMS_LAZY_F32, bits_of (value), 1);
}

nms_lazy_tensor
nms_lazy_number_s32 (nms_lazy *lz, int32_t value)
{
  return constant (lz, NMS_LAZY_S32, value, 1);
}

nms_lazy_tensor
nms_lazy_iota (nms_lazy *lz, int rank, const int32_t *dims, int axis)
{
  nms_lazy_shape shape;

  if (!nms__shape_make (lz, NMS_LAZY_S32, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= rank)
    return nms__misfit (lz, NMS__IOTA, 0, NULL, &shape);
  return nms__append (lz, NMS__IOTA, shape, 0, NULL, axis, 0);
}

/* -------------------------------------------------------- element by element */

/* Computes the shape of the result. Returns 0 if types or shapes do not fit. */
static int
common_shape (nms_lazy *lz, int op, int count, const nms_lazy_tensor *operands,
    nms_lazy_shape *shape)
{
  for (int k = 0; k < count; k++) {
    const int flag = op == NMS_LAZY_SELECT && k == 0;
    const nms_lazy_shape s = nms_lazy_shape_of (lz, operands[k]);
    const int types = flag ? NMS__TYPE (NMS_LAZY_PRED)
        : shape->type      ? NMS__TYPE (shape->type)
                           : nms__infos[op].types;
    if (!(NMS__TYPE (s.type) & types)
        || (s.rank && shape->rank
            && (s.rank != shape->rank || memcmp (s.dims, shape->dims, sizeof s.dims))))
      return 0;
    if (s.rank)
      *shape = s;
    shape->type = flag ? 0 : s.type;
  }
  return 1;
}

/* Records an operation on tensors of one type, except for the PRED that a selection
 * begins with. Scalars are repeated if another operand is not a scalar. */
static nms_lazy_tensor
elements (nms_lazy *lz, int op, int count, nms_lazy_tensor *operands)
{
  const int known = (op >= 0 && op <= NMS_LAZY_SQRT) || op == NMS__WIDEN;
  nms_lazy_shape shape = { 0 };

  if (!known || nms__infos[op].operands != count)
    return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s (%d) is not an operation of %d tensors",
        known ? nms__infos[op].name : "unknown", op, count);
  if (!common_shape (lz, op, count, operands, &shape))
    return nms__misfit (lz, op, count, operands, NULL);
  for (int k = 0; k < count; k++) {
    operands[k] = nms__guarded (lz, op, operands[k]);
    if (shape.rank && !nms_lazy_shape_of (lz, operands[k]).rank)
      operands[k] = nms_lazy_broadcast (lz, operands[k], shape.rank, shape.dims, 0);
  }
  if (nms__infos[op].result)
    shape.type = nms__infos[op].result;
  return nms__append (lz, op, shape, count, operands, 0, 0);
}

nms_lazy_tensor
nms_lazy_unary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a)
{
  const int widens = op == NMS_LAZY_TO_F32 && nms_lazy_shape_of (lz, a).type == NMS_LAZY_BF16;
  return elements (lz, widens ? NMS__WIDEN : (int) op, 1, &a);
}

nms_lazy_tensor
nms_lazy_binary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a, nms_lazy_tensor b)
{
  return elements (lz, (int) op, 2, (nms_lazy_tensor[]) { a, b });
}

nms_lazy_tensor
nms_lazy_select (nms_lazy *lz, nms_lazy_tensor p, nms_lazy_tensor a, nms_lazy_tensor b)
{
  return elements (lz, NMS_LAZY_SELECT, 3, (nms_lazy_tensor[]) { p, a, b });
}
