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
  nms_lazy_wait (*lz);
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
  nms_lazy_wait (lz);
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

/* Starts to compute the marked tensors, on the cache's thread if `later`. Returns 0 or the latched
 * code. */
static int
start (nms_lazy *lz, int later)
{
  nms__job *job = &lz->job;

  if (lz->kernel) {
    nms__lazy_fail (lz, NMS_ERROR_UNSUPPORTED, "a program with a kernel is only written as text");
    return lz->status;
  }
  const nms__trace t = job->trace = nms__trace_of (lz);
  int status = NMS_OK;

  for (size_t k = 0; k < t.output_count && !t.out[k].resident && !status; k++) {
    t.out[k].data = nms__value_memory (lz, &t.out[k].shape);
    status = lz->status;
  }
  for (size_t k = 0; k < t.output_count && status; k++)
    free (t.out[k].data);
  if (status || !t.output_count)
    return status;
  lz->is_started = 1;
  for (size_t k = 0; k < t.output_count; k++)
    nms__operation_of_id (lz, lz->ids[t.input_count + k])->pending = 1;
  if (later) {
    nms__cache_start (lz->cache, job);
  } else {
    job->is_queued = 0;
    job->status = nms__cache_run (lz->cache, &t, job->error, sizeof job->error);
  }
  return NMS_OK;
}

/* Waits until the started computation is done. Its tensors then become inputs, whose values stay on
 * the device if it keeps them. After an error, which does not latch, they remain as they were. */
int
nms_lazy_wait (nms_lazy *lz)
{
  const nms__trace *t = &lz->job.trace;

  if (!lz->is_started)
    return NMS_OK;
  const int status = nms__cache_finish (lz->cache, &lz->job);
  lz->is_started = 0;
  for (size_t k = 0; k < t->input_count; k++)
    nms__operation_of_id (lz, lz->ids[k])->resident = lz->residents[k];
  for (size_t k = t->input_count; k < t->input_count + t->output_count; k++) {
    nms__operation *r = nms__operation_of_id (lz, lz->ids[k]);
    r->pending = 0;
    if (status)
      free (lz->buffers[k].data);
    else
      *r = (nms__operation) { { .op = NMS__INPUT, .shape = r->node.shape }, .id = r->id,
        .value = lz->buffers[k].data, .resident = lz->residents[k] };
  }
  if (status && !lz->status)
    snprintf (lz->error, sizeof lz->error, "%s", lz->job.error);
  return status;
}

int
nms_lazy_start (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  nms_lazy_wait (lz);
  const int status = want (lz, count, tensors);
  return status ? status : start (lz, 1);
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
  nms_lazy_wait (lz);
  int status = want (lz, count, tensors);
  if (!status)
    status = start (lz, 0);
  if (!status)
    status = nms_lazy_wait (lz);
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

  nms_lazy_wait (lz);
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
  nms_lazy_wait (lz);
  return want (lz, count, tensors) ? 0 : nms__trace_of (lz).hash;
}
