/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operations: the public calls that record. They check the types and shapes of their
 * operands and compute the shape of the result.
 */
#include "lazy.h"

#include <string.h>

#define BIT(type) (1 << (type))
#define ANY (BIT (NMS_LAZY_F32) | BIT (NMS_LAZY_S32) | BIT (NMS_LAZY_PRED))

static nms_lazy_tensor
misfit (nms_lazy *lz, int op)
{
  return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s: types or shapes do not fit",
      nms__infos[op].name);
}

/* Returns the shape of an operand whose type is among `types`. On another type it
 * latches an error and returns NULL. */
static const nms_lazy_shape *
get (nms_lazy *lz, int op, nms_lazy_tensor x, int types)
{
  const nms__recorded *r = nms__recorded_of (lz, x);

  if (r && !(BIT (r->node.shape.type) & types)) {
    misfit (lz, op);
    r = NULL;
  }
  return r ? &r->node.shape : NULL;
}

/* Checks and fills a shape. Returns 0 after an error. */
static int
make_shape (nms_lazy *lz, int32_t type, int rank, const int32_t *dims, nms_lazy_shape *shape)
{
  size_t elements = 1;

  *shape = (nms_lazy_shape){ .type = type, .rank = rank };
  if (type < NMS_LAZY_F32 || type > NMS_LAZY_PRED || rank < 0 || rank > NMS_LAZY_MAX_RANK
      || (rank && !dims)) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "type %d or rank %d is unknown, or no extents", type,
        rank);
    return 0;
  }
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 1 || (size_t) dims[i] > NMS_LAZY_MAX_ELEMENTS / elements) {
      nms__lazy_fail (lz, NMS_ERROR_RANGE, "extent %d is %d, or makes too many elements", i,
          dims[i]);
      return 0;
    }
    shape->dims[i] = dims[i];
    elements *= (size_t) dims[i];
  }
  return !lz->status;
}

/* Inserts operations that keep compilers from changing a rounding. Compilers contract a
 * product and the sum that uses it (XLA does on a CPU), but not if a maximum with an
 * input stands between them. So a product passes through a maximum with -inf, an input,
 * unless a comparison, a selection or another product uses it. Compilers also replace
 * x / 3 by x * (1/3) and combine quotients of quotients. So arithmetic uses constants
 * and quotients through a barrier. */
nms_lazy_tensor
nms__guarded (nms_lazy *lz, int op, nms_lazy_tensor x)
{
  const int multiplies = op == NMS_LAZY_MUL || op == NMS_LAZY_DIV;
  const int arithmetic = multiplies || op == NMS_LAZY_ADD || op == NMS_LAZY_SUB;
  const nms__recorded *r = &lz->recorded[(uint32_t) x - 1];
  const nms_lazy_shape shape = r->node.shape;

  if (shape.type != NMS_LAZY_F32)
    return x;
  if (r->node.op == NMS_LAZY_MUL && (op < NMS_LAZY_MUL || op > NMS_LAZY_ABS))
    return nms_lazy_binary (lz, NMS_LAZY_MAX, x, lz->floor);
  while (r->node.op == NMS__BROADCAST)
    r = &lz->recorded[r->node.operand[0]];
  if (arithmetic && (r->fixed || (multiplies && r->node.op == NMS_LAZY_DIV)))
    return nms__record (lz, NMS__BARRIER, shape, 1, &x, 0, 0);
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
  if (!make_shape (lz, (int32_t) type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  x = nms__record (lz, NMS__INPUT, shape, 0, NULL, 0, 0);
  value = x ? nms__value_memory (lz, &shape) : NULL;
  if (!value)
    return NMS_LAZY_NONE;
  memcpy (value, data, nms_lazy_shape_bytes (&shape));
  for (size_t i = 0; type == NMS_LAZY_PRED && i < nms_lazy_shape_bytes (&shape); i++)
    value[i] = value[i] != 0;
  nms__recorded_of (lz, x)->value = value;
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
constant (nms_lazy *lz, int32_t type, int32_t bits)
{
  return nms__record (lz, NMS__CONSTANT, (nms_lazy_shape){ type }, 0, NULL, bits, 0);
}

nms_lazy_tensor
nms_lazy_f32 (nms_lazy *lz, float value)
{
  int32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return constant (lz, NMS_LAZY_F32, bits);
}

nms_lazy_tensor
nms_lazy_s32 (nms_lazy *lz, int32_t value)
{
  return constant (lz, NMS_LAZY_S32, value);
}

nms_lazy_tensor
nms_lazy_pred (nms_lazy *lz, int value)
{
  return constant (lz, NMS_LAZY_PRED, value != 0);
}

nms_lazy_tensor
nms_lazy_iota (nms_lazy *lz, int rank, const int32_t *dims, int axis)
{
  nms_lazy_shape shape;

  if (!make_shape (lz, NMS_LAZY_S32, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= rank)
    return misfit (lz, NMS__IOTA);
  return nms__record (lz, NMS__IOTA, shape, 0, NULL, axis, 0);
}

/* -------------------------------------------------------- element by element */

/* Records an operation on tensors of one type, except for the PRED that a selection
 * begins with. Scalars are repeated if another operand is not a scalar. */
static nms_lazy_tensor
elements (nms_lazy *lz, int op, int count, nms_lazy_tensor *operands)
{
  const int known = op >= 0 && op <= NMS_LAZY_SELECT;
  nms_lazy_shape shape = { 0 };

  if (!known || nms__infos[op].operands != count)
    return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s (%d) is not an operation of %d tensors",
        known ? nms__infos[op].name : "unknown", op, count);
  for (int k = 0; k < count; k++) {
    const int flag = op == NMS_LAZY_SELECT && k == 0;
    const nms_lazy_shape *s = get (lz, op, operands[k],
        flag ? BIT (NMS_LAZY_PRED) : shape.type ? BIT (shape.type) : nms__infos[op].types);
    if (!s)
      return NMS_LAZY_NONE;
    if (s->rank && shape.rank
        && (s->rank != shape.rank || memcmp (s->dims, shape.dims, sizeof s->dims)))
      return misfit (lz, op);
    if (s->rank)
      shape = *s;
    shape.type = flag ? 0 : s->type;
  }
  for (int k = 0; k < count; k++) {
    operands[k] = nms__guarded (lz, op, operands[k]);
    if (shape.rank && !nms_lazy_shape_of (lz, operands[k]).rank)
      operands[k] = nms_lazy_broadcast (lz, operands[k], shape.rank, shape.dims, 0);
  }
  if (nms__infos[op].result)
    shape.type = nms__infos[op].result;
  return nms__record (lz, op, shape, count, operands, 0, 0);
}

nms_lazy_tensor
nms_lazy_unary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a)
{
  return elements (lz, (int) op, 1, &a);
}

nms_lazy_tensor
nms_lazy_binary (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a, nms_lazy_tensor b)
{
  return elements (lz, (int) op, 2, (nms_lazy_tensor[]){ a, b });
}

nms_lazy_tensor
nms_lazy_select (nms_lazy *lz, nms_lazy_tensor p, nms_lazy_tensor a, nms_lazy_tensor b)
{
  return elements (lz, NMS_LAZY_SELECT, 3, (nms_lazy_tensor[]){ p, a, b });
}

/* ----------------------------------------------------------------- shapes */

nms_lazy_tensor
nms_lazy_broadcast (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims, int axis)
{
  const nms_lazy_shape *s = get (lz, NMS__BROADCAST, a, ANY);
  nms_lazy_shape shape;

  if (!s || !make_shape (lz, s->type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (s->rank > 1 || (s->rank && (axis < 0 || axis >= rank || s->dims[0] != dims[axis])))
    return misfit (lz, NMS__BROADCAST);
  return nms__record (lz, NMS__BROADCAST, shape, 1, &a, s->rank ? axis : 0, 0);
}

nms_lazy_tensor
nms_lazy_reshape (nms_lazy *lz, nms_lazy_tensor a, int rank, const int32_t *dims)
{
  const nms_lazy_shape *s = get (lz, NMS__RESHAPE, a, ANY);
  nms_lazy_shape shape;

  if (!s || !make_shape (lz, s->type, rank, dims, &shape))
    return NMS_LAZY_NONE;
  if (nms_lazy_shape_elements (&shape) != nms_lazy_shape_elements (s))
    return misfit (lz, NMS__RESHAPE);
  return nms__record (lz, NMS__RESHAPE, shape, 1, &a, 0, 0);
}

nms_lazy_tensor
nms_lazy_transpose (nms_lazy *lz, nms_lazy_tensor a)
{
  const nms_lazy_shape *s = get (lz, NMS__TRANSPOSE, a, ANY);

  if (!s || s->rank != 2)
    return s ? misfit (lz, NMS__TRANSPOSE) : NMS_LAZY_NONE;
  return nms__record (lz, NMS__TRANSPOSE,
      (nms_lazy_shape){ s->type, 2, { s->dims[1], s->dims[0] } }, 1, &a, 0, 0);
}

/* Records a slice of the extents of `part`, or an update by a tensor of that shape.
 * `operands` has `count` tensors: `a` and, for an update, the part; the starts
 * follow. */
static nms_lazy_tensor
cut (nms_lazy *lz, int op, const nms_lazy_shape *part, int count, nms_lazy_tensor *operands,
    const nms_lazy_tensor *from)
{
  const nms_lazy_shape *a = get (lz, op, operands[0], BIT (part->type));

  if (!a)
    return NMS_LAZY_NONE;
  if (a->rank != part->rank || (a->rank && !from))
    return misfit (lz, op);
  for (int i = 0; i < a->rank; i++) {
    const nms_lazy_shape *start = get (lz, op, from[i], BIT (NMS_LAZY_S32));
    if (!start || start->rank || part->dims[i] > a->dims[i])
      return misfit (lz, op);
    operands[count++] = from[i];
  }
  return nms__record (lz, op, op == NMS__UPDATE ? *a : *part, count, operands, 0, 0);
}

nms_lazy_tensor
nms_lazy_slice (nms_lazy *lz, nms_lazy_tensor a, const nms_lazy_tensor *from, const int32_t *dims)
{
  const nms_lazy_shape *s = get (lz, NMS__SLICE, a, ANY);
  nms_lazy_tensor operands[1 + NMS_LAZY_MAX_RANK] = { a };
  nms_lazy_shape part;

  return s && make_shape (lz, s->type, s->rank, dims, &part)
      ? cut (lz, NMS__SLICE, &part, 1, operands, from) : NMS_LAZY_NONE;
}

nms_lazy_tensor
nms_lazy_update (nms_lazy *lz, nms_lazy_tensor a, nms_lazy_tensor part,
    const nms_lazy_tensor *from)
{
  const nms_lazy_shape *p = get (lz, NMS__UPDATE, part, ANY);
  nms_lazy_tensor operands[2 + NMS_LAZY_MAX_RANK] = { a, part };

  return p ? cut (lz, NMS__UPDATE, p, 2, operands, from) : NMS_LAZY_NONE;
}

/* ------------------------------------------------------------- reductions */

nms_lazy_tensor
nms_lazy_reduce (nms_lazy *lz, nms_lazy_op op, nms_lazy_tensor a, int axis)
{
  const int known = op >= NMS_LAZY_MAX && op <= NMS_LAZY_OR;
  const nms_lazy_shape *s = get (lz, NMS__REDUCE, a, known ? nms__infos[op].types : 0);
  nms_lazy_tensor operands[2] = { a };
  int32_t neutral[] = { INT32_MIN, INT32_MAX, -1, 0 };
  nms_lazy_shape shape;

  if (!s)
    return NMS_LAZY_NONE;
  if (axis < 0 || axis >= s->rank)
    return misfit (lz, NMS__REDUCE);
  if (s->type == NMS_LAZY_F32) {
    neutral[0] = (int32_t) 0xff800000;
    neutral[1] = 0x7f800000;
  }
  operands[1] = constant (lz, s->type, neutral[op - NMS_LAZY_MAX]);
  shape = (nms_lazy_shape){ s->type, s->rank - 1, { s->rank == 2 ? s->dims[!axis] : 0 } };
  return nms__record (lz, NMS__REDUCE, shape, 2, operands, (int32_t) op, axis);
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

/* ------------------------------------------------------------------ loops */

/* Marks the operations from..to-1 as hidden: operations outside of their loop cannot use
 * them. */
static void
hide (nms_lazy *lz, int32_t from, int32_t to)
{
  for (int32_t i = from; i < to; i++)
    lz->recorded[i].hidden = 1;
}

/* Ends a body: checks the shapes of the next states and records them last, directly
 * before the END. */
static nms_lazy_tensor
record_next (nms_lazy *lz, size_t count, const nms_lazy_tensor *state, nms_lazy_tensor *next,
    int32_t loop)
{
  for (size_t i = 0; i < count; i++) {
    const nms_lazy_shape must = nms_lazy_shape_of (lz, state[i]);
    const nms_lazy_shape is = nms_lazy_shape_of (lz, next[i]);
    if (memcmp (&is, &must, sizeof is))
      nms__lazy_fail (lz, NMS_ERROR_ARGUMENT,
          "while: body changes the type or shape of state %zu", i);
    if (!lz->status)
      next[i] = nms__guarded (lz, NMS__NEXT, next[i]);
  }
  for (size_t i = 0; i < count; i++)
    nms__record (lz, NMS__NEXT, nms_lazy_shape_of (lz, state[i]), 1, &next[i], 0, 0);
  return nms__record (lz, NMS__END, (nms_lazy_shape){ 0 }, 0, NULL, lz->count - loop, 0);
}

void
nms_lazy_while (nms_lazy *lz, size_t count, const nms_lazy_tensor *init, nms_lazy_cond cond,
    nms_lazy_body body, void *user, nms_lazy_tensor *out)
{
  const nms_lazy_shape flag = { .type = NMS_LAZY_PRED }, none = { 0 };
  nms_lazy_tensor state[NMS_LAZY_MAX_STATES], next[NMS_LAZY_MAX_STATES] = { 0 }, go, end;
  nms_lazy_shape shape;
  int32_t loop, middle;

  for (size_t i = 0; i < count && out; i++)
    out[i] = NMS_LAZY_NONE;
  if (!count || count > NMS_LAZY_MAX_STATES || !init || !cond || !body || !out)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: no state, no function, or too many");
  for (size_t i = 0; i < count && !lz->status; i++)
    if (get (lz, NMS__WHILE, init[i], ANY))
      state[i] = nms__guarded (lz, NMS__STATE, init[i]);
  if (lz->status)
    return;
  loop = lz->count;
  nms__record (lz, NMS__WHILE, none, 0, NULL, (int32_t) count, 0);
  for (int32_t i = 0; i < (int32_t) count; i++)
    state[i] = nms__record (lz, NMS__STATE, nms_lazy_shape_of (lz, init[i]), 1, &state[i], i, 0);
  lz->depth++;
  go = cond (lz, state, user);
  shape = nms_lazy_shape_of (lz, go);
  if (memcmp (&shape, &flag, sizeof flag))
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: cond gives no PRED scalar");
  middle = lz->count;
  nms__record (lz, NMS__COND, flag, 1, &go, middle - loop, 0);
  hide (lz, loop + 1 + (int32_t) count, lz->count);
  if (!lz->status)
    body (lz, state, next, user);
  end = record_next (lz, count, state, next, loop);
  lz->depth--;
  if (lz->status)
    return;
  lz->recorded[middle].node.attr[1] = lz->count - 1 - middle;
  for (size_t i = 0; i < count; i++)
    out[i] = nms__record (lz, NMS__RESULT, nms_lazy_shape_of (lz, state[i]), 2,
        (nms_lazy_tensor[]){ state[i], end }, 0, 0);
  hide (lz, loop, lz->count - (int32_t) count);
}
