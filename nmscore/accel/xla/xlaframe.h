/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframe: a prepared frame (engine.h) by way of lazy tensors. */
#ifndef NMS_XLAFRAME_H
#define NMS_XLAFRAME_H

#include "internal.h"
#include "xlastore.h"

/* The program that a frame needs. 0: there is none, and why. */
int nms__xla_frame_kind (const nms__frame *frame, nms__xla_kind *kind, char *why_not,
    size_t size);

/* Runs the program of that kind, which may be of more boxes than the frame has,
 * and fills the frame's results as an engine does: the kernel of `store`, if it
 * has one of that kind, else the graph. 0, or a code
 * of nms_error and a line of text, and the results are as they were. */
int nms__xla_frame_run (nms_lazy *lz, nms__xla_store *store, nms__frame *frame,
    nms__xla_kind kind, char *error, size_t error_size);

#endif
