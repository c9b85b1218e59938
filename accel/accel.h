/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accel: the only header of accel/ that the rest of nmscore includes. It declares engine
 * xla and the functions that free its state and return the reason for a refusal. Files outside of
 * accel/ do not include XLA's, the lazy tensors' or the TPU kernels' headers. A build
 * without XLA has this header too.
 */
#ifndef NMS_ACCEL_H
#define NMS_ACCEL_H

#include "internal.h"

/* Engine xla, as engines/engine.h describes engines. Returns NMS__NOT_RUN for a frame
 * that it leaves to the native engines, which under nms_options.xla_strict is an error
 * instead. Loads plugins and compiles programs in threads of its own, for
 * which the caller waits under xla_strict. Allocates memory. */
int nms__xla (nms_context *ctx);
size_t nms__xla_scratch_size (size_t boxes);

/* Frees the state of the engine in a context and sets *xla to NULL. Does not wait for a
 * plugin: threads of the engine finish what is in progress. */
void nms__xla_free (struct nms__xla **xla);

/* Wakes the runs that wait for a plugin, so that they read *nms_context.stop again. */
void nms__xla_wake (void);

/* Returns the reason for which the engine is refused, in one line, or NULL. */
const char *nms__xla_refusal (const struct nms__xla *xla);

#endif
