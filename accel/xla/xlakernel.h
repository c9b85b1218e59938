/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlakernel: runs a frame with the kernel of tpu.h, on TPUs.
 */
#ifndef NMS_XLAKERNEL_H
#define NMS_XLAKERNEL_H

#include "xlastore.h"

/* Returns the log2_picks of a kind: the least power of two for `cap` picks, at most the
 * number of boxes. Returns 0 if the kernel does not
 * run for the kind (frames with parents, or too many boxes for the chip's memory). */
uint8_t nms__xla_kernel_picks (nms__xla_kind kind, uint64_t cap);

/* Compiles the kernel for a kind whose log2_picks is not 0. Returns 0, or a code of
 * nms_error and one line of text. */
int nms__xla_kernel_compile (nms__xla_store *store, nms__xla_kind kind, void **program, char *error,
    size_t error_size);

/* Runs the kernel; as nms__xla_frame_run. */
int nms__xla_kernel_run (nms__xla_store *store, void *program, const nms_frame *frame,
    nms__xla_kind kind, int32_t *kept, size_t *kept_count, char *error, size_t error_size);

#endif
