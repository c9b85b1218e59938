/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted_rotated: finds the kept box that suppresses a candidate in frames with rotated boxes.
 * Tests a unit of NMS__BLOCK candidates against some kept boxes before the next ones, because the
 * columns of the kept boxes then stay in the first-level cache.
 */
#ifndef NMS_SORTED_ROTATED_H
#define NMS_SORTED_ROTATED_H

#include "rotated_screen.h"

#include "engines/engine.h"

/* Keys of boxes, in order of rank. */
typedef struct nms__ranked {
  const uint64_t *keys;
  size_t count;
} nms__ranked;

/* Candidates that are tested together. */
typedef struct nms__rotated_unit {
  nms__rotated_columns columns; /* the kept boxes */
  double origin[2];             /* centre of the frame's first box */
  size_t first, end;            /* ranks of the candidates: first..end-1 */
  size_t kept;                  /* number of kept boxes that all candidates were tested against */
  nms__rotated_box box[NMS__BLOCK]; /* the candidates */
  uint32_t by[NMS__BLOCK];          /* the first of the kept boxes that suppresses the candidate;
                                     * UINT32_MAX: none found */
} nms__rotated_unit;

void nms__rotated_take_columns (nms__arena *a, nms__rotated_columns *c, size_t boxes);

/* Begins a frame with rotated boxes. */
void nms__rotated_start (const nms__frame *f, nms__rotated_unit *u);

/* Begins other candidates, whose ranks start at 0 again. */
static inline void
nms__rotated_restart (nms__rotated_unit *u)
{
  u->end = 0;
}

/* Returns the first of the n kept boxes that suppresses the candidate of the given rank, or n
 * if none does. Ranks ascend from call to call, and so does n. `kept_index`: positions of the
 * kept boxes in the caller's columns. */
size_t nms__rotated_suppressor (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r,
    size_t rank, size_t n, const int32_t *kept_index);

/* Appends a box to the n kept boxes. Its rank is the one of the last call of
 * nms__rotated_suppressor. */
void nms__rotated_append (nms__rotated_unit *u, size_t rank, size_t n);

#endif
