/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tuning: the sizes by which engines sorted and spatial decide how to work; engine auto
 * estimates their work from the same values. */
#ifndef NMS_TUNING_H
#define NMS_TUNING_H

#include "engine.h"

/* ---------------------------------------------------------- engine sorted */

/* In frames and class partitions of at most this many boxes engine sorted tests units of
 * boxes by vectors (sorted/sweep.h). With more boxes it tests each one alone, because
 * the first suppressor then ends most tests early. */
#define NMS__SWEEP_MOST 400

/* sorted sorts only a first wave of boxes where the cap is far below their
 * number: so many for each box that the cap allows, in frames of so many. If they
 * were not enough, classes are tried with all boxes; without, a wave is four times
 * the one before it. */
#define NMS__BATCH_CANDIDATES 2
#define NMS__BATCH_CANDIDATES_OF_CLASSES 4
#define NMS__BATCH_GROWTH 4
#define NMS__BATCH_LEAST 1024

static inline int
nms__sorts_in_batches (const nms__frame *f)
{
  return f->count >= NMS__BATCH_LEAST && nms__total_cap (f) < f->count / 8;
}

static inline size_t
nms__first_batch (const nms__frame *f)
{
  return (size_t) nms__total_cap (f)
      * (f->class_id ? NMS__BATCH_CANDIDATES_OF_CLASSES : NMS__BATCH_CANDIDATES);
}

/* Of so many of `count` keys the one with this rank is the pivot for a wave: rather
 * less than it should be, since few samples are off by much. */
#define NMS__BATCH_SAMPLES 64

static inline size_t
nms__batch_rank (size_t count, size_t wanted)
{
  const size_t rank = wanted * NMS__BATCH_SAMPLES / count;
  return rank + (rank && rank < 8 ? 2 : 1);
}

/* --------------------------------------------------------- engine spatial */

#define NMS__SIZES 32 /* size classes: levels of the grid by the boxes' area */
#define NMS__ASPECT_OCTAVES 6 /* of width / height in one aspect class */

/* Cell sides, in units of the reach of a mean box (both ways). Rows are asked
 * one by one, the cells of a row at once. */
#define NMS__CELL_X 0.25
#define NMS__CELL_Y 1.5

/* That reach, in units of its sides. */
static inline double
nms__mean_reach (double distance, double limit)
{
  const double reach = distance * (1.0 + 1.0 / limit);
  /* at the least a 1024th of a box, at the most some boxes */
  return reach > 0x1p-10 ? (reach < 2.0 ? 2.0 * reach : 4.0) : 0x1p-9;
}

#endif
