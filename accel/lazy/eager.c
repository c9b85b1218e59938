/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * eager: interprets a trace, one operation after the other. A loop is a jump back.
 * Every element has 32 bits, also a PRED, and every value has its own memory.
 */
#include "lazynodes.h"

#include "nmscore/fpmode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the extents of a shape as a matrix. */
static size_t
rows (const nms_lazy_shape *s)
{
  return s->rank == 2 ? (size_t) s->dims[0] : 1;
}

static size_t
columns (const nms_lazy_shape *s)
{
  return s->rank ? (size_t) s->dims[s->rank - 1] : 1;
}

/* Copies result[i][j] = from[i * row + j * column]. */
static void
copy (uint32_t *restrict result, size_t result_row, const uint32_t *from, ptrdiff_t row,
    ptrdiff_t column, const nms_lazy_shape *s)
{
  for (size_t i = 0; i < rows (s); i++, result += result_row) {
    const uint32_t *const first = from + (ptrdiff_t) i * row;
    for (size_t j = 0; j < columns (s); j++)
      result[j] = column ? first[(ptrdiff_t) j * column] : *first;
  }
}

/* Copies every step-th row and column; with a negative step from the last one backwards. */
static void
stride (const nms__node *n, const nms_lazy_shape *a, const uint32_t *from, uint32_t *result)
{
  const ptrdiff_t width = (ptrdiff_t) columns (a), column = n->attr[a->rank == 2];
  const ptrdiff_t row = a->rank == 2 ? n->attr[0] : 1;

  from += row < 0 ? ((ptrdiff_t) rows (a) - 1) * width : 0;
  from += column < 0 ? width - 1 : 0;
  copy (result, columns (&n->shape), from, row * width, column, &n->shape);
}

/* Copies the parts into the result, each after the one before it along the axis. */
static void
concatenate (const nms__trace *t, const nms__node *n, uint32_t *const *at, uint32_t *result)
{
  for (int k = 0; k < n->count; k++) {
    const nms_lazy_shape *part = &t->nodes[n->operand[k]].shape;
    const size_t width = columns (part);
    const int is_side = n->attr[0] == n->shape.rank - 1;
    copy (result, columns (&n->shape), at[n->operand[k]], (ptrdiff_t) width, 1, part);
    result += is_side ? width : rows (part) * width;
  }
}

/* Returns the offset of the slice `part` in `whole`. A start that is too small or too large is
 * clamped, so that the slice lies in `whole`. */
static size_t
start (const nms__node *n, uint32_t *const *at, int first, const nms_lazy_shape *whole,
    const nms_lazy_shape *part)
{
  size_t offset = 0;

  for (int i = 0; i < whole->rank; i++) {
    const int32_t from = (int32_t) *at[n->operand[first + i]];
    const int32_t most = whole->dims[i] - part->dims[i];
    offset *= (size_t) whole->dims[i];
    offset += (size_t) (from < 0 ? 0 : from > most ? most : from);
  }
  return offset;
}

/* Combines the two halves of the elements until one is left. With an odd count the
 * middle element is in both halves, which changes no result. */
static void
reduce (const nms__node *n, const nms_lazy_shape *s, const uint32_t *from, uint32_t *result)
{
  const int along_rows = n->attr[1] == 0 && s->rank == 2;
  const size_t inner = along_rows ? columns (s) : 1, extent = along_rows ? rows (s) : columns (s);
  const size_t outer = nms_lazy_shape_elements (s) / (inner * extent);
  nms__compute *compute = nms__infos[n->attr[0]].compute[s->type != NMS_LAZY_F32];
  uint32_t *const scratch = result + outer * inner;

  for (size_t o = 0; o < outer; o++, result += inner, from += extent * inner) {
    const uint32_t *part = from;
    uint32_t *to = scratch;
    for (size_t count = extent, half; count > 1; count = half) {
      half = (count + 1) / 2;
      compute (half * inner, to, part, part + (count - half) * inner, part);
      part = to;
      to += half * inner;
    }
    memcpy (result, part, inner * sizeof *result);
  }
}

/* The high halves of a key make a number that ascends with it, and the lower halves keep
 * the order of equal keys. */
static int
by_number (const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return x < y ? -1 : x > y;
}

/* Sorts 0, 1, 2, ... of each row by descending key. `result` has memory for 2 * count + 1 words
 * more, where `count` is the number of all keys. */
static void
sort (const nms_lazy_shape *s, size_t count, const uint32_t *keys, uint32_t *result)
{
  uint64_t *const pairs = (uint64_t *) (((uintptr_t) (result + count) + 7) & ~(uintptr_t) 7);
  const size_t width = columns (s);

  for (size_t first = 0; first < count; first += width) {
    for (size_t i = 0; i < width; i++)
      pairs[i] = (uint64_t) (keys[first + i] ^ 0x7fffffffu) << 32 | i;
    qsort (pairs, width, sizeof *pairs, by_number);
    for (size_t i = 0; i < width; i++)
      result[first + i] = (uint32_t) pairs[i];
  }
}

/* Copies rows[index[i]], of `width` words each, to row i of the result. */
static void
take (const nms_lazy_shape *rows_shape, const uint32_t *from, size_t count, const uint32_t *index,
    uint32_t *result)
{
  const int32_t last = rows_shape->dims[0] - 1;
  const size_t width = rows_shape->rank == 2 ? columns (rows_shape) : 1;

  for (size_t i = 0; i < count; i++) {
    const int32_t at = (int32_t) index[i];
    const int32_t row = at < 0 ? 0 : at > last ? last : at;
    memcpy (result + i * width, from + (size_t) row * width, width * sizeof *result);
  }
}

/* Reads an input whose elements have fewer than 32 bits: a PRED, or a BF16 as the float
 * that has its value. */
static void
widen (const nms_lazy_buffer *in, size_t count, uint32_t *result)
{
  const uint8_t *flags = in->data;
  const uint16_t *halves = in->data;

  for (size_t i = 0; i < count; i++)
    result[i] = in->shape.type == NMS_LAZY_PRED ? flags[i] : (uint32_t) halves[i] << 16;
}

static void
run_node (const nms__trace *t, const nms__node *n, uint32_t *const *at, uint32_t *result)
{
  const int32_t of = n->count ? n->operand[0] : 0;
  const nms_lazy_shape *a = &t->nodes[of].shape, *s = &n->shape;
  const size_t count = nms_lazy_shape_elements (s);
  const uint32_t *from = at[of];
  uint8_t *flags;

  switch (n->op) {
    case NMS__INPUT:
      if (s->type == NMS_LAZY_PRED || s->type == NMS_LAZY_BF16)
        widen (&t->in[n->attr[0]], count, result);
      break;
    case NMS__OUTPUT:
      flags = t->out[n->attr[0]].data;
      for (size_t i = 0; s->type == NMS_LAZY_PRED && i < count; i++)
        flags[i] = (uint8_t) from[i];
      if (s->type != NMS_LAZY_PRED)
        memcpy (flags, from, nms_lazy_shape_bytes (s));
      break;
    case NMS__STATE:
    case NMS__NEXT:
      memcpy (result, from, count * sizeof *result);
      break;
    case NMS__IOTA:
      for (size_t i = 0; i < count; i++)
        result[i] = (uint32_t) (n->attr[0] == s->rank - 1 ? i % columns (s) : i / columns (s));
      break;
    case NMS__BROADCAST:
      copy (result, columns (s), from, a->rank && n->attr[0] < s->rank - 1,
          a->rank && n->attr[0] == s->rank - 1, s);
      break;
    case NMS__TRANSPOSE:
      copy (result, columns (s), from, 1, (ptrdiff_t) columns (a), s);
      break;
    case NMS__SLICE:
      copy (result, columns (s), from + start (n, at, 1, a, s), (ptrdiff_t) columns (a), 1, s);
      break;
    case NMS__UPDATE:
      a = &t->nodes[n->operand[1]].shape;
      memcpy (result, from, count * sizeof *result);
      copy (result + start (n, at, 2, s, a), columns (s), at[n->operand[1]],
          (ptrdiff_t) columns (a), 1, a);
      break;
    case NMS__REDUCE:
      reduce (n, a, from, result);
      break;
    case NMS__SORT:
      sort (s, count, from, result);
      break;
    case NMS__TAKE:
      take (a, from, (size_t) s->dims[0], at[n->operand[1]], result);
      break;
    case NMS__CONCATENATE:
      concatenate (t, n, at, result);
      break;
    case NMS__REVERSE:
    case NMS__STRIDE:
      stride (n, a, from, result);
      break;
    default:
      if (nms__infos[n->op].operands)
        nms__infos[n->op].compute[a->type != NMS_LAZY_F32](count, result, from,
            at[n->operand[n->count > 1]], at[n->operand[n->count - 1]]);
  }
}

static void
run_all (const nms__trace *t, uint32_t *const *at)
{
  for (size_t i = 0; i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    if (n->op == NMS__COND) {
      i += *at[n->operand[0]] ? 0 : (size_t) n->attr[1];
    } else if (n->op == NMS__END) {
      const size_t loop = i - (size_t) n->attr[0], count = (size_t) t->nodes[loop].attr[0];
      for (size_t k = 1; k <= count; k++)
        memcpy (at[loop + k], at[i - count - 1 + k],
            nms_lazy_shape_elements (&t->nodes[loop + k].shape) * sizeof **at);
      i = loop + count;
    } else {
      run_node (t, n, at, at[i]);
    }
  }
}

/* Sets the address of each value. A constant, an input, or a value that equals an operand
 * uses the memory of that; any other gets a part of `block`. Returns the number of words of
 * `block`. With `block` NULL it only counts them. */
static size_t
set_memory (const nms__trace *t, uint32_t **at, uint32_t *block)
{
  size_t words = 0;

  for (size_t i = 0; i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    if (n->op == NMS__CONSTANT) {
      at[i] = (uint32_t *) n->attr;
    } else if (n->op == NMS__INPUT && n->shape.type <= NMS_LAZY_S32) {
      at[i] = t->in[n->attr[0]].data;
    } else if (n->op == NMS__RESHAPE || n->op == NMS__BARRIER || n->op == NMS__RESULT) {
      at[i] = at[n->operand[0]];
    } else {
      at[i] = block ? block + words : NULL;
      words += nms_lazy_shape_elements (&n->shape);
      if (n->op == NMS__REDUCE) /* memory for halves, quarters, ... */
        words += 2 * nms_lazy_shape_elements (&t->nodes[n->operand[0]].shape);
      if (n->op == NMS__SORT) /* memory for pairs */
        words += 2 * nms_lazy_shape_elements (&n->shape) + 1;
    }
  }
  return words;
}

int
nms__eager_run (const nms__trace *t, char *error, size_t error_size)
{
  const nms__fpmode mode = nms__fpmode_enter ();
  uint32_t **at = calloc (t->count, sizeof *at);
  uint32_t *block = at ? malloc (set_memory (t, at, NULL) * sizeof *block) : NULL;

  if (block) {
    set_memory (t, at, block);
    run_all (t, at);
  } else {
    snprintf (error, error_size, "out of memory for the values of a program");
  }
  nms__fpmode_leave (mode);
  free (block);
  free (at);
  return block ? NMS_OK : NMS_ERROR_MEMORY;
}
