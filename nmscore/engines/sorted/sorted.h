/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sorted: the declarations that the files of engine sorted share. */
#ifndef NMS_SORTED_H
#define NMS_SORTED_H

#include "sorted_rotated.h"

#include "engines/engine.h"
#include "engines/tuning.h"

typedef struct nms__sorted_scratch {
  nms__box_columns columns; /* the kept boxes, or the boxes of a sweep; not used for frames with
                             * rotated boxes */
  nms__columns view;        /* the same columns, read-only */
  uint64_t *keys, *keys2;   /* packed keys, and a buffer for sorting them */
  uint32_t *kept;           /* numbers of the kept boxes among a partition's keys */
  int32_t *kept_index;      /* position of each kept box in the caller's columns */
  uint32_t *partition;      /* partition of each box, if classes have no entries */
  uint64_t *kept_bits;      /* a bit for each box of the frame */
  nms__rotated_unit *unit;  /* used for frames with rotated boxes */
} nms__sorted_scratch;

/* sorted_take.c: tests the box of the given rank against the *n kept boxes that have an area. If
 * none suppresses it, appends it to them and returns 1; else writes its suppressor and returns 0. A
 * box without area is kept and not appended, because it overlaps no box. */
int nms__sorted_take (nms__frame *f, const nms__sorted_scratch *s, const nms__ranked *ranked,
    size_t rank, size_t *n, double limit);

/* sorted_classes.c: decides a frame whose boxes suppress only within their class. */
void nms__sorted_classes (nms__frame *f, const nms__sorted_scratch *s);

#endif
