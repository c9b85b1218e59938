/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaickernel: what the two forms of the kernel and the module around them
 * share: the frame of a kernel's function, and which arrays it takes.
 */
#ifndef NMS_MOSAICKERNEL_H
#define NMS_MOSAICKERNEL_H

#include "mosaic.h"
#include "mosaictext.h"

#define NMS__MOSAIC_LANES 128

/* Rows of the parameters: 0..2 a limit's numbers, then most picks. */
#define NMS__MOSAIC_MOST 3

/* nms_mosaic_limit () of a limit of overlap.h. */
void nms__mosaic_limit_of (double middle, float limit[3]);

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

/* Whether the kernel takes the boxes' classes. */
int nms__mosaic_uses_class (const nms_mosaic_spec *spec);

/* mosaicmodule: prints the module; `kernel` is coded. */
void nms__mosaic_print_module (nms__mosaic *m, const nms_mosaic_spec *spec,
    const nms__mosaic_layout *layout, const char *kernel, size_t memory);

/* The two forms: the layout for a spec that was checked, and the kernel. */
void nms__mosaic_picks_layout (const nms_mosaic_spec *spec, nms__mosaic_layout *layout);
void nms__mosaic_picks_print (nms__mosaic *m, const nms_mosaic_spec *spec,
    const nms__mosaic_layout *layout);
void nms__mosaic_tiles_layout (const nms_mosaic_spec *spec, nms__mosaic_layout *layout);
void nms__mosaic_tiles_print (nms__mosaic *m, const nms_mosaic_spec *spec,
    const nms__mosaic_layout *layout);

#endif
