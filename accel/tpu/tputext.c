/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tputext: prints operations. All text is in forms that libtpu 0.0.17 to 0.0.51
 * accepted in tests.
 */
#include "tputext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "f32", "i32", "i1", "index", "bf16" };

void
nms__tpu_print (nms__tpu *m, const char *format, ...)
{
  for (int attempt = 0; attempt < 2 && !m->failed; attempt++) {
    va_list args;
    va_start (args, format);
    int n = vsnprintf (m->text ? m->text + m->length : NULL, m->capacity - m->length, format, args);
    va_end (args);
    if (n >= 0 && (size_t) n < m->capacity - m->length) {
      m->length += (size_t) n;
      return;
    }
    size_t capacity = n < 0 ? 0 : 2 * m->capacity + (size_t) n + 4096;
    char *text = capacity ? realloc (m->text, capacity) : NULL;
    if (!text) {
      nms__tpu_free (m);
      m->failed = 1;
      return;
    }
    m->text = text;
    m->capacity = capacity;
  }
}

void
nms__tpu_free (nms__tpu *m)
{
  free (m->text);
  m->text = NULL;
  m->length = m->capacity = 0;
}

void
nms__tpu_print_type (nms__tpu *m, nms__value shape)
{
  if (shape.rows)
    nms__tpu_print (m, "vector<%dx%dx%s>", shape.rows, shape.cols, type_names[shape.type]);
  else
    nms__tpu_print (m, "%s", type_names[shape.type]);
}

void
nms__tpu_print_array (nms__tpu *m, nms__array array)
{
  nms__tpu_print (m, "memref<%dx%dx%s, #tpu.memory_space<vmem>>", array.rows, array.cols,
      type_names[array.type]);
}

nms__value
nms__tpu_value (nms__tpu *m, nms__tpu_type type, int rows, int cols)
{
  nms__value v = { .rows = rows, .cols = cols, .type = type };

  snprintf (v.name, sizeof v.name, "%%v%d", m->values++);
  return v;
}

static void
end_with_type (nms__tpu *m, nms__value shape)
{
  nms__tpu_print (m, " : ");
  nms__tpu_print_type (m, shape);
  nms__tpu_print (m, "\n");
}

static nms__value
constant (nms__tpu *m, nms__tpu_type type, int rows, int cols, const char *literal)
{
  nms__value v = nms__tpu_value (m, type, rows, cols);

  nms__tpu_print (m, rows ? "%s = arith.constant dense<%s>" : "%s = arith.constant %s", v.name,
      literal);
  end_with_type (m, v);
  return v;
}

nms__value
nms__tpu_f32 (nms__tpu *m, int rows, int cols, float value)
{
  char literal[16];
  uint32_t bits;

  /* print the bits, because decimals depend on the locale and on rounding */
  memcpy (&bits, &value, sizeof bits);
  snprintf (literal, sizeof literal, "0x%08X", (unsigned) bits);
  return constant (m, NMS__TPU_F32, rows, cols, literal);
}

nms__value
nms__tpu_s32 (nms__tpu *m, int rows, int cols, int32_t value)
{
  char literal[16];

  snprintf (literal, sizeof literal, "%ld", (long) value);
  return constant (m, NMS__TPU_S32, rows, cols, literal);
}

nms__value
nms__tpu_index (nms__tpu *m, int value)
{
  char literal[16];

  snprintf (literal, sizeof literal, "%d", value);
  return constant (m, NMS__TPU_INDEX, 0, 0, literal);
}

nms__value
nms__tpu_iota (nms__tpu *m, int rows, int cols, int axis)
{
  nms__value v = nms__tpu_value (m, NMS__TPU_S32, rows, cols);

  nms__tpu_print (m, "%s = tpu.iota {dimension = %d : i32, dimensions = array<i32: %d>}", v.name,
      axis, axis);
  end_with_type (m, v);
  return v;
}

nms__value
nms__tpu_op (nms__tpu *m, const char *op, nms__value a, nms__value b)
{
  nms__value v = nms__tpu_value (m, a.type, a.rows, a.cols);

  nms__tpu_print (m, "%s = %s %s, %s", v.name, op, a.name, b.name);
  end_with_type (m, v);
  return v;
}

nms__value
nms__tpu_compare (nms__tpu *m, const char *order, nms__value a, nms__value b)
{
  nms__value v = nms__tpu_value (m, NMS__TPU_I1, a.rows, a.cols);

  nms__tpu_print (m, "%s = arith.%s %s, %s, %s", v.name, a.type == NMS__TPU_F32 ? "cmpf" : "cmpi",
      order, a.name, b.name);
  end_with_type (m, a);
  return v;
}

nms__value
nms__tpu_select (nms__tpu *m, nms__value mask, nms__value a, nms__value b)
{
  nms__value v = nms__tpu_value (m, a.type, a.rows, a.cols);

  nms__tpu_print (m, "%s = arith.select %s, %s, %s : ", v.name, mask.name, a.name, b.name);
  if (a.rows) {
    nms__tpu_print_type (m, mask);
    nms__tpu_print (m, ", ");
  }
  nms__tpu_print_type (m, v);
  nms__tpu_print (m, "\n");
  return v;
}

static nms__value
convert (nms__tpu *m, const char *op, const char *to, nms__value a, nms__value v)
{
  nms__tpu_print (m, "%s = %s %s : ", v.name, op, a.name);
  nms__tpu_print_type (m, a);
  nms__tpu_print (m, " %s ", to);
  nms__tpu_print_type (m, v);
  nms__tpu_print (m, "\n");
  return v;
}

nms__value
nms__tpu_bitcast (nms__tpu *m, nms__tpu_type type, nms__value a)
{
  return convert (m, "tpu.bitcast", "->", a, nms__tpu_value (m, type, a.rows, a.cols));
}

nms__value
nms__tpu_to_f32 (nms__tpu *m, nms__value a)
{
  return convert (m, "arith.sitofp", "to", a, nms__tpu_value (m, NMS__TPU_F32, a.rows, a.cols));
}

nms__value
nms__tpu_to_s32 (nms__tpu *m, nms__value a)
{
  return convert (m, "arith.fptosi", "to", a, nms__tpu_value (m, NMS__TPU_S32, a.rows, a.cols));
}

nms__value
nms__tpu_to_bf16 (nms__tpu *m, nms__value a)
{
  return convert (m, "arith.truncf", "to", a, nms__tpu_value (m, NMS__TPU_BF16, a.rows, a.cols));
}

nms__value
nms__tpu_count_bits (nms__tpu *m, nms__value a)
{
  nms__value v = nms__tpu_value (m, a.type, a.rows, a.cols);

  nms__tpu_print (m, "%s = math.ctpop %s", v.name, a.name);
  end_with_type (m, v);
  return v;
}

nms__value
nms__tpu_first (nms__tpu *m, nms__value row)
{
  nms__value v = nms__tpu_value (m, row.type, 0, 0);

  nms__tpu_print (m, "%s = vector.extract %s[0, 0] : %s from ", v.name, row.name,
      type_names[row.type]);
  nms__tpu_print_type (m, row);
  nms__tpu_print (m, "\n");
  return v;
}

nms__value
nms__tpu_first_of_row (nms__tpu *m, nms__value row, int cols)
{
  nms__value number = convert (m, "arith.index_cast", "to", row,
      nms__tpu_value (m, NMS__TPU_S32, 0, 0));

  return nms__tpu_op (m, "arith.muli", number, nms__tpu_s32 (m, 0, 0, cols));
}

nms__value
nms__tpu_row_of (nms__tpu *m, nms__value number, int cols)
{
  int bits = 0;

  while (1 << bits < cols)
    bits++;
  return convert (m, "arith.index_cast", "to",
      nms__tpu_op (m, "arith.shrui", number, nms__tpu_s32 (m, 0, 0, bits)),
      nms__tpu_value (m, NMS__TPU_INDEX, 0, 0));
}

nms__value
nms__tpu_spread (nms__tpu *m, nms__value a, int rows, int cols)
{
  return convert (m, "vector.broadcast", "to", a, nms__tpu_value (m, a.type, rows, cols));
}

nms__value
nms__tpu_transpose (nms__tpu *m, nms__value a)
{
  nms__value v = nms__tpu_value (m, a.type, a.cols, a.rows);

  nms__tpu_print (m, "%s = tpu.transpose %s, [1, 0] : ", v.name, a.name);
  nms__tpu_print_type (m, a);
  nms__tpu_print (m, " -> ");
  nms__tpu_print_type (m, v);
  nms__tpu_print (m, "\n");
  return v;
}

nms__value
nms__tpu_product (nms__tpu *m, nms__value a, nms__value b, nms__value sum)
{
  nms__value v = nms__tpu_value (m, sum.type, sum.rows, sum.cols);

  nms__tpu_print (m,
      "%s = tpu.matmul %s, %s, %s {dimension_numbers = "
      "#tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, "
      "transpose_lhs_hint = false} : ",
      v.name, a.name, b.name, sum.name);
  nms__tpu_print_type (m, a);
  nms__tpu_print (m, ", ");
  nms__tpu_print_type (m, b);
  nms__tpu_print (m, ", ");
  nms__tpu_print_type (m, sum);
  nms__tpu_print (m, " -> ");
  nms__tpu_print_type (m, v);
  nms__tpu_print (m, "\n");
  return v;
}

nms__value
nms__tpu_reduce (nms__tpu *m, const char *kind, const char *start, nms__value a, int axis)
{
  const char *type = type_names[a.type];
  int left = axis ? a.rows : a.cols;
  nms__value initial = nms__tpu_value (m, a.type, 0, 0);
  nms__value flat = nms__tpu_value (m, a.type, 0, 0);
  nms__value v = nms__tpu_value (m, a.type, axis ? a.rows : 1, axis ? 1 : a.cols);

  nms__tpu_print (m, "%s = arith.constant dense<%s> : vector<%dx%s>\n", initial.name, start, left,
      type);
  nms__tpu_print (m, "%s = vector.multi_reduction <%s>, %s, %s [%d] : ", flat.name, kind, a.name,
      initial.name, axis);
  nms__tpu_print_type (m, a);
  nms__tpu_print (m, " to vector<%dx%s>\n", left, type);
  nms__tpu_print (m, "%s = vector.shape_cast %s : vector<%dx%s> to ", v.name, flat.name, left,
      type);
  nms__tpu_print_type (m, v);
  nms__tpu_print (m, "\n");
  return v;
}

static void
print_access (nms__tpu *m, nms__array array, nms__value row, nms__value col, nms__value shape)
{
  nms__tpu_print (m, "%s[%s, %s] : ", array.name, row.name, col.name);
  nms__tpu_print_array (m, array);
  nms__tpu_print (m, ", ");
  nms__tpu_print_type (m, shape);
  nms__tpu_print (m, "\n");
}

nms__value
nms__tpu_load (nms__tpu *m, nms__array array, nms__value row, nms__value col, int rows, int cols)
{
  nms__value v = nms__tpu_value (m, array.type, rows, cols);

  nms__tpu_print (m, "%s = vector.load ", v.name);
  print_access (m, array, row, col, v);
  return v;
}

void
nms__tpu_store (nms__tpu *m, nms__value value, nms__array array, nms__value row, nms__value col)
{
  nms__tpu_print (m, "vector.store %s, ", value.name);
  print_access (m, array, row, col, value);
}

nms__value
nms__tpu_load_rows (nms__tpu *m, nms__array array, int row, int rows)
{
  return nms__tpu_load (m, array, nms__tpu_index (m, row), nms__tpu_index (m, 0), rows, array.cols);
}

void
nms__tpu_store_rows (nms__tpu *m, nms__value value, nms__array array, int row)
{
  nms__tpu_store (m, value, array, nms__tpu_index (m, row), nms__tpu_index (m, 0));
}

void
nms__tpu_open_loop (nms__tpu *m, nms__loop *loop, int end, int step)
{
  nms__value first = nms__tpu_index (m, 0);
  nms__value last = nms__tpu_index (m, end);
  nms__value stride = nms__tpu_index (m, step);

  loop->index = nms__tpu_value (m, NMS__TPU_INDEX, 0, 0);
  loop->result = m->values++;
  if (loop->count)
    nms__tpu_print (m, "%%v%d:%d = ", loop->result, loop->count);
  nms__tpu_print (m, "scf.for %s = %s to %s step %s", loop->index.name, first.name, last.name,
      stride.name);
  for (int i = 0; i < loop->count; i++) {
    nms__value *v = loop->carried[i];
    nms__value inside = nms__tpu_value (m, v->type, v->rows, v->cols);
    nms__tpu_print (m, "%s%s = %s", i ? ", " : " iter_args(", inside.name, v->name);
    *v = inside;
  }
  for (int i = 0; i < loop->count; i++) {
    nms__tpu_print (m, i ? ", " : ") -> (");
    nms__tpu_print_type (m, *loop->carried[i]);
  }
  nms__tpu_print (m, loop->count ? ") {\n" : " {\n");
}

void
nms__tpu_close_loop (nms__tpu *m, nms__loop *loop)
{
  for (int i = 0; i < loop->count; i++)
    nms__tpu_print (m, "%s%s", i ? ", " : "scf.yield ", loop->carried[i]->name);
  for (int i = 0; i < loop->count; i++) {
    nms__tpu_print (m, i ? ", " : " : ");
    nms__tpu_print_type (m, *loop->carried[i]);
    snprintf (loop->carried[i]->name, sizeof loop->carried[i]->name, "%%v%d#%d", loop->result, i);
  }
  nms__tpu_print (m, loop->count ? "\n}\n" : "}\n");
}

void
nms__tpu_open_if (nms__tpu *m, nms__value condition)
{
  nms__tpu_print (m, "scf.if %s {\n", condition.name);
}

void
nms__tpu_close_if (nms__tpu *m)
{
  nms__tpu_print (m, "}\n");
}
