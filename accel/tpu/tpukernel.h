/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpukernel: the arrays of a kernel, and the head and the end of its function,
 * which both forms of the kernel share.
 */
#ifndef NMS_TPUKERNEL_H
#define NMS_TPUKERNEL_H

#include "tpuspec.h"
#include "tputext.h"

/* The number of the argument and of the field that holds keys. */
#define NMS__TPU_KEY 4

/* The arrays of a kernel. Each argument of the module becomes one input, padded to
 * `positions` elements and cut in rows of 128. */
typedef struct nms__tpu_layout {
  int positions; /* boxes with padding */
  int rows;      /* positions / 128 */
  int chunk;     /* rows that a step handles at once */
  int fields;    /* number of fields of a box in the first input */
  int block;     /* rows of 128 boxes with all fields, a multiple of 8 */
  int ranks;     /* 1 if the kernel ranks the boxes, 0 if XLA sorts them */
  int steps;     /* number of steps of the grid */
  int window;    /* 0, or the rows of the first two inputs that a step gets: of the first
                    * input the first ones, of the second input those of the next step */
  int images;    /* 1 or more: the outer axis of the grid */
  int input_count;
  nms__array input[16]; /* rows of one image */
  int shared;           /* number of the input that all images share */
  nms__array picks;
  int scratch_count;
  nms__array scratch[24];
} nms__tpu_layout;

/* Add an input, or an array of scratch memory, of `rows` rows to the layout. The last
 * one sets the array of the result, which has whole registers for `picks` numbers. */
nms__array nms__tpu_add_input (nms__tpu_layout *layout, nms__tpu_type type, int rows);
nms__array nms__tpu_add_scratch (nms__tpu_layout *layout, nms__tpu_type type, int rows);
void nms__tpu_set_picks (nms__tpu_layout *layout, int picks);

/* Returns the most bytes of vector memory that the arrays take: inputs and the result
 * count twice, because Mosaic's pipeline may double-buffer them. */
size_t nms__tpu_layout_bytes (const nms__tpu_layout *layout);

/* Returns the rows of an input of all images. */
int nms__tpu_input_rows (const nms__tpu_layout *layout, int input);

/* Prints the head of the kernel's function. Returns the number of the image's step. */
nms__value nms__tpu_begin (nms__tpu *m, const nms__tpu_layout *layout);
/* Prints the end of the kernel's function. */
void nms__tpu_end (nms__tpu *m, const nms__tpu_layout *layout);

#endif
