/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partitions: the class partitions of a frame. */
#ifndef NMS_PARTITIONS_H
#define NMS_PARTITIONS_H

#include "frame/frame.h"

/* number[pos] is the partition of the box at frame position pos. */
typedef struct nms__partitions {
  const uint32_t *number;
  size_t count;
  uint32_t *end; /* an element for each partition, for the caller's use */
} nms__partitions;

/* Numbers the partitions of a frame with class ids. `number` has an element for each box; it is
 * used if neither the boxes' class entries nor their class ids can serve as numbers. The result
 * refers to `number` and to arrays of the frame. */
nms__partitions nms__partitions_of (nms__frame *frame, uint32_t *number);

/* Replaces the size of each partition in p->end by the position at which it begins. */
static inline void
nms__partitions_begin (const nms__partitions *p)
{
  uint32_t begin = 0;

  for (size_t k = 0; k < p->count; k++) {
    const uint32_t n = p->end[k];
    p->end[k] = begin;
    begin += n;
  }
}

#endif
