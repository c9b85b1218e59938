/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace: cuts out of the recorded operations those that a read depends on and
 * renumbers them, so that the same work has the same bytes wherever in a frame
 * it was recorded. The bytes are hashed to be found and compared to be sure.
 */
#include "lazy.h"

#include <string.h>

/* Operands come before their users, so one way back finds all that is reached.
 * A loop, met at its END, is taken whole: its nodes keep their distances. */
static void
mark (nms_lazy *lz)
{
  nms__recorded *all = lz->recorded;

  for (int32_t i = lz->count; i-- > 0;) {
    const nms__node *n = &all[i].node;
    if (!all[i].wanted)
      continue;
    for (int32_t k = i - n->attr[0]; n->op == NMS__END && k < i; k++)
      all[k].wanted |= 1;
    for (int32_t k = 0; k < n->count; k++)
      all[n->operand[k]].wanted |= 1;
  }
}

static uint64_t
hash (const void *data, size_t bytes)
{
  const unsigned char *p = data;
  uint64_t h = bytes;

  for (size_t i = 0; i < bytes; i += sizeof (uint32_t)) {
    uint32_t word;
    memcpy (&word, p + i, sizeof word);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

nms__trace
nms__trace_of (nms_lazy *lz)
{
  nms__trace t = { .nodes = lz->nodes, .in = lz->buffers };
  nms_lazy_buffer *out;

  mark (lz);
  for (int32_t i = 0; i < lz->count; i++) {
    nms__recorded *r = &lz->recorded[i];
    nms__node *n = &lz->nodes[t.count];
    if (!r->wanted)
      continue;
    *n = r->node;
    for (int32_t k = 0; k < n->count; k++)
      n->operand[k] = lz->recorded[n->operand[k]].number;
    if (n->op == NMS__INPUT) {
      n->attr[0] = (int32_t) t.input_count;
      t.in[t.input_count++] = (nms_lazy_buffer){ n->shape, r->value };
    }
    r->number = (int32_t) t.count++;
  }
  t.out = out = t.in + t.input_count + 1;
  for (int32_t i = 0; i < lz->count; i++) {
    const nms__recorded *r = &lz->recorded[i];
    if (r->wanted & NMS__WANTED) {
      lz->nodes[t.count++] = (nms__node){ .op = NMS__OUTPUT, .shape = r->node.shape, .count = 1,
        .operand = { r->number }, .attr = { (int32_t) t.output_count } };
      out[t.output_count++] = (nms_lazy_buffer){ r->node.shape, NULL };
    }
  }
  t.hash = hash (t.nodes, t.count * sizeof *t.nodes);
  return t;
}
