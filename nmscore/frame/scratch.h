/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scratch: the parts of one aligned allocation of the context. Each engine names the parts that it
 * uses in a struct of its own and lays them out from the same start, since only one engine runs at
 * a time.
 */
#ifndef NMS_SCRATCH_H
#define NMS_SCRATCH_H

#include "geometry/overlap.h"

#define NMS__ALIGN 64

/* Number of elements after the last one that a vector may write to an array of packed keys. */
#define NMS__KEY_PADDING 8

/* `base` is aligned to NMS__ALIGN. An arena with `base` NULL only adds up sizes. */
typedef struct nms__arena {
  char *base;
  size_t used; /* bytes, a multiple of NMS__ALIGN */
} nms__arena;

/* Returns the next part of the arena, `count` elements of `size` bytes, or NULL if the arena
 * only adds up sizes. */
static inline void *
nms__take (nms__arena *a, size_t count, size_t size)
{
  void *part = a->base ? a->base + a->used : NULL;
  a->used += (count * size + NMS__ALIGN - 1) & ~(size_t) (NMS__ALIGN - 1);
  return part;
}

/* Columns that an engine fills itself. */
typedef struct nms__box_columns {
  float *x1, *y1, *x2, *y2, *scaled;
  int32_t *class_id; /* filled only if the frame's boxes have class ids */
} nms__box_columns;

static inline void
nms__take_columns (nms__arena *a, nms__box_columns *c, size_t boxes)
{
  c->x1 = nms__take (a, boxes, sizeof *c->x1);
  c->y1 = nms__take (a, boxes, sizeof *c->y1);
  c->x2 = nms__take (a, boxes, sizeof *c->x2);
  c->y2 = nms__take (a, boxes, sizeof *c->y2);
  c->scaled = nms__take (a, boxes, sizeof *c->scaled);
  c->class_id = nms__take (a, boxes, sizeof *c->class_id);
}

static inline void
nms__put_box (const nms__box_columns *c, size_t i, const nms__box *box, int by_class)
{
  c->x1[i] = box->x1;
  c->y1[i] = box->y1;
  c->x2[i] = box->x2;
  c->y2[i] = box->y2;
  c->scaled[i] = box->scaled;
  if (by_class)
    c->class_id[i] = box->class_id;
}

/* Returns the corners of box i, without its scaled area and class. */
static inline nms__box
nms__corners_at (const nms__box_columns *c, size_t i)
{
  return (nms__box) { c->x1[i], c->y1[i], c->x2[i], c->y2[i], 0.0f, 0 };
}

static inline nms__columns
nms__columns_of (const nms__box_columns *c, int by_class)
{
  return (nms__columns) { c->x1, c->y1, c->x2, c->y2, c->scaled, by_class ? c->class_id : NULL };
}

#endif
