/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * eager: interprets a trace, one operation after the other; a loop is a jump
 * back. Values are 32 bits an element, PRED too. They lie in one block of
 * memory, in places that are taken again when the last use of a value is over.
 */
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

typedef struct value {
  const uint32_t *at;
  size_t words, place; /* room; where in the block */
  size_t last;         /* the last node that uses it */
} value;

typedef struct place {
  size_t words, offset, until;
} place;

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

/* An input that is used where it lies. */
static int
is_given (const nms__node *n)
{
  return n->op == NMS__INPUT && n->shape.type != NMS_LAZY_PRED;
}

/* ------------------------------------------------------------------ memory */

static void
find_last_uses (const nms__trace *t, value *v)
{
  for (size_t i = 0; i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    v[i].last = i;
    for (int k = 0; k < n->count; k++)
      v[n->operand[k]].last = i;
    if (n->op != NMS__END)
      continue;
    /* its operations run again and again: what they use from before it, and
     * its states, next ones too, are needed all the time */
    const size_t loop = i - (size_t) n->attr[0], count = (size_t) t->nodes[loop].attr[0];
    for (size_t k = 0; k < loop; k++)
      if (v[k].last > loop)
        v[k].last = i;
    for (size_t k = 0; k < count; k++)
      v[loop + 1 + k].last = v[i - count + k].last = i;
  }
}

/* Gives each value a place: the most recent that is free and of its size, or a
 * new one. Returns the words of all places. */
static size_t
place_all (const nms__trace *t, value *v, place *places)
{
  size_t count = 0, words = 0;

  for (size_t i = 0; i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    size_t p = count;
    v[i].words = nms_lazy_shape_elements (&n->shape);
    if (n->op == NMS__REDUCE) /* partial results behind it: halves, quarters, ... */
      v[i].words += 2 * nms_lazy_shape_elements (&t->nodes[n->operand[0]].shape);
    while (p > 0 && (places[p - 1].words != v[i].words || places[p - 1].until >= i))
      p--;
    if (!p) {
      places[count++] = (place){ .words = v[i].words, .offset = words };
      words += v[i].words;
      p = count;
    }
    places[p - 1].until = v[i].last;
    v[i].place = places[p - 1].offset;
  }
  return words;
}

/* -------------------------------------------------------------- operations */

/* result[i][j] = from[i * row + j * column] */
static void
copy (uint32_t *restrict result, size_t result_row, const uint32_t *from, size_t row,
    size_t column, const nms_lazy_shape *s)
{
  for (size_t i = 0; i < rows (s); i++, result += result_row, from += row) {
    const uint32_t first = *from;
    for (size_t j = 0; j < columns (s); j++)
      result[j] = column ? from[j * column] : first;
  }
}

/* The offset of run-time starts, moved so that `part` lies in `whole`. */
static size_t
start (const nms__node *n, const value *v, int first, const nms_lazy_shape *whole,
    const nms_lazy_shape *part)
{
  size_t offset = 0;

  for (int i = 0; i < whole->rank; i++) {
    const int32_t at = (int32_t) *v[n->operand[first + i]].at;
    const int32_t most = whole->dims[i] - part->dims[i];
    offset = offset * (size_t) whole->dims[i] + (size_t) (at < 0 ? 0 : at > most ? most : at);
  }
  return offset;
}

/* Halves combined with halves, until one is left; an odd one in the middle
 * counts twice, which changes nothing. */
static void
run_reduce (const nms__node *n, const nms_lazy_shape *s, const uint32_t *from, uint32_t *result)
{
  const int along_rows = n->attr[1] == 0 && s->rank == 2;
  const size_t inner = along_rows ? columns (s) : 1, extent = along_rows ? rows (s) : columns (s);
  const size_t outer = nms_lazy_shape_elements (s) / (inner * extent);
  nms__kernel *kernel = nms__infos[n->attr[0]].kernel[s->type != NMS_LAZY_F32];
  uint32_t *const scratch = result + outer * inner;

  for (size_t o = 0; o < outer; o++, result += inner) {
    const uint32_t *part = from + o * extent * inner;
    uint32_t *to = scratch;
    for (size_t count = extent, half; count > 1; count = half) {
      half = (count + 1) / 2;
      kernel (half * inner, to, part, part + (count - half) * inner, part);
      part = to;
      to += half * inner;
    }
    memcpy (result, part, inner * sizeof *result);
  }
}

static void
write_output (const nms_lazy_buffer *out, const uint32_t *from)
{
  uint8_t *flags = out->data;

  if (out->shape.type != NMS_LAZY_PRED)
    memcpy (out->data, from, nms_lazy_shape_bytes (&out->shape));
  else
    for (size_t i = 0; i < nms_lazy_shape_elements (&out->shape); i++)
      flags[i] = (uint8_t) from[i];
}

static void
run_node (const nms__trace *t, const nms__node *n, const value *v, uint32_t *result)
{
  const int32_t of = n->count ? n->operand[0] : 0;
  const nms_lazy_shape *a = &t->nodes[of].shape, *s = &n->shape;
  const uint32_t *from = v[of].at;
  const size_t count = nms_lazy_shape_elements (s);
  nms__kernel *const kernel = nms__infos[n->op].kernel[a->type != NMS_LAZY_F32];

  switch (n->op) {
  case NMS__INPUT: /* a PRED */
    for (size_t i = 0; i < count; i++)
      result[i] = ((const uint8_t *) t->in[n->attr[0]].data)[i];
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
    copy (result, columns (s), from, 1, columns (a), s);
    break;
  case NMS__SLICE:
    copy (result, columns (s), from + start (n, v, 1, a, s), columns (a), 1, s);
    break;
  case NMS__UPDATE:
    a = &t->nodes[n->operand[1]].shape;
    memcpy (result, from, count * sizeof *result);
    copy (result + start (n, v, 2, s, a), columns (s), v[n->operand[1]].at, columns (a), 1, a);
    break;
  case NMS__REDUCE:
    run_reduce (n, a, from, result);
    break;
  case NMS__BARRIER:
  case NMS__RESHAPE:
  case NMS__STATE:
  case NMS__NEXT:
  case NMS__RESULT:
    memcpy (result, from, count * sizeof *result);
    break;
  case NMS__OUTPUT:
    write_output (&t->out[n->attr[0]], from);
    break;
  default:
    kernel (count, result, from, v[n->operand[n->count > 1]].at, v[n->operand[n->count - 1]].at);
  }
}

static void
run_all (const nms__trace *t, const value *v, uint32_t *block)
{
  for (size_t i = 0; i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    if (n->op == NMS__COND && !*v[n->operand[0]].at) {
      i += (size_t) n->attr[1];
    } else if (n->op == NMS__END) {
      const size_t loop = i - (size_t) n->attr[0], count = (size_t) t->nodes[loop].attr[0];
      for (size_t k = 0; k < count; k++)
        memcpy (block + v[loop + 1 + k].place, v[i - count + k].at,
            v[loop + 1 + k].words * sizeof *block);
      i = loop + count;
    } else if (n->op != NMS__COND && n->op != NMS__WHILE && n->op != NMS__CONSTANT
        && !is_given (n)) {
      run_node (t, n, v, block + v[i].place);
    }
  }
}

int
nms__eager_run (const nms__trace *t)
{
  value *v = calloc (t->count, sizeof *v);
  place *places = calloc (t->count, sizeof *places);
  uint32_t *block = NULL;

  if (v && places) {
    find_last_uses (t, v);
    block = malloc (place_all (t, v, places) * sizeof *block);
  }
  for (size_t i = 0; block && i < t->count; i++) {
    const nms__node *n = &t->nodes[i];
    v[i].at = n->op == NMS__CONSTANT ? (const uint32_t *) &n->attr[0]
        : is_given (n) ? t->in[n->attr[0]].data : block + v[i].place;
  }
  if (block)
    run_all (t, v, block);
  free (block);
  free (places);
  free (v);
  return block ? NMS_OK : NMS_ERROR_MEMORY;
}
