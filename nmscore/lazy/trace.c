/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace: cuts out of the recorded operations those that a read depends on and
 * renumbers them, so that the same work has the same bytes wherever in a frame
 * it was recorded. The bytes are hashed to be found and compared to be sure.
 */
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

/* What is reached, from the last operation back: operands come before their
 * users, but for a loop's functions, which come before its results. A loop is
 * taken whole. */
static void
mark (const nms_lazy *lz, uint32_t *number)
{
  const nms__recorded *all = lz->recorded.data;
  const uint32_t *operands = lz->operands.data;
  uint32_t loop_begin = UINT32_MAX;

  for (size_t i = 0; i < lz->wanted.count; i++)
    number[((uint32_t *) lz->wanted.data)[i]] = 1;
  for (uint32_t i = (uint32_t) lz->recorded.count; i-- > 0;) {
    const nms__node *n = &all[i].node;
    if (loop_begin != UINT32_MAX && i >= loop_begin)
      number[i] = 1;
    if (!number[i])
      continue;
    if (n->op == NMS__RESULT && (loop_begin == UINT32_MAX || i < loop_begin))
      loop_begin = operands[n->first];
    for (uint32_t k = 0; k < n->count; k++)
      number[operands[n->first + k]] = 1;
  }
}

static int
append (nms__array *array, const void *data, size_t count, size_t size)
{
  void *room = nms__array_room (array, count, size);
  if (room && count)
    memcpy (room, data, count * size);
  array->count += room ? count : 0;
  return room != NULL;
}

/* Operation `from`, whose operands have their numbers, to the trace. */
static int
take (nms_lazy *lz, const nms__recorded *from, const uint32_t *number)
{
  nms__trace *t = &lz->trace;
  const uint32_t *operands = (uint32_t *) lz->operands.data + from->node.first;
  nms__node n = from->node;
  int ok = 1;

  n.first = (uint32_t) t->operands.count;
  for (uint32_t k = 0; k < n.count; k++) {
    uint32_t operand = number[operands[k]] - 1;
    ok &= append (&t->operands, &operand, 1, sizeof operand);
  }
  if (n.op == NMS__INPUT) {
    nms_lazy_buffer input = { n.shape, from->value };
    n.attr[0] = (int32_t) t->input_count++;
    ok &= append (&lz->inputs, &input, 1, sizeof input);
  } else if (n.op == NMS__CONSTANT) {
    n.attr[0] = (int32_t) t->bytes.count;
    ok &= append (&t->bytes, (char *) lz->bytes.data + from->node.attr[0],
        (size_t) n.attr[1], 1);
  } else if (n.op == NMS__WHILE) {
    /* a loop is taken whole, so that its nodes keep their distances */
    n.attr[1] += (int32_t) t->nodes.count - (int32_t) (from - (nms__recorded *) lz->recorded.data);
    n.attr[2] += (int32_t) t->nodes.count - (int32_t) (from - (nms__recorded *) lz->recorded.data);
  }
  return ok && append (&t->nodes, &n, 1, sizeof n);
}

static uint64_t
mix (uint64_t hash, const void *data, size_t bytes)
{
  const unsigned char *p = data;

  hash = (hash ^ bytes) * 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < bytes; i += sizeof (uint64_t)) {
    uint64_t word = 0;
    memcpy (&word, p + i, bytes - i < sizeof word ? bytes - i : sizeof word);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

typedef struct part {
  const nms__array *array;
  size_t size;
} part;

#define PARTS 4

static void
parts_of (const nms__trace *t, part parts[PARTS])
{
  parts[0] = (part){ &t->nodes, sizeof (nms__node) };
  parts[1] = (part){ &t->operands, sizeof (uint32_t) };
  parts[2] = (part){ &t->outputs, sizeof (uint32_t) };
  parts[3] = (part){ &t->bytes, 1 };
}

int
nms__trace_build (nms_lazy *lz)
{
  nms__trace *t = &lz->trace;
  const nms__recorded *all = lz->recorded.data;
  part parts[PARTS];
  uint32_t *number;
  int ok;

  t->nodes.count = t->operands.count = t->outputs.count = t->bytes.count = 0;
  t->input_count = 0;
  t->hash = 0;
  lz->inputs.count = lz->numbers.count = 0;
  number = nms__array_room (&lz->numbers, lz->recorded.count, sizeof *number);
  ok = number != NULL;
  if (ok) {
    memset (number, 0, lz->recorded.count * sizeof *number);
    mark (lz, number);
  }
  for (size_t i = 0; i < lz->recorded.count && ok; i++)
    if (number[i]) {
      number[i] = (uint32_t) t->nodes.count + 1;
      ok = take (lz, &all[i], number);
    }
  for (size_t i = 0; i < lz->wanted.count && ok; i++) {
    uint32_t output = number[((uint32_t *) lz->wanted.data)[i]] - 1;
    ok = append (&t->outputs, &output, 1, sizeof output);
  }
  if (!ok || !nms__array_room (&lz->inputs, 1, sizeof (nms_lazy_buffer))) {
    nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a trace");
    return NMS_ERROR_MEMORY;
  }
  parts_of (t, parts);
  for (int i = 0; i < PARTS; i++)
    t->hash = mix (t->hash, parts[i].array->data, parts[i].array->count * parts[i].size);
  return NMS_OK;
}

int
nms__trace_equal (const nms__trace *a, const nms__trace *b)
{
  part pa[PARTS], pb[PARTS];
  int equal = a->input_count == b->input_count;

  parts_of (a, pa);
  parts_of (b, pb);
  for (int i = 0; i < PARTS && equal; i++)
    equal = pa[i].array->count == pb[i].array->count
        && (!pa[i].array->count
            || !memcmp (pa[i].array->data, pb[i].array->data, pa[i].array->count * pa[i].size));
  return equal;
}

int
nms__trace_copy (nms__trace *to, const nms__trace *from)
{
  memset (to, 0, sizeof *to);
  to->input_count = from->input_count;
  to->hash = from->hash;
  if (append (&to->nodes, from->nodes.data, from->nodes.count, sizeof (nms__node))
      && append (&to->operands, from->operands.data, from->operands.count, sizeof (uint32_t))
      && append (&to->outputs, from->outputs.data, from->outputs.count, sizeof (uint32_t))
      && append (&to->bytes, from->bytes.data, from->bytes.count, 1))
    return 1;
  nms__trace_clear (to);
  return 0;
}

void
nms__trace_clear (nms__trace *trace)
{
  free (trace->nodes.data);
  free (trace->operands.data);
  free (trace->outputs.data);
  free (trace->bytes.data);
  memset (trace, 0, sizeof *trace);
}
