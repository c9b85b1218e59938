/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sweep: boxes in order of rank that may all meet, by bits instead of lists. A
 * unit of boxes meets all that were kept before it, then one another, and
 * every step of that is the same instructions for all of them: nothing to
 * guess for the processor, at the price of testing boxes that are suppressed
 * already. Best for some hundred boxes.
 */
#ifndef NMS_SWEEP_H
#define NMS_SWEEP_H

#include "internal.h"

/* Boxes decided together. */
#define NMS__UNIT 16

typedef struct nms__sweep {
  nms__frame *frame;
  const nms__bounds *bounds; /* of the limit, for the shares of the columns */
  nms__columns columns;
  const uint64_t *key; /* packed, of each box: in descending order */
  size_t count;
  uint32_t *kept; /* room for the numbers of the kept boxes */
  double limit;
  uint64_t cap; /* stops when so many are kept; not 0 */
  int careful;  /* whatever may exceed is looked at: there are parts or turned boxes */
  int with_suppressors;   /* who suppressed whom */
} nms__sweep;

/* Copies the boxes of one limit, given by their keys in order of rank, to `columns` and
 * decides them until `cap` are kept. Returns how many are kept, and writes the numbers
 * of their keys to `kept`. */
size_t nms__sweep_keys (nms__frame *f, const nms__box_columns *columns, const uint64_t *keys,
    size_t count, double limit, uint64_t cap, uint32_t *kept);

/* Of the boxes first + bit of `hits`, which may exceed the limit with box i,
 * and surely do unless they are in `doubt`, those that do. */
uint32_t nms__sweep_decide (const nms__sweep *s, size_t first, uint32_t hits, uint32_t doubt,
    size_t i);

/* Box i suppressed the boxes first + bit of `gone`: noted, if that is asked for. */
void nms__sweep_note (const nms__sweep *s, size_t first, uint32_t gone, size_t i);

#endif
