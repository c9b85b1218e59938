/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframe: runs the program of a frame of nms_context_add_engine. */
#ifndef NMS_XLAFRAME_H
#define NMS_XLAFRAME_H

#include "xlastore.h"

/* Returns 1 and the kind of program that a frame needs in *kind; or 0 if no program
 * supports the frame, and the reason in `why_not`. */
int nms__xla_frame_kind (const nms_frame *frame, nms__xla_kind *kind, char *why_not, size_t size);

/* Runs the program of a kind, which is for as many boxes as the frame has or more, and
 * writes the positions of the kept boxes by rank. Runs the kernel of `store` if it has one
 * of that kind, else the graph, recorded in `lz`. Returns 0; or a code of nms_error and
 * one line of text. */
int nms__xla_frame_run (nms_lazy *lz, nms__xla_store *store, const nms_frame *frame,
    nms__xla_kind kind, int32_t *kept, size_t *kept_count, char *error, size_t error_size);

#endif
