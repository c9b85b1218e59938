/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sequential_state: the undecided candidates and the picks of engine sequential. */
#ifndef NMS_SEQUENTIAL_STATE_H
#define NMS_SEQUENTIAL_STATE_H

#include "frame/frame.h"

/* Undecided boxes, in the order of the frame or of rank. Any column but class_id may be written
 * up to the end of the last block. */
typedef struct nms__undecided {
  nms__frame *f;
  float *x1, *y1, *x2, *y2, *scaled;
  int32_t *class_id; /* NULL if boxes suppress across classes */
  int32_t *key;      /* ordered like the score; NMS__GONE for a removed box, and for padding up to
                   * the end of the block */
  uint32_t *pos;     /* frame position */
  size_t width;      /* number of boxes, removed ones included */
} nms__undecided;

#define NMS__GONE INT32_MIN

/* Most boxes that one step keeps. */
#define NMS__PICKS NMS__BLOCK

/* The boxes that a step keeps, in order of rank. A vector may read, but not use, elements
 * after the last one. */
typedef struct nms__picks {
  float x1[2 * NMS__PICKS], y1[2 * NMS__PICKS], x2[2 * NMS__PICKS], y2[2 * NMS__PICKS];
  float scaled[2 * NMS__PICKS];
  float far[NMS__PICKS]; /* scaled area times bounds.far */
  int32_t class_id[2 * NMS__PICKS];
  int32_t index[NMS__PICKS]; /* position in the caller's columns */
  size_t count;
} nms__picks;

/* The loops that are compiled once per instruction set. */
typedef struct nms__sequential_kernels {
  /* Fills `key` and `pos` from the frame's keys. */
  void (*begin) (nms__undecided *a);

  /* Writes the positions of the best boxes, about `wanted` (of 16) or more, to `positions` in
   * ascending order and returns their number. */
  size_t (*pick) (const nms__undecided *a, int wanted, uint32_t *positions);

  /* Sets, for each i < n <= NMS__BLOCK, which of the boxes i+1 .. n-1 may exceed the limit with box
   * i, and which of those certainly do. Returns a mask of the i for which any may. */
  uint64_t (*rows) (const nms__undecided *a, size_t n, uint64_t *may, uint64_t *surely);

  /* Removes the boxes that the picks suppress and closes the gaps, in one pass. */
  void (*step) (nms__undecided *a, const nms__picks *picks);
} nms__sequential_kernels;

/* sequential.c: of the boxes first + bit of `mask`, which may exceed the limit with a pick,
 * returns those that do by the exact test. Writes their suppressors. */
uint64_t nms__confirm (const nms__undecided *a, size_t first, uint64_t mask,
    const nms__picks *picks);

#endif
