/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaickernel: lays out the arrays of a kernel and prints its function around the
 * body. An array is one window that covers all rows of an image, so it is on the chip
 * before the first step of the image, and the result is written back after the last. Only
 * the second input may have a window that moves with the steps: the chip then copies the
 * rows that the next step needs during a step.
 */
#include "mosaickernel.h"

#include <stdio.h>

static nms__array
new_array (const char *what, int number, nms__mosaic_type type, int rows)
{
  nms__array array = { .rows = rows, .cols = NMS__MOSAIC_LANES, .type = type };

  snprintf (array.name, sizeof array.name, "%%%s%d", what, number);
  return array;
}

nms__array
nms__mosaic_add_input (nms__mosaic_layout *layout, nms__mosaic_type type, int rows)
{
  nms__array array = new_array ("in", layout->input_count, type, rows);

  layout->input[layout->input_count++] = array;
  return array;
}

nms__array
nms__mosaic_add_scratch (nms__mosaic_layout *layout, nms__mosaic_type type, int rows)
{
  nms__array array = new_array ("scratch", layout->scratch_count, type, rows);

  layout->scratch[layout->scratch_count++] = array;
  return array;
}

void
nms__mosaic_set_picks (nms__mosaic_layout *layout, int picks)
{
  layout->picks = new_array ("picks", 0, NMS__MOSAIC_S32, (picks + 1023) / 1024 * 8);
}

static size_t
array_bytes (const nms__array *array)
{
  return ((size_t) array->rows + 7) / 8 * 8 * (size_t) array->cols * 4;
}

/* Returns the part of an input that the kernel sees at once. */
static nms__array
window_of (const nms__mosaic_layout *layout, int i)
{
  nms__array array = layout->input[i];

  if (i < 2 && layout->window)
    array.rows = layout->window;
  return array;
}

size_t
nms__mosaic_layout_bytes (const nms__mosaic_layout *layout)
{
  size_t bytes = 2 * array_bytes (&layout->picks);

  for (int i = 0; i < layout->input_count; i++) {
    nms__array window = window_of (layout, i);
    bytes += 2 * array_bytes (&window);
  }
  for (int i = 0; i < layout->scratch_count; i++)
    bytes += array_bytes (&layout->scratch[i]);
  return bytes;
}

static void
print_parameter (nms__mosaic *m, nms__array array)
{
  nms__mosaic_print (m, ", %s: ", array.name);
  nms__mosaic_print_array (m, array);
}

int
nms__mosaic_input_rows (const nms__mosaic_layout *layout, int input)
{
  return layout->input[input].rows * (input == layout->shared ? 1 : layout->images);
}

/* Returns the name of the function that places the window of an input; of the result for
 * input_count. */
static const char *
placement_of (const nms__mosaic_layout *layout, int i)
{
  if (i < 2 && layout->window)
    return i ? "next" : layout->images > 1 ? "first" : "whole";
  return layout->images > 1 && i != layout->shared ? "image" : "whole";
}

nms__value
nms__mosaic_begin (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  static const char arbitrary[] = "#tpu.dimension_semantics<arbitrary>";
  nms__value step = nms__mosaic_value (m, NMS__MOSAIC_S32, 0, 0);
  int batch = layout->images > 1;

  nms__mosaic_print (m, "module {\nfunc.func @main(%s%s: i32", batch ? "%image: i32, " : "",
      step.name);
  for (int i = 0; i < layout->input_count; i++)
    print_parameter (m, window_of (layout, i));
  print_parameter (m, layout->picks);
  for (int i = 0; i < layout->scratch_count; i++)
    print_parameter (m, layout->scratch[i]);

  nms__mosaic_print (m,
      ") attributes {dimension_semantics = [%s%s%s], iteration_bounds = "
      "array<i64: ",
      arbitrary, batch ? ", " : "", batch ? arbitrary : "");
  if (batch)
    nms__mosaic_print (m, "%d, ", layout->images);
  nms__mosaic_print (m,
      "%d>, scratch_operands = %d : i64, tpu.core_type = #tpu.core_type<tc>, "
      "window_params = [",
      layout->steps, layout->scratch_count);
  for (int i = 0; i <= layout->input_count; i++) {
    nms__array a = i < layout->input_count ? window_of (layout, i) : layout->picks;
    nms__mosaic_print (m, "%s{transform_indices = @%s, window_bounds = array<i64: %d, %d>}",
        i ? ", " : "", placement_of (layout, i), a.rows, a.cols);
  }
  nms__mosaic_print (m, "]} {\n");
  return step;
}

/* Prints the start of a function that places windows. It returns two numbers of windows, the
 * second one is %zero. */
static void
print_placement (nms__mosaic *m, const nms__mosaic_layout *layout, const char *name)
{
  nms__mosaic_print (m,
      "func.func @%s(%s%%step: i32) -> (i32, i32) {\n"
      "%%zero = arith.constant 0 : i32\n",
      name, layout->images > 1 ? "%image: i32, " : "");
}

/* Prints the functions that place windows at the first tile of an image and the next tile. */
static void
print_window_placements (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  const char *next = "%inside";

  if (layout->images > 1) {
    print_placement (m, layout, "first");
    nms__mosaic_print (m,
        "%%steps = arith.constant %d : i32\n%%first = arith.muli %%image, "
        "%%steps : i32\nreturn %%first, %%zero : i32, i32\n}\n",
        layout->steps);
  }
  print_placement (m, layout, "next");
  nms__mosaic_print (m,
      "%%one = arith.constant 1 : i32\n%%last = arith.constant %d : i32\n"
      "%%more = arith.addi %%step, %%one : i32\n%%inside = arith.minsi %%more, %%last : i32\n",
      layout->steps - 1);
  if (layout->images > 1) {
    nms__mosaic_print (m,
        "%%steps = arith.constant %d : i32\n%%first = arith.muli %%image, "
        "%%steps : i32\n%%next = arith.addi %%first, %%inside : i32\n",
        layout->steps);
    next = "%next";
  }
  nms__mosaic_print (m, "return %s, %%zero : i32, i32\n}\n", next);
}

void
nms__mosaic_end (nms__mosaic *m, const nms__mosaic_layout *layout)
{
  nms__mosaic_print (m, "return\n}\n");
  print_placement (m, layout, "whole");
  nms__mosaic_print (m, "return %%zero, %%zero : i32, i32\n}\n");
  if (layout->images > 1) {
    print_placement (m, layout, "image");
    nms__mosaic_print (m, "return %%image, %%zero : i32, i32\n}\n");
  }
  if (layout->window)
    print_window_placements (m, layout);
  nms__mosaic_print (m, "}\n");
}
