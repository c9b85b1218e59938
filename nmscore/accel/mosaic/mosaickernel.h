/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaickernel: the arrays of a kernel, and the head and the end of its function,
 * which both forms of the kernel share.
 */
#ifndef NMS_MOSAICKERNEL_H
#define NMS_MOSAICKERNEL_H

#include "mosaicspec.h"
#include "mosaictext.h"

/* Arrays of a kernel, by what they hold. Each argument of the module becomes
 * one, padded to a multiple of `places` and cut in rows of 128. */
typedef struct nms__mosaic_layout {
  int places;      /* boxes with padding */
  int rows;        /* places / 128 */
  int chunk;       /* rows that a step handles at once */
  int steps;       /* of the grid */
  int input_count;
  nms__array input[16];
  nms__array picks;
  int scratch_count;
  nms__array scratch[16];
} nms__mosaic_layout;

/* Add the arrays; the result has room for `picks`, in whole registers. */
nms__array nms__mosaic_add_input (nms__mosaic_layout *layout, nms__mosaic_type type, int rows);
nms__array nms__mosaic_add_scratch (nms__mosaic_layout *layout, nms__mosaic_type type, int rows);
void nms__mosaic_set_picks (nms__mosaic_layout *layout, int picks);

/* Bytes of vector memory that the arrays take at most: inputs and the result
 * count twice, since Mosaic's pipeline may double-buffer them. */
size_t nms__mosaic_layout_bytes (const nms__mosaic_layout *layout);

/* Prints the head of the kernel's function, and its end. The result is the
 * number of the grid's step. */
nms__value nms__mosaic_begin (nms__mosaic *m, const nms__mosaic_layout *layout);
void nms__mosaic_end (nms__mosaic *m);

#endif
