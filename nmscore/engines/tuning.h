/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tuning: the sizes by which engines sorted and spatial choose how to work. Engine auto
 * estimates their work from the same sizes.
 */
#ifndef NMS_TUNING_H
#define NMS_TUNING_H

#include "engine.h"

/* In frames and class partitions of at most this many boxes engine sorted tests several boxes at
 * once by vectors (sorted/sweep.h). With more boxes it tests each one alone, because the tests of
 * most boxes end early at their first suppressor. */
#define NMS__SWEEP_MOST 400

/* If a frame has at least NMS__BATCH_LEAST boxes and max_detections is less than an eighth of
 * their number, engine sorted first sorts a batch of NMS__BATCH_CANDIDATES * max_detections boxes
 * (NMS__BATCH_CANDIDATES_OF_CLASSES times if boxes have class ids). If that batch does not fill the
 * cap, a frame without class ids continues with batches that grow by NMS__BATCH_GROWTH, and one
 * with class ids starts again with a batch that is NMS__BATCH_GROWTH times as large. */
#define NMS__BATCH_CANDIDATES 2
#define NMS__BATCH_CANDIDATES_OF_CLASSES 4
#define NMS__BATCH_GROWTH 4
#define NMS__BATCH_LEAST 1024

static inline int
nms__sorts_in_batches (const nms__frame *f)
{
  return f->count >= NMS__BATCH_LEAST && f->cap < f->count / 8;
}

static inline size_t
nms__first_batch (const nms__frame *f)
{
  return (size_t) f->cap * (f->class_id ? NMS__BATCH_CANDIDATES_OF_CLASSES : NMS__BATCH_CANDIDATES);
}

/* Returns whether engine spatial has to decide the boxes of the frame in score order,
 * which takes longer than its own order. */
static inline int
nms__takes_score_order (const nms__frame *f)
{
  return f->class_entry || f->parent.data || f->suppressed_by || f->cap < f->count;
}

#endif
