/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace: collects the recorded operations that a read depends on and renumbers them,
 * so that the same work has the same bytes wherever in a frame it was recorded. The
 * cache finds a trace by the hash of its bytes and then compares all bytes.
 */
#include "lazynodes.h"

/* Marks the operations that wanted ones depend on. Operands come before the operations
 * that use them, so one pass backwards finds all. At an END the whole loop is marked,
 * because the distances between its nodes must not change. */
void
nms__mark (nms_lazy *lz)
{
  nms__recorded *all = lz->recorded;

  for (int32_t i = lz->count; i-- > 0;) {
    const nms__node *n = &all[i].node;
    if (!all[i].wanted)
      continue;
    for (int32_t k = 1; n->op == NMS__END && k <= n->attr[0]; k++)
      all[i - k].wanted |= 1;
    for (int32_t k = 0; k < n->count; k++)
      all[n->operand[k]].wanted |= 1;
  }
}

nms__trace
nms__trace_of (nms_lazy *lz)
{
  nms__trace t = { .nodes = lz->nodes, .in = lz->buffers };
  const uint32_t *words = (const uint32_t *) lz->nodes;
  const int resident = nms__cache_is_resident (lz->cache);

  nms__mark (lz);
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
      lz->buffers[t.input_count++] = (nms_lazy_buffer){ n->shape, r->value,
        resident ? &r->resident : NULL };
    }
    r->number = (int32_t) t.count++;
  }
  t.out = lz->buffers + t.input_count;
  for (int32_t i = 0; i < lz->count; i++) {
    nms__recorded *r = &lz->recorded[i];
    if (r->wanted & NMS__WANTED) {
      lz->nodes[t.count++] = (nms__node){ .op = NMS__OUTPUT, .shape = r->node.shape, .count = 1,
        .operand = { r->number }, .attr = { (int32_t) t.output_count } };
      t.out[t.output_count++] = (nms_lazy_buffer){ r->node.shape, NULL,
        resident ? &r->resident : NULL };
    }
  }
  for (size_t i = 0; i < t.count * sizeof *t.nodes / sizeof *words; i++) {
    t.hash = (t.hash ^ words[i]) * 0xff51afd7ed558ccdu;
    t.hash ^= t.hash >> 32;
  }
  return t;
}
