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

#include <stddef.h>
#include <stdint.h>

/* The key of a place that takes no part. */
#define NMS_MOSAIC_ABSENT INT32_MIN

/* The vector memory that every generation grants a kernel. Most boxes at 300
 * picks, with all options (form of picks) and of the form of tiles:
 *
 *   16 MiB    180,224 and 290,816     v2, v3, v4, and all below
 *   64 MiB    729,088 and 1,189,888   v5e, v5p, v6e
 *
 * as libtpu 0.0.51 compiles them; v2 to v4 refuse more than 16 MiB. */
#define NMS_MOSAIC_MEMORY ((size_t) 16 << 20)

typedef enum nms_mosaic_form {
  NMS_MOSAIC_AUTO = 0,
  NMS_MOSAIC_PICKS = 1,
  NMS_MOSAIC_TILES = 2
} nms_mosaic_form;

/* What a module is compiled for; everything else is an argument of each run. */
typedef struct nms_mosaic_spec {
  int32_t boxes;      /* N, 1 or more; the bound follows from `memory` */
  int32_t picks;      /* K, 1..N */
  size_t memory;      /* bytes of vector memory to use; 0: NMS_MOSAIC_MEMORY */
  nms_mosaic_form form;
  uint8_t classes;    /* not 0: argument `class`, boxes of unlike classes never
                       * meet unless `class_agnostic` */
  uint8_t class_agnostic; /* not 0: all meet; `class` serves the caps alone */
  uint8_t box_limits; /* not 0: a limit a box */
  uint8_t class_caps; /* not 0: argument `class_most`; needs `classes` */
} nms_mosaic_spec;

/* Writes to `limit` what decides about overlaps: IoU > threshold, or >= if
 * `inclusive`; the threshold is in 0..1. limit[0] + limit[1] is the midpoint
 * between the threshold and its neighbour, [0] of 12 bits; [2] multiplies
 * intersections, 1 but for threshold 0. */
void nms_mosaic_limit (float threshold, int inclusive, float limit[3]);

/* Fills the argument `parameters` of a run: the limit of all boxes (used unless
 * `box_limits`), and the most picks of this run, 1..K. */
#define NMS_MOSAIC_PARAMETERS (8 * 128)
void nms_mosaic_parameters (float threshold, int inclusive, int32_t most,
    float parameters[NMS_MOSAIC_PARAMETERS]);

/* The form that NMS_MOSAIC_AUTO stands for. */
nms_mosaic_form nms_mosaic_form_of (const nms_mosaic_spec *spec);

/* Vector memory that the kernel takes, in bytes, and the most boxes for which
 * it fits into spec->memory (spec->boxes itself does not matter). */
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
