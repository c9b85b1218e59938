/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframe: runs the program of a prepared frame (engine.h). */
#ifndef NMS_XLAFRAME_H
#define NMS_XLAFRAME_H

#include "internal.h"
#include "xlastore.h"

/* Returns 1 and the kind of program that a frame needs in *kind; or 0 if no program
 * supports the frame, and the reason in `why_not`. */
int nms__xla_frame_kind (const nms__frame *frame, nms__xla_kind *kind, char *why_not, size_t size);

/* Runs the program of a kind, which is for as many boxes as the frame has or more, and
 * fills the frame's results as an engine does. Runs the kernel of `store` if it has one
 * of that kind, else the graph, recorded in `lz`. Returns 0; or a code of nms_error and
 * one line of text, and leaves the results unchanged. */
int nms__xla_frame_run (nms_lazy *lz, nms__xla_store *store, nms__frame *frame, nms__xla_kind kind,
    char *error, size_t error_size);

#endif
