/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sweep: prepares the columns of a sweep, and the exact tests that its kernel calls. */
#include "sweep.h"

#include "engines/engine.h"

/* Copies the boxes of the keys to the columns, in order. It computes the scaled areas again,
 * because that is faster than loading them. */
static void
gather (const nms__frame *f, const nms__box_columns *c, const uint64_t *keys, size_t count,
    float factor)
{
  for (size_t k = 0; k < count; k++) {
    size_t pos = nms__packed_position (keys[k]);
    c->x1[k] = f->x1[pos];
    c->y1[k] = f->y1[pos];
    c->x2[k] = f->x2[pos];
    c->y2[k] = f->y2[pos];
  }
  for (size_t k = 0; k < count; k++)
    c->scaled[k] = factor * nms__area (c->x1[k], c->y1[k], c->x2[k], c->y2[k]);
  /* fill the last unit with empty boxes, which overlap none */
  for (size_t k = count; k % NMS__UNIT; k++)
    c->x1[k] = c->y1[k] = c->x2[k] = c->y2[k] = c->scaled[k] = 0.0f;
}

size_t
nms__sweep_keys (nms__frame *f, const nms__box_columns *columns, const uint64_t *keys, size_t count,
    double limit, uint64_t cap, uint32_t *kept)
{
  nms__bounds bounds = f->bounds;
  const nms__sweep s = { f, &bounds, nms__columns_of (columns, 0), keys, count, kept, limit, cap,
    f->parent.data != NULL, f->suppressed_by != NULL };

  if (f->class_entry) { /* the bounds of one limit are tighter than those of all classes */
    bounds = nms__bounds_of (limit, limit);
    bounds.least = nms__certain_from (bounds.least, f->side);
  }
  gather (f, columns, keys, count, bounds.factor);
  return f->kernels->sorted->sweep (&s);
}

uint32_t
nms__sweep_decide (const nms__sweep *s, size_t first, uint32_t hits, uint32_t doubt, size_t i)
{
  const nms__frame *f = s->frame;
  const nms__columns *c = &s->columns;
  const nms__box box = { c->x1[i], c->y1[i], c->x2[i], c->y2[i], c->scaled[i], 0 };
  const int32_t index = f->index[nms__packed_position (s->key[i])];

  for (uint32_t left = doubt; left; left &= left - 1) {
    const size_t k = first + nms__lowest_bit (left);
    const int32_t k_index = f->index[nms__packed_position (s->key[k])];
    if (!nms__column_exceeds (c, k, &box, s->limit) || nms__related (f, index, k_index))
      hits &= ~(left & -left);
  }
  return hits;
}

void
nms__sweep_note (const nms__sweep *s, size_t first, uint32_t gone, size_t i)
{
  const nms__frame *f = s->frame;
  const int32_t index = f->index[nms__packed_position (s->key[i])];

  for (; f->suppressed_by && gone; gone &= gone - 1) {
    const uint64_t key = s->key[first + nms__lowest_bit (gone)];
    f->suppressed_by[f->index[nms__packed_position (key)]] = index;
  }
}
