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

typedef struct writer {
  const nms__trace *trace;
  const nms__node *nodes;
  unsigned char *guard; /* of each node: GUARD_... */
  unsigned char *fixed; /* whether it depends on constants alone */
  FILE *out;
} writer;

enum { GUARD_FLOOR = 1, GUARD_BARRIER = 2 };

/* ------------------------------------------------------------ what to guard */

/* Users that no compiler merges a product with. */
static int
ends_product (int op)
{
  return op == NMS_LAZY_MUL || op == NMS_LAZY_DIV || op == NMS_LAZY_MAX || op == NMS_LAZY_MIN
      || op == NMS_LAZY_ABS || (op >= NMS_LAZY_EQ && op <= NMS_LAZY_LT) || op == NMS__OUTPUT;
}

/* What `user` asks of its operand `of`. */
static void
guard_operand (writer *w, int user, int32_t of)
{
  const int multiplies = user == NMS_LAZY_MUL || user == NMS_LAZY_DIV;
  int op = w->nodes[of].op;

  if (w->nodes[of].shape.type != NMS_LAZY_F32)
    return;
  if (op == NMS_LAZY_MUL && !ends_product (user))
    w->guard[of] = GUARD_FLOOR;
  while (w->nodes[of].op == NMS__BROADCAST)
    of = w->nodes[of].operand[0];
  op = w->nodes[of].op;
  if ((multiplies || user == NMS_LAZY_ADD || user == NMS_LAZY_SUB) && op != NMS_LAZY_MUL
      && (w->fixed[of] || (op == NMS_LAZY_DIV && multiplies)))
    w->guard[of] = GUARD_BARRIER;
}

static void
find_guards (writer *w)
{
  for (size_t i = 0; i < w->trace->count; i++) {
    const nms__node *n = &w->nodes[i];
    w->fixed[i] = n->op != NMS__INPUT && n->op != NMS__STATE && n->op != NMS__RESULT;
    for (int k = 0; k < n->count; k++) {
      w->fixed[i] &= w->fixed[n->operand[k]];
      guard_operand (w, n->op, n->operand[k]);
    }
  }
}

/* ------------------------------------------------------------ names, types */

typedef struct name {
  char text[64];
} name;

static name
type_of (nms_lazy_shape s)
{
  static const char *const types[] = { "", "f32", "i32", "i1" };
  name n;
  int at = snprintf (n.text, sizeof n.text, "tensor<");

  for (int i = 0; i < s.rank; i++)
    at += snprintf (n.text + at, sizeof n.text - (size_t) at, "%dx", s.dims[i]);
  snprintf (n.text + at, sizeof n.text - (size_t) at, "%s>", types[s.type]);
  return n;
}

static name
value_of (const writer *w, int32_t i)
{
  const nms__node *n = &w->nodes[i];
  name v;

  if (n->op == NMS__INPUT) {
    snprintf (v.text, sizeof v.text, "%%a%d", n->attr[0]);
  } else if (n->op == NMS__RESULT) {
    const int which = w->nodes[n->operand[0]].attr[0];
    snprintf (v.text, sizeof v.text, "%%v%d#%d", n->operand[0] - 1 - which, which);
  } else {
    snprintf (v.text, sizeof v.text, "%%%s%d", w->guard[i] ? "g" : "v", i);
  }
  return v;
}

/* "a, b": what the nodes from `first` on stand for; and their types. */
static void
put_sources (const writer *w, size_t first, size_t count)
{
  for (size_t k = 0; k < count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", value_of (w, w->nodes[first + k].operand[0]).text);
}

static void
put_types (const writer *w, size_t first, size_t count)
{
  for (size_t k = 0; k < count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", type_of (w->nodes[first + k].shape).text);
}

/* ------------------------------------------------------------- operations */

static void
put_constant (const writer *w, const char *to, int32_t type, int32_t bits)
{
  const name t = type_of ((nms_lazy_shape){ .type = type });

  fprintf (w->out, "%s = \"stablehlo.constant\"() {value = dense<", to);
  if (type == NMS_LAZY_PRED)
    fputs (bits ? "true" : "false", w->out);
  else
    fprintf (w->out, type == NMS_LAZY_F32 ? "0x%08X" : "%d", (unsigned) bits);
  fprintf (w->out, "> : %s} : () -> %s\n", t.text, t.text);
}

static void
put_attributes (const writer *w, const nms__node *n)
{
  static const char *const orders[] = { "EQ", "NE", "GE", "GT", "LE", "LT" };
  const nms_lazy_shape *a = &w->nodes[n->operand[0]].shape;

  if (n->op >= NMS_LAZY_EQ && n->op <= NMS_LAZY_LT)
    fprintf (w->out, " {comparison_direction = #stablehlo<comparison_direction %s>, "
        "compare_type = #stablehlo<comparison_type %s>}", orders[n->op - NMS_LAZY_EQ],
        a->type == NMS_LAZY_F32 ? "FLOAT" : a->type == NMS_LAZY_S32 ? "SIGNED" : "UNSIGNED");
  else if (n->op == NMS__IOTA)
    fprintf (w->out, " {iota_dimension = %d : i64}", n->attr[0]);
  else if (n->op == NMS__BROADCAST && a->rank)
    fprintf (w->out, " {broadcast_dimensions = array<i64: %d>}", n->attr[0]);
  else if (n->op == NMS__BROADCAST)
    fputs (" {broadcast_dimensions = array<i64>}", w->out);
  else if (n->op == NMS__TRANSPOSE)
    fputs (" {permutation = array<i64: 1, 0>}", w->out);
  else if (n->op == NMS__SLICE && n->shape.rank == 1)
    fprintf (w->out, " {slice_sizes = array<i64: %d>}", n->shape.dims[0]);
  else if (n->op == NMS__SLICE)
    fprintf (w->out, " {slice_sizes = array<i64: %d, %d>}", n->shape.dims[0], n->shape.dims[1]);
}

/* One that has a line of the usual form. */
static void
put_operation (const writer *w, int32_t i, const nms__node *n)
{
  fprintf (w->out, "%%v%d = \"stablehlo.%s\"(", i, nms__infos[n->op].name);
  for (int k = 0; k < n->count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", value_of (w, n->operand[k]).text);
  fputs (")", w->out);
  put_attributes (w, n);
  fputs (" : (", w->out);
  for (int k = 0; k < n->count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", type_of (w->nodes[n->operand[k]].shape).text);
  fprintf (w->out, ") -> %s\n", type_of (n->shape).text);
}

static void
put_guard (const writer *w, int32_t i, const nms__node *n)
{
  const name type = type_of (n->shape);

  if (w->guard[i] == GUARD_BARRIER) {
    fprintf (w->out, "%%g%d = \"stablehlo.optimization_barrier\"(%%v%d) : (%s) -> %s\n", i, i,
        type.text, type.text);
  } else if (w->guard[i] == GUARD_FLOOR) {
    fprintf (w->out, "%%f%d = \"stablehlo.broadcast_in_dim\"(%%floor) {broadcast_dimensions = "
        "array<i64>} : (tensor<f32>) -> %s\n", i, type.text);
    fprintf (w->out, "%%g%d = \"stablehlo.maximum\"(%%v%d, %%f%d) : (%s, %s) -> %s\n", i, i, i,
        type.text, type.text, type.text);
  }
}

/* Begins with what changes nothing. */
static void
put_reduce (const writer *w, int32_t i, const nms__node *n)
{
  const int is_float = n->shape.type == NMS_LAZY_F32;
  const int32_t neutral = n->attr[0] == NMS_LAZY_OR ? 0 : n->attr[0] == NMS_LAZY_AND ? -1
      : n->attr[0] == NMS_LAZY_MAX ? (is_float ? (int32_t) 0xff800000 : INT32_MIN)
      : is_float ? 0x7f800000 : INT32_MAX;
  const name s = type_of ((nms_lazy_shape){ .type = n->shape.type });
  name first;

  snprintf (first.text, sizeof first.text, "%%i%d", i);
  put_constant (w, first.text, n->shape.type, neutral);
  fprintf (w->out, "%%v%d = \"stablehlo.reduce\"(%s, %s) ({\n^bb0(%%l%d: %s, %%r%d: %s):\n", i,
      value_of (w, n->operand[0]).text, first.text, i, s.text, i, s.text);
  fprintf (w->out, "%%o%d = \"stablehlo.%s\"(%%l%d, %%r%d) : (%s, %s) -> %s\n", i,
      nms__infos[n->attr[0]].name, i, i, s.text, s.text, s.text);
  fprintf (w->out, "\"stablehlo.return\"(%%o%d) : (%s) -> ()\n}) {dimensions = array<i64: %d>} : "
      "(%s, %s) -> %s\n", i, s.text, n->attr[1], type_of (w->nodes[n->operand[0]].shape).text,
      s.text, type_of (n->shape).text);
}

/* "^bb0(%v7: type, ...):" of a loop's states. */
static void
put_states (const writer *w, size_t loop)
{
  fputs ("^bb0(", w->out);
  for (int32_t k = 0; k < w->nodes[loop].attr[0]; k++)
    fprintf (w->out, "%s%%v%zu: %s", k ? ", " : "", loop + 1 + (size_t) k,
        type_of (w->nodes[loop + 1 + (size_t) k].shape).text);
  fputs ("):\n", w->out);
}

/* WHILE, COND and END, between which the functions' operations stand. */
static void
put_loop (const writer *w, size_t i, const nms__node *n)
{
  const size_t loop = n->op == NMS__WHILE ? i : i - (size_t) n->attr[0];
  const size_t count = (size_t) w->nodes[loop].attr[0];

  if (n->op == NMS__WHILE) {
    fprintf (w->out, "%%v%zu:%zu = \"stablehlo.while\"(", i, count);
    put_sources (w, loop + 1, count);
    fputs (") ({\n", w->out);
    put_states (w, loop);
  } else if (n->op == NMS__COND) {
    fputs ("\"stablehlo.return\"(", w->out);
    put_sources (w, i, 1);
    fputs (") : (tensor<i1>) -> ()\n}, {\n", w->out);
    put_states (w, loop);
  } else {
    fputs ("\"stablehlo.return\"(", w->out);
    put_sources (w, i - count, count);
    fputs (") : (", w->out);
    put_types (w, i - count, count);
    fputs (") -> ()\n}) : (", w->out);
    put_types (w, loop + 1, count);
    fputs (") -> (", w->out);
    put_types (w, loop + 1, count);
    fputs (")\n", w->out);
  }
}

static void
put_node (const writer *w, int32_t i, const nms__node *n)
{
  switch (n->op) {
  case NMS__INPUT:
  case NMS__STATE:
  case NMS__NEXT:
  case NMS__RESULT:
  case NMS__OUTPUT:
    return;
  case NMS__WHILE:
  case NMS__COND:
  case NMS__END:
    put_loop (w, (size_t) i, n);
    return;
  case NMS__CONSTANT: {
    name v;
    snprintf (v.text, sizeof v.text, "%%v%d", i);
    put_constant (w, v.text, n->shape.type, n->attr[0]);
    break;
  }
  case NMS__REDUCE:
    put_reduce (w, i, n);
    break;
  default:
    put_operation (w, i, n);
  }
  put_guard (w, i, n);
}

static void
put_module (const writer *w)
{
  const nms__trace *t = w->trace;
  const size_t outputs = t->count - t->output_count;

  fputs ("module @nms {\nfunc.func @main(", w->out);
  for (size_t i = 0; i < t->count; i++)
    if (w->nodes[i].op == NMS__INPUT)
      fprintf (w->out, "%s: %s, ", value_of (w, (int32_t) i).text,
          type_of (w->nodes[i].shape).text);
  fputs ("%floor: tensor<f32>) -> (", w->out);
  put_types (w, outputs, t->output_count);
  fputs (") {\n", w->out);
  for (size_t i = 0; i < t->count; i++)
    put_node (w, (int32_t) i, &w->nodes[i]);
  fputs ("\"func.return\"(", w->out);
  put_sources (w, outputs, t->output_count);
  fputs (") : (", w->out);
  put_types (w, outputs, t->output_count);
  fputs (") -> ()\n}\n}\n", w->out);
}

char *
nms__stablehlo (const nms__trace *trace, size_t *length)
{
  writer w = { .trace = trace, .nodes = trace->nodes };
  char *text = NULL;
  int failed = 1;

  w.guard = calloc (trace->count + 1, 2);
  w.out = w.guard ? open_memstream (&text, length) : NULL;
  if (w.out) {
    w.fixed = w.guard + trace->count;
    find_guards (&w);
    put_module (&w);
    failed = ferror (w.out);
    failed |= fclose (w.out) != 0;
  }
  free (w.guard);
  if (failed) {
    free (text);
    return NULL;
  }
  return text;
}
