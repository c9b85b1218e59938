/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stablehlo: a trace as StableHLO text in generic form, one line an operation,
 * for XLA.
 *
 * Operations keep their own rounding. Compilers contract a product and the sum
 * that uses it (XLA on a CPU does; not where a maximum stands between, unless
 * it is one with a constant that it can prove idle), and fold constants into
 * one another (x / 3 becomes x * (1/3)) and quotients of quotients. So:
 *   - a product that anything but a comparison or the like uses goes through
 *     maximum (product, floor), where `floor` is one more argument, -inf;
 *   - a constant or quotient that arithmetic uses stands behind an
 *     optimization_barrier.
 */
#include "lazy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
  char *data;
  size_t length, capacity;
  int failed;
} text;

__attribute__ ((format (printf, 2, 3)))
static void
put (text *t, const char *format, ...)
{
  for (int again = 0; again < 2 && !t->failed; again++) {
    va_list args;
    va_start (args, format);
    size_t room = t->capacity - t->length;
    int n = vsnprintf (t->data ? t->data + t->length : NULL, room, format, args);
    va_end (args);
    if (n >= 0 && (size_t) n < room) {
      t->length += (size_t) n;
      return;
    }
    size_t capacity = 2 * t->capacity + (n > 0 ? (size_t) n : 0) + 4096;
    char *data = n < 0 ? NULL : realloc (t->data, capacity);
    t->failed = !data;
    t->data = data ? data : t->data;
    t->capacity = data ? capacity : t->capacity;
  }
}

typedef struct writer {
  const nms__trace *trace;
  const nms__node *nodes;
  unsigned char *guard; /* of each node: GUARD_... */
  unsigned char *fixed; /* whether it depends on constants alone */
  text out;
} writer;

enum { GUARD_FLOOR = 1, GUARD_BARRIER = 2 };

/* ------------------------------------------------------------ what to guard */

static int
is_arithmetic (int32_t op)
{
  return op == NMS__ADD || op == NMS__SUB || op == NMS__MUL || op == NMS__DIV;
}

/* Users that no compiler merges a product with. */
static int
ends_product (int32_t op)
{
  return op == NMS__MAX || op == NMS__MIN || op == NMS__COMPARE || op == NMS__ABS
      || op == NMS__MUL || op == NMS__DIV;
}

/* The operation that a captured or broadcast value comes from. */
static uint32_t
source (const writer *w, uint32_t index)
{
  while (w->nodes[index].op == NMS__CAPTURE || w->nodes[index].op == NMS__BROADCAST)
    index = nms__operand (w->trace, &w->nodes[index], 0);
  return index;
}

/* What a user of operand `of` asks for. */
static void
guard_operand (writer *w, const nms__node *user, uint32_t of)
{
  uint32_t from = source (w, of);
  int32_t op = w->nodes[from].op;

  if (w->nodes[of].shape.type != NMS_LAZY_F32)
    return;
  if (w->nodes[of].op == NMS__MUL && !ends_product (user->op))
    w->guard[of] = GUARD_FLOOR;
  else if (is_arithmetic (user->op) && op != NMS__MUL
      && (w->fixed[from] || (op == NMS__DIV && (user->op == NMS__DIV || user->op == NMS__MUL))))
    w->guard[from] = GUARD_BARRIER;
}

/* The guards of all nodes; whether one needs the floor. */
static int
find_guards (writer *w)
{
  const nms__trace *t = w->trace;
  int floored = 0;

  for (uint32_t i = 0; i < t->nodes.count; i++) {
    const nms__node *n = &w->nodes[i];
    int fixed = n->op != NMS__INPUT && n->op != NMS__STATE && n->op != NMS__RESULT;
    for (uint32_t k = 0; k < n->count; k++) {
      uint32_t of = nms__operand (t, n, k);
      fixed &= w->fixed[of];
      if (n->op != NMS__STATE && n->op != NMS__RESULT)
        guard_operand (w, n, of);
    }
    w->fixed[i] = (unsigned char) fixed;
  }
  for (size_t i = 0; i < t->nodes.count; i++)
    floored |= w->guard[i] == GUARD_FLOOR;
  return floored;
}

/* ------------------------------------------------------------ names, types */

#define TYPE_TEXT 96

typedef struct name {
  char text[TYPE_TEXT];
} name;

static name
type_text (const nms_lazy_shape *shape)
{
  static const char *const types[] = { "", "f32", "i32", "ui32", "i1" };
  name n;
  size_t at = (size_t) snprintf (n.text, sizeof n.text, "tensor<");

  for (int i = 0; i < shape->rank; i++)
    at += (size_t) snprintf (n.text + at, sizeof n.text - at, "%dx", shape->dims[i]);
  snprintf (n.text + at, sizeof n.text - at, "%s>", types[shape->type]);
  return n;
}

static name
value_text (const writer *w, uint32_t index)
{
  const nms__node *n = &w->nodes[index];
  name v;

  while (n->op == NMS__CAPTURE) {
    index = nms__operand (w->trace, n, 0);
    n = &w->nodes[index];
  }
  if (n->op == NMS__INPUT)
    snprintf (v.text, sizeof v.text, "%%a%d", n->attr[0]);
  else if (n->op == NMS__RESULT)
    snprintf (v.text, sizeof v.text, "%%v%u#%d", nms__operand (w->trace, n, 0), n->attr[0]);
  else
    snprintf (v.text, sizeof v.text, "%%%s%u", w->guard[index] ? "g" : "v", index);
  return v;
}

/* "a, b" of operands from..to-1, and "type, type". */
static void
put_values (writer *w, const nms__node *n, uint32_t from, uint32_t to)
{
  for (uint32_t k = from; k < to; k++)
    put (&w->out, "%s%s", k > from ? ", " : "",
        value_text (w, nms__operand (w->trace, n, k)).text);
}

static void
put_types (writer *w, const nms__node *n, uint32_t from, uint32_t to)
{
  for (uint32_t k = from; k < to; k++)
    put (&w->out, "%s%s", k > from ? ", " : "",
        type_text (&w->nodes[nms__operand (w->trace, n, k)].shape).text);
}

static void
put_numbers (text *t, const char *label, const int32_t *numbers, int count)
{
  put (t, "%s = array<i64", label);
  for (int i = 0; i < count; i++)
    put (t, "%s%d", i ? ", " : ": ", numbers[i]);
  put (t, ">");
}

/* ------------------------------------------------------------- operations */

static const char *const op_names[] = {
  [NMS__CONSTANT] = "constant", [NMS__IOTA] = "iota", [NMS__NEG] = "negate",
  [NMS__ABS] = "abs", [NMS__NOT] = "not", [NMS__BITCAST] = "bitcast_convert",
  [NMS__CONVERT] = "convert", [NMS__ADD] = "add", [NMS__SUB] = "subtract",
  [NMS__MUL] = "multiply", [NMS__DIV] = "divide", [NMS__MAX] = "maximum",
  [NMS__MIN] = "minimum", [NMS__AND] = "and", [NMS__OR] = "or", [NMS__XOR] = "xor",
  [NMS__SHL] = "shift_left", [NMS__SHR] = "shift_right_logical", [NMS__COMPARE] = "compare",
  [NMS__SELECT] = "select", [NMS__BROADCAST] = "broadcast_in_dim", [NMS__RESHAPE] = "reshape",
  [NMS__TRANSPOSE] = "transpose", [NMS__SLICE] = "slice",
  [NMS__DYNAMIC_SLICE] = "dynamic_slice", [NMS__DYNAMIC_UPDATE] = "dynamic_update_slice",
  [NMS__REDUCE] = "reduce", [NMS__WHILE] = "while"
};

/* Elements of a constant, brackets around each axis. */
static const unsigned char *
put_elements (text *t, const nms_lazy_shape *shape, int axis, const unsigned char *data)
{
  uint32_t word;

  if (axis < shape->rank) {
    put (t, "[");
    for (int32_t i = 0; i < shape->dims[axis]; i++) {
      put (t, "%s", i ? ", " : "");
      data = put_elements (t, shape, axis + 1, data);
    }
    put (t, "]");
    return data;
  }
  if (shape->type == NMS_LAZY_PRED) {
    put (t, *data ? "true" : "false");
    return data + 1;
  }
  memcpy (&word, data, sizeof word);
  if (shape->type == NMS_LAZY_F32)
    put (t, "0x%08X", word);
  else if (shape->type == NMS_LAZY_S32)
    put (t, "%d", (int32_t) word);
  else
    put (t, "%u", word);
  return data + 4;
}

static void
put_attributes (writer *w, const nms__node *n)
{
  static const char *const orders[] = { "EQ", "NE", "GE", "GT", "LE", "LT" };
  static const int32_t ones[NMS_LAZY_MAX_RANK] = { 1, 1, 1, 1 };
  text *t = &w->out;
  const nms_lazy_shape *a = n->count ? &w->nodes[nms__operand (w->trace, n, 0)].shape : NULL;

  switch (n->op) {
  case NMS__CONSTANT:
    put (t, " {value = dense<");
    put_elements (t, &n->shape, 0, (const unsigned char *) w->trace->bytes.data + n->attr[0]);
    put (t, "> : %s}", type_text (&n->shape).text);
    break;
  case NMS__IOTA:
    put (t, " {iota_dimension = %d : i64}", n->attr[0]);
    break;
  case NMS__COMPARE:
    put (t, " {comparison_direction = #stablehlo<comparison_direction %s>, "
        "compare_type = #stablehlo<comparison_type %s>}", orders[n->how],
        a->type == NMS_LAZY_F32 ? "FLOAT" : a->type == NMS_LAZY_S32 ? "SIGNED" : "UNSIGNED");
    break;
  case NMS__BROADCAST:
    put_numbers (t, " {broadcast_dimensions", n->attr, a->rank);
    put (t, "}");
    break;
  case NMS__TRANSPOSE:
    put_numbers (t, " {permutation", n->attr, n->shape.rank);
    put (t, "}");
    break;
  case NMS__SLICE:
    put_numbers (t, " {start_indices", n->attr, n->shape.rank);
    put_numbers (t, ", limit_indices", n->attr + NMS_LAZY_MAX_RANK, n->shape.rank);
    put_numbers (t, ", strides", ones, n->shape.rank);
    put (t, "}");
    break;
  case NMS__DYNAMIC_SLICE:
    put_numbers (t, " {slice_sizes", n->shape.dims, n->shape.rank);
    put (t, "}");
    break;
  default:
    break;
  }
}

/* What a reduction begins with, as bits. */
static uint32_t
neutral (const nms__node *n)
{
  if (n->how == NMS_LAZY_ALL)
    return 1;
  if (n->how == NMS_LAZY_SUM || n->how == NMS_LAZY_ANY)
    return 0;
  if (n->shape.type == NMS_LAZY_F32)
    return n->how == NMS_LAZY_MAX ? 0xff800000u : 0x7f800000u;
  if (n->shape.type == NMS_LAZY_S32)
    return n->how == NMS_LAZY_MAX ? 0x80000000u : 0x7fffffffu;
  return n->how == NMS_LAZY_MAX ? 0 : UINT32_MAX;
}

static void
put_reduce (writer *w, uint32_t index, const nms__node *n)
{
  static const char *const names[] = { "maximum", "minimum", "add", "and", "or" };
  const nms_lazy_shape scalar = { .type = n->shape.type };
  const name s = type_text (&scalar);
  uint32_t bits = neutral (n);
  text *t = &w->out;

  put (t, "%%i%u = \"stablehlo.constant\"() {value = dense<", index);
  put_elements (t, &scalar, 0,
      n->shape.type == NMS_LAZY_PRED ? (unsigned char[]){ (unsigned char) bits }
                                     : (const unsigned char *) &bits);
  put (t, "> : %s} : () -> %s\n", s.text, s.text);
  put (t, "%%v%u = \"stablehlo.reduce\"(", index);
  put_values (w, n, 0, 1);
  put (t, ", %%i%u) ({\n^bb0(%%l%u: %s, %%r%u: %s):\n", index, index, s.text, index, s.text);
  put (t, "%%o%u = \"stablehlo.%s\"(%%l%u, %%r%u) : (%s, %s) -> %s\n", index, names[n->how],
      index, index, s.text, s.text, s.text);
  put (t, "\"stablehlo.return\"(%%o%u) : (%s) -> ()\n}) {dimensions = array<i64: %d>} : (", index,
      s.text, n->attr[0]);
  put_types (w, n, 0, 1);
  put (t, ", %s) -> %s\n", s.text, type_text (&n->shape).text);
}

/* "^bb0(%v7: type, ...):" of the loop's states, whose placeholders follow. */
static void
put_states (writer *w, uint32_t first, int32_t count)
{
  put (&w->out, "^bb0(");
  for (int32_t k = 0; k < count; k++)
    put (&w->out, "%s%%v%u: %s", k ? ", " : "", first + (uint32_t) k,
        type_text (&w->nodes[first + (uint32_t) k].shape).text);
  put (&w->out, "):\n");
}

/* RETURN of cond or body: closes the region, and opens or ends the loop. */
static void
put_return (writer *w, uint32_t index, const nms__node *n)
{
  const nms__node *loop = NULL;
  uint32_t at = index;

  while (!loop || (uint32_t) loop->attr[2] < index)
    if (w->nodes[--at].op == NMS__WHILE)
      loop = &w->nodes[at];
  put (&w->out, "\"stablehlo.return\"(");
  put_values (w, n, 0, n->count);
  put (&w->out, ") : (");
  put_types (w, n, 0, n->count);
  put (&w->out, ") -> ()\n");
  if ((uint32_t) loop->attr[1] == index) {
    put (&w->out, "}, {\n");
    put_states (w, index + 1, loop->attr[0]);
    return;
  }
  put (&w->out, "}) : (");
  put_types (w, loop, 0, (uint32_t) loop->attr[0]);
  put (&w->out, ") -> (");
  put_types (w, loop, 0, (uint32_t) loop->attr[0]);
  put (&w->out, ")\n");
}

static void
put_node (writer *w, uint32_t index, const nms__node *n)
{
  text *t = &w->out;
  const name type = type_text (&n->shape);
  const char *op = NULL;

  switch (n->op) {
  case NMS__INPUT:
  case NMS__STATE:
  case NMS__CAPTURE:
  case NMS__RESULT:
    return;
  case NMS__RETURN:
    put_return (w, index, n);
    return;
  case NMS__REDUCE:
    put_reduce (w, index, n);
    return;
  case NMS__WHILE:
    put (t, "%%v%u:%d = \"stablehlo.while\"(", index, n->attr[0]);
    put_values (w, n, 0, (uint32_t) n->attr[0]);
    put (t, ") ({\n");
    put_states (w, index + 1, n->attr[0]);
    return;
  default:
    op = n->op == NMS__SHR && n->shape.type == NMS_LAZY_S32 ? "shift_right_arithmetic"
                                                            : op_names[n->op];
  }
  put (t, "%%v%u = \"stablehlo.%s\"(", index, op);
  put_values (w, n, 0, n->count);
  put (t, ")");
  put_attributes (w, n);
  put (t, " : (");
  put_types (w, n, 0, n->count);
  put (t, ") -> %s\n", type.text);
  if (w->guard[index] == GUARD_BARRIER)
    put (t, "%%g%u = \"stablehlo.optimization_barrier\"(%%v%u) : (%s) -> %s\n", index, index,
        type.text, type.text);
  if (w->guard[index] == GUARD_FLOOR) {
    put (t, "%%f%u = \"stablehlo.broadcast_in_dim\"(%%floor) {broadcast_dimensions = array<i64>}"
        " : (tensor<f32>) -> %s\n", index, type.text);
    put (t, "%%g%u = \"stablehlo.maximum\"(%%v%u, %%f%u) : (%s, %s) -> %s\n", index, index, index,
        type.text, type.text, type.text);
  }
}

static void
put_arguments (writer *w, int floored)
{
  const nms__trace *t = w->trace;
  size_t seen = 0;

  for (size_t i = 0; i < t->nodes.count; i++)
    if (w->nodes[i].op == NMS__INPUT)
      put (&w->out, "%s%%a%d: %s", seen++ ? ", " : "", w->nodes[i].attr[0],
          type_text (&w->nodes[i].shape).text);
  if (floored)
    put (&w->out, "%s%%floor: tensor<f32>", seen ? ", " : "");
}

char *
nms__stablehlo (const nms__trace *trace, size_t *length, int *floored)
{
  writer w = { .trace = trace, .nodes = nms__trace_nodes (trace) };
  const nms__node outputs = { .count = (uint32_t) trace->outputs.count };

  w.guard = calloc (trace->nodes.count + 1, 2);
  if (!w.guard)
    return NULL;
  w.fixed = w.guard + trace->nodes.count;
  *floored = find_guards (&w);
  put (&w.out, "module @nms {\nfunc.func @main(");
  put_arguments (&w, *floored);
  put (&w.out, ") -> (");
  for (size_t i = 0; i < outputs.count; i++)
    put (&w.out, "%s%s", i ? ", " : "",
        type_text (&w.nodes[((uint32_t *) trace->outputs.data)[i]].shape).text);
  put (&w.out, ") {\n");
  for (uint32_t i = 0; i < trace->nodes.count; i++)
    put_node (&w, i, &w.nodes[i]);
  put (&w.out, "\"func.return\"(");
  for (size_t i = 0; i < outputs.count; i++)
    put (&w.out, "%s%s", i ? ", " : "",
        value_text (&w, ((uint32_t *) trace->outputs.data)[i]).text);
  put (&w.out, ") : (");
  for (size_t i = 0; i < outputs.count; i++)
    put (&w.out, "%s%s", i ? ", " : "",
        type_text (&w.nodes[((uint32_t *) trace->outputs.data)[i]].shape).text);
  put (&w.out, ") -> ()\n}\n}\n");
  free (w.guard);
  if (w.out.failed) {
    free (w.out.data);
    return NULL;
  }
  *length = w.out.length;
  return w.out.data;
}
