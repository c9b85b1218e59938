/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spatial_scatter: the boxes of a frame in the order of the grid's cells. */
#ifndef NMS_SPATIAL_SCATTER_H
#define NMS_SPATIAL_SCATTER_H

#include "spatial_grid.h"

/* A box on its way to its place. */
typedef struct nms__record {
  float x1, y1, x2, y2;
  uint64_t packed;
  uint32_t cell;
  int32_t class_id;
} nms__record;

/* What the sweep in the order of places needs (simd/places_tmpl.c). */
typedef struct nms__cell_boxes {
  nms__frame *frame;
  const nms__grid *grid;
  nms__columns columns;
  float *score;      /* of each place */
  uint32_t *position; /* of each place: in the frame */
  uint64_t *undecided;    /* a bit for each place in a cell not yet decided; a word more */
  uint32_t *waiting; /* of each place: the one that waits for it */
  uint32_t *kept;    /* a bit for each position in the frame; 0 at first */
} nms__cell_boxes;

/* What the engine takes of scratch. */
typedef struct nms__spatial_scratch {
  uint16_t *level;      /* of each box of the frame */
  uint32_t *begin;      /* nms__grid.begin */
  nms__record *records; /* until all boxes are in their places */
  uint32_t *cell_of;    /* of each box of the frame; until there are records */
  int32_t *class_id;       /* nms__grid.group */

  /* walk */
  struct nms__box4 *box4;
  int32_t *index;
  uint32_t *class_entry;
  uint8_t *undecided;
  uint64_t *order;

  /* sweep */
  nms__box_columns columns;
  float *score;
  uint32_t *position, *waiting, *kept;
  uint64_t *undecided_bits;
  uint64_t *keys; /* of the kept boxes, after the sweep */
} nms__spatial_scratch;

/* Lays the scratch out. Walk and sweep lie in the same memory, and so do what is used
 * one after the other. */
void nms__spatial_layout (nms__spatial_scratch *s, nms__arena *arena, size_t boxes);

/* Puts all boxes of the frame into the cells of a grid that
 * is planned, for the walk: the lower half of each packed key becomes the
 * place of its box; or for the sweep. */
void nms__scatter_to_box4 (nms__grid *grid, nms__frame *frame, const nms__spatial_scratch *s);
void nms__scatter_to_columns (nms__grid *grid, nms__frame *frame, const nms__spatial_scratch *s,
    nms__cell_boxes *places);

#endif
