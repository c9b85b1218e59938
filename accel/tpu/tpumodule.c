/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpumodule: prints the StableHLO module around a kernel. The module pads the
 * arguments, stacks them for the form of tiles, cuts them in rows of 128, calls the
 * kernel, and removes the padding of its result. Several images are an axis of its arrays.
 */
#include "tpumodule.h"
#include "tpustack.h"

#include <stdio.h>

/* An argument of the module: `fields` numbers for each box, or, with fields 0, an array
 * that is passed unchanged. `unused` is 1 if this kernel does not take it. */
typedef struct {
  const char *type, *padding;
  int fields, unused;
} Argument;

enum { PARAMETERS = 5, NAME = 24 }; /* number of that argument; bytes of a value's name */

static int
arguments (const nms__tpu_spec *spec, Argument list[16])
{
  int n = 0;

  for (int i = 0; i < 4; i++)
    list[n++] = (Argument) { "f32", "0.0", 1, 0 };
  list[n++] = (Argument) { "i32", "-2147483648", 1, 0 };
  list[n++] = (Argument) { "f32", NULL, 0, 0 };
  if (spec->classes)
    list[n++] = (Argument) { "i32", "0", 1, !nms__tpu_uses_class (spec) };
  if (spec->box_limits)
    list[n++] = (Argument) { "f32", "0.0", 3, 0 };
  if (spec->class_caps)
    list[n++] = (Argument) { "i32", "0", 1, 0 };
  if (spec->parents)
    list[n++] = (Argument) { "i32", "-1", 1, 0 };
  return n;
}

/* Writes the shape of an argument: "1024xf32", "3x1024xf32", "8x128xf32"; of `images` if that
 * is more than 1: "16x1024xf32", "16x3x1024xf32", "8x128xf32". */
static void
print_shape (char *shape, size_t size, const Argument *a, int images, long boxes)
{
  char batch[16] = "", fields[16] = "";

  if (images > 1)
    snprintf (batch, sizeof batch, "%dx", images);
  if (a->fields > 1)
    snprintf (fields, sizeof fields, "%dx", a->fields);
  if (a->fields == 0)
    snprintf (shape, size, "8x128x%s", a->type);
  else
    snprintf (shape, size, "%s%s%ldx%s", batch, fields, boxes, a->type);
}

/* Prints value `name` as input %k<k> of the kernel, in rows of 128. */
static void
print_input (nms__tpu *m, const nms__tpu_layout *layout, const char *name, const Argument *a,
    int k)
{
  char shape[40];

  print_shape (shape, sizeof shape, a, layout->images, layout->positions);
  nms__tpu_print (m,
      "%%k%d = \"stablehlo.reshape\"(%s) : (tensor<%s>) -> "
      "tensor<%dx128x%s>\n",
      k, name, shape, nms__tpu_input_rows (layout, k), a->type);
}

/* Prints the operands of the call. Two windows on one array are two equal operands. */
static void
print_operands (nms__tpu *m, const nms__tpu_layout *layout)
{
  for (int k = 0; k < layout->input_count; k++)
    nms__tpu_print (m, "%s%%k%d", k ? ", " : "", k == 1 && layout->window ? 0 : k);
}

static void
print_call (nms__tpu *m, const nms__tpu_layout *layout, const char *kernel, size_t memory)
{
  static const char *const types[] = { "f32", "i32" };
  static const char in_rows[] = "dense<[1, 0]> : tensor<2xindex>";

  nms__tpu_print (m, "%%call = \"stablehlo.custom_call\"(");
  print_operands (m, layout);
  nms__tpu_print (m,
      ") {call_target_name = \"tpu_custom_call\", api_version = 1 : i32, "
      "has_side_effect = false, backend_config = \"{\\22custom_call_config\\22: "
      "{\\22body\\22: \\22");
  nms__tpu_print (m, "%s", kernel);
  nms__tpu_print (m, "\\22, \\22needs_layout_passes\\22: true}");
  if (memory != NMS__TPU_MEMORY)
    nms__tpu_print (m,
        ", \\22scoped_memory_configs\\22: [{\\22memory_space\\22: 1, "
        "\\22offset\\22: 0, \\22size\\22: %zu}]",
        memory);
  nms__tpu_print (m, "}\", operand_layouts = [");
  for (int k = 0; k < layout->input_count; k++)
    nms__tpu_print (m, "%s%s", k ? ", " : "", in_rows);
  nms__tpu_print (m, "], result_layouts = [%s]} : (", in_rows);
  for (int k = 0; k < layout->input_count; k++)
    nms__tpu_print (m, "%stensor<%dx128x%s>", k ? ", " : "", nms__tpu_input_rows (layout, k),
        types[layout->input[k].type]);
  nms__tpu_print (m, ") -> tensor<%dx128xi32>\n", layout->picks.rows * layout->images);
}

/* Prints the inputs of the kernel: the stack of all fields, and the parameters. */
static void
print_stack (nms__tpu *m, const nms__tpu_spec *spec, const nms__tpu_layout *layout,
    const Argument *list, int count)
{
  nms__tpu_column columns[16];
  int n = 0;

  for (int i = 0; i < count; i++)
    if (list[i].fields && !list[i].unused)
      columns[n++] = (nms__tpu_column) { i, list[i].fields, list[i].type };
  nms__tpu_stack_print (m, layout, spec->boxes, columns, n);
  print_input (m, layout, "%a5", &list[PARAMETERS], layout->input_count - 1);
}

/* Prints the cut of the kernel's result to K picks of each image, and the end. */
static void
print_result (nms__tpu *m, const nms__tpu_spec *spec, const nms__tpu_layout *layout)
{
  const Argument column = { "i32", NULL, 1, 0 };
  long padded = (long) layout->picks.rows * NMS__TPU_LANES;
  char flat[40], picks[40], batch[16] = "";
  int images = layout->images;

  print_shape (flat, sizeof flat, &column, images, padded);
  print_shape (picks, sizeof picks, &column, images, spec->picks);
  if (images > 1)
    snprintf (batch, sizeof batch, "%d, ", images);
  nms__tpu_print (m,
      "%%flat = \"stablehlo.reshape\"(%%call) : (tensor<%dx128xi32>) -> "
      "tensor<%s>\n",
      layout->picks.rows * images, flat);
  nms__tpu_print (m,
      "%%picks = \"stablehlo.slice\"(%%flat) {start_indices = array<i64: %s0>, "
      "limit_indices = array<i64: %s%ld>, strides = array<i64: %s1>} : (tensor<%s>) -> "
      "tensor<%s>\n",
      images > 1 ? "0, " : "", batch, (long) spec->picks, images > 1 ? "1, " : "", flat, picks);
  nms__tpu_print (m, "\"func.return\"(%%picks) : (tensor<%s>) -> ()\n}\n}\n", picks);
}

void
nms__tpu_module_print (nms__tpu *m, const nms__tpu_spec *spec,
    const nms__tpu_layout *layout, const char *kernel, size_t memory)
{
  const Argument column = { "i32", NULL, 1, 0 };
  Argument list[16];
  char shape[40];
  int count = arguments (spec, list);

  nms__tpu_print (m, "module @nms {\nfunc.func public @main(");
  for (int i = 0; i < count; i++) {
    print_shape (shape, sizeof shape, &list[i], 1, (long) layout->images * spec->boxes);
    nms__tpu_print (m, "%s%%a%d: tensor<%s>", i ? ", " : "", i, shape);
  }
  print_shape (shape, sizeof shape, &column, layout->images, spec->picks);
  nms__tpu_print (m, ") -> tensor<%s> {\n", shape);
  print_stack (m, spec, layout, list, count);
  print_call (m, layout, kernel, memory);
  print_result (m, spec, layout);
}
