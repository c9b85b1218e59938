/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * context: one allocation for all columns of a run. It grows in steps of BOX_STEP boxes
 * and is kept, so that a stream stops allocating after its largest frame. The layout is the
 * same for all options: a run never touches the columns that it does not need, so they take
 * address space only.
 */
#include "added.h"
#include "engines/engine.h"
#include "geometry/neighbors.h"
#include "methods/method.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define BOX_STEP 256

#define HUGE_PAGE ((size_t) 1 << 21)
#define HUGE_LEAST (16 * HUGE_PAGE)

static size_t
greater (size_t a, size_t b)
{
  return a > b ? a : b;
}

/* Points the columns of a frame into the arena. The columns of coordinates and scaled areas are
 * NMS__BLOCK elements longer, because engines may write a whole block after the last box of a
 * class partition, and a partition may begin at any position. */
static void
layout (nms__frame *f, nms__arena *a, size_t boxes, size_t class_options)
{
  const size_t entries = boxes + 2 * class_options + 1; /* classes and their groups */
  size_t scratch = nms__candidates_scratch_size (boxes);

  scratch = greater (scratch, nms__added_scratch_size (boxes));
  scratch = greater (scratch, nms__engines_scratch_size (boxes));
  scratch = greater (scratch, nms__hard_scratch_size (boxes));
  scratch = greater (scratch, nms__neighbors_scratch_size (boxes));

#define COLUMN(field, count) f->field = nms__take (a, count, sizeof *f->field)
  COLUMN (x1, boxes + NMS__BLOCK);
  COLUMN (y1, boxes + NMS__BLOCK);
  COLUMN (x2, boxes + NMS__BLOCK);
  COLUMN (y2, boxes + NMS__BLOCK);
  COLUMN (scaled, boxes + NMS__BLOCK);
  COLUMN (class_id, boxes);
  COLUMN (class_entry, boxes);
  COLUMN (index, boxes);
  COLUMN (packed, boxes + NMS__KEY_PADDING);
  COLUMN (scratch, scratch);
  COLUMN (kept, boxes);
  COLUMN (outcome, boxes);
  COLUMN (suppressed_by, boxes);
  COLUMN (classes.entry, entries);
  COLUMN (classes.bucket, nms__class_buckets (entries));
#undef COLUMN
  f->capacity = boxes;
}

/* Returns scratch of *size bytes, or NULL. Large scratch lies in huge pages where the system has
 * them, because random accesses to it otherwise wait for the addresses of pages, and *size becomes
 * a whole number of them. */
static void *
allocate (size_t *size)
{
  if (*size < HUGE_LEAST)
    return aligned_alloc (NMS__ALIGN, *size);
  *size = (*size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *scratch = aligned_alloc (HUGE_PAGE, *size);
#ifdef MADV_HUGEPAGE
  if (scratch)
    madvise (scratch, *size, MADV_HUGEPAGE); /* if it fails, scratch is only slower */
#endif
  return scratch;
}

/* Returns a number that cannot be predicted by choosing boxes and class ids: a mix of an address
 * and the time. */
static uint64_t
new_secret (const void *address)
{
  struct timespec t = { 0, 0 };
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) (uintptr_t) address ^ (uint64_t) t.tv_sec << 32 ^ (uint64_t) t.tv_nsec;
}

nms_context *
nms_context_new (void)
{
  nms_context *ctx = calloc (1, sizeof *ctx);
  if (ctx) {
    ctx->kernels = nms__kernels_default ();
    ctx->columns.secret = new_secret (ctx);
    ctx->columns.classes.factor = nms__secret_factor (ctx->columns.secret, 0);
  }
  return ctx;
}

/* Ends the threads and frees their contexts. */
static void
free_threads (struct nms__threads *t)
{
  nms_context *other;

  if (!t)
    return;
  nms__threads_end (t);
  for (unsigned i = 0; (other = nms__threads_context (t, i)); i++) {
    other->added = NULL; /* it belongs to the caller's context */
    nms_context_free (&other);
  }
  free (t);
}

void
nms_context_free (nms_context **ctx)
{
  if (!ctx || !*ctx)
    return;
  free_threads ((*ctx)->threads);
  (*ctx)->threads = NULL;
  nms_context_trim (*ctx);
  nms__added_free (&(*ctx)->added);
  free (*ctx);
  *ctx = NULL;
}

void
nms_context_interrupt (nms_context *ctx)
{
  if (ctx)
    nms__added_interrupt (ctx->added);
}

void
nms_context_trim (nms_context *ctx)
{
  if (!ctx)
    return;
  for (unsigned i = 0; nms__threads_context (ctx->threads, i); i++)
    nms_context_trim (nms__threads_context (ctx->threads, i));
  free (ctx->scratch);
  ctx->scratch = NULL;
  ctx->scratch_size = 0;
  ctx->box_capacity = 0;
  ctx->class_option_capacity = 0;
  free (ctx->method_scratch);
  ctx->method_scratch = NULL;
  ctx->method_scratch_size = 0;
  ctx->method_capacity = 0;
}

static size_t
scratch_of (const nms_context *ctx)
{
  return ctx->scratch_size + ctx->method_scratch_size;
}

size_t
nms_context_scratch (const nms_context *ctx)
{
  size_t sum = ctx ? scratch_of (ctx) : 0;

  for (unsigned i = 0; ctx && nms__threads_context (ctx->threads, i); i++)
    sum += scratch_of (nms__threads_context (ctx->threads, i));
  return sum;
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
  if (ctx->method_in_use)
    snprintf (ctx->in_use, sizeof ctx->in_use, "%s/%s", ctx->method_in_use,
        ctx->engine_kernels->name);
  else if (ctx->engine != NMS_ENGINE_ADDED)
    snprintf (ctx->in_use, sizeof ctx->in_use, "%s/%s", nms_engine_name (ctx->engine),
        ctx->engine_kernels->name);
  return ctx->in_use;
}

const char *
nms_context_engine_reason (const nms_context *ctx)
{
  return ctx ? nms__added_reason (ctx->added, &ctx->settings.options) : NULL;
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
  size_t box_capacity = ctx->box_capacity, class_option_capacity = ctx->class_option_capacity;

  if (!ctx->scratch || boxes > box_capacity || class_options > class_option_capacity) {
    if (boxes > box_capacity || !box_capacity)
      box_capacity = (boxes / BOX_STEP + 1) * BOX_STEP;
    if (class_options > class_option_capacity)
      class_option_capacity = class_options;
    if (box_capacity > SIZE_MAX / 256 - NMS_MAX_CLASS_OPTIONS)
      return nms__fail (ctx, NMS_ERROR_MEMORY, "no address space for %zu boxes", boxes);
    nms__arena arena = { NULL, 0 };
    nms__frame measured;
    layout (&measured, &arena, box_capacity, class_option_capacity);
    void *scratch = allocate (&arena.used);
    if (!scratch)
      return nms__fail (ctx, NMS_ERROR_MEMORY, "no memory for %zu bytes of scratch", arena.used);
    free (ctx->scratch);
    ctx->scratch = scratch;
    ctx->scratch_size = arena.used;
    ctx->box_capacity = box_capacity;
    ctx->class_option_capacity = class_option_capacity;
    arena = (nms__arena) { scratch, 0 };
    layout (&ctx->columns, &arena, box_capacity, class_option_capacity);
  }
  ctx->frame = ctx->columns;
  return NMS_OK;
}

/* Points the members of the second allocation into the arena. */
static void
layout_method (nms__frame *f, nms__arena *a, size_t boxes)
{
  f->kept_score = nms__take (a, boxes, sizeof *f->kept_score);
  f->kept_box = nms__take (a, boxes, 4 * sizeof *f->kept_box);
  f->method_scratch = nms__take (a, nms__methods_scratch_size (boxes), 1);
}

static int
grow_method_scratch (nms_context *ctx)
{
  nms__arena arena = { NULL, 0 };
  nms__frame measured;

  layout_method (&measured, &arena, ctx->box_capacity);
  void *scratch = allocate (&arena.used);
  if (!scratch)
    return nms__fail (ctx, NMS_ERROR_MEMORY, "no memory for %zu bytes of scratch", arena.used);
  free (ctx->method_scratch);
  ctx->method_scratch = scratch;
  ctx->method_scratch_size = arena.used;
  ctx->method_capacity = ctx->box_capacity;
  return NMS_OK;
}

int
nms__context_layout_method (nms_context *ctx, unsigned outputs)
{
  nms__frame *f = &ctx->frame;

  if (ctx->settings.options.method != NMS_METHOD_HARD
      || outputs & (NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX)) {
    if (ctx->method_capacity < ctx->box_capacity) {
      int error = grow_method_scratch (ctx);
      if (error)
        return error;
    }
    nms__arena arena = { ctx->method_scratch, 0 };
    layout_method (f, &arena, ctx->method_capacity);
  }
  if (!(outputs & NMS_OUTPUT_SCORE))
    f->kept_score = NULL;
  if (!(outputs & NMS_OUTPUT_BOX))
    f->kept_box = NULL;
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
  for (unsigned i = 0; nms__threads_context (ctx->threads, i); i++) {
    nms_context *other = nms__threads_context (ctx->threads, i);
    if (nms__context_layout (other, boxes, class_options))
      return nms__fail (ctx, NMS_ERROR_MEMORY, "%s", other->error);
  }
  return nms__context_layout (ctx, boxes, class_options);
}

/* Adds a thread with a context of its own. */
static int
add_thread (struct nms__threads *t)
{
  nms_context *other = nms_context_new ();

  if (!other)
    return 0;
  if (nms__threads_add (t, other))
    return 1;
  nms_context_free (&other);
  return 0;
}

int
nms_context_set_threads (nms_context *ctx, unsigned threads)
{
  struct nms__threads *t = NULL;
  unsigned started = 1;

  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  ctx->error[0] = '\0';
  if (threads < 1 || threads > NMS_MAX_THREADS)
    return nms__fail (ctx, NMS_ERROR_RANGE, "threads is %u, must be 1..%d", threads,
        NMS_MAX_THREADS);
  if (threads > 1)
    t = nms__threads_new (threads - 1);
  while (t && started < threads && add_thread (t))
    started++;
  if (started < threads) {
    free_threads (t);
    return nms__fail (ctx, NMS_ERROR_MEMORY, "cannot start %u threads", threads - 1);
  }
  free_threads (ctx->threads);
  ctx->threads = t;
  return NMS_OK;
}
