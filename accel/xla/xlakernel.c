/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlakernel: copies the columns of a frame to the arguments of the kernel. */
#include "xlakernel.h"
#include "xlacolumns.h"
#include "xlaerror.h"

#include "accel/tpu/tpu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGN 64

#define MOST_ARGUMENTS 11

static nms__tpu_spec
spec_of (nms__xla_kind kind)
{
  const uint8_t caps = (kind.variant & NMS__XLA_CLASS_CAPS) != 0;
  const uint8_t groups = (kind.variant & NMS__XLA_CLASSES) != 0;

  return (nms__tpu_spec) { .boxes = 1 << kind.log2_boxes,
    .picks = 1 << kind.log2_picks,
    .classes = caps || groups,
    .class_agnostic = !groups,
    .box_limits = caps,
    .class_caps = caps };
}

uint8_t
nms__xla_kernel_picks (nms__xla_kind kind, uint64_t cap)
{
  kind.log2_picks = NMS__XLA_LEAST;
  while (kind.log2_picks < kind.log2_boxes && cap > (uint64_t) 1 << kind.log2_picks)
    kind.log2_picks++;
  const nms__tpu_spec spec = spec_of (kind);
  if ((kind.variant & NMS__XLA_PARENTS) || nms__tpu_memory_of (&spec) > NMS__TPU_MEMORY)
    return 0;
  return kind.log2_picks;
}

/* ------------------------------------------------------------------ arguments */

/* The arguments of the module, in order, and its result. */
typedef struct {
  nms_lazy_buffer in[MOST_ARGUMENTS], out;
  size_t count;
} signature;

static void *
add (signature *s, nms_lazy_type type, int rows, int32_t columns, char **memory)
{
  nms_lazy_buffer *b = &s->in[s->count++];

  *b = (nms_lazy_buffer) { .shape = { .type = type,
                               .rank = rows ? 2 : 1,
                               .dims = { rows ? rows : columns, rows ? columns : 0 } },
    .data = *memory };
  *memory += (size_t) (rows ? rows : 1) * (size_t) columns * 4;
  return b->data;
}

/* The arguments of a run, all in one block of memory. */
typedef struct {
  signature s;
  nms__xla_columns boxes;
  float *parameters, *limit[3];
} arguments;

static arguments
arguments_of (nms__xla_kind kind, char *memory)
{
  const nms__tpu_spec spec = spec_of (kind);
  arguments a = { .s = { .count = 0 } };

  for (int k = 0; k < 4; k++)
    a.boxes.corner[k] = add (&a.s, NMS_LAZY_F32, 0, spec.boxes, &memory);
  a.boxes.key = add (&a.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
  a.parameters = add (&a.s, NMS_LAZY_F32, NMS__TPU_PARAMETERS / NMS__TPU_LANES, NMS__TPU_LANES,
      &memory);
  if (spec.classes) {
    int32_t *class = add (&a.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
    *(spec.class_caps ? &a.boxes.cap_class : &a.boxes.class_id) = class;
  }
  for (int k = 0; k < 3 && spec.box_limits; k++)
    a.limit[k] = add (&a.s, NMS_LAZY_F32, 0, spec.boxes, &memory);
  if (spec.class_caps)
    a.boxes.class_cap = add (&a.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
  a.s.out = (nms_lazy_buffer) {
    .shape = { .type = NMS_LAZY_S32, .rank = 1, .dims = { spec.picks } },
    .data = memory
  };
  return a;
}

static size_t
bytes_of (nms__xla_kind kind)
{
  return ((size_t) 10 << kind.log2_boxes) * 4 + ((size_t) 4 << kind.log2_picks)
      + NMS__TPU_PARAMETERS * sizeof (float);
}

/* Fills the arguments, whose memory is 0 before. */
static void
fill (const nms_frame *f, const arguments *a, nms__xla_kind kind)
{
  const size_t n = (size_t) 1 << kind.log2_boxes;
  const int32_t picks = 1 << kind.log2_picks;
  float limit[3];

  nms__xla_columns_fill (&a->boxes, f, n);
  nms__tpu_limit_of (f->limit, limit);
  nms__tpu_parameters (limit, f->cap < (uint64_t) picks ? (int32_t) f->cap : picks, a->parameters);
  for (size_t i = 0; a->limit[0] && i < f->count; i++) {
    nms__tpu_limit_of (f->limits[i], limit);
    for (size_t k = 0; k < 3; k++)
      a->limit[k][i] = limit[k];
  }
}

/* ------------------------------------------------------------------- programs */

static uint64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

int
nms__xla_kernel_compile (nms__xla_store *store, nms__xla_kind kind, void **program, char *error,
    size_t error_size)
{
  const nms__tpu_spec spec = spec_of (kind);
  const uint64_t start = now ();
  size_t length;
  char *text = nms__tpu_module (&spec, &length, error, error_size);
  int code = NMS_ERROR_MEMORY;

  if (text)
    code = store->backend->compile (store->backend, text, length, 1, program, error, error_size);
  free (text);
  atomic_fetch_add (&store->kernel_compile_ns, now () - start);
  atomic_fetch_add (code ? &store->kernel_failures : &store->kernel_programs, 1);
  return code;
}

int
nms__xla_kernel_run (nms__xla_store *store, void *program, const nms_frame *f, nms__xla_kind kind,
    int32_t *kept, size_t *kept_count, char *error, size_t error_size)
{
  const size_t size = bytes_of (kind); /* a multiple of the alignment */
  const size_t capacity = (size_t) 1 << kind.log2_picks;
  char *memory = aligned_alloc (ALIGN, size);
  size_t count = 0;
  int code;

  if (!memory)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  memset (memory, 0, size);
  arguments a = arguments_of (kind, memory);
  fill (f, &a, kind);
  atomic_fetch_add (&store->kernel_runs, 1);
  code = store->backend->run (store->backend, program, a.s.in, a.s.count, &a.s.out, 1, error,
      error_size);
  const int32_t *picks = a.s.out.data; /* indices of the kept boxes, then -1 */
  while (!code && count < capacity && count < f->count && picks[count] != -1) {
    kept[count] = picks[count];
    count++;
  }
  *kept_count = count;
  for (; !code && count < capacity; count++)
    if (picks[count] != -1)
      code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
          "the device gives impossible results");
  free (memory);
  return code;
}
