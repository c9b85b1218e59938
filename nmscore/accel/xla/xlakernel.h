/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlakernel: a prepared frame (engine.h) by way of the kernel of mosaic.h, on
 * devices that run it: TPUs. Its program gives picks alone; what became of the
 * other boxes follows from them, here.
 */
#ifndef NMS_XLAKERNEL_H
#define NMS_XLAKERNEL_H

#include "internal.h"
#include "xlastore.h"

/* The ladder of picks, 1 << log2: as many as a frame's cap asks for, and with
 * no cap, or one beyond the boxes, as many as boxes. 0: the kernel cannot do
 * frames of this kind (parents; too many boxes for the chip's memory). */
uint8_t nms__xla_kernel_picks (nms__xla_kind kind, uint64_t cap);

/* Compiles the kernel for a kind with picks. 0, or a code of nms_error and a
 * line of text. */
int nms__xla_kernel_compile (nms__xla_store *store, nms__xla_kind kind, void **program,
    char *error, size_t error_size);

/* Runs it, as nms__xla_frame_run. */
int nms__xla_kernel_run (nms__xla_store *store, void *program, nms__frame *frame,
    nms__xla_kind kind, char *error, size_t error_size);

#endif
