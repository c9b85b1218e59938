/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpukernel: lays out the arrays of a kernel and prints its function around the
 * body. An array is one window that covers all rows of an image, so it is on the chip
 * before the first step of the image, and the result is written back after the last. Only
 * the second input may have a window that moves with the steps: the chip then copies the
 * rows that the next step needs during a step.
 */
#include "tpukernel.h"

#include <stdio.h>

static nms__array
new_array (const char *what, int number, nms__tpu_type type, int rows)
{
  nms__array array = { .rows = rows, .cols = NMS__TPU_LANES, .type = type };

  snprintf (array.name, sizeof array.name, "%%%s%d", what, number);
  return array;
}

nms__array
nms__tpu_add_input (nms__tpu_layout *layout, nms__tpu_type type, int rows)
{
  nms__array array = new_array ("in", layout->input_count, type, rows);

  layout->input[layout->input_count++] = array;
  return array;
}

nms__array
nms__tpu_add_scratch (nms__tpu_layout *layout, nms__tpu_type type, int rows)
{
  nms__array array = new_array ("scratch", layout->scratch_count, type, rows);

  layout->scratch[layout->scratch_count++] = array;
  return array;
}

void
nms__tpu_set_picks (nms__tpu_layout *layout, int picks)
{
  layout->picks = new_array ("picks", 0, NMS__TPU_S32, (picks + 1023) / 1024 * 8);
}

static size_t
array_bytes (const nms__array *array)
{
  return ((size_t) array->rows + 7) / 8 * 8 * (size_t) array->cols * 4;
}

/* Returns the part of an input that the kernel sees at once. */
static nms__array
window_of (const nms__tpu_layout *layout, int i)
{
  nms__array array = layout->input[i];

  if (i < 2 && layout->window)
    array.rows = layout->window;
  return array;
}

size_t
nms__tpu_layout_bytes (const nms__tpu_layout *layout)
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
print_parameter (nms__tpu *m, nms__array array)
{
  nms__tpu_print (m, ", %s: ", array.name);
  nms__tpu_print_array (m, array);
}

int
nms__tpu_input_rows (const nms__tpu_layout *layout, int input)
{
  return layout->input[input].rows * (input == layout->shared ? 1 : layout->images);
}

/* Returns the name of the function that places the window of an input; of the result for
 * input_count. */
static const char *
placement_of (const nms__tpu_layout *layout, int i)
{
  if (i < 2 && layout->window)
    return i ? "next" : layout->images > 1 ? "first" : "whole";
  return layout->images > 1 && i != layout->shared ? "image" : "whole";
}

nms__value
nms__tpu_begin (nms__tpu *m, const nms__tpu_layout *layout)
{
  static const char arbitrary[] = "#tpu.dimension_semantics<arbitrary>";
  nms__value step = nms__tpu_value (m, NMS__TPU_S32, 0, 0);
  int batch = layout->images > 1;

  nms__tpu_print (m, "module {\nfunc.func @main(%s%s: i32", batch ? "%image: i32, " : "",
      step.name);
  for (int i = 0; i < layout->input_count; i++)
    print_parameter (m, window_of (layout, i));
  print_parameter (m, layout->picks);
  for (int i = 0; i < layout->scratch_count; i++)
    print_parameter (m, layout->scratch[i]);

  nms__tpu_print (m,
      ") attributes {dimension_semantics = [%s%s%s], iteration_bounds = "
      "array<i64: ",
      arbitrary, batch ? ", " : "", batch ? arbitrary : "");
  if (batch)
    nms__tpu_print (m, "%d, ", layout->images);
  nms__tpu_print (m,
      "%d>, scratch_operands = %d : i64, tpu.core_type = #tpu.core_type<tc>, "
      "window_params = [",
      layout->steps, layout->scratch_count);
  for (int i = 0; i <= layout->input_count; i++) {
    nms__array a = i < layout->input_count ? window_of (layout, i) : layout->picks;
    nms__tpu_print (m, "%s{transform_indices = @%s, window_bounds = array<i64: %d, %d>}",
        i ? ", " : "", placement_of (layout, i), a.rows, a.cols);
  }
  nms__tpu_print (m, "]} {\n");
  return step;
}

/* Prints the start of a function that places windows. It returns two numbers of windows, the
 * second one is %zero. */
static void
print_placement (nms__tpu *m, const nms__tpu_layout *layout, const char *name)
{
  nms__tpu_print (m,
      "func.func @%s(%s%%step: i32) -> (i32, i32) {\n"
      "%%zero = arith.constant 0 : i32\n",
      name, layout->images > 1 ? "%image: i32, " : "");
}

/* Prints the functions that place windows at the first tile of an image and the next tile. */
static void
print_window_placements (nms__tpu *m, const nms__tpu_layout *layout)
{
  const char *next = "%inside";

  if (layout->images > 1) {
    print_placement (m, layout, "first");
    nms__tpu_print (m,
        "%%steps = arith.constant %d : i32\n%%first = arith.muli %%image, "
        "%%steps : i32\nreturn %%first, %%zero : i32, i32\n}\n",
        layout->steps);
  }
  print_placement (m, layout, "next");
  nms__tpu_print (m,
      "%%one = arith.constant 1 : i32\n%%last = arith.constant %d : i32\n"
      "%%more = arith.addi %%step, %%one : i32\n%%inside = arith.minsi %%more, %%last : i32\n",
      layout->steps - 1);
  if (layout->images > 1) {
    nms__tpu_print (m,
        "%%steps = arith.constant %d : i32\n%%first = arith.muli %%image, "
        "%%steps : i32\n%%next = arith.addi %%first, %%inside : i32\n",
        layout->steps);
    next = "%next";
  }
  nms__tpu_print (m, "return %s, %%zero : i32, i32\n}\n", next);
}

void
nms__tpu_end (nms__tpu *m, const nms__tpu_layout *layout)
{
  nms__tpu_print (m, "return\n}\n");
  print_placement (m, layout, "whole");
  nms__tpu_print (m, "return %%zero, %%zero : i32, i32\n}\n");
  if (layout->images > 1) {
    print_placement (m, layout, "image");
    nms__tpu_print (m, "return %%image, %%zero : i32, i32\n}\n");
  }
  if (layout->window)
    print_window_placements (m, layout);
  nms__tpu_print (m, "}\n");
}
