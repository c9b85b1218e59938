/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels: the loops that are compiled once per instruction set, as a table.
 * All tables give the same bits. Columns are padded to whole blocks: kernels
 * may read (never use) what lies behind the last box up to the block's end.
 */
#ifndef NMS_KERNELS_H
#define NMS_KERNELS_H

#include "overlap.h"

struct nms__undecided;
struct nms__picks;
struct nms__sweep;
struct nms__frame;
struct nms__cell_boxes;
struct nms_boxes;

/* Most keys that sort_few takes. */
#define NMS__FEW 512

typedef struct nms__kernels {
  const char *name;
  int lanes; /* floats a vector */

  /* Which of the boxes first .. first+n-1 (n <= NMS__BLOCK, first a multiple
   * of it) of the box's group may exceed the limit: bit i for box first+i.
   * Those among them that surely do are in *certain, unless that is NULL. */
  uint64_t (*overlap_block) (const nms__columns *columns, size_t first, size_t n,
      const nms__box *box, const nms__bounds *bounds, uint64_t *certain);

  /* The first group of up to NMS__BLOCK boxes in first .. end-1 in which a box
   * may exceed the limit; *mask holds which. Returns where the group begins,
   * or `end`. */
  size_t (*find_overlap) (const nms__columns *columns, size_t first, size_t end,
      const nms__box *box, uint64_t *mask);

  /* engines/sequential.c, engines/alive.h. begin: fills key and pos, from the
   * frame's keys. pick: the places of the best boxes, at least about `wanted`
   * (of 16) of them, in ascending order into `places`; returns how many. rows:
   * which of the first n <= NMS__BLOCK boxes behind box i may exceed the limit
   * with it, and which among them surely do; returns for which i any may.
   * step: the fused pass: drops holes and what the picks suppress, and closes
   * the gaps. */
  void (*begin) (struct nms__undecided *a);
  size_t (*pick) (const struct nms__undecided *a, int wanted, uint32_t *places);
  uint64_t (*rows) (const struct nms__undecided *a, size_t n, uint64_t *may, uint64_t *surely);
  void (*step) (struct nms__undecided *a, const struct nms__picks *picks);

  /* Moves those of `count` keys that are at least `pivot` to `top` and closes
   * the gaps in `keys`; both keep their order. Returns how many moved. `top`
   * has room for count and a vector more. */
  size_t (*split) (uint64_t *keys, size_t count, uint64_t pivot, uint64_t *top);

  /* Sorts up to NMS__FEW packed keys by their upper 32 bits, greatest first and
   * equal ones in the order given, into `sorted`. Returns 0, and has not sorted,
   * if the upper 32 bits of one are 0. `few`: up to so many this is quick. */
  int (*sort_few) (const uint64_t *packed, size_t count, uint64_t *sorted);
  size_t few;

  /* engines/sweep.h: fills sweep->kept, returns how many are kept. */
  size_t (*sweep) (const struct nms__sweep *sweep);

  /* prepare.c: takes those of the caller's boxes first .. first+n-1 (n <=
   * NMS__BLOCK) into the frame that take part. `thresholds`: of the scores, if
   * classes have their own; else NULL. f->slot has been filled for all of them.
   * Bits tell which are invalid and which are filtered. */
  void (*take_block) (struct nms__frame *frame, const struct nms_boxes *boxes, size_t first,
      size_t n, const float *thresholds, uint64_t *invalid, uint64_t *filtered);

  /* engines/spatial.h: decides the boxes of a grid where no cap does. */
  void (*decide_cells) (struct nms__cell_boxes *places);
} nms__kernels;

/* simd/dispatch.c: the table for a context. */
const nms__kernels *nms__kernels_default (void);
const nms__kernels *nms__kernels_named (const char *name, const char **why_not);

#endif
