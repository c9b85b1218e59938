/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operationlist: the operations of a context, at most NMS_LAZY_MAX_OPERATIONS. A table
 * finds an operation that equals a new one, so that common subexpressions are computed
 * once. nms_lazy_keep () frees the operations that the caller no longer needs and moves the
 * others together. Tensors have ids that ascend and never change, so a binary search finds
 * the operation of a tensor.
 */
#include "lazynodes.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the operation with this id, or -1. */
static int32_t
index_of (const nms_lazy *lz, uint64_t id)
{
  int32_t low = 0, high = lz->count;

  /* the ids of operations recorded since the last nms_lazy_keep () have no gaps */
  if (id <= lz->last_id && lz->last_id - id < (uint64_t) lz->count
      && lz->operations[lz->count - 1 - (int32_t) (lz->last_id - id)].id == id)
    return lz->count - 1 - (int32_t) (lz->last_id - id);
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (lz->operations[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < lz->count && lz->operations[low].id == id ? low : -1;
}

nms__operation *
nms__operation_of (nms_lazy *lz, nms_lazy_tensor x)
{
  const int32_t index = (x & ~NMS__ID_MASK) == lz->stamp ? index_of (lz, x & NMS__ID_MASK) : -1;

  if (x == NMS_LAZY_NONE)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "a tensor is NMS_LAZY_NONE");
  else if (index < 0)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT,
        "a tensor is of another context, or of before the last clear, or was not kept");
  else if (lz->operations[index].hidden)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "a tensor of a loop's function is used outside");
  return lz->status ? NULL : &lz->operations[index];
}

nms__operation *
nms__operation_of_id (nms_lazy *lz, uint64_t id)
{
  return &lz->operations[index_of (lz, id)];
}

nms_lazy_shape
nms_lazy_shape_of (nms_lazy *lz, nms_lazy_tensor x)
{
  const nms__operation *r = nms__operation_of (lz, x);
  return r ? r->node.shape : (nms_lazy_shape) { 0 };
}

size_t
nms_lazy_operations (const nms_lazy *lz)
{
  return (size_t) lz->count;
}

/* ------------------------------------------------------- common subexpressions */

/* Returns whether a node like this is recorded only once, because equal nodes have equal values.
 * Equal numbers may change to different ones, so each is recorded; but not inside of loops, whose
 * functions cannot be divided and have to fit. */
static int
is_common (const nms_lazy *lz, const nms__node *n)
{
  const int is_number = n->op == NMS__CONSTANT && n->attr[1] && !lz->depth;
  return n->op < NMS__INPUT || (n->op >= NMS__CONSTANT && n->op <= NMS__WIDEN && !is_number);
}

/* Returns the place in the table of the operation that equals `n`, or the free place for
 * it. A loop's functions that have ended do not count, because their values do not exist
 * outside. */
static int32_t *
place_of (nms_lazy *lz, const nms__node *n)
{
  const uint32_t *words = (const uint32_t *) n;
  uint64_t hash = 0;

  for (size_t i = 0; i < sizeof *n / sizeof *words; i++) {
    hash = (hash ^ words[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  for (;; hash++) {
    int32_t *place = &lz->common[hash % NMS__COMMON];
    const nms__operation *r = &lz->operations[*place ? *place - 1 : 0];
    if (!*place || (!r->hidden && !memcmp (&r->node, n, sizeof *n)))
      return place;
  }
}

nms_lazy_tensor
nms__append (nms_lazy *lz, int op, nms_lazy_shape shape, int count, const nms_lazy_tensor *operands,
    int32_t attr, int32_t second_attr)
{
  nms__node n = { .op = op, .shape = shape, .count = count, .attr = { attr, second_attr } };
  int fixed = op != NMS__INPUT && op != NMS__STATE && op != NMS__RESULT && op != NMS__BARRIER;
  int32_t *place = NULL;

  for (int k = 0; k < count && !lz->status; k++) {
    const nms__operation *r = nms__operation_of (lz, nms__guarded (lz, op, operands[k]));
    n.operand[k] = r ? (int32_t) (r - lz->operations) : 0;
    fixed = fixed && r && r->fixed;
  }
  if (lz->status)
    return NMS_LAZY_NONE;
  if (is_common (lz, &n))
    place = place_of (lz, &n);
  if (place && *place)
    return lz->stamp | lz->operations[*place - 1].id;
  if (lz->count == NMS_LAZY_MAX_OPERATIONS)
    return nms__lazy_fail (lz, NMS_ERROR_RANGE,
        "more than %d operations: read tensors, then "
        "free what is no longer needed (nms_lazy_keep)",
        NMS_LAZY_MAX_OPERATIONS);
  lz->operations[lz->count++] = (nms__operation) { .node = n, .id = ++lz->last_id, .fixed = fixed };
  if (place)
    *place = lz->count;
  return lz->stamp | lz->last_id;
}

/* --------------------------------------------------------------------- freeing */

static void
free_values (nms_lazy *lz, nms__operation *r)
{
  free (r->value);
  nms__cache_free_resident (lz->cache, r->resident);
}

void
nms__operations_free (nms_lazy *lz)
{
  for (int32_t i = 0; i < lz->count; i++)
    free_values (lz, &lz->operations[i]);
  free (lz->kernel);
  lz->kernel = NULL;
  lz->count = 0;
  memset (lz->common, 0, sizeof lz->common);
}

/* Moves the wanted operations together, in their order, and frees the others. Uses the table for
 * their new indices. */
static void
compact (nms_lazy *lz)
{
  const int32_t count = lz->count;

  lz->count = 0;
  for (int32_t i = 0; i < count; i++) {
    nms__operation r = lz->operations[i];
    if (!r.wanted) {
      free_values (lz, &r);
      continue;
    }
    for (int32_t k = 0; k < r.node.count; k++)
      r.node.operand[k] = lz->common[r.node.operand[k]];
    lz->common[i] = lz->count;
    lz->operations[lz->count++] = r;
  }
  memset (lz->common, 0, sizeof lz->common);
  for (int32_t i = 0; i < lz->count; i++)
    if (is_common (lz, &lz->operations[i].node) && !lz->operations[i].hidden)
      *place_of (lz, &lz->operations[i].node) = i + 1;
}

int
nms_lazy_keep (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  if (lz->depth)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms_lazy_keep inside a loop's function");
  else if (count && !tensors)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "no tensors");
  for (int32_t i = 0; i < lz->count; i++)
    lz->operations[i].wanted = lz->operations[i].pending ? NMS__WANTED : 0;
  for (size_t i = 0; i < count && !lz->status; i++) {
    nms__operation *r = nms__operation_of (lz, tensors[i]);
    if (r)
      r->wanted = NMS__WANTED;
  }
  if (lz->status)
    return lz->status;
  nms__operation_of (lz, lz->floor)->wanted = NMS__WANTED;
  nms__mark (lz);
  compact (lz);
  return NMS_OK;
}
