/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tensors: the context of lazy tensors. Recording appends to arrays that are
 * kept from frame to frame; a tensor is the number of its operation with a
 * stamp, which no other context and no earlier frame had.
 */
#include "lazy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_ALIGN 64
#define LEAST_BLOCK ((size_t) 1 << 16)

/* Values lie one after another in blocks, of which a frame usually needs one. */
struct nms__block {
  nms__block *next;
  size_t used, size;
  unsigned char *memory;
};

void *
nms__array_room (nms__array *array, size_t more, size_t size)
{
  if (!array->data || array->capacity - array->count < more) {
    size_t capacity = 2 * array->capacity + more + 16;
    void *data = realloc (array->data, capacity * size);
    if (!data)
      return NULL;
    array->data = data;
    array->capacity = capacity;
  }
  return (char *) array->data + array->count * size;
}

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
  return nms_lazy_shape_elements (shape) * nms__type_size (shape->type);
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

static void
free_blocks (nms_lazy *lz)
{
  for (nms__block *b = lz->blocks, *next; b; b = next) {
    next = b->next;
    free (b->memory);
    free (b);
  }
  lz->blocks = NULL;
}

void
nms_lazy_free (nms_lazy **lz)
{
  if (!lz || !*lz)
    return;
  nms_lazy_cache_free (&(*lz)->cache);
  nms__trace_clear (&(*lz)->trace);
  free_blocks (*lz);
  free ((*lz)->recorded.data);
  free ((*lz)->operands.data);
  free ((*lz)->bytes.data);
  free ((*lz)->numbers.data);
  free ((*lz)->wanted.data);
  free ((*lz)->inputs.data);
  free ((*lz)->results.data);
  free (*lz);
  *lz = NULL;
}

void
nms_lazy_clear (nms_lazy *lz)
{
  static atomic_uint stamps;

  if (lz->region) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "nms_lazy_clear inside a loop's function");
    return;
  }
  do
    lz->stamp = atomic_fetch_add (&stamps, 1) + 1;
  while (!lz->stamp);
  lz->recorded.count = lz->operands.count = lz->bytes.count = 0;
  lz->region = lz->regions = 0;
  lz->status = NMS_OK;
  lz->error[0] = 0;
  if (lz->blocks && lz->blocks->next)
    free_blocks (lz);           /* the next frame takes one block of that size */
  else if (lz->blocks)
    lz->blocks->used = 0;
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

int
nms_lazy_set_cache (nms_lazy *lz, nms_lazy_cache *cache)
{
  if (!cache)
    return NMS_ERROR_ARGUMENT;
  nms__cache_hold (cache);
  nms_lazy_cache_free (&lz->cache);
  lz->cache = cache;
  return NMS_OK;
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
nms__value_memory (nms_lazy *lz, size_t bytes)
{
  size_t need = (bytes + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN;
  nms__block *b = lz->blocks;

  if (!b || b->size - b->used < need) {
    size_t size = b ? 2 * b->size : LEAST_BLOCK;
    while (size < need)
      size *= 2;
    b = malloc (sizeof *b);
    unsigned char *memory = b ? aligned_alloc (VALUE_ALIGN, size) : NULL;
    if (!memory) {
      free (b);
      nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a value of %zu bytes", bytes);
      return NULL;
    }
    *b = (nms__block){ lz->blocks, 0, size, memory };
    lz->blocks = b;
  }
  b->used += need;
  return b->memory + b->used - need;
}

nms_lazy_tensor
nms__tensor_of (const nms_lazy *lz, uint32_t index)
{
  return (nms_lazy_tensor) lz->stamp << 32 | (index + 1);
}

nms__recorded *
nms__recorded_of (nms_lazy *lz, nms_lazy_tensor x)
{
  nms__recorded *r;

  if (lz->status)
    return NULL;
  if (x == NMS_LAZY_NONE) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "a tensor is NMS_LAZY_NONE");
    return NULL;
  }
  if (x >> 32 != lz->stamp || nms__tensor_index (x) >= lz->recorded.count) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT,
        "a tensor is of another context, or of before the last clear");
    return NULL;
  }
  r = (nms__recorded *) lz->recorded.data + nms__tensor_index (x);
  if (r->region != lz->region) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT,
        lz->region ? "a tensor of outside is used in a loop that does not capture it"
                   : "a tensor of a loop's function is used outside");
    return NULL;
  }
  return r;
}

nms_lazy_shape
nms_lazy_shape_of (nms_lazy *lz, nms_lazy_tensor x)
{
  const nms__recorded *r = nms__recorded_of (lz, x);
  return r ? r->node.shape : (nms_lazy_shape){ 0 };
}

int
nms__shape_make (nms_lazy *lz, int32_t type, int rank, const int32_t *dims, nms_lazy_shape *shape)
{
  size_t elements = 1;

  if (lz->status)
    return 0;
  *shape = (nms_lazy_shape){ .type = type, .rank = rank };
  if (type < NMS_LAZY_F32 || type > NMS_LAZY_PRED || rank < 0 || rank > NMS_LAZY_MAX_RANK
      || (rank && !dims)) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "type %d or rank %d is unknown, or no extents", type,
        rank);
    return 0;
  }
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 1 || (size_t) dims[i] > NMS_LAZY_MAX_ELEMENTS / elements) {
      nms__lazy_fail (lz, NMS_ERROR_RANGE, "extent %d is %d, or makes too many elements", i,
          dims[i]);
      return 0;
    }
    shape->dims[i] = dims[i];
    elements *= (size_t) dims[i];
  }
  return 1;
}

nms_lazy_tensor
nms__record (nms_lazy *lz, nms__op op, int how, const nms_lazy_shape *shape, size_t count,
    const nms_lazy_tensor *operands, const int32_t *attrs)
{
  nms__recorded *r = nms__array_room (&lz->recorded, 1, sizeof *r);
  uint32_t *list = nms__array_room (&lz->operands, count, sizeof *list);

  if (lz->status)
    return NMS_LAZY_NONE;
  if (!r || !list)
    return nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for an operation");
  if (lz->recorded.count == NMS_LAZY_MAX_OPERATIONS)
    return nms__lazy_fail (lz, NMS_ERROR_RANGE, "more than %d operations",
        NMS_LAZY_MAX_OPERATIONS);
  *r = (nms__recorded){ .region = lz->region };
  r->node.op = op;
  r->node.how = how;
  r->node.shape = *shape;
  r->node.first = (uint32_t) lz->operands.count;
  r->node.count = (uint32_t) count;
  if (attrs)
    memcpy (r->node.attr, attrs, sizeof r->node.attr);
  for (size_t i = 0; i < count; i++)
    list[i] = nms__tensor_index (operands[i]);
  lz->operands.count += count;
  return nms__tensor_of (lz, (uint32_t) lz->recorded.count++);
}

/* --------------------------------------------------------------- reading */

/* Adds to lz->wanted what has no value yet, each once. */
static void
want (nms_lazy *lz, nms_lazy_tensor x)
{
  const nms__recorded *r = nms__recorded_of (lz, x);
  uint32_t index = nms__tensor_index (x);
  uint32_t *end = r ? nms__array_room (&lz->wanted, 1, sizeof *end) : NULL;

  if (r && !end)
    nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a list of tensors");
  if (!end || r->node.op == NMS__INPUT)
    return;
  for (size_t i = 0; i < lz->wanted.count; i++)
    if (((uint32_t *) lz->wanted.data)[i] == index)
      return;
  *end = index;
  lz->wanted.count++;
}

/* lz->trace and lz->inputs for these tensors. 0 or a code. */
static int
trace_of (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  lz->wanted.count = 0;
  if (lz->region)
    nms__lazy_fail (lz, NMS_ERROR_UNSUPPORTED, "values are not there inside a loop's functions");
  else if (!count || !tensors)
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "no tensors");
  for (size_t i = 0; i < count && !lz->status; i++)
    want (lz, tensors[i]);
  if (!lz->status)
    lz->error[0] = 0;
  return lz->status ? lz->status : nms__trace_build (lz);
}

/* Memory for the values of the trace's outputs. */
static int
make_results (nms_lazy *lz)
{
  const nms__trace *t = &lz->trace;
  nms_lazy_buffer *result;

  lz->results.count = 0;
  result = nms__array_room (&lz->results, t->outputs.count, sizeof *result);
  if (!result)
    nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for results");
  for (size_t i = 0; i < t->outputs.count && !lz->status; i++) {
    result[i].shape = nms__trace_nodes (t)[((uint32_t *) t->outputs.data)[i]].shape;
    result[i].data = nms__value_memory (lz, nms_lazy_shape_bytes (&result[i].shape));
  }
  return lz->status;
}

/* Runs lz->trace; what was wanted then has values. A failure does not latch. */
static int
run_trace (nms_lazy *lz)
{
  const nms_lazy_buffer *result = lz->results.data;
  int status;
  nms__program *program = nms__cache_program (lz->cache, &lz->trace, &status, lz->error,
      sizeof lz->error);

  if (!program)
    return status;
  status = nms__program_run (lz->cache, program, lz->inputs.data, result, lz->error,
      sizeof lz->error);
  nms__program_release (lz->cache, program);
  for (size_t i = 0; i < lz->wanted.count && !status; i++) {
    nms__recorded *r = (nms__recorded *) lz->recorded.data + ((uint32_t *) lz->wanted.data)[i];
    r->node.op = NMS__INPUT;
    r->node.count = 0;
    memset (r->node.attr, 0, sizeof r->node.attr);
    r->value = result[i].data;
  }
  return status;
}

int
nms_lazy_read (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors, void *const *data)
{
  int status = trace_of (lz, count, tensors);

  if (!status && lz->wanted.count)
    status = make_results (lz);
  if (!status && lz->wanted.count)
    status = run_trace (lz);
  for (size_t i = 0; i < count && !status; i++) {
    const nms__recorded *r = nms__recorded_of (lz, tensors[i]);
    if (data && data[i])
      memcpy (data[i], r->value, nms_lazy_shape_bytes (&r->node.shape));
  }
  return status;
}

int
nms_lazy_compile (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  int status = trace_of (lz, count, tensors);
  nms__program *program = NULL;

  if (!status && lz->wanted.count)
    program = nms__cache_program (lz->cache, &lz->trace, &status, lz->error, sizeof lz->error);
  if (program)
    nms__program_release (lz->cache, program);
  return status;
}

int
nms_lazy_ready (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  int status = trace_of (lz, count, tensors);
  return status ? status : !lz->wanted.count || nms__cache_has (lz->cache, &lz->trace);
}

char *
nms_lazy_dump (nms_lazy *lz, size_t count, const nms_lazy_tensor *tensors)
{
  size_t length;
  int floored;
  char *text;

  if (trace_of (lz, count, tensors))
    return NULL;
  text = nms__stablehlo (&lz->trace, &length, &floored);
  if (!text)
    snprintf (lz->error, sizeof lz->error, "out of memory for a program's text");
  return text;
}
