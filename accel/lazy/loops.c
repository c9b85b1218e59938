/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loops: nms_lazy_while, which records each of its functions once. */
#include "lazynodes.h"

#include <string.h>

/* Marks the operations from..to-1 as hidden: operations outside of their loop cannot use
 * them. */
static void
hide (nms_lazy *lz, int32_t from, int32_t to)
{
  for (int32_t i = from; i < to; i++)
    lz->operations[i].hidden = 1;
}

/* Ends a body: checks the shapes of the next states and records them last, directly
 * before the END. */
static nms_lazy_tensor
record_next (nms_lazy *lz, size_t count, const nms_lazy_tensor *state, nms_lazy_tensor *next,
    int32_t loop)
{
  for (size_t i = 0; i < count; i++) {
    const nms_lazy_shape must = nms_lazy_shape_of (lz, state[i]);
    const nms_lazy_shape is = nms_lazy_shape_of (lz, next[i]);
    if (memcmp (&is, &must, sizeof is))
      nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: body changes state %zu from %s to %s", i,
          nms__shape_describe (&must).text, nms__shape_describe (&is).text);
    if (!lz->status)
      next[i] = nms__guarded (lz, NMS__NEXT, next[i]);
  }
  for (size_t i = 0; i < count; i++)
    nms__append (lz, NMS__NEXT, nms_lazy_shape_of (lz, state[i]), 1, &next[i], 0, 0);
  return nms__append (lz, NMS__END, (nms_lazy_shape) { 0 }, 0, NULL, lz->count - loop, 0);
}

void
nms_lazy_while (nms_lazy *lz, size_t count, const nms_lazy_tensor *init, nms_lazy_cond cond,
    nms_lazy_body body, void *user, nms_lazy_tensor *out)
{
  const nms_lazy_shape flag = { .type = NMS_LAZY_PRED }, none = { 0 };
  nms_lazy_tensor state[NMS_LAZY_MAX_STATES], next[NMS_LAZY_MAX_STATES] = { 0 }, go, end;
  nms_lazy_shape shape;
  int32_t loop, middle;

  for (size_t i = 0; i < count && out; i++)
    out[i] = NMS_LAZY_NONE;
  if (!count || count > NMS_LAZY_MAX_STATES || !init || !cond || !body || !out)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: no state, no function, or too many");
  for (size_t i = 0; i < count && !lz->status; i++)
    if (nms__shape_get (lz, NMS__WHILE, init[i], NMS__ANY_TYPE))
      state[i] = nms__guarded (lz, NMS__STATE, init[i]);
  if (lz->status)
    return;
  loop = lz->count;
  nms__append (lz, NMS__WHILE, none, 0, NULL, (int32_t) count, 0);
  for (int32_t i = 0; i < (int32_t) count; i++)
    state[i] = nms__append (lz, NMS__STATE, nms_lazy_shape_of (lz, init[i]), 1, &state[i], i, 0);
  lz->depth++;
  go = cond (lz, state, user);
  shape = nms_lazy_shape_of (lz, go);
  if (memcmp (&shape, &flag, sizeof flag))
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: cond gives %s, no PRED scalar",
        nms__shape_describe (&shape).text);
  middle = lz->count;
  nms__append (lz, NMS__COND, flag, 1, &go, middle - loop, 0);
  hide (lz, loop + 1 + (int32_t) count, lz->count);
  if (!lz->status)
    body (lz, state, next, user);
  end = record_next (lz, count, state, next, loop);
  lz->depth--;
  if (lz->status) {
    hide (lz, loop, lz->count);
    return;
  }
  lz->operations[middle].node.attr[1] = lz->count - 1 - middle;
  for (size_t i = 0; i < count; i++)
    out[i] = nms__append (lz, NMS__RESULT, nms_lazy_shape_of (lz, state[i]), 2,
        (nms_lazy_tensor[]) { state[i], end }, 0, 0);
  hide (lz, loop, lz->count - (int32_t) count);
}
