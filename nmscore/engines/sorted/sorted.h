/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sorted: what the files of this engine share. */
#ifndef NMS_SORTED_H
#define NMS_SORTED_H

#include "engines/engine.h"

/* sorted.c: a key that about `wanted` of the first `count` boxes reach, or more. */
uint64_t nms__wave_pivot (const nms__frame *f, size_t count, size_t wanted);

/* sorted.c: whether the box at `pos` is kept after n others, which are the first
 * n of the columns wx1, wy1 ...; then it becomes one of them. `who`: their
 * indices. Else notes who suppressed it. */
int nms__sorted_take (nms__frame *f, size_t pos, size_t n, const int32_t *who, double limit);

/* sorted_groups.c: the engine where boxes have groups and no two groups meet. */
void nms__sorted_groups (nms__frame *f);

/* sorted_groups.c: decides boxes of one limit that may all meet, given by their
 * keys in order of rank, until `cap` are kept. Returns how many are, and in
 * `kept` which: numbers of keys, ascending. */
size_t nms__sorted_pile (nms__frame *f, const uint64_t *keys, size_t count, double limit,
    uint64_t cap, uint32_t *kept);

#endif
