/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xla: engine xla, which runs the whole selection as one program on a device. A job on
 * another thread (xlajob.h) loads the plugin, opens the device, and compiles and checks the
 * program. Meanwhile, and for frames larger than the largest program, the engine leaves frames to
 * the native engines, which give the same bits. With NMS_XLA_STRICT it waits for the job.
 */
#include "nmsxla.h"
#include "xlaerror.h"
#include "xlaframe.h"
#include "xlajob.h"

#include "accel/lazy/callerstruct.h"
#include "accel/lazy/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 256

typedef struct xla {
  nms__xla_store *store; /* NULL if not open, or in use by the job */
  nms_lazy *lz;
  nms__xla_job *job; /* the job in progress, or NULL */
  int strict;
  atomic_int interrupted;
  int code; /* error code of `reason`; 0 if the engine can be used */
  char reason[TEXT];
  char plugin[]; /* the path of its file */
} xla;

static void
refuse (xla *x, int code, const char *why)
{
  x->code = code;
  snprintf (x->reason, sizeof x->reason, "%s", why);
}

/* Takes the store or the error from the job, which has finished, and frees the job. */
static void
end_job (xla *x)
{
  char error[TEXT];
  const int code = nms__xla_job_take (&x->job, &x->store, error, sizeof error);

  if (code)
    refuse (x, code, error);
  else if (!x->lz) {
    x->lz = nms_lazy_new (x->store->cache);
    if (!x->lz)
      refuse (x, NMS_ERROR_MEMORY, "out of memory");
  }
}

/* Returns whether the program of a kind can run now. If not, starts a job that prepares it. With
 * `strict` waits for the job, until the engine is interrupted. */
static int
is_ready (xla *x, nms__xla_kind kind)
{
  if (x->code)
    return 0;
  if (!x->job && x->lz && nms__xla_store_state (x->store, kind) == NMS__XLA_READY)
    return 1;
  if (!x->job) {
    x->job = nms__xla_job_start (x->plugin, x->store, kind);
    if (!x->job)
      return 0; /* a later frame tries again */
    x->store = NULL;
  }
  if (!(x->strict ? nms__xla_job_wait (x->job, &x->interrupted) : nms__xla_job_is_done (x->job)))
    return 0;
  end_job (x);
  /* the job may have been started for a frame of another kind */
  return !x->code
      && (nms__xla_store_state (x->store, kind) == NMS__XLA_READY
          || (x->strict && is_ready (x, kind)));
}

/* Returns NMS_ENGINE_LEFT, and why the program of a frame is not ready. */
static int
leave (const xla *x, char *why, size_t why_size)
{
  if (x->code)
    nms__xla_error_set (0, why, why_size, "%s", x->reason);
  else if (x->job)
    nms__xla_error_set (0, why, why_size, "interrupted while it waited for %s", x->plugin);
  else
    nms__xla_error_set (0, why, why_size, "no memory or no thread for a job");
  return NMS_ENGINE_LEFT;
}

/* ------------------------------------------------------------------ engine */

static const char *
name (void *data)
{
  const xla *x = data;

  return x->store && !x->code ? x->store->backend->name : "xla";
}

static int
run (void *data, const nms_frame *frame, int32_t *kept, size_t *kept_count, char *why,
    size_t why_size)
{
  xla *x = data;
  nms__xla_kind kind;
  char error[TEXT];

  if (!nms__xla_frame_kind (frame, &kind, why, why_size))
    return NMS_ENGINE_LEFT;
  /* before a thread is started, because a forked process must not wait for the parent's locks */
  if (!x->code && nms__process_claim (error, sizeof error))
    refuse (x, NMS_ERROR_DEVICE, error);
  if (!is_ready (x, kind))
    return leave (x, why, why_size);
  const int code = nms__xla_frame_run (x->lz, x->store, frame, kind, kept, kept_count, error,
      sizeof error);
  if (!code)
    return NMS_OK;
  refuse (x, code, error);
  return leave (x, why, why_size);
}

static const char *
reason (void *data)
{
  const xla *x = data;

  return x->code ? x->reason : NULL;
}

static void
interrupt (void *data)
{
  xla *x = data;

  atomic_store (&x->interrupted, 1);
  /* a process that is not the owner has no jobs; if it was forked, their lock may stay locked for
   * ever */
  if (nms__process_is_owner ())
    nms__xla_job_wake ();
}

static void
free_xla (void *data)
{
  xla *x = data;

  if (nms__process_is_owner ()) {
    nms_lazy_free (&x->lz);
    nms__xla_job_abandon (&x->job);
    nms__xla_job_close (&x->store);
  } /* else these and their locks belong to the parent */
  free (x);
}

int
nms_xla_engine (const char *plugin, unsigned flags, nms_added_engine *engine)
{
  const char *path = plugin ? plugin : getenv ("NMS_XLA_PLUGIN");
  const size_t size = path ? strlen (path) + 1 : 1;
  xla *x;

  if (!nms__caller_struct_fits (engine, sizeof *engine))
    return NMS_ERROR_ARGUMENT;
  if (flags & ~(unsigned) NMS_XLA_STRICT)
    return NMS_ERROR_UNSUPPORTED;
  x = calloc (1, sizeof *x + size);
  if (!x)
    return NMS_ERROR_MEMORY;
  if (path)
    memcpy (x->plugin, path, size);
  x->strict = flags & NMS_XLA_STRICT;
  if (!x->plugin[0])
    refuse (x, NMS_ERROR_DEVICE, "no plugin is named, by option or by NMS_XLA_PLUGIN");
  nms__process_wait_of_main ();
  *engine = (nms_added_engine) { .size = engine->size,
    .data = x,
    .required = x->strict,
    .name = name,
    .run = run,
    .reason = reason,
    .interrupt = interrupt,
    .free = free_xla };
  return NMS_OK;
}
