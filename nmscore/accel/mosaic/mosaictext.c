/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaictext: prints operations. All text is in forms that libtpu 0.0.17 to 0.0.51
 * accepted in tests.
 */
#include "mosaictext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "f32", "i32", "i1", "index", "bf16" };

void
nms__mosaic_print (nms__mosaic *m, const char *format, ...)
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
      nms__mosaic_free (m);
      m->failed = 1;
      return;
    }
    m->text = text;
    m->capacity = capacity;
  }
}

void
nms__mosaic_free (nms__mosaic *m)
{
  free (m->text);
  m->text = NULL;
  m->length = m->capacity = 0;
}

void
nms__mosaic_print_type (nms__mosaic *m, nms__value shape)
{
  if (shape.rows)
    nms__mosaic_print (m, "vector<%dx%dx%s>", shape.rows, shape.cols, type_names[shape.type]);
  else
    nms__mosaic_print (m, "%s", type_names[shape.type]);
}

void
nms__mosaic_print_array (nms__mosaic *m, nms__array array)
{
  nms__mosaic_print (m, "memref<%dx%dx%s, #tpu.memory_space<vmem>>", array.rows, array.cols,
      type_names[array.type]);
}

nms__value
nms__mosaic_value (nms__mosaic *m, nms__mosaic_type type, int rows, int cols)
{
  nms__value v = { .rows = rows, .cols = cols, .type = type };

  snprintf (v.name, sizeof v.name, "%%v%d", m->values++);
  return v;
}

static void
end_with_type (nms__mosaic *m, nms__value shape)
{
  nms__mosaic_print (m, " : ");
  nms__mosaic_print_type (m, shape);
  nms__mosaic_print (m, "\n");
}

static nms__value
constant (nms__mosaic *m, nms__mosaic_type type, int rows, int cols, const char *literal)
{
  nms__value v = nms__mosaic_value (m, type, rows, cols);

  nms__mosaic_print (m, rows ? "%s = arith.constant dense<%s>" : "%s = arith.constant %s", v.name,
      literal);
  end_with_type (m, v);
  return v;
}

nms__value
nms__mosaic_f32 (nms__mosaic *m, int rows, int cols, float value)
{
  char literal[16];
  uint32_t bits;

  /* print the bits, because decimals depend on the locale and on rounding */
  memcpy (&bits, &value, sizeof bits);
  snprintf (literal, sizeof literal, "0x%08X", (unsigned) bits);
  return constant (m, NMS__MOSAIC_F32, rows, cols, literal);
}

nms__value
nms__mosaic_s32 (nms__mosaic *m, int rows, int cols, int32_t value)
{
  char literal[16];

  snprintf (literal, sizeof literal, "%ld", (long) value);
  return constant (m, NMS__MOSAIC_S32, rows, cols, literal);
}

nms__value
nms__mosaic_index (nms__mosaic *m, int value)
{
  char literal[16];

  snprintf (literal, sizeof literal, "%d", value);
  return constant (m, NMS__MOSAIC_INDEX, 0, 0, literal);
}

nms__value
nms__mosaic_iota (nms__mosaic *m, int rows, int cols, int axis)
{
  nms__value v = nms__mosaic_value (m, NMS__MOSAIC_S32, rows, cols);

  nms__mosaic_print (m, "%s = tpu.iota {dimension = %d : i32, dimensions = array<i32: %d>}", v.name,
      axis, axis);
  end_with_type (m, v);
  return v;
}

nms__value
nms__mosaic_op (nms__mosaic *m, const char *op, nms__value a, nms__value b)
{
  nms__value v = nms__mosaic_value (m, a.type, a.rows, a.cols);

  nms__mosaic_print (m, "%s = %s %s, %s", v.name, op, a.name, b.name);
  end_with_type (m, v);
  return v;
}

nms__value
nms__mosaic_compare (nms__mosaic *m, const char *order, nms__value a, nms__value b)
{
  nms__value v = nms__mosaic_value (m, NMS__MOSAIC_I1, a.rows, a.cols);

  nms__mosaic_print (m, "%s = arith.%s %s, %s, %s", v.name,
      a.type == NMS__MOSAIC_F32 ? "cmpf" : "cmpi", order, a.name, b.name);
  end_with_type (m, a);
  return v;
}

nms__value
nms__mosaic_select (nms__mosaic *m, nms__value mask, nms__value a, nms__value b)
{
  nms__value v = nms__mosaic_value (m, a.type, a.rows, a.cols);

  nms__mosaic_print (m, "%s = arith.select %s, %s, %s : ", v.name, mask.name, a.name, b.name);
  if (a.rows) {
    nms__mosaic_print_type (m, mask);
    nms__mosaic_print (m, ", ");
  }
  nms__mosaic_print_type (m, v);
  nms__mosaic_print (m, "\n");
  return v;
}

static nms__value
convert (nms__mosaic *m, const char *op, const char *to, nms__value a, nms__value v)
{
  nms__mosaic_print (m, "%s = %s %s : ", v.name, op, a.name);
  nms__mosaic_print_type (m, a);
  nms__mosaic_print (m, " %s ", to);
  nms__mosaic_print_type (m, v);
  nms__mosaic_print (m, "\n");
  return v;
}

nms__value
nms__mosaic_bitcast (nms__mosaic *m, nms__mosaic_type type, nms__value a)
{
  return convert (m, "tpu.bitcast", "->", a, nms__mosaic_value (m, type, a.rows, a.cols));
}

nms__value
nms__mosaic_to_f32 (nms__mosaic *m, nms__value a)
{
  return convert (m, "arith.sitofp", "to", a,
      nms__mosaic_value (m, NMS__MOSAIC_F32, a.rows, a.cols));
}

nms__value
nms__mosaic_to_s32 (nms__mosaic *m, nms__value a)
{
  return convert (m, "arith.fptosi", "to", a,
      nms__mosaic_value (m, NMS__MOSAIC_S32, a.rows, a.cols));
}

nms__value
nms__mosaic_to_bf16 (nms__mosaic *m, nms__value a)
{
  return convert (m, "arith.truncf", "to", a,
      nms__mosaic_value (m, NMS__MOSAIC_BF16, a.rows, a.cols));
}

nms__value
nms__mosaic_count_bits (nms__mosaic *m, nms__value a)
{
  nms__value v = nms__mosaic_value (m, a.type, a.rows, a.cols);

  nms__mosaic_print (m, "%s = math.ctpop %s", v.name, a.name);
  end_with_type (m, v);
  return v;
}

nms__value
nms__mosaic_first (nms__mosaic *m, nms__value row)
{
  nms__value v = nms__mosaic_value (m, row.type, 0, 0);

  nms__mosaic_print (m, "%s = vector.extract %s[0, 0] : %s from ", v.name, row.name,
      type_names[row.type]);
  nms__mosaic_print_type (m, row);
  nms__mosaic_print (m, "\n");
  return v;
}

nms__value
nms__mosaic_first_of_row (nms__mosaic *m, nms__value row, int cols)
{
  nms__value number = convert (m, "arith.index_cast", "to", row,
      nms__mosaic_value (m, NMS__MOSAIC_S32, 0, 0));

  return nms__mosaic_op (m, "arith.muli", number, nms__mosaic_s32 (m, 0, 0, cols));
}

nms__value
nms__mosaic_row_of (nms__mosaic *m, nms__value number, int cols)
{
  int bits = 0;

  while (1 << bits < cols)
    bits++;
  return convert (m, "arith.index_cast", "to",
      nms__mosaic_op (m, "arith.shrui", number, nms__mosaic_s32 (m, 0, 0, bits)),
      nms__mosaic_value (m, NMS__MOSAIC_INDEX, 0, 0));
}

nms__value
nms__mosaic_spread (nms__mosaic *m, nms__value a, int rows, int cols)
{
  return convert (m, "vector.broadcast", "to", a, nms__mosaic_value (m, a.type, rows, cols));
}

nms__value
nms__mosaic_transpose (nms__mosaic *m, nms__value a)
{
  nms__value v = nms__mosaic_value (m, a.type, a.cols, a.rows);

  nms__mosaic_print (m, "%s = tpu.transpose %s, [1, 0] : ", v.name, a.name);
  nms__mosaic_print_type (m, a);
  nms__mosaic_print (m, " -> ");
  nms__mosaic_print_type (m, v);
  nms__mosaic_print (m, "\n");
  return v;
}

nms__value
nms__mosaic_product (nms__mosaic *m, nms__value a, nms__value b, nms__value sum)
{
  nms__value v = nms__mosaic_value (m, sum.type, sum.rows, sum.cols);

  nms__mosaic_print (m,
      "%s = tpu.matmul %s, %s, %s {dimension_numbers = "
      "#tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>, "
      "transpose_lhs_hint = false} : ",
      v.name, a.name, b.name, sum.name);
  nms__mosaic_print_type (m, a);
  nms__mosaic_print (m, ", ");
  nms__mosaic_print_type (m, b);
  nms__mosaic_print (m, ", ");
  nms__mosaic_print_type (m, sum);
  nms__mosaic_print (m, " -> ");
  nms__mosaic_print_type (m, v);
  nms__mosaic_print (m, "\n");
  return v;
}

nms__value
nms__mosaic_reduce (nms__mosaic *m, const char *kind, const char *start, nms__value a, int axis)
{
  const char *type = type_names[a.type];
  int left = axis ? a.rows : a.cols;
  nms__value initial = nms__mosaic_value (m, a.type, 0, 0);
  nms__value flat = nms__mosaic_value (m, a.type, 0, 0);
  nms__value v = nms__mosaic_value (m, a.type, axis ? a.rows : 1, axis ? 1 : a.cols);

  nms__mosaic_print (m, "%s = arith.constant dense<%s> : vector<%dx%s>\n", initial.name, start,
      left, type);
  nms__mosaic_print (m, "%s = vector.multi_reduction <%s>, %s, %s [%d] : ", flat.name, kind, a.name,
      initial.name, axis);
  nms__mosaic_print_type (m, a);
  nms__mosaic_print (m, " to vector<%dx%s>\n", left, type);
  nms__mosaic_print (m, "%s = vector.shape_cast %s : vector<%dx%s> to ", v.name, flat.name, left,
      type);
  nms__mosaic_print_type (m, v);
  nms__mosaic_print (m, "\n");
  return v;
}

static void
print_access (nms__mosaic *m, nms__array array, nms__value row, nms__value col, nms__value shape)
{
  nms__mosaic_print (m, "%s[%s, %s] : ", array.name, row.name, col.name);
  nms__mosaic_print_array (m, array);
  nms__mosaic_print (m, ", ");
  nms__mosaic_print_type (m, shape);
  nms__mosaic_print (m, "\n");
}

nms__value
nms__mosaic_load (nms__mosaic *m, nms__array array, nms__value row, nms__value col, int rows,
    int cols)
{
  nms__value v = nms__mosaic_value (m, array.type, rows, cols);

  nms__mosaic_print (m, "%s = vector.load ", v.name);
  print_access (m, array, row, col, v);
  return v;
}

void
nms__mosaic_store (nms__mosaic *m, nms__value value, nms__array array, nms__value row,
    nms__value col)
{
  nms__mosaic_print (m, "vector.store %s, ", value.name);
  print_access (m, array, row, col, value);
}

nms__value
nms__mosaic_load_rows (nms__mosaic *m, nms__array array, int row, int rows)
{
  return nms__mosaic_load (m, array, nms__mosaic_index (m, row), nms__mosaic_index (m, 0), rows,
      array.cols);
}

void
nms__mosaic_store_rows (nms__mosaic *m, nms__value value, nms__array array, int row)
{
  nms__mosaic_store (m, value, array, nms__mosaic_index (m, row), nms__mosaic_index (m, 0));
}

void
nms__mosaic_open_loop (nms__mosaic *m, nms__loop *loop, int end, int step)
{
  nms__value first = nms__mosaic_index (m, 0);
  nms__value last = nms__mosaic_index (m, end);
  nms__value stride = nms__mosaic_index (m, step);

  loop->index = nms__mosaic_value (m, NMS__MOSAIC_INDEX, 0, 0);
  loop->result = m->values++;
  if (loop->count)
    nms__mosaic_print (m, "%%v%d:%d = ", loop->result, loop->count);
  nms__mosaic_print (m, "scf.for %s = %s to %s step %s", loop->index.name, first.name, last.name,
      stride.name);
  for (int i = 0; i < loop->count; i++) {
    nms__value *v = loop->carried[i];
    nms__value inside = nms__mosaic_value (m, v->type, v->rows, v->cols);
    nms__mosaic_print (m, "%s%s = %s", i ? ", " : " iter_args(", inside.name, v->name);
    *v = inside;
  }
  for (int i = 0; i < loop->count; i++) {
    nms__mosaic_print (m, i ? ", " : ") -> (");
    nms__mosaic_print_type (m, *loop->carried[i]);
  }
  nms__mosaic_print (m, loop->count ? ") {\n" : " {\n");
}

void
nms__mosaic_close_loop (nms__mosaic *m, nms__loop *loop)
{
  for (int i = 0; i < loop->count; i++)
    nms__mosaic_print (m, "%s%s", i ? ", " : "scf.yield ", loop->carried[i]->name);
  for (int i = 0; i < loop->count; i++) {
    nms__mosaic_print (m, i ? ", " : " : ");
    nms__mosaic_print_type (m, *loop->carried[i]);
    snprintf (loop->carried[i]->name, sizeof loop->carried[i]->name, "%%v%d#%d", loop->result, i);
  }
  nms__mosaic_print (m, loop->count ? "\n}\n" : "}\n");
}

void
nms__mosaic_open_if (nms__mosaic *m, nms__value condition)
{
  nms__mosaic_print (m, "scf.if %s {\n", condition.name);
}

void
nms__mosaic_close_if (nms__mosaic *m)
{
  nms__mosaic_print (m, "}\n");
}
