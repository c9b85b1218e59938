/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlakernel: copies the columns of a prepared frame to the arguments of the kernel and
 * derives outcomes and suppressors from its picks.
 */
#include "accel/tpu/tpu.h"
#include "xlakernel.h"
#include "xlaerror.h"

#include "accel/accel.h"
#include "engines/engine.h"
#include "engines/suppressor.h"

#include <stdlib.h>
#include <time.h>

#define MOST_ARGUMENTS 9

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
  while (kind.log2_picks < kind.log2_boxes && (!cap || cap > (uint64_t) 1 << kind.log2_picks))
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

/* The addresses of the columns, all in one block of memory. */
typedef struct {
  signature s;
  float *corner[4], *parameters, *limit;
  int32_t *key, *class_id, *most;
} columns;

static columns
columns_of (nms__xla_kind kind, char *memory)
{
  const nms__tpu_spec spec = spec_of (kind);
  columns c = { .s = { .count = 0 } };

  for (int k = 0; k < 4; k++)
    c.corner[k] = add (&c.s, NMS_LAZY_F32, 0, spec.boxes, &memory);
  c.key = add (&c.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
  c.parameters = add (&c.s, NMS_LAZY_F32, NMS__TPU_PARAMETERS / NMS__TPU_LANES,
      NMS__TPU_LANES, &memory);
  if (spec.classes)
    c.class_id = add (&c.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
  if (spec.box_limits)
    c.limit = add (&c.s, NMS_LAZY_F32, 3, spec.boxes, &memory);
  if (spec.class_caps)
    c.most = add (&c.s, NMS_LAZY_S32, 0, spec.boxes, &memory);
  c.s.out = (nms_lazy_buffer) {
    .shape = { .type = NMS_LAZY_S32, .rank = 1, .dims = { spec.picks } },
    .data = memory
  };
  return c;
}

static size_t
bytes_of (nms__xla_kind kind)
{
  return ((size_t) 10 << kind.log2_boxes) * 4 + ((size_t) 4 << kind.log2_picks)
      + NMS__TPU_PARAMETERS * sizeof (float);
}

static void
fill_classes (const nms__frame *f, columns *c, size_t n)
{
  if (c->class_id)
    memcpy (c->class_id,
        f->class_entry ? (const void *) f->class_entry : (const void *) f->class_id,
        f->count * sizeof *c->class_id);
  if (!f->class_entry)
    return;
  for (size_t i = 0; i < f->count; i++) {
    const nms__class *class = &f->classes.entry[f->class_entry[i]];
    float limit[3];
    nms__tpu_limit_of (class->limit, limit);
    for (size_t k = 0; k < 3; k++)
      c->limit[k * n + i] = limit[k];
    c->most[i] = class->cap < f->count ? (int32_t) class->cap : 0;
  }
}

/* Fills the columns, whose memory is 0 before. */
static void
fill (const nms__frame *f, columns *c, nms__xla_kind kind)
{
  const nms_options *o = &f->settings->options;
  const float *const from[] = { f->x1, f->y1, f->x2, f->y2 };
  const size_t n = (size_t) 1 << kind.log2_boxes;
  const int32_t picks = 1 << kind.log2_picks;

  for (int k = 0; k < 4; k++)
    memcpy (c->corner[k], from[k], f->count * sizeof (float));
  /* `packed` is in input order until an engine sorts it */
  for (size_t i = 0; i < n; i++)
    c->key[i] = i < f->count ? (int32_t) ((uint32_t) (f->packed[i] >> 32) ^ 0x80000000u)
                             : NMS__TPU_ABSENT;
  nms__tpu_parameters (o->iou_threshold, o->inclusive,
      o->max_detections && o->max_detections < (uint64_t) picks ? (int32_t) o->max_detections
                                                                : picks,
      c->parameters);
  fill_classes (f, c, n);
}

/* -------------------------------------------------------------------- results */

/* Counts the picks; returns -1 if they are not boxes of the frame in order of rank. */
static int32_t
count_picks (const nms__frame *f, const int32_t *picks, int32_t capacity)
{
  const uint64_t cap = nms__total_cap (f);
  int32_t count = 0;

  while (count < capacity && picks[count] != -1) {
    if (picks[count] < 0 || (size_t) picks[count] >= f->count || (uint64_t) count >= cap
        || (count > 0 && f->packed[picks[count]] >= f->packed[picks[count - 1]]))
      return -1;
    count++;
  }
  for (int32_t k = count; k < capacity; k++)
    if (picks[k] != -1)
      return -1;
  return count;
}

static void
keep (nms__frame *f, const int32_t *picks, int32_t count)
{
  for (int32_t k = 0; k < count; k++) {
    const size_t pos = (size_t) picks[k];
    nms__class *class = nms__frame_class (f, pos);
    nms__keep (f, pos);
    if (class) {
      class->kept++;
      class->last = f->packed[pos];
    }
  }
}

size_t
nms__xla_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };
  nms__box_columns kept;

  nms__take_columns (&arena, &kept, boxes);
  return arena.used;
}

/* Finds the suppressor of each box that is not kept: the first kept box that ranks
 * above it and whose IoU with it exceeds the limit. The caller marks the boxes over a
 * cap afterwards. */
static void
find_suppressors (nms__frame *f, const int32_t *picks, int32_t count)
{
  const int grouped = f->class_id != NULL;
  nms__box_columns chosen;

  nms__take_columns (&(nms__arena) { f->scratch, 0 }, &chosen, f->capacity);
  const nms__columns kept = nms__columns_of (&chosen, grouped);
  for (int32_t k = 0; k < count; k++) {
    const nms__box box = nms__frame_box (f, (size_t) picks[k]);
    nms__put_box (&chosen, (size_t) k, &box, grouped);
  }
  for (size_t pos = 0; pos < f->count; pos++) {
    const nms__box box = nms__frame_box (f, pos);
    size_t end = 0, beyond = (size_t) count;
    while (end < beyond) { /* counts the kept boxes that rank above it */
      const size_t middle = end + (beyond - end) / 2;
      if (f->packed[picks[middle]] > f->packed[pos])
        end = middle + 1;
      else
        beyond = middle;
    }
    if (end < (size_t) count && (size_t) picks[end] == pos)
      continue;
    const size_t by = nms__first_suppressor (f, &kept, end, &box, f->index[pos], f->kept,
        nms__candidate_limit (f, pos));
    if (by < end)
      f->suppressed_by[f->index[pos]] = f->kept[by];
  }
}

static int
take_picks (nms__frame *f, const int32_t *picks, int32_t capacity)
{
  const int32_t count = count_picks (f, picks, capacity);
  const int full = count > 0 && (uint64_t) count == nms__total_cap (f);

  if (count < 0)
    return 0;
  keep (f, picks, count);
  if (f->suppressed_by)
    find_suppressors (f, picks, count);
  if (f->class_entry || full)
    nms__mark_over_cap (f, full ? f->packed[picks[count - 1]] : 0);
  return 1;
}

/* ------------------------------------------------------------------- programs */

static uint64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static int
compile_form (nms__xla_store *store, const nms__tpu_spec *spec, void **program, char *error,
    size_t error_size)
{
  size_t length;
  char *text = nms__tpu_module (spec, &length, error, error_size);
  int code;

  if (!text)
    return NMS_ERROR_MEMORY;
  code = store->backend->compile (store->backend, text, length, 1, program, error, error_size);
  free (text);
  return code;
}

int
nms__xla_kernel_compile (nms__xla_store *store, nms__xla_kind kind, void **program, char *error,
    size_t error_size)
{
  nms__tpu_spec spec = spec_of (kind);
  const uint64_t start = now ();
  int code = compile_form (store, &spec, program, error, error_size);

  /* Mosaic has no bfloat16 matrices, which the form of tiles needs, for TPUs before v4. */
  if (code == NMS_ERROR_DEVICE && nms__tpu_form_of (&spec) == NMS__TPU_TILES) {
    spec.form = NMS__TPU_PICKS;
    code = compile_form (store, &spec, program, error, error_size);
  }
  atomic_fetch_add (&store->kernel_compile_ns, now () - start);
  atomic_fetch_add (code ? &store->kernel_failures : &store->kernel_programs, 1);
  return code;
}

int
nms__xla_kernel_run (nms__xla_store *store, void *program, nms__frame *f, nms__xla_kind kind,
    char *error, size_t error_size)
{
  const size_t size = bytes_of (kind); /* a multiple of the alignment */
  char *memory = aligned_alloc (NMS__ALIGN, size);
  int code;

  if (!memory)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  memset (memory, 0, size);
  columns c = columns_of (kind, memory);
  fill (f, &c, kind);
  atomic_fetch_add (&store->kernel_runs, 1);
  code = store->backend->run (store->backend, program, c.s.in, c.s.count, &c.s.out, 1, error,
      error_size);
  if (!code && !take_picks (f, c.s.out.data, 1 << kind.log2_picks))
    code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the device gives impossible results");
  free (memory);
  return code;
}
