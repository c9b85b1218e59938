/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loops: nms_lazy_while. The functions record into regions of their own, one
 * after the other, between the WHILE and its RESULTs.
 */
#include "lazy.h"

#include <string.h>

typedef struct loop {
  nms_lazy *lz;
  uint32_t outside; /* the region that has the loop */
  nms_lazy_tensor loop; /* the WHILE */
  size_t count, capture_count;
  const nms_lazy_tensor *init, *captures;
  nms_lazy_tensor *state, *captured; /* placeholders */
} loop;

/* Placeholders for one of the functions, whose region begins. */
static void
begin_region (loop *l)
{
  nms_lazy *lz = l->lz;

  for (size_t i = 0; i < l->count + l->capture_count && !lz->status; i++) {
    int is_state = i < l->count;
    nms_lazy_tensor of = is_state ? l->init[i] : l->captures[i - l->count];
    lz->region = l->outside;
    const nms__recorded *r = nms__recorded_of (lz, of);
    nms_lazy_shape shape = r ? r->node.shape : (nms_lazy_shape){ 0 };
    lz->region = lz->regions + 1;
    if (r && is_state)
      l->state[i] = nms__record (lz, NMS__STATE, 0, &shape, 1, &l->loop,
          (int32_t[NMS__ATTRS]){ (int32_t) i });
    else if (r)
      l->captured[i - l->count] = nms__record (lz, NMS__CAPTURE, 0, &shape, 1, &of, NULL);
  }
  lz->region = ++lz->regions;
}

/* What the function returns; its region ends. `attr`: of the WHILE. */
static void
end_region (loop *l, size_t count, const nms_lazy_tensor *values, int attr)
{
  nms_lazy *lz = l->lz;
  const nms_lazy_shape none = { 0 };
  nms_lazy_tensor end;

  for (size_t i = 0; i < count && !lz->status; i++) {
    const nms__recorded *value = nms__recorded_of (lz, values[i]);
    const nms__recorded *state = value ? nms__recorded_of (lz, l->state[i]) : NULL;
    const nms_lazy_shape flag = { .type = NMS_LAZY_PRED };
    const nms_lazy_shape *must = attr == 1 ? &flag : state ? &state->node.shape : &none;
    if (value && memcmp (&value->node.shape, must, sizeof *must))
      nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, attr == 1 ? "while: cond gives no PRED scalar"
          : "while: body changes the type or shape of state %zu", i);
  }
  end = nms__record (lz, NMS__RETURN, 0, &none, count, values, NULL);
  if (end)
    ((nms__recorded *) lz->recorded.data)[nms__tensor_index (l->loop)].node.attr[attr]
        = (int32_t) nms__tensor_index (end);
  lz->region = l->outside;
}

/* The WHILE itself, its operands checked. */
static nms_lazy_tensor
record_loop (loop *l, nms_lazy_tensor *operands)
{
  const nms_lazy_shape none = { 0 };
  size_t all = l->count + l->capture_count;

  for (size_t i = 0; i < all; i++) {
    operands[i] = i < l->count ? l->init[i] : l->captures[i - l->count];
    if (!nms__recorded_of (l->lz, operands[i]))
      return NMS_LAZY_NONE;
  }
  return nms__record (l->lz, NMS__WHILE, 0, &none, all, operands,
      (int32_t[NMS__ATTRS]){ (int32_t) l->count });
}

void
nms_lazy_while (nms_lazy *lz, size_t count, const nms_lazy_tensor *init, size_t capture_count,
    const nms_lazy_tensor *captures, nms_lazy_cond cond, nms_lazy_body body, void *user,
    nms_lazy_tensor *out)
{
  loop l = { lz, lz->region, NMS_LAZY_NONE, count, capture_count, init, captures, NULL, NULL };
  nms_lazy_tensor *next = NULL, go;

  if (!lz->status && (!count || !init || (capture_count && !captures) || !cond || !body || !out
          || count > NMS_LAZY_MAX_OPERATIONS || capture_count > NMS_LAZY_MAX_OPERATIONS))
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "while: no state, no function, or too many");
  if (!lz->status)
    next = nms__value_memory (lz, (3 * count + 2 * capture_count) * sizeof *next);
  for (size_t i = 0; i < count && out; i++)
    out[i] = NMS_LAZY_NONE;
  if (!next)
    return;
  memset (next, 0, (3 * count + 2 * capture_count) * sizeof *next);
  l.state = next + count;
  l.captured = l.state + count;
  l.loop = record_loop (&l, l.captured + capture_count);
  begin_region (&l);
  go = lz->status ? NMS_LAZY_NONE : cond (lz, l.state, l.captured, user);
  end_region (&l, 1, &go, 1);
  if (lz->status)
    return;
  begin_region (&l);
  if (!lz->status)
    body (lz, l.state, l.captured, next, user);
  end_region (&l, count, next, 2);
  for (size_t i = 0; i < count && !lz->status; i++) {
    nms_lazy_shape shape = nms__recorded_of (lz, init[i])->node.shape;
    out[i] = nms__record (lz, NMS__RESULT, 0, &shape, 1, &l.loop,
        (int32_t[NMS__ATTRS]){ (int32_t) i });
  }
}
