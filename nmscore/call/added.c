/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * added: gives frames to the engine of the caller as public structs, checks the kept boxes that it
 * returns, and derives the outcomes and suppressors of the other boxes from them.
 */
#include "added.h"

#include "engines/engine.h"
#include "engines/suppressor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct nms__added {
  nms_added_engine engine;
  pthread_mutex_t lock; /* held while the engine runs */
  char fault[80];       /* why the engine is not asked again, "" at first; under the lock */
};

/* Columns that the engine may need and the frame does not have, and the kept boxes. */
typedef struct columns {
  double *limits;
  uint64_t *class_cap;
  int32_t *parent, *kept;
  nms__box_columns chosen; /* columns of the kept boxes */
} columns;

static columns
layout (nms__arena *a, size_t boxes)
{
  columns c = { .limits = nms__take (a, boxes, sizeof *c.limits),
    .class_cap = nms__take (a, boxes, sizeof *c.class_cap),
    .parent = nms__take (a, boxes, sizeof *c.parent),
    .kept = nms__take (a, boxes, sizeof *c.kept) };

  nms__take_columns (a, &c.chosen, boxes);
  return c;
}

size_t
nms__added_scratch_size (size_t boxes)
{
  nms__arena arena = { NULL, 0 };

  layout (&arena, boxes);
  return arena.used;
}

/* ------------------------------------------------------------------ frame */

static nms_frame
frame_of (const nms__frame *f, const columns *c)
{
  nms_frame frame = { .size = sizeof frame,
    .count = f->count,
    .x1 = f->x1,
    .y1 = f->y1,
    .x2 = f->x2,
    .y2 = f->y2,
    .key = f->packed,
    .class_id = f->class_id,
    .limit = f->limit,
    .cap = f->cap,
    .index = f->index };

  if (f->class_entry) {
    for (size_t i = 0; i < f->count; i++) {
      c->limits[i] = f->classes.entry[f->class_entry[i]].limit;
      c->class_cap[i] = f->classes.entry[f->class_entry[i]].cap;
    }
    frame.limits = c->limits;
    frame.cap_class = f->class_entry;
    frame.class_cap = c->class_cap;
  }
  if (f->parent.data) {
    for (size_t i = 0; i < f->count; i++)
      c->parent[i] = nms__parent (f, f->index[i]);
    frame.parent = c->parent;
  }
  return frame;
}

/* ----------------------------------------------------------------- results */

/* Returns whether the kept boxes are boxes of the frame in order of rank and within the caps.
 * Counts the kept boxes of each class. */
static int
is_possible (nms__frame *f, const int32_t *kept, size_t count)
{
  if (count > f->count || count > f->cap)
    return 0;
  for (size_t k = 0; k < count; k++) {
    if (kept[k] < 0 || (size_t) kept[k] >= f->count
        || (k > 0 && f->packed[kept[k]] >= f->packed[kept[k - 1]]))
      return 0;
    nms__class *class = nms__frame_class (f, (size_t) kept[k]);
    if (class && class->kept++ >= class->cap)
      return 0;
    if (class)
      class->last = f->packed[kept[k]];
  }
  return 1;
}

/* Finds the suppressor of each box that is not kept: the first kept box that ranks above it and
 * whose IoU with it exceeds the limit. The caller marks the boxes over a cap afterwards. */
static void
find_suppressors (nms__frame *f, const columns *c, size_t count)
{
  const int grouped = f->class_id != NULL;
  const nms__columns kept = nms__columns_of (&c->chosen, grouped);

  for (size_t k = 0; k < count; k++) {
    const nms__box box = nms__frame_box (f, (size_t) c->kept[k]);
    nms__put_box (&c->chosen, k, &box, grouped);
  }
  for (size_t pos = 0; pos < f->count; pos++) {
    const nms__box box = nms__frame_box (f, pos);
    size_t end = 0, beyond = count;
    while (end < beyond) { /* counts the kept boxes that rank above it */
      const size_t middle = end + (beyond - end) / 2;
      if (f->packed[c->kept[middle]] > f->packed[pos])
        end = middle + 1;
      else
        beyond = middle;
    }
    if (end < count && (size_t) c->kept[end] == pos)
      continue;
    const size_t by = nms__first_suppressor (f, &kept, end, &box, f->index[pos], f->kept,
        nms__candidate_limit (f, pos));
    if (by < end)
      f->suppressed_by[f->index[pos]] = f->kept[by];
  }
}

static void
take_results (nms__frame *f, const columns *c, size_t count)
{
  const int full = count > 0 && count == f->cap;

  for (size_t k = 0; k < count; k++)
    nms__keep (f, (size_t) c->kept[k]);
  if (f->suppressed_by)
    find_suppressors (f, c, count);
  if (f->class_entry || full)
    nms__mark_over_cap (f, full ? f->packed[c->kept[count - 1]] : 0);
}

/* -------------------------------------------------------------------- run */

/* Runs the engine; the caller holds the lock. Returns the same values as nms__added_run, and writes
 * the reason to `why` if the engine left the frame. */
static int
run_locked (struct nms__added *added, nms__frame *f, char *why, size_t why_size)
{
  const columns c = layout (&(nms__arena) { f->scratch, 0 }, f->capacity);
  const nms_frame frame = frame_of (f, &c);
  size_t count = 0;
  int code = NMS_ENGINE_LEFT;

  if (!added->fault[0])
    code = added->engine.run (added->engine.data, &frame, c.kept, &count, why, why_size);
  if (!code && !is_possible (f, c.kept, count)) {
    snprintf (added->fault, sizeof added->fault, "it returned impossible results");
    for (size_t i = 0; f->class_entry && i < f->classes.count; i++)
      f->classes.entry[i].kept = f->classes.entry[i].last = 0;
    code = NMS_ENGINE_LEFT;
  }
  if (added->fault[0])
    snprintf (why, why_size, "%s", added->fault);
  if (!code)
    take_results (f, &c, count);
  return code == NMS_ENGINE_LEFT ? NMS__NOT_RUN : code;
}

/* Returns why no added engine gets frames with these options, or NULL. */
static const char *
beyond_options (const nms_options *o)
{
  if (o->method != NMS_METHOD_HARD || o->metric != NMS_METRIC_IOU)
    return "it runs method hard with metric iou only";
  return o->min_size_ratio > 0.0f ? "it does not take min_size_ratio" : NULL;
}

int
nms__added_run (nms_context *ctx)
{
  struct nms__added *added = ctx->added;
  nms__frame *f = &ctx->frame;
  const char *beyond = beyond_options (&ctx->settings.options);
  char why[sizeof ctx->error] = "";
  int code = NMS__NOT_RUN;

  if (!beyond)
    beyond = f->rotated ? "it does not take rotated boxes"
        : f->grouped    ? "it does not take groups of classes"
                        : NULL;
  pthread_mutex_lock (&added->lock);
  const nms_added_engine *engine = &added->engine;
  if (!beyond)
    code = run_locked (added, f, why, sizeof why);
  const char *name = engine->name (engine->data);
  if (!code)
    snprintf (ctx->in_use, sizeof ctx->in_use, "%s", name);
  else if (code != NMS__NOT_RUN)
    nms__fail (ctx, code, "engine %.80s: %s", name, why);
  else if (engine->required)
    code = nms__fail (ctx, beyond ? NMS_ERROR_UNSUPPORTED : NMS_ERROR_ENGINE, "engine %.80s: %s",
        name, beyond ? beyond : why);
  pthread_mutex_unlock (&added->lock);
  return code;
}

/* ---------------------------------------------------------------- context */

int
nms_context_add_engine (nms_context *ctx, const nms_added_engine *engine)
{
  nms_added_engine copy = { 0 };

  if (!ctx)
    return NMS_ERROR_ARGUMENT;
  ctx->error[0] = '\0';
  int error = nms__struct_read (ctx, "engine", engine, sizeof copy, &copy);
  if (!error && (!copy.name || !copy.run))
    error = nms__fail (ctx, NMS_ERROR_ARGUMENT, "engine: name or run is NULL");
  if (error)
    return error;
  struct nms__added *added = calloc (1, sizeof *added);
  if (!added)
    return nms__fail (ctx, NMS_ERROR_MEMORY, "no memory for an added engine");
  added->engine = copy;
  pthread_mutex_init (&added->lock, NULL);
  nms__added_free (&ctx->added);
  ctx->added = added;
  return NMS_OK;
}

void
nms__added_interrupt (struct nms__added *added)
{
  if (added && added->engine.interrupt)
    added->engine.interrupt (added->engine.data);
}

const char *
nms__added_reason (const struct nms__added *added, const nms_options *options)
{
  if (!added || options->engine != NMS_ENGINE_ADDED)
    return NULL;
  const char *beyond = beyond_options (options);
  if (beyond)
    return beyond;
  if (added->fault[0])
    return added->fault;
  return added->engine.reason ? added->engine.reason (added->engine.data) : NULL;
}

void
nms__added_free (struct nms__added **added)
{
  struct nms__added *freed = *added;

  *added = NULL;
  if (!freed)
    return;
  if (freed->engine.free)
    freed->engine.free (freed->engine.data);
  pthread_mutex_destroy (&freed->lock);
  free (freed);
}
