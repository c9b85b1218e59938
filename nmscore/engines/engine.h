/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine: declares the engines. An engine reads the columns of a frame, which prepare.c has
 * filled with the outcome NMS_OUTCOME_SUPPRESSED and the suppressor -1 for each box, uses its
 * scratch and no other memory, and writes
 *   kept, kept_count    positions of the kept boxes in the caller's columns, best first
 *   outcome             if requested, NMS_OUTCOME_KEPT for kept boxes and NMS_OUTCOME_OVER_CAP for
 *                       boxes over a cap
 *   suppressed_by       if requested, the suppressor of each suppressed box
 *   over_cap_count      number of boxes over a cap
 * It may use `kept` and `last` of the classes' entries. All engines write the same results. An
 * engine returns 0 or NMS__OVER_BUDGET. It does not know the context.
 */
#ifndef NMS_ENGINE_H
#define NMS_ENGINE_H

#include "frame/frame.h"
#include "frame/order.h"
#include "geometry/overlap.h"

/* An engine's ..._scratch_size returns the bytes of scratch that it needs for frames of up to
 * `boxes` boxes. */
int nms__sequential (nms__frame *frame);
int nms__sorted (nms__frame *frame);
int nms__spatial (nms__frame *frame);
size_t nms__sequential_scratch_size (size_t boxes);
size_t nms__sorted_scratch_size (size_t boxes);
size_t nms__spatial_scratch_size (size_t boxes);

/* Returned by an engine that spent the frame's pair budget. The frame has to be prepared again
 * for engine spatial, which needs no budget: its time is close to linear, and on boxes that reach
 * across the frame at thresholds of about 0 at most about that of the other engines. */
#define NMS__OVER_BUDGET 1

/* caps.c: marks the boxes of these keys as over-cap. `index` is frame->index. */
void nms__over_cap_keys (nms__frame *frame, const int32_t *index, const uint64_t *keys,
    size_t count);

/* caps.c: marks the boxes that rank below the one that filled a cap as over-cap, those included
 * that were suppressed before the cap was full. `last` is the key of the box that filled the
 * total cap, 0 if it is not full. The classes' entries have `kept`, and `last` where the class
 * is full; frame->packed is in input order. */
void nms__mark_over_cap (nms__frame *frame, uint64_t last);

/* by_class.c: decides each class partition of a frame without a total cap by the engine that
 * auto chooses for it, and writes the number of the largest partition's engine to *used. Returns
 * 0 or NMS__OVER_BUDGET. nms__by_class_scratch_size returns the bytes of scratch that this needs
 * if the engines need `engine_size` bytes. */
int nms__by_class (nms__frame *frame, int *used);
size_t nms__by_class_scratch_size (size_t boxes, size_t engine_size);

/* auto.c: estimates times, sets the frame's pair budget, and returns the number of the fastest
 * engine, or NMS_ENGINE_AUTO if nms__by_class is faster than each engine. */
int nms__auto_choose (nms__frame *frame);

/* engine.c: runs the engine with number `asked`, which is not that of the added one, or the one
 * that auto chooses, and writes the number of the engine that ran to *used. Returns 0, or
 * NMS__OVER_BUDGET (only if auto chose the engine). */
int nms__engine_run (nms__frame *frame, int asked, int *used);

/* engine.c: returns the bytes of scratch that suffice for every engine. */
size_t nms__engines_scratch_size (size_t boxes);

static inline int
nms__over_budget (const nms__frame *f)
{
  return f->pairs > f->pair_budget;
}

static inline void
nms__keep_index (nms__frame *f, int32_t index)
{
  f->kept[f->kept_count++] = index;
  if (f->outcome)
    f->outcome[index] = NMS_OUTCOME_KEPT;
}

static inline void
nms__keep (nms__frame *f, size_t pos)
{
  nms__keep_index (f, f->index[pos]);
}

static inline void
nms__over_cap_index (nms__frame *f, int32_t index)
{
  f->over_cap_count++;
  if (f->outcome)
    f->outcome[index] = NMS_OUTCOME_OVER_CAP;
  if (f->suppressed_by)
    f->suppressed_by[index] = -1;
}

static inline void
nms__over_cap (nms__frame *f, size_t pos)
{
  nms__over_cap_index (f, f->index[pos]);
}

#endif
