/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels: the loops that are compiled once per instruction set, as a table.
 * All tables give the same bits. Columns are padded to whole blocks: kernels
 * may read (never use) what lies behind the last box up to the block's end.
 */
#ifndef NMS_KERNELS_H
#define NMS_KERNELS_H

#include "../overlap.h"

struct nms__frame;
struct nms_boxes;

typedef struct nms__kernels {
  const char *name;

  /* Which of the boxes first .. first+n-1 (n <= NMS__BLOCK, first a multiple
   * of it) of the box's group may exceed the limit: bit i for box first+i.
   * Those among them that surely do are in *certain. */
  uint64_t (*overlap_block) (const nms__columns *columns, size_t first, size_t n,
      const nms__box *box, const nms__bounds *bounds, uint64_t *certain);

  /* The first group of up to NMS__BLOCK boxes in first .. end-1 in which a box
   * may exceed the limit; *mask holds which. Returns where the group begins,
   * or `end`. */
  size_t (*find_overlap) (const nms__columns *columns, size_t first, size_t end,
      const nms__box *box, uint64_t *mask);

  /* Zeroes the keys of a whole block whose bit is set in `kill` and returns
   * the greatest key left. */
  uint64_t (*best_of_block) (uint64_t *key, uint64_t kill);

  /* Which key of a whole block equals `key`; one does. */
  size_t (*find_key) (const uint64_t *keys, uint64_t key);

  /* Squeezes the columns (group may be NULL) of `n` boxes to those whose key
   * is not 0; returns how many. n is a multiple of NMS__BLOCK. */
  size_t (*squeeze) (float *const *columns, int32_t *group, uint64_t *key, size_t n);

  /* prepare.c: takes the caller's boxes first .. first+n-1 (n <= NMS__BLOCK)
   * into the frame when every one of them takes part, and class and exclusion
   * do not matter. Returns 0, and does nothing, if one does not. */
  int (*take_block) (struct nms__frame *frame, const struct nms_boxes *boxes, size_t first,
      size_t n);
} nms__kernels;

/* simd/dispatch.c: the table for a context. */
const nms__kernels *nms__kernels_default (void);
const nms__kernels *nms__kernels_named (const char *name, const char **why_not);

#endif
