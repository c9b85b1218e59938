/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tensors: the context of lazy tensors. A tensor is the number of its operation
 * together with a stamp that no other context and no earlier frame has.
 */
#include "lazynodes.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_ALIGN 64

size_t
nms_lazy_shape_elements (const nms_lazy_shape *shape)
{
  size_t n = 1;
  for (int32_t i = 0; i < shape->rank; i++)
    n *= (size_t) shape->dims[i];
  return n;
}

size_t
nms_lazy_shape_bytes (const nms_lazy_shape *shape)
{
  return nms_lazy_shape_elements (shape)
      * (shape->type == NMS_LAZY_PRED        ? 1
              : shape->type == NMS_LAZY_BF16 ? 2
                                             : 4);
}

nms_lazy *
nms_lazy_new (nms_lazy_cache *cache)
{
  nms_lazy *lz = cache ? calloc (1, sizeof *lz) : NULL;
  if (!lz)
    return NULL;
  lz->cache = nms__cache_hold (cache);
  nms_lazy_clear (lz);
  return lz;
}

void
nms_lazy_free (nms_lazy **lz)
{
  if (!lz || !*lz)
    return;
  nms__operations_free (*lz);
  nms_lazy_cache_free (&(*lz)->cache);
  free (*lz);
  *lz = NULL;
}

void
nms_lazy_clear (nms_lazy *lz)
{
  static atomic_uint stamps;

  if (lz->depth) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms_lazy_clear inside a loop's function");
    return;
  }
  nms__operations_free (lz);
  lz->stamp = (nms_lazy_tensor) (atomic_fetch_add (&stamps, 1) + 1) << NMS__ID_BITS;
  lz->last_id = 0;
  lz->status = NMS_OK;
  lz->error[0] = 0;
  lz->floor = nms_lazy_input_f32 (lz, -INFINITY);
}

void
nms_lazy_recover (nms_lazy *lz)
{
  if (lz->depth)
    return;
  lz->status = NMS_OK;
  lz->error[0] = 0;
}

int
nms_lazy_status (const nms_lazy *lz)
{
  return lz->status;
}

const char *
nms_lazy_error (const nms_lazy *lz)
{
  return lz->error;
}

nms_lazy_tensor
nms__lazy_fail (nms_lazy *lz, int status, const char *format, ...)
{
  va_list args;

  if (lz->status)
    return NMS_LAZY_NONE;
  lz->status = status;
  va_start (args, format);
  vsnprintf (lz->error, sizeof lz->error, format, args);
  va_end (args);
  return NMS_LAZY_NONE;
}

void *
nms__value_memory (nms_lazy *lz, const nms_lazy_shape *shape)
{
  size_t bytes = nms_lazy_shape_bytes (shape);
  void *memory = aligned_alloc (VALUE_ALIGN, (bytes + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN);

  if (!memory)
    nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a value of %zu bytes", bytes);
  return memory;
}

/* --------------------------------------------------------------- reading */

/* Marks the tensors to be computed, which are those without a value. Returns 0 or the
 * latched code. */
static int
want (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  if (lz->depth)
    nms__lazy_fail (lz, NMS_ERROR_UNSUPPORTED, "values cannot be read inside a loop's functions");
  else if (!count || !tensors)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "no tensors");
  for (int32_t i = 0; i < lz->count; i++)
    lz->operations[i].wanted = 0;
  for (size_t i = 0; i < count && !lz->status; i++) {
    nms__operation *r = nms__operation_of (lz, tensors[i]);
    if (r && r->node.op != NMS__INPUT)
      r->wanted = NMS__WANTED;
  }
  if (!lz->status)
    lz->error[0] = 0;
  return lz->status;
}

/* Computes the marked tensors, which are inputs then. Their values stay on the device if
 * it keeps them. An error of the program does not latch. */
static int
compute (nms_lazy *lz)
{
  const nms__trace t = nms__trace_of (lz);
  nms_lazy_buffer *out = t.out;
  int status = NMS_OK;

  for (size_t k = 0; k < t.output_count && !status && !out[k].resident; k++) {
    out[k].data = nms__value_memory (lz, &out[k].shape);
    status = lz->status;
  }
  if (!status && t.output_count)
    status = nms__cache_run (lz->cache, &t, lz->error, sizeof lz->error);
  for (int32_t i = 0; i < lz->count; i++)
    if (lz->operations[i].wanted & NMS__WANTED) {
      nms__operation *r = &lz->operations[i];
      if (status)
        free (out->data);
      else
        *r = (nms__operation) { { .op = NMS__INPUT, .shape = r->node.shape }, .id = r->id,
          .value = out->data, .resident = r->resident };
      out++;
    }
  return status;
}

/* Copies the values of a tensor from the device, unless they are here. An error of the
 * device does not latch. */
static int
fetch (nms_lazy *lz, nms__operation *r)
{
  nms_lazy_buffer b = { .shape = r->node.shape };
  int status;

  if (r->value)
    return NMS_OK;
  b.data = nms__value_memory (lz, &b.shape);
  if (!b.data)
    return lz->status;
  status = nms__cache_fetch (lz->cache, r->resident, &b, lz->error, sizeof lz->error);
  if (status)
    free (b.data);
  else
    r->value = b.data;
  return status;
}

int
nms_lazy_read (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors, void *const *data)
{
  int status = want (lz, count, tensors);

  if (!status)
    status = compute (lz);
  for (size_t i = 0; i < count && !status && data; i++)
    if (data[i])
      status = fetch (lz, nms__operation_of (lz, tensors[i]));
  for (size_t i = 0; i < count && !status; i++) {
    const nms__operation *r = nms__operation_of (lz, tensors[i]);
    if (data && data[i])
      memcpy (data[i], r->value, nms_lazy_shape_bytes (&r->node.shape));
  }
  return status;
}

char *
nms_lazy_dump (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  size_t length;
  char *text;

  if (want (lz, count, tensors))
    return NULL;
  const nms__trace t = nms__trace_of (lz);
  text = nms__trace_text (&t, &length);
  if (!text)
    snprintf (lz->error, sizeof lz->error, "out of memory for a program's text");
  return text;
}

uint64_t
nms_lazy_hash (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  return want (lz, count, tensors) ? 0 : nms__trace_of (lz).hash;
}
