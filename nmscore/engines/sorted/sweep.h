/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sweep: decides boxes in order of rank by bit masks. A unit of NMS__UNIT boxes is tested
 * against all boxes kept before it, then against itself. Each step executes the same
 * instructions for the whole unit, so the processor mispredicts no branches, but boxes that are
 * suppressed already are tested too. It is fastest for some hundred boxes.
 */
#ifndef NMS_SWEEP_H
#define NMS_SWEEP_H

#include "frame/frame.h"

/* Boxes that are decided together. */
#define NMS__UNIT 16

typedef struct nms__sweep {
  nms__frame *frame;
  const nms__bounds *bounds; /* for the limit and for the columns' scaled areas */
  nms__columns columns;
  const uint64_t *key; /* packed keys of the boxes, in descending order */
  size_t count;
  uint32_t *kept; /* output: numbers of the kept boxes */
  double limit;
  uint64_t cap; /* number of kept boxes at which the sweep stops; not 0 */
  int careful;  /* nonzero if every pair that passes the screen gets the exact test, because the
                 * frame has parents */
  int with_suppressors; /* nonzero to write the suppressors */
} nms__sweep;

/* The loops of engine sorted that are compiled once per instruction set. */
typedef struct nms__sorted_kernels {
  /* Fills sweep->kept and returns the number of kept boxes. */
  size_t (*sweep) (const nms__sweep *sweep);
} nms__sorted_kernels;

/* Copies the boxes of one limit, given by their keys in order of rank, to `columns` and
 * decides them until `cap` are kept. Returns how many are kept, and writes the numbers
 * of their keys to `kept`. */
size_t nms__sweep_keys (nms__frame *f, const nms__box_columns *columns, const uint64_t *keys,
    size_t count, double limit, uint64_t cap, uint32_t *kept);

/* Returns those boxes of `hits` that exceed the limit with box i; bit b stands for box first +
 * b. Only those in `doubt` need the exact test. */
uint32_t nms__sweep_decide (const nms__sweep *s, size_t first, uint32_t hits, uint32_t doubt,
    size_t i);

/* Writes box i as the suppressor of the boxes first + bit of `gone`, if suppressors are
 * requested. */
void nms__sweep_note (const nms__sweep *s, size_t first, uint32_t gone, size_t i);

#endif
