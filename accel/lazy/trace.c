/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace: collects the recorded operations that a read depends on: the inputs in the order in
 * which they were recorded, then the others in the order of a search from the tensors
 * read, so that the same work has the same bytes whenever its parts were recorded. The
 * cache finds a trace by the hash of its bytes and then compares all bytes.
 */
#include "lazynodes.h"

/* Marks the operations that wanted ones depend on. Operands come before the operations
 * that use them, so one pass backwards finds all. At an END the whole loop is marked,
 * because the distances between its nodes must not change. */
void
nms__mark (nms_lazy *lz)
{
  nms__operation *all = lz->operations;

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

/* Sets buffer i to the value of an input, or to the value that an output will have. */
static void
add_buffer (nms_lazy *lz, size_t i, const nms__operation *r)
{
  lz->ids[i] = r->id;
  lz->residents[i] = r->resident;
  lz->buffers[i] = (nms_lazy_buffer) { r->node.shape, r->value,
    nms__cache_is_resident (lz->cache) ? &lz->residents[i] : NULL };
}

/* Appends an operation whose operands are in the trace. */
static void
append (nms_lazy *lz, nms__trace *t, int32_t i)
{
  nms__operation *r = &lz->operations[i];
  nms__node *n = &lz->nodes[t->count];

  *n = r->node;
  for (int32_t k = 0; k < n->count; k++)
    n->operand[k] = lz->operations[n->operand[k]].number;
  if (n->op == NMS__INPUT) {
    n->attr[0] = (int32_t) t->input_count;
    add_buffer (lz, t->input_count++, r);
  }
  r->number = (int32_t) t->count++;
}

/* Appends an operation after those that it depends on. The nodes of a loop remain in their
 * order, because their distances are attributes. */
static void
collect (nms_lazy *lz, nms__trace *t, int32_t i)
{
  const nms__node *n = &lz->operations[i].node;
  const int is_result = n->op == NMS__RESULT;
  const int32_t last = is_result ? n->operand[1] : i;
  const int32_t first = is_result ? last - lz->operations[last].node.attr[0] : i;

  if (lz->operations[i].number >= 0)
    return;
  if (lz->operations[first].number < 0)
    for (int32_t k = first; k <= last; k++)
      for (int32_t o = 0; o < lz->operations[k].node.count; o++)
        if (lz->operations[k].node.operand[o] < first)
          collect (lz, t, lz->operations[k].node.operand[o]);
  for (int32_t k = first; k <= last && is_result && lz->operations[last].number < 0; k++)
    append (lz, t, k);
  append (lz, t, i);
}

nms__trace
nms__trace_of (nms_lazy *lz)
{
  nms__trace t = { .nodes = lz->nodes, .in = lz->buffers, .kernel = lz->kernel };
  const uint32_t *words = (const uint32_t *) lz->nodes;

  nms__mark (lz);
  for (int32_t i = 0; i < lz->count; i++) {
    lz->operations[i].number = -1;
    if (lz->operations[i].wanted && lz->operations[i].node.op == NMS__INPUT)
      append (lz, &t, i);
  }
  for (int32_t i = 0; i < lz->count; i++)
    if (lz->operations[i].wanted & NMS__WANTED)
      collect (lz, &t, i);
  t.out = lz->buffers + t.input_count;
  for (int32_t i = 0; i < lz->count; i++) {
    nms__operation *r = &lz->operations[i];
    if (r->wanted & NMS__WANTED) {
      lz->nodes[t.count++] = (nms__node) { .op = NMS__OUTPUT,
        .shape = r->node.shape,
        .count = 1,
        .operand = { r->number },
        .attr = { (int32_t) t.output_count } };
      add_buffer (lz, t.input_count + t.output_count++, r);
    }
  }
  for (size_t i = 0; i < t.count * sizeof *t.nodes / sizeof *words; i++) {
    t.hash = (t.hash ^ words[i]) * 0xff51afd7ed558ccdu;
    t.hash ^= t.hash >> 32;
  }
  return t;
}
