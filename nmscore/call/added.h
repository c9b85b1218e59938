/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* added: the engine that nms_context_add_engine added to a context. The contexts of a batch's
 * threads share it. */
#ifndef NMS_ADDED_H
#define NMS_ADDED_H

#include "call/call.h"

/* Returned if the engine left the frame as it was, for another engine to run. */
#define NMS__NOT_RUN 1

/* Lets the engine of ctx->added decide ctx->frame, as engine.h describes engines. Returns 0,
 * NMS__NOT_RUN, or an error. */
int nms__added_run (nms_context *ctx);

/* Returns the bytes of scratch that frames of up to `boxes` boxes need. */
size_t nms__added_scratch_size (size_t boxes);

/* Calls `interrupt` of the engine. Accepts NULL. */
void nms__added_interrupt (struct nms__added *added);

/* Returns the reason for which the engine does not run frames with these options, or NULL. Accepts
 * NULL as `added`. */
const char *nms__added_reason (const struct nms__added *added, const nms_options *options);

/* Frees the engine and sets *added to NULL. Accepts a pointer to NULL. */
void nms__added_free (struct nms__added **added);

#endif
