/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaicstack: prints the stack of all fields (mosaicstack.h). One array instead of one
 * for each field saves time, because every operation of XLA reads and writes the memory
 * outside of the chip.
 */
#include "mosaicstack.h"

#include <stdio.h>

/* Prints %<into>: `from` padded to the kernel's positions with absent boxes. `rows` is 0 for a
 * column. */
static void
print_pad (nms__mosaic *m, const nms__mosaic_layout *layout, const char *into, const char *from,
    int rows, int boxes)
{
  const char *first = rows ? "0, " : "";
  char shape[16] = "";

  if (rows)
    snprintf (shape, sizeof shape, "%dx", rows);
  nms__mosaic_print (m, "%%%s = \"stablehlo.pad\"(%%%s, %%absent) {edge_padding_low = "
      "array<i64: %s0>, edge_padding_high = array<i64: %s%d>, interior_padding = "
      "array<i64: %s0>} : (tensor<%s%dxi32>, tensor<i32>) -> tensor<%s%dxi32>\n", into, from,
      first, first, layout->positions - boxes, first, shape, boxes, shape, layout->positions);
}

/* Prints %g<i>: column `i` as rows of `n` integers, padded if that is more than `boxes`. */
static void
print_rows (nms__mosaic *m, const nms__mosaic_layout *layout, int boxes, int n, int i,
    const nms__mosaic_column *column)
{
  char given[40], bits[16], padded[16], shape[40];
  int rows = column->fields > 1 ? column->fields : 0;

  snprintf (bits, sizeof bits, "b%d", i);
  snprintf (padded, sizeof padded, n > boxes ? "p%d" : "b%d", i);
  if (rows)
    snprintf (given, sizeof given, "%dx%dx", rows, boxes);
  else
    snprintf (given, sizeof given, "%dx", boxes);
  nms__mosaic_print (m, "%%%s = \"stablehlo.bitcast_convert\"(%%a%d) : (tensor<%s%s>) -> "
      "tensor<%si32>\n", bits, column->number, given, column->type, given);
  if (n > boxes)
    print_pad (m, layout, padded, bits, rows, boxes);
  if (rows)
    snprintf (shape, sizeof shape, "%dx%dxi32", rows, n);
  else
    snprintf (shape, sizeof shape, "%dxi32", n);
  nms__mosaic_print (m, "%%g%d = \"stablehlo.reshape\"(%%%s) : (tensor<%s>) -> "
      "tensor<%dx%dxi32>\n", i, padded, shape, column->fields, n);
}

/* Prints the columns as rows of one array, %whole, padded. For a single tile the columns are
 * padded before, because XLA fuses that with their computation. */
static void
print_join (nms__mosaic *m, const nms__mosaic_layout *layout, int boxes,
    const nms__mosaic_column *columns, int count)
{
  int n = layout->rows == 1 ? layout->positions : boxes;

  nms__mosaic_print (m, "%%absent = \"stablehlo.constant\"() {value = dense<-2147483648> : "
      "tensor<i32>} : () -> tensor<i32>\n");
  for (int i = 0; i < count; i++)
    print_rows (m, layout, boxes, n, i, &columns[i]);
  nms__mosaic_print (m, "%%joined = \"stablehlo.concatenate\"(");
  for (int i = 0; i < count; i++)
    nms__mosaic_print (m, "%s%%g%d", i ? ", " : "", i);
  nms__mosaic_print (m, ") {dimension = 0 : i64} : (");
  for (int i = 0; i < count; i++)
    nms__mosaic_print (m, "%stensor<%dx%dxi32>", i ? ", " : "", columns[i].fields, n);
  nms__mosaic_print (m, ") -> tensor<%dx%dxi32>\n", layout->fields, n);
  print_pad (m, layout, "whole", "joined", layout->fields, n);
}

/* Prints the comparison of two scalars inside the sort. */
static void
print_comparison (nms__mosaic *m, const char *name, const char *order, int first)
{
  nms__mosaic_print (m, "%%%s = \"stablehlo.compare\"(%%l%d, %%r%d) {comparison_direction = "
      "#stablehlo<comparison_direction %s>, compare_type = #stablehlo<comparison_type SIGNED>} : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n", name, first, first, order);
}

/* Prints the sort of the rows of %whole by rank: key descending, then index ascending.
 * %sorted#<f> is field f, %sorted#<fields> the index. */
static void
print_sort (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  int fields = layout->fields, n = layout->positions;

  for (int f = 0; f < fields; f++)
    nms__mosaic_print (m, "%%s%d = \"stablehlo.slice\"(%%whole) {start_indices = "
        "array<i64: %d, 0>, limit_indices = array<i64: %d, %d>, strides = array<i64: 1, 1>} : "
        "(tensor<%dx%dxi32>) -> tensor<1x%dxi32>\n%%f%d = \"stablehlo.reshape\"(%%s%d) : "
        "(tensor<1x%dxi32>) -> tensor<%dxi32>\n", f, f, f + 1, n, fields, n, n, f, f, n, n);
  nms__mosaic_print (m, "%%f%d = \"stablehlo.iota\"() {iota_dimension = 0 : i64} : () -> "
      "tensor<%dxi32>\n%%sorted:%d = \"stablehlo.sort\"(", fields, n, fields + 1);
  for (int f = 0; f <= fields; f++)
    nms__mosaic_print (m, "%s%%f%d", f ? ", " : "", f);
  nms__mosaic_print (m, ") ({\n^bb0(");
  for (int f = 0; f <= fields; f++)
    nms__mosaic_print (m, "%s%%l%d: tensor<i32>, %%r%d: tensor<i32>", f ? ", " : "", f, f);
  nms__mosaic_print (m, "):\n");
  print_comparison (m, "greater", "GT", NMS__MOSAIC_KEY);
  print_comparison (m, "equal", "EQ", NMS__MOSAIC_KEY);
  print_comparison (m, "lower", "LT", fields);
  nms__mosaic_print (m, "%%tie = \"stablehlo.and\"(%%equal, %%lower) : (tensor<i1>, tensor<i1>) "
      "-> tensor<i1>\n%%before = \"stablehlo.or\"(%%greater, %%tie) : (tensor<i1>, tensor<i1>) "
      "-> tensor<i1>\n\"stablehlo.return\"(%%before) : (tensor<i1>) -> ()\n}) "
      "{dimension = 0 : i64, is_stable = false} : (");
  for (int pass = 0; pass < 2; pass++) {
    for (int f = 0; f <= fields; f++)
      nms__mosaic_print (m, "%stensor<%dxi32>", f ? ", " : "", n);
    nms__mosaic_print (m, pass ? ")\n" : ") -> (");
  }
}

/* Prints %rank, the sorted indices, -1 for absent boxes. */
static void
print_indices (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  int n = layout->positions;

  nms__mosaic_print (m, "%%least = \"stablehlo.constant\"() {value = dense<-2147483648> : "
      "tensor<%dxi32>} : () -> tensor<%dxi32>\n", n, n);
  nms__mosaic_print (m, "%%none = \"stablehlo.constant\"() {value = dense<-1> : tensor<%dxi32>} "
      ": () -> tensor<%dxi32>\n", n, n);
  nms__mosaic_print (m, "%%gone = \"stablehlo.compare\"(%%sorted#%d, %%least) "
      "{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = "
      "#stablehlo<comparison_type SIGNED>} : (tensor<%dxi32>, tensor<%dxi32>) -> "
      "tensor<%dxi1>\n", NMS__MOSAIC_KEY, n, n, n);
  nms__mosaic_print (m, "%%rank = \"stablehlo.select\"(%%gone, %%none, %%sorted#%d) : "
      "(tensor<%dxi1>, tensor<%dxi32>, tensor<%dxi32>) -> tensor<%dxi32>\n", layout->fields, n,
      n, n, n);
}

/* Prints %k0, the sorted columns as one block of fields for each tile. */
static void
print_blocks (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  int fields = layout->fields, n = layout->positions, tiles = layout->rows;

  for (int f = 0; f < fields; f++) {
    char name[24] = "%rank";
    if (f != NMS__MOSAIC_KEY)
      snprintf (name, sizeof name, "%%sorted#%d", f);
    nms__mosaic_print (m, "%%t%d = \"stablehlo.reshape\"(%s) : (tensor<%dxi32>) -> "
        "tensor<%dx1x128xi32>\n", f, name, n, tiles);
  }
  nms__mosaic_print (m, "%%tiles = \"stablehlo.concatenate\"(");
  for (int f = 0; f < fields; f++)
    nms__mosaic_print (m, "%s%%t%d", f ? ", " : "", f);
  nms__mosaic_print (m, ") {dimension = 1 : i64} : (");
  for (int f = 0; f < fields; f++)
    nms__mosaic_print (m, "%stensor<%dx1x128xi32>", f ? ", " : "", tiles);
  nms__mosaic_print (m, ") -> tensor<%dx%dx128xi32>\n", tiles, fields);
  nms__mosaic_print (m, "%%blocks = \"stablehlo.pad\"(%%tiles, %%absent) {edge_padding_low = "
      "array<i64: 0, 0, 0>, edge_padding_high = array<i64: 0, %d, 0>, interior_padding = "
      "array<i64: 0, 0, 0>} : (tensor<%dx%dx128xi32>, tensor<i32>) -> tensor<%dx%dx128xi32>\n",
      layout->block - fields, tiles, fields, tiles, layout->block);
  nms__mosaic_print (m, "%%k0 = \"stablehlo.reshape\"(%%blocks) : (tensor<%dx%dx128xi32>) -> "
      "tensor<%dx128xi32>\n", tiles, layout->block, tiles * layout->block);
}

void
nms__mosaic_stack_print (nms__mosaic *m, const nms__mosaic_layout *layout, int boxes,
    const nms__mosaic_column *columns, int count)
{
  print_join (m, layout, boxes, columns, count);
  if (layout->ranks) {
    nms__mosaic_print (m, "%%k0 = \"stablehlo.reshape\"(%%whole) : (tensor<%dx%dxi32>) -> "
        "tensor<%dx128xi32>\n", layout->fields, layout->positions,
        layout->fields * layout->rows);
    return;
  }
  print_sort (m, layout);
  print_indices (m, layout);
  print_blocks (m, layout);
}
