/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threads: the threads on which nms_run_batch runs, besides the caller's. */
#ifndef NMS_THREADS_H
#define NMS_THREADS_H

#include "call.h"

/* A task that several threads run at the same time; `ctx` is the context of the thread. */
typedef void (*nms__work) (nms_context *ctx, void *data);

/* Calls `task` in the caller's thread with `ctx` and in each of the context's other threads.
 * Returns when all calls have returned. */
void nms__threads_run (nms_context *ctx, nms__work task, void *data);

/* Returns the context of thread `number`, counted from 0 without the caller's thread, or NULL if
 * there are `number` or fewer. Accepts NULL. */
nms_context *nms__threads_context (const struct nms__threads *threads, unsigned number);

/* Returns space for `count` threads, or NULL. The caller frees it by free() after
 * nms__threads_end. */
struct nms__threads *nms__threads_new (unsigned count);

/* Starts the next of the threads, with this context. Returns 0 if it cannot be started. */
int nms__threads_add (struct nms__threads *threads, nms_context *ctx);

/* Ends the threads. Their contexts remain. */
void nms__threads_end (struct nms__threads *threads);

#endif
