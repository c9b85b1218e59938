/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlajob: work for a plugin on detached threads, so that a plugin that blocks holds up no
 * caller: opening it, preparing a program, closing it. process.h counts the threads.
 */
#ifndef NMS_XLAJOB_H
#define NMS_XLAJOB_H

#include "xlastore.h"

typedef struct nms__xla_job nms__xla_job;

/* Starts a thread that opens `plugin`, unless `store` is not NULL, and prepares the program of
 * a kind. The job takes over one use of `store`. Returns NULL if no memory or no thread is
 * available; the caller keeps `store` then. */
nms__xla_job *nms__xla_job_start (const char *plugin, nms__xla_store *store, nms__xla_kind kind);

/* Returns whether the thread has finished. */
int nms__xla_job_is_done (nms__xla_job *job);

/* Waits until the thread has finished or *interrupted is not 0. Returns whether it has
 * finished. nms__xla_job_wake wakes every waiting caller, which then reads *interrupted again. */
int nms__xla_job_wait (nms__xla_job *job, const atomic_int *interrupted);
void nms__xla_job_wake (void);

/* Frees a finished job and sets *job to NULL. Writes the store, whose use the caller takes
 * over, or NULL if the plugin could not be opened. Returns 0, or a code of nms_error and one
 * line of text. */
int nms__xla_job_take (nms__xla_job **job, nms__xla_store **store, char *error, size_t error_size);

/* Leaves a job to its thread, which gives up the store when it has finished, and sets *job to
 * NULL. Does not wait. Accepts a pointer to NULL. */
void nms__xla_job_abandon (nms__xla_job **job);

/* Releases one use of a store and sets *store to NULL. Does so on a thread of its own, because
 * releasing the last use calls the plugin; on the caller's thread only if a thread cannot be
 * started. Accepts a pointer to NULL. */
void nms__xla_job_close (nms__xla_store **store);

#endif
