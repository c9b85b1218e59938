/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * context: one block of scratch memory for all columns of a run. It grows in
 * steps of BOX_STEP boxes and is kept, so that a stream stops allocating once
 * it has seen its largest frame. One layout for every set of options: what a
 * run leaves unused is never touched, and so costs address space only.
 */
#include "accel/accel.h"
#include "engines/spatial/spatial.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BOX_STEP 256

static size_t
align_up (size_t n)
{
  return (n + NMS__ALIGN - 1) & ~(size_t) (NMS__ALIGN - 1);
}

/* Walks the layout: with base NULL it measures, else it assigns. */
static size_t
layout (nms__frame *f, char *base, size_t boxes, size_t class_options)
{
  size_t at = 0;
  size_t entries = boxes + class_options + 1;

#define COLUMN(field, count)                                                                       \
  do {                                                                                             \
    if (base)                                                                                      \
      f->field = (void *) (base + at);                                                             \
    at += align_up ((count) * sizeof *f->field);                                                   \
  } while (0)

  COLUMN (x1, boxes);
  COLUMN (y1, boxes);
  COLUMN (x2, boxes);
  COLUMN (y2, boxes);
  COLUMN (share, boxes);
  COLUMN (group, boxes);
  COLUMN (slot, boxes);
  COLUMN (index, boxes);
  COLUMN (packed, boxes + 8);
  COLUMN (packed2, boxes + 8);
  COLUMN (packed3, boxes + 8);
  COLUMN (kept_bits, boxes / NMS__BLOCK + 1);
  COLUMN (wx1, boxes);
  COLUMN (wy1, boxes);
  COLUMN (wx2, boxes);
  COLUMN (wy2, boxes);
  COLUMN (wshare, boxes);
  COLUMN (wgroup, boxes);
  COLUMN (wpos, boxes);
  COLUMN (records, boxes);
  COLUMN (cell_begin, 2 * boxes + 4);
  COLUMN (level, boxes);
  COLUMN (open, boxes / NMS__QUAD + 1);
  COLUMN (kept, boxes);
  COLUMN (outcome, boxes);
  COLUMN (suppressed_by, boxes);
  COLUMN (classes.entry, entries);
  COLUMN (classes.bucket, nms__class_buckets (entries));
#undef COLUMN
  return at;
}

/* An odd number that whoever makes up class ids cannot know. */
static uint64_t
secret_factor (const void *address)
{
  struct timespec t = { 0, 0 };
  clock_gettime (CLOCK_MONOTONIC, &t);
  uint64_t z = (uint64_t) (uintptr_t) address ^ (uint64_t) t.tv_sec << 32 ^ (uint64_t) t.tv_nsec;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (z ^ z >> 31) | 1;
}

nms_context *
nms_context_new (void)
{
  nms_context *ctx = calloc (1, sizeof *ctx);
  if (ctx) {
    ctx->kernels = nms__kernels_default ();
    ctx->columns.classes.factor = secret_factor (ctx);
  }
  return ctx;
}

void
nms_context_free (nms_context **ctx)
{
  if (!ctx || !*ctx)
    return;
  nms_context_trim (*ctx);
  free (*ctx);
  *ctx = NULL;
}

void
nms_context_trim (nms_context *ctx)
{
  if (!ctx)
    return;
  nms__xla_free (&ctx->xla);
  free (ctx->scratch);
  ctx->scratch = NULL;
  ctx->scratch_size = 0;
  ctx->box_room = 0;
  ctx->class_option_room = 0;
}

size_t
nms_context_scratch (const nms_context *ctx)
{
  return ctx ? ctx->scratch_size : 0;
}

const char *
nms_context_error (const nms_context *ctx)
{
  return ctx ? ctx->error : "";
}

int
nms_context_engine (const nms_context *ctx)
{
  return ctx ? ctx->engine : NMS_ENGINE_AUTO;
}

const char *
nms_context_engine_in_use (nms_context *ctx)
{
  if (!ctx || ctx->engine == NMS_ENGINE_AUTO)
    return "";
  if (ctx->engine != NMS_ENGINE_XLA)
    snprintf (ctx->in_use, sizeof ctx->in_use, "%s/%s", nms_engine_name (ctx->engine),
        ctx->kernels->name);
  return ctx->in_use;
}

const char *
nms_context_engine_refusal (const nms_context *ctx)
{
  return ctx ? nms__xla_refusal (ctx->xla) : NULL;
}

const char *
nms_context_isa (const nms_context *ctx)
{
  return ctx ? ctx->kernels->name : "";
}

int
nms_context_set_isa (nms_context *ctx, const char *name)
{
  const char *why_not;
  const nms__kernels *kernels;

  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  ctx->error[0] = '\0';
  kernels = name ? nms__kernels_named (name, &why_not) : nms__kernels_default ();
  if (!kernels)
    return nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "instruction set \"%.40s\": %s", name, why_not);
  ctx->kernels = kernels;
  return NMS_OK;
}

int
nms__context_layout (nms_context *ctx, size_t boxes, size_t class_options)
{
  size_t box_room = ctx->box_room, class_option_room = ctx->class_option_room;

  if (!ctx->scratch || boxes > box_room || class_options > class_option_room) {
    if (boxes > box_room || !box_room)
      box_room = (boxes / BOX_STEP + 1) * BOX_STEP;
    if (class_options > class_option_room)
      class_option_room = class_options;
    if (box_room > SIZE_MAX / 256 - NMS_MAX_CLASS_OPTIONS)
      return nms__fail (ctx, NMS_ERROR_MEMORY, "no address space for %zu boxes", boxes);
    size_t size = layout (&ctx->columns, NULL, box_room, class_option_room);
    void *scratch = aligned_alloc (NMS__ALIGN, size);
    if (!scratch)
      return nms__fail (ctx, NMS_ERROR_MEMORY, "no memory for %zu bytes of scratch", size);
    free (ctx->scratch);
    ctx->scratch = scratch;
    ctx->scratch_size = size;
    ctx->box_room = box_room;
    ctx->class_option_room = class_option_room;
    layout (&ctx->columns, scratch, box_room, class_option_room);
  }
  ctx->frame = ctx->columns;
  return NMS_OK;
}

int
nms_context_reserve (nms_context *ctx, size_t boxes, size_t class_options)
{
  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  ctx->error[0] = '\0';
  if (boxes > NMS_MAX_BOXES)
    return nms__fail (ctx, NMS_ERROR_TOO_MANY_BOXES, "%zu boxes, at most %zu are possible", boxes,
        NMS_MAX_BOXES);
  if (class_options > NMS_MAX_CLASS_OPTIONS)
    return nms__fail (ctx, NMS_ERROR_RANGE, "%zu class options, at most %zu are possible",
        class_options, NMS_MAX_CLASS_OPTIONS);
  return nms__context_layout (ctx, boxes, class_options);
}
