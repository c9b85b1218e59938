/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * method: declares the methods, and hard NMS by other metrics than IoU. A method reads the frame,
 * which prepare.c has filled, as an engine does (engines/engine.h), and writes the same results. If
 * NMS_METHOD_LIST says that it changes scores or boxes, it also writes kept_score or kept_box,
 * unless that is NULL. Its scratch begins at frame->method_scratch.
 */
#ifndef NMS_METHOD_H
#define NMS_METHOD_H

#include "engines/engine.h"

/* nms__<family>, which <family>.c defines, runs the methods of a family. nms__hard runs method hard
 * with another metric than IoU, or on many rotated boxes. nms__<family>_scratch_size returns the
 * bytes of scratch that it needs for frames of up to `boxes` boxes. */
#define NMS__DECLARE(constant, number, family, by_score, changes, name, text) \
  void nms__##family (nms__frame *frame); \
  size_t nms__##family##_scratch_size (size_t boxes);
NMS_METHOD_LIST (NMS__DECLARE)
#undef NMS__DECLARE

/* method.c: returns whether nms__method_run decides the frame, not an engine. */
int nms__method_decides (const nms__frame *frame);

/* method.c: runs the frame's method. */
void nms__method_run (nms__frame *frame);

/* method.c: fills kept_score and kept_box, where requested, unless the method did. `boxes` are the
 * caller's. */
void nms__method_fill (nms__frame *frame, const nms_boxes *boxes);

/* method.c: returns the bytes of scratch that suffice for every method. */
size_t nms__methods_scratch_size (size_t boxes);

/* Writes the corners of the caller's box `index`, in order, to `c`. */
static inline void
nms__caller_corners (const nms_boxes *boxes, size_t index, float c[4])
{
  nms__load (&c[0], &boxes->x1, index, sizeof c[0]);
  nms__load (&c[1], &boxes->y1, index, sizeof c[0]);
  nms__load (&c[2], &boxes->x2, index, sizeof c[0]);
  nms__load (&c[3], &boxes->y2, index, sizeof c[0]);
  nms__order_corners (c);
}

/* Returns whether one of the boxes at frame positions a and b is a part of the other. Reads their
 * indices only if there are parents: in a large frame each is elsewhere in memory. */
static inline int
nms__positions_related (const nms__frame *f, size_t a, size_t b)
{
  return f->parent.data && nms__related (f, f->index[a], f->index[b]);
}

/* Returns the score of the box at `pos`, or FLT_MAX if the score is greater. */
static inline float
nms__method_score (const nms__frame *f, size_t pos)
{
  const float score = nms__score_of_key ((uint32_t) (f->packed[pos] >> 32));
  return score > FLT_MAX ? FLT_MAX : score;
}

/* Returns whether v, the metric of a pair that intersects, is an overlap if the box at `pos` is the
 * lower-ranked of the pair. No binary32 number lies between a threshold and its limit (overlap.h);
 * only the limit of the inclusive threshold 0 is negative. */
static inline int
nms__overlaps (const nms__frame *f, size_t pos, float v)
{
  return (double) v > nms__candidate_limit (f, pos) && v >= 0.0f;
}

/* Returns whether the total cap or the cap of the class of the box at `pos` is full. */
static inline int
nms__cap_is_full (const nms__frame *f, size_t pos)
{
  const nms__class *class = nms__frame_class (f, pos);
  return f->kept_count >= f->cap || (class && class->kept >= class->cap);
}

/* Keeps the box at `pos` as the next one, with `score`, or marks it as over-cap if a cap is full.
 * Returns whether it is kept. */
static inline int
nms__take_next (nms__frame *f, size_t pos, float score)
{
  if (nms__cap_is_full (f, pos)) {
    nms__over_cap (f, pos);
    return 0;
  }
  nms__class *class = nms__frame_class (f, pos);
  if (class)
    class->kept++;
  if (f->kept_score)
    f->kept_score[f->kept_count] = score;
  nms__keep (f, pos);
  return 1;
}

/* Marks the box at `pos` as suppressed by the one at `by`. */
static inline void
nms__suppress (nms__frame *f, size_t pos, size_t by)
{
  if (f->suppressed_by)
    f->suppressed_by[f->index[pos]] = f->index[by];
}

#endif
