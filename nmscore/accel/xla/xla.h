/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xla: engine xla, which unlike the others keeps things from run to run, and
 * may leave a frame to them. */
#ifndef NMS_ENGINES_XLA_H
#define NMS_ENGINES_XLA_H

#include "internal.h"

/* Runs the frame of the context, or leaves it as it is to the native engines:
 * *ran tells which. 0; or, when the options ask for it strictly, an error, with
 * its text in the context. */
int nms__xla_engine (nms_context *ctx, int *ran);

/* Ends what the context has of the engine; waits for a compilation under way. */
void nms__xla_free (struct nms__xla **xla);

/* Why it is not used, or NULL. */
const char *nms__xla_refusal (const struct nms__xla *xla);

#endif
