/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alive: the state of the sequential engine between two steps. */
#ifndef NMS_ALIVE_H
#define NMS_ALIVE_H

#include "../internal.h"

/* The boxes still alive, in the frame's own columns, with holes. */
typedef struct nms__alive {
  nms__frame *f;
  nms__columns columns;
  uint64_t *best; /* of each block: the greatest key, 0: none lives */
  unsigned *at;   /* of each block: its bit */
  uint64_t *mask; /* of each block: bit i: box i lives */
  size_t width;   /* boxes and holes */
  size_t live;    /* boxes */
  uint64_t next;  /* greatest key of all, 0 when none is left */
  size_t block;   /* where it is */
} nms__alive;

static inline void
nms__consider (nms__alive *a, size_t block)
{
  if (a->best[block] > a->next) {
    a->next = a->best[block];
    a->block = block;
  }
}

/* sequential.c: of the boxes first + bit of `mask`, those that do exceed. */
uint64_t nms__decide (const nms__alive *a, size_t first, uint64_t mask, uint64_t certain,
    const nms__box *box, int32_t index);

/* sequential.c: notes who suppressed the boxes of `mask`. */
void nms__note_suppressor (const nms__frame *f, size_t first, uint64_t mask, int32_t index);

#endif
