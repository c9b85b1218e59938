/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine: the contract of an engine. It gets a prepared frame, in which every
 * box that takes part is "suppressed by nobody", and leaves
 *   kept, kept_count    indices in score order
 *   outcome             NMS_KEPT or NMS_OVER_CAP where that is what became of
 *                       a box (if asked for)
 *   suppressed_by       for each suppressed box (if asked for)
 *   over_cap_count
 * and allocates nothing. All engines give the same.
 */
#ifndef NMS_ENGINE_H
#define NMS_ENGINE_H

#include "internal.h"
#include "order.h"
#include "overlap.h"

/* `..._scratch_size`: the bytes of scratch that an engine needs for frames of up to `boxes`. */
int nms__sequential (nms_context *ctx);
int nms__sorted (nms_context *ctx);
int nms__spatial (nms_context *ctx);
size_t nms__sequential_scratch_size (size_t boxes);
size_t nms__sorted_scratch_size (size_t boxes);
size_t nms__spatial_scratch_size (size_t boxes);

/* Returned by an engine that leaves the frame as it was, to another one; no error
 * code is positive. */
#define NMS__NOT_RUN 1

/* over_cap.c: the boxes of these keys have met a full cap; `index` as in the frame. */
void nms__over_cap_keys (nms__frame *frame, const int32_t *index, const uint64_t *keys,
    size_t count);

/* Boxes that rank below the one that filled a cap are over-cap,
 * also those that had been suppressed before it was full. `last`: the key of
 * the box that filled the total, 0: it is not full. Classes have their `kept`,
 * and `last` where they are full; frame->packed is in input order. */
void nms__mark_over_cap (nms__frame *frame, uint64_t last);

/* auto.c: returns the number of the engine that takes least time for the frame. */
int nms__auto_choose (const nms__frame *frame);

/* engine.c: runs the engine that the options name or auto chooses, and writes its number
 * to *used. Returns 0, or an error of engine xla. */
int nms__engine_run (nms_context *ctx, int *used);

/* engine.c: the bytes of scratch that suffice for any engine. */
size_t nms__engines_scratch_size (size_t boxes);

static inline nms__box
nms__frame_box (const nms__frame *f, size_t pos)
{
  return (nms__box) { f->x1[pos], f->y1[pos], f->x2[pos], f->y2[pos], f->scaled[pos],
    f->class_id ? f->class_id[pos] : 0 };
}

static inline uint64_t
nms__total_cap (const nms__frame *f)
{
  uint64_t cap = f->settings->options.max_detections;
  return cap ? cap : UINT64_MAX;
}

/* The class of box `pos` if classes are counted or have options, else NULL. */
static inline nms__class *
nms__frame_class (const nms__frame *f, size_t pos)
{
  return f->class_entry ? &f->classes.entry[f->class_entry[pos]] : NULL;
}

static inline void
nms__keep_index (nms__frame *f, int32_t index)
{
  f->kept[f->kept_count++] = index;
  if (f->outcome)
    f->outcome[index] = NMS_KEPT;
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
    f->outcome[index] = NMS_OVER_CAP;
  if (f->suppressed_by)
    f->suppressed_by[index] = -1;
}

static inline void
nms__over_cap (nms__frame *f, size_t pos)
{
  nms__over_cap_index (f, f->index[pos]);
}

#endif
