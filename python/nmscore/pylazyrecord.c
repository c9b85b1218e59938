/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pylazyrecord: the functions of nmscore.lazy that record operations and loops. */
#include "pylazy.h"

#include <string.h>

typedef nms_lazy_tensor tensor;

/* Operations of nms_lazy_unary, nms_lazy_binary and nms_lazy_select. */
static const struct {
  const char *name;
  int op, operands;
} operations[] = {
  { "add", NMS_LAZY_ADD, 2 },
  { "sub", NMS_LAZY_SUB, 2 },
  { "mul", NMS_LAZY_MUL, 2 },
  { "div", NMS_LAZY_DIV, 2 },
  { "max", NMS_LAZY_MAX, 2 },
  { "min", NMS_LAZY_MIN, 2 },
  { "and", NMS_LAZY_AND, 2 },
  { "or", NMS_LAZY_OR, 2 },
  { "xor", NMS_LAZY_XOR, 2 },
  { "eq", NMS_LAZY_EQ, 2 },
  { "ne", NMS_LAZY_NE, 2 },
  { "ge", NMS_LAZY_GE, 2 },
  { "gt", NMS_LAZY_GT, 2 },
  { "le", NMS_LAZY_LE, 2 },
  { "lt", NMS_LAZY_LT, 2 },
  { "abs", NMS_LAZY_ABS, 1 },
  { "neg", NMS_LAZY_NEG, 1 },
  { "as_s32", NMS_LAZY_AS_S32, 1 },
  { "as_f32", NMS_LAZY_AS_F32, 1 },
  { "to_s32", NMS_LAZY_TO_S32, 1 },
  { "to_f32", NMS_LAZY_TO_F32, 1 },
  { "sqrt", NMS_LAZY_SQRT, 1 },
  { "select", NMS_LAZY_SELECT, 3 },
};

/* Operations that are recorded by a function of their own, not by the three above. */
enum {
  BROADCAST,
  RESHAPE,
  TRANSPOSE,
  SLICE,
  UPDATE,
  MAX,
  MIN,
  ALL,
  ANY,
  SUM,
  ARGMAX,
  ORDER,
  TAKE,
  EXP,
  LOG,
  STRIDE,
  IOTA
};

static const struct {
  const char *name;
  int what, operands; /* SLICE and UPDATE: besides a start for each axis */
} functions[] = {
  { "broadcast", BROADCAST, 1 },
  { "reshape", RESHAPE, 1 },
  { "transpose", TRANSPOSE, 1 },
  { "slice", SLICE, 1 },
  { "update", UPDATE, 2 },
  { "reduce_max", MAX, 1 },
  { "reduce_min", MIN, 1 },
  { "reduce_and", ALL, 1 },
  { "reduce_or", ANY, 1 },
  { "sum", SUM, 1 },
  { "argmax", ARGMAX, 1 },
  { "order", ORDER, 1 },
  { "take", TAKE, 2 },
  { "exp", EXP, 1 },
  { "log", LOG, 1 },
  { "stride", STRIDE, 1 },
  { "iota", IOTA, 0 },
};

static tensor
call (nms_lazy *lz, int what, const tensor *x, int rank, const int32_t *dims, int axis)
{
  tensor index = NMS_LAZY_NONE;

  switch (what) {
    case BROADCAST:
      return nms_lazy_broadcast (lz, x[0], rank, dims, axis);
    case RESHAPE:
      return nms_lazy_reshape (lz, x[0], rank, dims);
    case TRANSPOSE:
      return nms_lazy_transpose (lz, x[0]);
    case SLICE:
      return nms_lazy_slice (lz, x[0], x + 1, dims);
    case UPDATE:
      return nms_lazy_update (lz, x[0], x[1], x + 2);
    case MAX:
      return nms_lazy_reduce (lz, NMS_LAZY_MAX, x[0], axis);
    case MIN:
      return nms_lazy_reduce (lz, NMS_LAZY_MIN, x[0], axis);
    case ALL:
      return nms_lazy_reduce (lz, NMS_LAZY_AND, x[0], axis);
    case ANY:
      return nms_lazy_reduce (lz, NMS_LAZY_OR, x[0], axis);
    case SUM:
      return nms_lazy_sum (lz, x[0], axis);
    case ARGMAX:
      nms_lazy_argmax (lz, x[0], axis, &index);
      return index;
    case ORDER:
      return nms_lazy_order (lz, x[0]);
    case TAKE:
      return nms_lazy_take (lz, x[0], x[1]);
    case EXP:
      return nms_lazy_exp (lz, x[0]);
    case LOG:
      return nms_lazy_log (lz, x[0]);
    case STRIDE:
      return nms_lazy_stride (lz, x[0], rank == nms_lazy_shape_of (lz, x[0]).rank ? dims : NULL);
    default:
      return nms_lazy_iota (lz, rank, dims, axis);
  }
}

/* Returns whether `count` tensors are the operands of an operation. */
static int
count_fits (nms_lazy *lz, int what, int operands, const tensor *x, Py_ssize_t count)
{
  if (what == SLICE || what == UPDATE)
    operands += count ? nms_lazy_shape_of (lz, x[0]).rank : 0;
  return count == operands;
}

PyObject *
pylazy_apply (PyObject *module, PyObject *args)
{
  tensor x[2 + NMS_LAZY_MAX_RANK] = { 0 };
  int32_t dims[NMS_LAZY_MAX_RANK] = { 0 };
  PyObject *capsule, *sequence, *shape;
  const char *name;
  pylazy_device *d;
  Py_ssize_t count;
  int axis, rank;

  if (!PyArg_ParseTuple (args, "OsOOi", &capsule, &name, &sequence, &shape, &axis)
      || !(d = pylazy_device_of (capsule)) || (rank = pylazy_dims (shape, dims)) < 0
      || (count = pylazy_tensors (sequence, x, 2 + NMS_LAZY_MAX_RANK)) < 0)
    return NULL;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (!strcmp (name, operations[i].name) && count == operations[i].operands) {
      const nms_lazy_op op = (nms_lazy_op) operations[i].op;
      return pylazy_result (d,
          count == 1       ? nms_lazy_unary (d->lz, op, x[0])
              : count == 2 ? nms_lazy_binary (d->lz, op, x[0], x[1])
                           : nms_lazy_select (d->lz, x[0], x[1], x[2]));
    }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp (name, functions[i].name)
        && count_fits (d->lz, functions[i].what, functions[i].operands, x, count))
      return pylazy_result (d, call (d->lz, functions[i].what, x, rank, dims, axis));
  return PyErr_Format (PyExc_ValueError, "%s is no operation of %zd tensors", name, count);
}

PyObject *
pylazy_concatenate (PyObject *module, PyObject *args)
{
  tensor parts[NMS_LAZY_MAX_OPERATIONS];
  PyObject *capsule, *sequence;
  pylazy_device *d;
  Py_ssize_t count;
  int axis;

  if (!PyArg_ParseTuple (args, "OOi", &capsule, &sequence, &axis)
      || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, parts, NMS_LAZY_MAX_OPERATIONS)) < 0)
    return NULL;
  return pylazy_result (d, nms_lazy_concatenate (d->lz, (size_t) count, parts, axis));
}

/* ----------------------------------------------------------------------- loops */

typedef struct loop {
  PyObject *cond, *body; /* take a list of tensors; return one, or a sequence of them */
  size_t count;
} loop;

/* Calls a Python function with the state. Returns its result, or NULL with an exception. */
static PyObject *
call_with_state (PyObject *function, const tensor *state, size_t count)
{
  PyObject *list = PyList_New ((Py_ssize_t) count), *result;

  for (size_t i = 0; list && i < count; i++)
    PyList_SetItem (list, (Py_ssize_t) i, PyLong_FromUnsignedLongLong (state[i]));
  result = list && !PyErr_Occurred () ? PyObject_CallFunctionObjArgs (function, list, NULL) : NULL;
  Py_XDECREF (list);
  return result;
}

static tensor
cond (nms_lazy *lz, const tensor *state, void *user)
{
  const loop *l = user;
  PyObject *result = call_with_state (l->cond, state, l->count);
  tensor go = result ? PyLong_AsUnsignedLongLong (result) : NMS_LAZY_NONE;

  Py_XDECREF (result);
  return PyErr_Occurred () ? NMS_LAZY_NONE : go;
}

static void
body (nms_lazy *lz, const tensor *state, tensor *next, void *user)
{
  const loop *l = user;
  PyObject *result = PyErr_Occurred () ? NULL : call_with_state (l->body, state, l->count);

  if (result && pylazy_tensors (result, next, (Py_ssize_t) l->count) != (Py_ssize_t) l->count
      && !PyErr_Occurred ())
    PyErr_Format (PyExc_ValueError, "body must return %zu tensors", l->count);
  Py_XDECREF (result);
  if (PyErr_Occurred ())
    memset (next, 0, l->count * sizeof *next);
}

PyObject *
pylazy_while (PyObject *module, PyObject *args)
{
  tensor state[NMS_LAZY_MAX_STATES], out[NMS_LAZY_MAX_STATES] = { 0 };
  PyObject *capsule, *sequence, *result;
  loop l = { 0 };
  pylazy_device *d;
  Py_ssize_t count;

  if (!PyArg_ParseTuple (args, "OOOO", &capsule, &sequence, &l.cond, &l.body)
      || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, state, NMS_LAZY_MAX_STATES)) < 0)
    return NULL;
  l.count = (size_t) count;
  nms_lazy_while (d->lz, l.count, state, cond, body, &l, out);
  if (PyErr_Occurred () || nms_lazy_status (d->lz))
    return pylazy_raise (d, nms_lazy_status (d->lz));
  result = PyList_New (count);
  for (Py_ssize_t i = 0; result && i < count; i++)
    PyList_SetItem (result, i, PyLong_FromUnsignedLongLong (out[i]));
  return result;
}
