/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alive: the state of the sequential engine between two steps. */
#ifndef NMS_SEQUENTIAL_STATE_H
#define NMS_SEQUENTIAL_STATE_H

#include "internal.h"

/* Boxes that are not decided yet, in the order of the frame or of rank. All
 * columns but `group` may be written up to the end of a block. */
typedef struct nms__undecided {
  nms__frame *f;
  float *x1, *y1, *x2, *y2, *scaled;
  int32_t *class_id; /* NULL: one group */
  int32_t *key;   /* orders like the score; NMS__GONE: a hole, also behind the
                   * last box up to the end of its block */
  uint32_t *pos;  /* in the frame */
  size_t width;   /* boxes and holes */
} nms__undecided;

#define NMS__GONE INT32_MIN

/* Most boxes that one step keeps. */
#define NMS__PICKS NMS__BLOCK

/* The boxes that a step keeps, in order of rank. Vectors may be read (never
 * used) behind the last one. */
typedef struct nms__picks {
  float x1[2 * NMS__PICKS], y1[2 * NMS__PICKS], x2[2 * NMS__PICKS], y2[2 * NMS__PICKS];
  float scaled[2 * NMS__PICKS];
  float far[NMS__PICKS]; /* share times bounds.far */
  int32_t class_id[2 * NMS__PICKS];
  int32_t index[NMS__PICKS]; /* in the caller's columns */
  size_t count;
} nms__picks;

/* sequential.c: of the boxes first + bit of `mask`, which may exceed the limit
 * with a pick, those that do. Notes who suppressed them. */
uint64_t nms__confirm (const nms__undecided *a, size_t first, uint64_t mask,
    const nms__picks *picks);

#endif
