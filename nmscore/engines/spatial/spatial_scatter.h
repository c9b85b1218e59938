/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spatial_scatter: the boxes of a frame in the order of the grid's cells, and the scratch of
 * engine spatial.
 */
#ifndef NMS_SPATIAL_SCATTER_H
#define NMS_SPATIAL_SCATTER_H

#include "spatial_grid.h"

/* A box while it is scattered. */
typedef struct nms__scattered_box {
  float x1, y1, x2, y2;
  uint64_t packed;
  uint32_t cell;
  int32_t class_id;
} nms__scattered_box;

/* Arrays of the sweep over the cells (spatial_tmpl.c). */
typedef struct nms__cell_boxes {
  nms__frame *frame;
  const nms__grid *grid;
  nms__columns columns;
  float *score;        /* indexed by grid position */
  uint32_t *position;  /* indexed by grid position: the frame position */
  uint64_t *undecided; /* a bit for each grid position of a cell, and an extra word */
  uint32_t *waiting;   /* indexed by grid position: the box that waits for this one to be decided */
  uint32_t *kept;      /* a bit for each frame position, initially 0 */
} nms__cell_boxes;

/* The function of spatial_tmpl.c, which is compiled once per instruction set. */
typedef struct nms__spatial_kernels {
  /* Decides the boxes of a grid, without caps. */
  void (*decide_cells) (nms__cell_boxes *boxes);
} nms__spatial_kernels;

/* The scratch of engine spatial. */
typedef struct nms__spatial_scratch {
  uint16_t *level;               /* level of each box of the frame */
  uint32_t *begin;               /* see nms__grid.begin */
  nms__scattered_box *scattered; /* used until all boxes are in cells */
  uint32_t *cell_of; /* cell of each box of the frame; used until the boxes are scattered */
  int32_t *class_id; /* see nms__grid.class_id */

  /* arrays that only the walk in score order uses */
  struct nms__box4 *box4;
  int32_t *index;
  uint32_t *class_entry;
  uint8_t *undecided;
  uint64_t *order;

  /* arrays of the sweep over the cells; see nms__cell_boxes */
  float *score;
  uint32_t *position, *waiting, *kept;
  uint64_t *undecided_bits;
  uint64_t *keys; /* packed keys of the kept boxes, written after the sweep */
} nms__spatial_scratch;

/* Lays out the scratch. Walk and sweep use the same memory, and so do arrays that are used one
 * after the other. */
void nms__spatial_layout (nms__spatial_scratch *s, nms__arena *arena, size_t boxes);

/* Scatters the boxes of the frame into the box4 of a planned grid, for the walk, and replaces the
 * frame position in each packed key by the grid position. */
void nms__scatter_to_box4 (nms__grid *grid, nms__frame *frame, const nms__spatial_scratch *s);

/* Sorts the columns of the frame by the cells of a planned grid, for the sweep, and fills *boxes.
 * Sorts in place, by way of the scattered boxes, because the sweep does not need the input order
 * and because the first use of other memory would be slow. */
void nms__scatter_to_columns (nms__grid *grid, nms__frame *frame, const nms__spatial_scratch *s,
    nms__cell_boxes *boxes);

#endif
