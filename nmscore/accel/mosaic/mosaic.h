/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaic: NMS as a kernel for TPUs, printed as text.
 *
 * nms_mosaic_module () prints a StableHLO module whose one custom call holds a
 * TPU kernel (MLIR text for Mosaic, the kernel compiler inside libtpu, base64
 * coded). A PJRT plugin of a TPU compiles and runs it like any other module:
 * one executable, one launch a frame. The kernel runs on a sequential grid:
 * its steps come one after another and what they hand on stays in the chip's
 * vector memory. There is no N x N mask, no division and no bound on N but the
 * memory, and the picks are those of nms_run, bit for bit.
 *
 * What was and was not done with it: the modules were compiled by libtpu for
 * several generations, their time was estimated from the compiler's static
 * schedule, and what they compute was emulated operation by operation. They
 * were not run on a TPU.
 *
 * The method is Chaim Rand's "Implementing Sequential Algorithms on TPU".
 *
 * Two forms; NMS_MOSAIC_AUTO picks the one of fewer cycles, in the worst case:
 *
 *   picks  a grid of `picks` steps, a pick each. A step is one pass over the
 *          boxes that suppresses what the last pick overlaps and finds the
 *          next best. The time of a step grows with the boxes.
 *   tiles  XLA sorts the boxes by rank; each step resolves 128 of them against
 *          those kept so far, and then among themselves. No search for a
 *          maximum is left. Ends with the last pick. Not with caps per class
 *          nor with limits of each box.
 *
 * Arguments of @main, in this order; N is `boxes`, each is row-major:
 *
 *   x1 y1 x2 y2   4 x tensor<Nxf32>   corners in order (low, high)
 *   key           tensor<Nxi32>       what ranks: greater is better, equal keys
 *                                     rank by index; NMS_MOSAIC_ABSENT: the
 *                                     place takes no part (its other columns
 *                                     may hold anything)
 *   parameters    tensor<8x128xf32>   of nms_mosaic_parameters ()
 *   class         tensor<Nxi32>       any numbers; only if `classes`
 *   limit         tensor<3xNxf32>     nms_mosaic_limit () of each box's own
 *                                     threshold, the first number of all boxes
 *                                     before the second; only if `box_limits`
 *   class_most    tensor<Nxi32>       most picks of the box's class, the same for
 *                                     all of a class, 0: no limit; only if
 *                                     `class_caps`
 *
 * Arguments that need no padding cost nothing: a multiple of 1024 boxes up to
 * 4096, of 4096 beyond.
 *
 * Result: tensor<Kxi32>, K is `picks`: indices of the kept boxes by rank, -1
 * after the last.
 *
 * From it a host derives all outcomes: a box not kept that ranks behind the
 * last pick that a cap allowed is over-cap, any other is suppressed.
 */
#ifndef NMS_MOSAIC_H
#define NMS_MOSAIC_H

#include "mosaicspec.h"

/* Returns the vector memory that the kernel takes, in bytes; and the most boxes for
 * which it fits into spec->memory (spec->boxes is ignored). */
size_t nms_mosaic_memory_of (const nms_mosaic_spec *spec);
int32_t nms_mosaic_most_boxes (const nms_mosaic_spec *spec);

/* The module's text, for free (); *length (may be NULL) without the final 0.
 * NULL: one line of English in `error`, at most `size` bytes with the final 0,
 * when the spec is malformed, the boxes do not fit into the memory (it says how
 * many would), or memory of the host ran out. Safe from any thread. */
char *nms_mosaic_module (const nms_mosaic_spec *spec, size_t *length, char *error, size_t size);

/* The kernel alone, before it is coded: what Mosaic gets. */
char *nms_mosaic_kernel (const nms_mosaic_spec *spec, size_t *length, char *error, size_t size);

#endif
