/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sorted: what the files of this engine share. */
#ifndef NMS_SORTED_H
#define NMS_SORTED_H

#include "engines/engine.h"
#include "engines/tuning.h"

typedef struct nms__sorted_scratch {
  nms__box_columns columns; /* of the kept boxes, or of the boxes of a sweep */
  uint64_t *keys, *keys2;   /* packed, to be sorted */
  uint32_t *kept;           /* numbers of the kept ones among the keys of a pile */
  int32_t *kept_index;      /* of the kept boxes of a pile, in the caller's columns */
  uint32_t *partition;           /* of each box of the frame, if classes have no entries */
  uint64_t *kept_bits;      /* a bit for each box of the frame */
} nms__sorted_scratch;

/* sorted.c: a key that about `wanted` of the first `count` boxes reach, or more. */
uint64_t nms__batch_pivot (const nms__frame *f, size_t count, size_t wanted);

/* sorted.c: whether the box at `pos` is kept after n others, which are the first
 * n of s->columns; then it becomes one of them. `kept_index`: their
 * indices. Else notes who suppressed it. */
int nms__sorted_take (nms__frame *f, const nms__sorted_scratch *s, size_t pos, size_t n,
    const int32_t *kept_index, double limit);

/* sorted_groups.c: the engine where boxes have groups and no two groups meet. */
void nms__sorted_classes (nms__frame *f, const nms__sorted_scratch *s);

#endif
