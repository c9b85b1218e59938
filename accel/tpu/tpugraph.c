/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpugraph: records the operations that pack a kernel's inputs and unpack its results. All fields
 * of the boxes become one array, because every operation of XLA reads and writes the memory outside
 * of the chip. These operations take the fewest estimated cycles of those with the same result
 * (tests/bench/cycles.py).
 */
#include "tpugraph.h"

#include "accel/lazy/lazynodes.h"

#include <stdlib.h>
#include <string.h>

#define LANES NMS__TPU_LANES

typedef nms_lazy_tensor tensor;

/* The fields of the boxes, S32. */
typedef struct {
  nms_lazy *lz;
  const nms__tpu_layout *layout;
  int32_t images, boxes, positions, fields; /* boxes and positions are those of an image */
  tensor field[16];
} Stack;

/* Returns a matrix with the elements of `x`. */
static tensor
matrix (const Stack *s, tensor x, int32_t rows, int32_t columns)
{
  return nms_lazy_reshape (s->lz, x, 2, (const int32_t[]) { rows, columns });
}

/* Returns a vector, or for several images a row for each, of `x`. */
static tensor
by_image (const Stack *s, tensor x, int32_t columns)
{
  const int32_t dims[] = { s->images, columns };

  return nms_lazy_reshape (s->lz, x, 1 + (s->images > 1), s->images > 1 ? dims : dims + 1);
}

/* Returns `x` with each row extended to `positions` elements by absent boxes. */
static tensor
padded (const Stack *s, tensor x)
{
  const tensor operands[] = { x, nms_lazy_s32 (s->lz, NMS__TPU_ABSENT) };
  nms_lazy_shape shape = nms_lazy_shape_of (s->lz, x);

  if (s->boxes == s->positions || !shape.rank)
    return x;
  shape.dims[shape.rank - 1] = s->positions;
  return nms__append (s->lz, NMS__PAD, shape, 2, operands, 0, 0);
}

/* Pads the fields of a kernel that ranks or searches the boxes. */
static void
pad_fields (Stack *s)
{
  for (int f = 0; f < s->fields; f++) {
    s->field[f] = padded (s, by_image (s, s->field[f], s->boxes));
    if (s->images == 1 && s->layout->rows == 1)
      s->field[f] = matrix (s, s->field[f], 1, s->positions);
  }
}

/* Pads the fields as rows of one matrix, sorts them by rank, replaces the keys by indices, -1 for
 * absent boxes, and cuts each field in tiles, one in each row. */
static void
sort_fields (Stack *s)
{
  const int32_t dims[] = { s->images, s->positions };
  tensor *key = &s->field[NMS__TPU_KEY], all;

  for (int f = 0; f < s->fields; f++)
    s->field[f] = matrix (s, s->field[f], s->images, s->boxes);
  all = padded (s, nms_lazy_concatenate (s->lz, (size_t) s->fields, s->field, 0));
  for (int32_t f = 0; f < s->fields; f++) {
    const tensor from[] = { nms_lazy_s32 (s->lz, f * s->images), nms_lazy_s32 (s->lz, 0) };
    s->field[f] = by_image (s, nms_lazy_slice (s->lz, all, from, dims), s->positions);
  }
  const tensor index = nms__lazy_sort (s->lz, (size_t) s->fields, s->field, NMS__TPU_KEY);
  *key = nms_lazy_select (s->lz,
      nms_lazy_binary (s->lz, NMS_LAZY_EQ, *key, nms_lazy_s32 (s->lz, NMS__TPU_ABSENT)),
      nms_lazy_s32 (s->lz, -1), index);
  for (int f = 0; f < s->fields; f++)
    s->field[f] = matrix (s, s->field[f], s->images * s->layout->rows, LANES);
}

/* Returns the fields one after another along their last axis or, of vectors and of single rows,
 * along the first one, as rows of 128. Rows that the kernel does not read complete them. */
static tensor
joined (const Stack *s)
{
  const nms_lazy_shape shape = nms_lazy_shape_of (s->lz, s->field[0]);
  const int32_t all = nms__tpu_input_rows (s->layout, 0), rows = shape.dims[0];
  const int axis = shape.rank == 2 && rows > 1;
  tensor part[] = { nms_lazy_concatenate (s->lz, (size_t) s->fields, s->field, axis), 0 };

  if (axis) {
    const int32_t rest[] = { rows, all / rows * LANES - s->fields * shape.dims[1] };
    if (rest[1])
      part[1] = nms_lazy_broadcast (s->lz, nms_lazy_s32 (s->lz, NMS__TPU_ABSENT), 2, rest, 0);
  }
  return matrix (s, nms_lazy_concatenate (s->lz, part[1] ? 2 : 1, part, axis), all, LANES);
}

/* Returns `data` in base64, as a new string. */
static char *
base64 (const char *data)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t length = strlen (data);
  char *text = malloc ((length + 2) / 3 * 4 + 1), *out = text;

  for (size_t i = 0; text && i < length; i += 3) {
    unsigned left = length - i < 3 ? (unsigned) (length - i) : 3, word = 0;
    for (unsigned k = 0; k < 3; k++)
      word = word << 8 | (k < left ? (unsigned char) data[i + k] : 0);
    for (unsigned k = 0; k < 4; k++)
      *out++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  if (text)
    *out = '\0';
  return text;
}

/* Returns the configuration of the custom call, for free (); NULL when out of memory. */
static char *
configuration (const char *kernel, size_t memory)
{
  nms__tpu m = { .text = NULL };
  char *body = base64 (kernel);

  m.failed = !body;
  nms__tpu_print (&m,
      "{\\22custom_call_config\\22: {\\22body\\22: \\22%s\\22, "
      "\\22needs_layout_passes\\22: true}",
      body);
  free (body);
  if (memory != NMS__TPU_MEMORY)
    nms__tpu_print (&m,
        ", \\22scoped_memory_configs\\22: [{\\22memory_space\\22: 1, \\22offset\\22: 0, "
        "\\22size\\22: %zu}]",
        memory);
  nms__tpu_print (&m, "}");
  return m.text;
}

/* Sets the fields to the bits of the columns that there are. */
static void
set_fields (Stack *s, const nms__tpu_columns *c)
{
  const tensor columns[] = { c->x1, c->y1, c->x2, c->y2, c->key, c->class_id, c->limit[0],
    c->limit[1], c->limit[2], c->class_most, c->parent };

  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (columns[i])
      s->field[s->fields++] = nms_lazy_shape_of (s->lz, columns[i]).type == NMS_LAZY_F32
          ? nms_lazy_unary (s->lz, NMS_LAZY_AS_S32, columns[i])
          : columns[i];
}

tensor
nms__tpu_graph (nms_lazy *lz, const nms__tpu_spec *spec, const nms__tpu_layout *layout,
    const nms__tpu_columns *columns, const char *kernel, size_t memory)
{
  Stack s = { lz, layout, layout->images, spec->boxes, layout->positions, 0, { 0 } };
  const int32_t rows = layout->picks.rows * layout->images, cut[] = { s.images, spec->picks };
  const nms_lazy_shape shape = { NMS_LAZY_S32, 2, { rows, LANES } };
  const tensor from[] = { nms_lazy_s32 (lz, 0), nms_lazy_s32 (lz, 0) };

  lz->kernel = configuration (kernel, memory);
  if (!lz->kernel)
    return nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a kernel's text");
  set_fields (&s, columns);
  if (layout->window)
    sort_fields (&s);
  else
    pad_fields (&s);
  const tensor stack = joined (&s),
               in[] = { stack, layout->window ? stack : columns->parameters, columns->parameters };
  const tensor call = nms__append (lz, NMS__KERNEL, shape, layout->input_count, in, 0, 0);
  return nms_lazy_slice (lz, by_image (&s, call, layout->picks.rows * LANES), from,
      s.images > 1 ? cut : cut + 1);
}
