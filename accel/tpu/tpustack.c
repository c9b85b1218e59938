/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpustack: prints the stack of all fields (tpustack.h). One array instead of one
 * for each field saves time, because every operation of XLA reads and writes the memory
 * outside of the chip.
 */
#include "tpustack.h"

#include <stdio.h>

/* Returns "16x" for 16 images, "" for one. */
static const char *
batch_of (const nms__tpu_layout *layout, char text[16])
{
  text[0] = '\0';
  if (layout->images > 1)
    snprintf (text, 16, "%dx", layout->images);
  return text;
}

/* Prints %<into>: `from` padded to the kernel's positions with absent boxes. `rows` is 0 for a
 * column. */
static void
print_pad (nms__tpu *m, const nms__tpu_layout *layout, const char *into, const char *from,
    int rows, int boxes)
{
  int axes = (rows > 0) + (layout->images > 1);
  const char *first = axes == 2 ? "0, 0, " : axes ? "0, " : "";
  char batch[16], shape[32] = "";

  if (rows)
    snprintf (shape, sizeof shape, "%dx%s", rows, batch_of (layout, batch));
  else
    snprintf (shape, sizeof shape, "%s", batch_of (layout, batch));
  nms__tpu_print (m,
      "%%%s = \"stablehlo.pad\"(%%%s, %%absent) {edge_padding_low = "
      "array<i64: %s0>, edge_padding_high = array<i64: %s%d>, interior_padding = "
      "array<i64: %s0>} : (tensor<%s%dxi32>, tensor<i32>) -> tensor<%s%dxi32>\n",
      into, from, first, first, layout->positions - boxes, first, shape, boxes, shape,
      layout->positions);
}

/* Returns whether the fields are vectors one after another. For more than one
 * tile, XLA computes the columns of one vector in fewer operations than the rows of a matrix. */
static int
is_vector (const nms__tpu_layout *layout)
{
  return !layout->window && layout->images == 1 && layout->rows > 1;
}

/* Writes the shape of `fields` columns of `n` boxes: "5x16x1024x", or "5120x". */
static const char *
shape_of (const nms__tpu_layout *layout, int fields, int n, char text[40])
{
  char batch[16];

  if (is_vector (layout))
    snprintf (text, 40, "%ldx", (long) fields * n);
  else
    snprintf (text, 40, "%dx%s%dx", fields, batch_of (layout, batch), n);
  return text;
}

/* Prints %g<i>: column `i` as rows of `n` integers, padded if that is more than `boxes`. */
static void
print_rows (nms__tpu *m, const nms__tpu_layout *layout, int boxes, int n, int i,
    const nms__tpu_column *column)
{
  char given[40] = "", value[16], batch[16], shape[40], rows_shape[40];
  long all = (long) boxes * layout->images;
  int rows = column->fields > 1 ? column->fields : 0;

  if (rows)
    snprintf (given, sizeof given, "%dx", rows);
  snprintf (value, sizeof value, "b%d", i);
  snprintf (shape, sizeof shape, "%s%ldx", given, all);
  nms__tpu_print (m,
      "%%b%d = \"stablehlo.bitcast_convert\"(%%a%d) : (tensor<%s%s>) -> "
      "tensor<%si32>\n",
      i, column->number, shape, column->type, shape);
  if (n > boxes) {
    if (layout->images > 1) {
      nms__tpu_print (m,
          "%%i%d = \"stablehlo.reshape\"(%%b%d) : (tensor<%si32>) -> "
          "tensor<%s%s%dxi32>\n",
          i, i, shape, given, batch_of (layout, batch), boxes);
      snprintf (value, sizeof value, "i%d", i);
    }
    snprintf (shape, sizeof shape, "p%d", i);
    print_pad (m, layout, shape, value, rows, boxes);
    snprintf (value, sizeof value, "p%d", i);
    snprintf (shape, sizeof shape, "%s%s%dx", given, batch_of (layout, batch), n);
  }
  nms__tpu_print (m,
      "%%g%d = \"stablehlo.reshape\"(%%%s) : (tensor<%si32>) -> tensor<%si32>\n", i, value, shape,
      shape_of (layout, column->fields, n, rows_shape));
}

/* Prints the columns as rows of one array, padded: %joined, or %whole if XLA sorts it. Columns that
 * XLA does not sort are padded before, because XLA fuses that with their computation. */
static void
print_join (nms__tpu *m, const nms__tpu_layout *layout, int boxes,
    const nms__tpu_column *columns, int count)
{
  int n = layout->window ? boxes : layout->positions;
  char shape[40];

  nms__tpu_print (m,
      "%%absent = \"stablehlo.constant\"() {value = dense<-2147483648> : "
      "tensor<i32>} : () -> tensor<i32>\n");
  for (int i = 0; i < count; i++)
    print_rows (m, layout, boxes, n, i, &columns[i]);
  nms__tpu_print (m, "%%joined = \"stablehlo.concatenate\"(");
  for (int i = 0; i < count; i++)
    nms__tpu_print (m, "%s%%g%d", i ? ", " : "", i);
  nms__tpu_print (m, ") {dimension = 0 : i64} : (");
  for (int i = 0; i < count; i++)
    nms__tpu_print (m, "%stensor<%si32>", i ? ", " : "",
        shape_of (layout, columns[i].fields, n, shape));
  nms__tpu_print (m, ") -> tensor<%si32>\n", shape_of (layout, layout->fields, n, shape));
  if (layout->window)
    print_pad (m, layout, "whole", "joined", layout->fields, n);
}

/* Prints the comparison of two scalars inside the sort. */
static void
print_comparison (nms__tpu *m, const char *name, const char *order, int first)
{
  nms__tpu_print (m,
      "%%%s = \"stablehlo.compare\"(%%l%d, %%r%d) {comparison_direction = "
      "#stablehlo<comparison_direction %s>, compare_type = #stablehlo<comparison_type SIGNED>} : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      name, first, first, order);
}

/* Prints the sort of the rows of %whole by rank: key descending, then index ascending.
 * %sorted#<f> is field f, %sorted#<fields> the index. */
static void
print_sort (nms__tpu *m, const nms__tpu_layout *layout)
{
  int fields = layout->fields, n = layout->positions, batched = layout->images > 1;
  char batch[16], limit[16] = "";

  batch_of (layout, batch);
  if (batched)
    snprintf (limit, sizeof limit, "%d, ", layout->images);
  for (int f = 0; f < fields; f++)
    nms__tpu_print (m,
        "%%s%d = \"stablehlo.slice\"(%%whole) {start_indices = "
        "array<i64: %d, %s0>, limit_indices = array<i64: %d, %s%d>, strides = array<i64: 1, %s1>} "
        ": (tensor<%dx%s%dxi32>) -> tensor<1x%s%dxi32>\n%%f%d = \"stablehlo.reshape\"(%%s%d) : "
        "(tensor<1x%s%dxi32>) -> tensor<%s%dxi32>\n",
        f, f, batched ? "0, " : "", f + 1, limit, n, batched ? "1, " : "", fields, batch, n, batch,
        n, f, f, batch, n, batch, n);
  nms__tpu_print (m,
      "%%f%d = \"stablehlo.iota\"() {iota_dimension = %d : i64} : () -> "
      "tensor<%s%dxi32>\n%%sorted:%d = \"stablehlo.sort\"(",
      fields, batched, batch, n, fields + 1);
  for (int f = 0; f <= fields; f++)
    nms__tpu_print (m, "%s%%f%d", f ? ", " : "", f);
  nms__tpu_print (m, ") ({\n^bb0(");
  for (int f = 0; f <= fields; f++)
    nms__tpu_print (m, "%s%%l%d: tensor<i32>, %%r%d: tensor<i32>", f ? ", " : "", f, f);
  nms__tpu_print (m, "):\n");
  print_comparison (m, "greater", "GT", NMS__TPU_KEY);
  print_comparison (m, "equal", "EQ", NMS__TPU_KEY);
  print_comparison (m, "lower", "LT", fields);
  nms__tpu_print (m,
      "%%tie = \"stablehlo.and\"(%%equal, %%lower) : (tensor<i1>, tensor<i1>) "
      "-> tensor<i1>\n%%before = \"stablehlo.or\"(%%greater, %%tie) : (tensor<i1>, tensor<i1>) "
      "-> tensor<i1>\n\"stablehlo.return\"(%%before) : (tensor<i1>) -> ()\n}) "
      "{dimension = %d : i64, is_stable = false} : (",
      batched);
  for (int pass = 0; pass < 2; pass++) {
    for (int f = 0; f <= fields; f++)
      nms__tpu_print (m, "%stensor<%s%dxi32>", f ? ", " : "", batch, n);
    nms__tpu_print (m, pass ? ")\n" : ") -> (");
  }
}

/* Prints %rank, the sorted indices, -1 for absent boxes. */
static void
print_indices (nms__tpu *m, const nms__tpu_layout *layout)
{
  char batch[16], shape[40];

  snprintf (shape, sizeof shape, "%s%dx", batch_of (layout, batch), layout->positions);
  nms__tpu_print (m,
      "%%least = \"stablehlo.constant\"() {value = dense<-2147483648> : "
      "tensor<%si32>} : () -> tensor<%si32>\n",
      shape, shape);
  nms__tpu_print (m,
      "%%none = \"stablehlo.constant\"() {value = dense<-1> : tensor<%si32>} "
      ": () -> tensor<%si32>\n",
      shape, shape);
  nms__tpu_print (m,
      "%%gone = \"stablehlo.compare\"(%%sorted#%d, %%least) "
      "{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = "
      "#stablehlo<comparison_type SIGNED>} : (tensor<%si32>, tensor<%si32>) -> "
      "tensor<%si1>\n",
      NMS__TPU_KEY, shape, shape, shape);
  nms__tpu_print (m,
      "%%rank = \"stablehlo.select\"(%%gone, %%none, %%sorted#%d) : "
      "(tensor<%si1>, tensor<%si32>, tensor<%si32>) -> tensor<%si32>\n",
      layout->fields, shape, shape, shape, shape);
}

/* Prints %k0, the sorted columns as one block of fields for each tile. */
static void
print_blocks (nms__tpu *m, const nms__tpu_layout *layout)
{
  int fields = layout->fields, tiles = layout->rows * layout->images;
  char batch[16];

  batch_of (layout, batch);
  for (int f = 0; f < fields; f++) {
    char name[24] = "%rank";
    if (f != NMS__TPU_KEY)
      snprintf (name, sizeof name, "%%sorted#%d", f);
    nms__tpu_print (m,
        "%%t%d = \"stablehlo.reshape\"(%s) : (tensor<%s%dxi32>) -> "
        "tensor<%dx1x128xi32>\n",
        f, name, batch, layout->positions, tiles);
  }
  nms__tpu_print (m, "%%tiles = \"stablehlo.concatenate\"(");
  for (int f = 0; f < fields; f++)
    nms__tpu_print (m, "%s%%t%d", f ? ", " : "", f);
  nms__tpu_print (m, ") {dimension = 1 : i64} : (");
  for (int f = 0; f < fields; f++)
    nms__tpu_print (m, "%stensor<%dx1x128xi32>", f ? ", " : "", tiles);
  nms__tpu_print (m, ") -> tensor<%dx%dx128xi32>\n", tiles, fields);
  nms__tpu_print (m,
      "%%blocks = \"stablehlo.pad\"(%%tiles, %%absent) {edge_padding_low = "
      "array<i64: 0, 0, 0>, edge_padding_high = array<i64: 0, %d, 0>, interior_padding = "
      "array<i64: 0, 0, 0>} : (tensor<%dx%dx128xi32>, tensor<i32>) -> tensor<%dx%dx128xi32>\n",
      layout->block - fields, tiles, fields, tiles, layout->block);
  nms__tpu_print (m,
      "%%k0 = \"stablehlo.reshape\"(%%blocks) : (tensor<%dx%dx128xi32>) -> "
      "tensor<%dx128xi32>\n",
      tiles, layout->block, tiles * layout->block);
}

/* Prints %k0, the fields of %joined one after another, of one image after another. */
static void
print_fields (nms__tpu *m, const nms__tpu_layout *layout)
{
  int fields = layout->fields, n = layout->positions, images = layout->images;
  int given = fields * layout->rows, rows = layout->input[0].rows;
  char shape[40];

  if (images == 1) {
    nms__tpu_print (m,
        "%%k0 = \"stablehlo.reshape\"(%%joined) : (tensor<%si32>) -> tensor<%dx128xi32>\n",
        shape_of (layout, fields, n, shape), given);
    return;
  }
  nms__tpu_print (m,
      "%%images = \"stablehlo.transpose\"(%%joined) {permutation = "
      "array<i64: 1, 0, 2>} : (tensor<%dx%dx%dxi32>) -> tensor<%dx%dx%dxi32>\n",
      fields, images, n, images, fields, n);
  nms__tpu_print (m,
      "%%rows = \"stablehlo.reshape\"(%%images) : (tensor<%dx%dx%dxi32>) -> "
      "tensor<%dx%dx128xi32>\n",
      images, fields, n, images, given);
  nms__tpu_print (m,
      "%%full = \"stablehlo.pad\"(%%rows, %%absent) {edge_padding_low = "
      "array<i64: 0, 0, 0>, edge_padding_high = array<i64: 0, %d, 0>, interior_padding = "
      "array<i64: 0, 0, 0>} : (tensor<%dx%dx128xi32>, tensor<i32>) -> tensor<%dx%dx128xi32>\n",
      rows - given, images, given, images, rows);
  nms__tpu_print (m,
      "%%k0 = \"stablehlo.reshape\"(%%full) : (tensor<%dx%dx128xi32>) -> "
      "tensor<%dx128xi32>\n",
      images, rows, images * rows);
}

void
nms__tpu_stack_print (nms__tpu *m, const nms__tpu_layout *layout, int boxes,
    const nms__tpu_column *columns, int count)
{
  print_join (m, layout, boxes, columns, count);
  if (!layout->window) {
    print_fields (m, layout);
    return;
  }
  print_sort (m, layout);
  print_indices (m, layout);
  print_blocks (m, layout);
}
