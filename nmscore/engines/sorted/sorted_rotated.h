/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sorted_rotated: finds the kept box that suppresses a candidate in frames with rotated boxes.
 * Tests a unit of NMS__BLOCK candidates against 256 kept boxes at a time, because the columns of
 * these boxes then stay in the first-level cache.
 */
#ifndef NMS_SORTED_ROTATED_H
#define NMS_SORTED_ROTATED_H

#include "engines/engine.h"
#include "geometry/rotated.h"

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
  size_t kept;                  /* number of kept boxes that the whole unit was tested against */
  nms__rotated_box box[NMS__BLOCK]; /* the candidates */
  uint32_t by[NMS__BLOCK];          /* number of the first kept box that suppresses the candidate;
                                     * UINT32_MAX until one is found */
} nms__rotated_unit;

/* Prepares the unit for a frame with rotated boxes and at least one box. */
void nms__rotated_start (const nms__frame *f, nms__rotated_unit *u);

/* Empties the unit. Call when other keys are tested, whose ranks start at 0 again. */
static inline void
nms__rotated_restart (nms__rotated_unit *u)
{
  u->end = 0;
}

/* Returns the number of the first of the n kept boxes that suppresses the candidate of rank `rank`,
 * or n if none does. Neither rank nor n may be lower than in the call before, until
 * nms__rotated_restart is called. `kept_index`: positions of the kept boxes in the caller's
 * columns. */
size_t nms__rotated_suppressor (const nms__frame *f, nms__rotated_unit *u, const nms__ranked *r,
    size_t rank, size_t n, const int32_t *kept_index);

/* Appends the candidate of rank `rank` to the n kept boxes. The last call of
 * nms__rotated_suppressor must have had the same rank. */
void nms__rotated_append (nms__rotated_unit *u, size_t rank, size_t n);

#endif
