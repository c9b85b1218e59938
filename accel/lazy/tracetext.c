/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracetext: writes a trace as StableHLO text in generic form for XLA, one line for
 * each operation. The value of node 7 is %v7.
 */
#include "lazynodes.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct writer {
  const nms__trace *trace;
  const nms__node *nodes;
  FILE *out;
} writer;

typedef struct name {
  char text[64];
} name;

static name
type_of (nms_lazy_shape s)
{
  static const char *const types[] = { "", "f32", "i32", "i1", "bf16" };
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
  } else if (n->op == NMS__SORTED) {
    snprintf (v.text, sizeof v.text, "%%v%d#%d", n->operand[0], n->attr[0]);
  } else if (n->op == NMS__SORT) {
    snprintf (v.text, sizeof v.text, "%%v%d#%d", i, n->attr[0] + 1);
  } else {
    snprintf (v.text, sizeof v.text, "%%v%d", i);
  }
  return v;
}

/* Writes the first operands, or the types, of `count` nodes from `first` on: "a, b". */
enum { OPERANDS, TYPES };

static void
put_list (const writer *w, const nms__node *first, int count, int what)
{
  for (int k = 0; k < count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "",
        what == TYPES ? type_of (first[k].shape).text : value_of (w, first[k].operand[0]).text);
}

/* ------------------------------------------------------------- operations */

static void
put_constant (const writer *w, const nms__node *n)
{
  fputs (" {value = dense<", w->out);
  if (n->shape.type == NMS_LAZY_PRED)
    fputs (n->attr[0] ? "true" : "false", w->out);
  else
    fprintf (w->out, n->shape.type == NMS_LAZY_F32 ? "0x%08X" : "%d", (unsigned) n->attr[0]);
  fprintf (w->out, "> : %s}", type_of (n->shape).text);
}

/* Writes the comparison of two elements of operand `k` of a sort. */
static void
put_comparison (const writer *w, const char *result, int k, const char *how)
{
  fprintf (w->out,
      "%s = \"stablehlo.compare\"(%%l%d, %%r%d) {comparison_direction = "
      "#stablehlo<comparison_direction %s>, compare_type = #stablehlo<comparison_type SIGNED>} : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      result, k, k, how);
}

/* Writes the order of the keys, which are the first operand; the numbers are the last one. Equal
 * keys are compared by their numbers, because IREE 3.13 ignores is_stable. */
static void
put_sort (const writer *w, const nms__node *n)
{
  const name type = type_of (n->shape);
  const int last = n->attr[0] + 1;
  int32_t next = n->operand[1];

  fprintf (w->out, "%%v%td:%d = \"stablehlo.sort\"(%s", n - w->nodes, last + 1,
      value_of (w, n->operand[0]).text);
  for (; w->nodes[next].op == NMS__CARRY; next = w->nodes[next].operand[1])
    fprintf (w->out, ", %s", value_of (w, w->nodes[next].operand[0]).text);
  fprintf (w->out, ", %s) ({\n^bb0(", value_of (w, next).text);
  for (int k = 0; k <= last; k++)
    fprintf (w->out, "%s%%l%d: tensor<i32>, %%r%d: tensor<i32>", k ? ", " : "", k, k);
  fputs ("):\n", w->out);
  put_comparison (w, "%g", 0, "GT");
  put_comparison (w, "%e", 0, "EQ");
  put_comparison (w, "%f", last, "LT");
  fputs ("%t = \"stablehlo.and\"(%e, %f) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
         "%o = \"stablehlo.or\"(%g, %t) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
         "\"stablehlo.return\"(%o) : (tensor<i1>) -> ()\n",
      w->out);
  fprintf (w->out, "}) {dimension = %d : i64, is_stable = false} : (", n->shape.rank - 1);
  for (int k = 0; k < 2 * (last + 1); k++)
    fprintf (w->out, "%s%s", k == last + 1 ? ") -> (" : k ? ", " : "", type.text);
  fputs (")\n", w->out);
}

/* Writes the function that combines two elements. */
static void
put_reduction (const writer *w, const nms__node *n)
{
  const name s = type_of ((nms_lazy_shape) { .type = n->shape.type });

  fprintf (w->out,
      " ({\n^bb0(%%l: %s, %%r: %s):\n%%o = \"stablehlo.%s\"(%%l, %%r) : (%s, %s) -> "
      "%s\n\"stablehlo.return\"(%%o) : (%s) -> ()\n}) {dimensions = array<i64: %d>}",
      s.text, s.text, nms__infos[n->attr[0]].name, s.text, s.text, s.text, s.text, n->attr[1]);
}

/* Writes how indices, each a scalar, select along the first axis. */
static void
put_gather (const writer *w, const nms__node *n)
{
  const int rows = n->shape.rank == 2;

  fprintf (w->out,
      " {dimension_numbers = #stablehlo.gather<%scollapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1",
      rows ? "offset_dims = [1], " : "");
  if (rows)
    fprintf (w->out, ", %d", n->shape.dims[1]);
  fputs (">, indices_are_sorted = false}", w->out);
}

/* Writes the axes that are reversed. */
static void
put_reversed (const writer *w, const nms__node *n)
{
  const int rows = n->attr[0] < 0, columns = n->shape.rank == 2 && n->attr[1] < 0;

  fprintf (w->out, " {dimensions = array<i64: %s>}", rows && columns ? "0, 1" : rows ? "0" : "1");
}

/* Writes the bounds of a slice that begins at 0, and its steps. */
static void
put_stride (const writer *w, const nms__node *n, const nms_lazy_shape *a)
{
  if (a->rank == 2)
    fprintf (w->out,
        " {start_indices = array<i64: 0, 0>, limit_indices = array<i64: %d, %d>, "
        "strides = array<i64: %d, %d>}",
        a->dims[0], a->dims[1], n->attr[0], n->attr[1]);
  else
    fprintf (w->out,
        " {start_indices = array<i64: 0>, limit_indices = array<i64: %d>, "
        "strides = array<i64: %d>}",
        a->dims[0], n->attr[0]);
}

/* Writes how many elements follow those of each row. */
static void
put_padding (const writer *w, const nms__node *n, const nms_lazy_shape *a)
{
  const char *first = a->rank == 2 ? "0, " : "";
  const int axis = a->rank - 1;

  fprintf (w->out,
      " {edge_padding_low = array<i64: %s0>, edge_padding_high = array<i64: %s%d>, "
      "interior_padding = array<i64: %s0>}",
      first, first, n->shape.dims[axis] - a->dims[axis], first);
}

/* Writes the call of a TPU's kernel, whose arrays are stored row after row. */
static void
put_kernel (const writer *w, const nms__node *n)
{
  static const char rows[] = "dense<[1, 0]> : tensor<2xindex>";

  fprintf (w->out,
      " {call_target_name = \"tpu_custom_call\", api_version = 1 : i32, has_side_effect = false, "
      "backend_config = \"%s\", operand_layouts = [",
      w->trace->kernel);
  for (int k = 0; k < n->count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", rows);
  fprintf (w->out, "], result_layouts = [%s]}", rows);
}

static void
put_attributes (const writer *w, const nms__node *n)
{
  static const char *const orders[] = { "EQ", "NE", "GE", "GT", "LE", "LT" };
  const nms_lazy_shape *a = &w->nodes[n->operand[0]].shape;

  if (n->op == NMS__CONSTANT)
    put_constant (w, n);
  else if (n->op == NMS__REDUCE)
    put_reduction (w, n);
  else if (n->op == NMS__TAKE)
    put_gather (w, n);
  else if (n->op == NMS__REVERSE)
    put_reversed (w, n);
  else if (n->op == NMS__STRIDE)
    put_stride (w, n, a);
  else if (n->op == NMS__PAD)
    put_padding (w, n, a);
  else if (n->op == NMS__KERNEL)
    put_kernel (w, n);
  else if (n->op == NMS__CONCATENATE)
    fprintf (w->out, " {dimension = %d : i64}", n->attr[0]);
  else if (n->op >= NMS_LAZY_EQ && n->op <= NMS_LAZY_LT)
    fprintf (w->out,
        " {comparison_direction = #stablehlo<comparison_direction %s>, "
        "compare_type = #stablehlo<comparison_type %s>}",
        orders[n->op - NMS_LAZY_EQ],
        a->type == NMS_LAZY_F32       ? "FLOAT"
            : a->type == NMS_LAZY_S32 ? "SIGNED"
                                      : "UNSIGNED");
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

static void
put_operation (const writer *w, const nms__node *n)
{
  fprintf (w->out, "%%v%td = \"stablehlo.%s\"(", n - w->nodes, nms__infos[n->op].name);
  for (int k = 0; k < n->count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", value_of (w, n->operand[k]).text);
  fputs (")", w->out);
  put_attributes (w, n);
  fputs (" : (", w->out);
  for (int k = 0; k < n->count; k++)
    fprintf (w->out, "%s%s", k ? ", " : "", type_of (w->nodes[n->operand[k]].shape).text);
  fprintf (w->out, ") -> %s\n", type_of (n->shape).text);
}

/* Writes the arguments of a loop's function: the states. */
static void
put_states (const writer *w, const nms__node *loop)
{
  fputs ("^bb0(", w->out);
  for (int k = 0; k < loop->attr[0]; k++)
    fprintf (w->out, "%s%%v%td: %s", k ? ", " : "", loop + 1 + k - w->nodes,
        type_of (loop[1 + k].shape).text);
  fputs ("):\n", w->out);
}

/* Writes the end of a function: it returns the operands of `count` nodes from `first`
 * on. */
static void
put_return (const writer *w, const char *call, const nms__node *first, int count)
{
  fprintf (w->out, "\"%s.return\"(", call);
  put_list (w, first, count, OPERANDS);
  fputs (") : (", w->out);
  put_list (w, first, count, TYPES);
  fputs (") -> ()\n", w->out);
}

static void
put_node (const writer *w, const nms__node *n)
{
  const int is_end = n->op == NMS__COND || n->op == NMS__END;
  const nms__node *loop = is_end ? n - n->attr[0] : n;

  switch (n->op) {
    case NMS__WHILE:
      fprintf (w->out, "%%v%td:%d = \"stablehlo.while\"(", n - w->nodes, n->attr[0]);
      put_list (w, n + 1, n->attr[0], OPERANDS);
      fputs (") ({\n", w->out);
      put_states (w, n);
      break;
    case NMS__COND:
      put_return (w, "stablehlo", n, 1);
      fputs ("}, {\n", w->out);
      put_states (w, loop);
      break;
    case NMS__END:
      put_return (w, "stablehlo", n - loop->attr[0], loop->attr[0]);
      fputs ("}) : (", w->out);
      put_list (w, loop + 1, loop->attr[0], TYPES);
      fputs (") -> (", w->out);
      put_list (w, loop + 1, loop->attr[0], TYPES);
      fputs (")\n", w->out);
      break;
    case NMS__SORT:
      put_sort (w, n);
      break;
    default:
      if (nms__infos[n->op].name)
        put_operation (w, n);
  }
}

static void
put_module (const writer *w)
{
  const nms__trace *t = w->trace;
  const nms__node *outputs = w->nodes + t->count - t->output_count;
  const char *comma = "";

  fputs ("module @nms {\nfunc.func @main(", w->out);
  for (size_t i = 0; i < t->count; i++)
    if (w->nodes[i].op == NMS__INPUT) {
      fprintf (w->out, "%s%s: %s", comma, value_of (w, (int32_t) i).text,
          type_of (w->nodes[i].shape).text);
      comma = ", ";
    }
  fputs (") -> (", w->out);
  put_list (w, outputs, (int) t->output_count, TYPES);
  fputs (") {\n", w->out);
  for (size_t i = 0; i < t->count; i++)
    put_node (w, &w->nodes[i]);
  put_return (w, "func", outputs, (int) t->output_count);
  fputs ("}\n}\n", w->out);
}

char *
nms__trace_text (const nms__trace *trace, size_t *length)
{
  char *text = NULL;
  const writer w = { trace, trace->nodes, open_memstream (&text, length) };

  if (!w.out)
    return NULL;
  put_module (&w);
  const int failed = ferror (w.out);
  if (fclose (w.out) || failed) {
    free (text);
    text = NULL;
  }
  return text;
}
