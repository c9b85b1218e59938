/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* places: a set of places (box_blocks.h). A row leaves out the blocks that have none of them. */
#ifndef NMS_PLACES_H
#define NMS_PLACES_H

#include "frame/frame.h"

#include <string.h>

/* Boxes in a group of blocks. */
#define NMS__GROUP ((size_t) NMS__BLOCK * NMS__BLOCK)

typedef struct nms__places {
  uint64_t *bits;   /* one element per block, with a bit for each place in the set */
  uint64_t *blocks; /* one element per group, with a bit for each block that has such a place */
} nms__places;

static inline void
nms__places_take (nms__arena *a, nms__places *p, size_t boxes)
{
  p->bits = nms__take (a, boxes / NMS__BLOCK + 1, sizeof *p->bits);
  p->blocks = nms__take (a, boxes / NMS__GROUP + 1, sizeof *p->blocks);
}

static inline void
nms__places_write (const nms__places *p, size_t boxes, int value)
{
  memset (p->bits, value, (boxes / NMS__BLOCK + 1) * sizeof *p->bits);
  memset (p->blocks, value, (boxes / NMS__GROUP + 1) * sizeof *p->blocks);
}

/* Puts the places of all boxes into the set. */
static inline void
nms__places_set_all (const nms__places *p, size_t boxes)
{
  nms__places_write (p, boxes, 0xff);
}

static inline void
nms__places_clear_all (const nms__places *p, size_t boxes)
{
  nms__places_write (p, boxes, 0);
}

static inline int
nms__place_is_set (const nms__places *p, size_t place)
{
  return p->bits[place / NMS__BLOCK] >> place % NMS__BLOCK & 1;
}

static inline void
nms__place_set (const nms__places *p, size_t place)
{
  const size_t block = place / NMS__BLOCK;

  p->bits[block] |= (uint64_t) 1 << place % NMS__BLOCK;
  p->blocks[block / NMS__BLOCK] |= (uint64_t) 1 << block % NMS__BLOCK;
}

static inline void
nms__place_clear (const nms__places *p, size_t place)
{
  const size_t block = place / NMS__BLOCK;

  p->bits[block] &= ~((uint64_t) 1 << place % NMS__BLOCK);
  if (!p->bits[block])
    p->blocks[block / NMS__BLOCK] &= ~((uint64_t) 1 << block % NMS__BLOCK);
}

#endif
