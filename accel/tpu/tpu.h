/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpu: prints NMS as a kernel for TPUs.
 *
 * nms__tpu_module () prints a StableHLO module with one custom call, which contains
 * a TPU kernel (MLIR text for Mosaic, the kernel compiler inside libtpu, in base64). A
 * PJRT plugin of a TPU compiles and runs it like any other module: one executable, one
 * launch for each frame. The kernel runs on a sequential grid: its steps run one after
 * another, and the state between steps stays in the chip's vector memory. The kernel
 * has no N x N mask and no division, and the picks are those of nms_run, bit for bit.
 *
 * How it was tested: libtpu compiled the modules for several generations of TPUs, their
 * time was estimated from the compiler's static schedule, and an emulator executed
 * their text operation by operation. No TPU has run them.
 *
 * The method is Chaim Rand's "Implementing Sequential Algorithms on TPU".
 *
 * There are two forms:
 *
 *   tiles  boxes are sorted by rank: up to 1024 by the kernel, which counts for each box
 *          the boxes before it, more by XLA. Each step compares 128 of them with the
 *          boxes kept so far and then with each other, so no step searches a maximum.
 *          The kernel does no more work after the last pick. Sorted boxes reach the
 *          chip 128 at a time, so only the picks are limited by memory. It multiplies matrices
 *          of bfloat16, which TPUs before v4 cannot do.
 *   picks  a demonstration of the article: a grid with one step for each pick. A step
 *          passes once over the boxes, removes those that the last pick suppresses, and
 *          finds the next pick. It takes one image, and no argument after `parameters`.
 *
 * Arguments of @main, in this order; N is `boxes`:
 *
 *   x1 y1 x2 y2   4 x tensor<Nxf32>   corners, x1 <= x2 and y1 <= y2
 *   key           tensor<Nxi32>       greater keys rank first, equal keys by index; a
 *                                     box with NMS__TPU_ABSENT takes no part, and
 *                                     its other columns may have any values
 *   parameters    tensor<8x128xf32>   from nms__tpu_parameters (), row-major
 *   class         tensor<Nxi32>       any numbers; only if nms__tpu_uses_class ()
 *   limit         3 x tensor<Nxf32>   the three numbers of nms__tpu_threshold_limit () of
 *                                     each box; only if `box_limits`
 *   class_most    tensor<Nxi32>       most picks of the box's class, the same number
 *                                     for all its boxes, 0 for no limit; only if
 *                                     `class_caps`
 *   parent        tensor<Nxi32>       the index of the box's parent, or a number that is
 *                                     no index if it has none; only if `parents`
 *
 * The module pads its arguments and copies them to one array.
 *
 * Result: tensor<Kxi32>, K is `picks`: indices of the kept boxes by rank, then -1.
 *
 * With `images` = B above 1 the kernel decides B images, one after another. The arguments
 * then hold one image after another, so N is B * `boxes`; all images have the same
 * `parameters`. The result is tensor<BxKxi32>, whose indices are those in the image.
 *
 * The caller derives the outcomes of the other boxes: a box that ranks below the last
 * pick that a cap allowed is over-cap, any other is suppressed.
 */
#ifndef NMS_TPU_H
#define NMS_TPU_H

#include "tpuspec.h"

/* Returns the vector memory that the kernel takes, in bytes; and the most boxes for
 * which it fits into spec->memory (spec->boxes is ignored). */
size_t nms__tpu_memory_of (const nms__tpu_spec *spec);
int32_t nms__tpu_most_boxes (const nms__tpu_spec *spec);

/* Returns the text of the module, for free (), and in *length, unless `length` is NULL,
 * its bytes without the final 0. Returns NULL if the spec is malformed, the boxes do
 * not fit into the memory (the message gives the most that would), or when out of
 * memory, and writes one line of English to `error`, at most `size` bytes with the
 * final 0. May be called from any thread. */
char *nms__tpu_module (const nms__tpu_spec *spec, size_t *length, char *error, size_t size);

/* Records what the module does with its arguments and returns its result. A context can record one
 * kernel, and then its tensors can no longer be read, only written as text (nms_lazy_dump). Errors
 * are those of nms__tpu_module () and latch. */
nms_lazy_tensor nms__tpu_picks (nms_lazy *lz, const nms__tpu_spec *spec,
    const nms__tpu_columns *columns);

/* Returns only the kernel, before base64, as Mosaic gets it; otherwise the same. */
char *nms__tpu_kernel (const nms__tpu_spec *spec, size_t *length, char *error, size_t size);

#endif
