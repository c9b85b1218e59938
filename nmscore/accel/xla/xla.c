/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xla: engine xla, which runs the whole selection as one program on a device. A worker
 * thread loads the plugin, opens the device, and compiles and checks the program.
 * Meanwhile, and for frames larger than the largest program, the native engines run,
 * which give the same bits. With xla_strict the caller's thread does all of this.
 */
#include "accel/accel.h"
#include "engines/engine.h"
#include "xlaframe.h"
#include "xlaprepare.h"
#include "xlastore.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT 256

/* The task of the worker: it opens the plugin, if that is not open, and prepares one
 * kind of program. The caller's thread reads the result after `done` is set. */
typedef struct job {
  const char *plugin;
  nms__xla_store *store;
  nms__xla_kind kind;
  int code;
  char error[TEXT];
  atomic_int done;
} job;

struct nms__xla {
  pid_t pid;
  char *asked;          /* option xla_plugin; NULL: it is not set */
  char *plugin;
  nms__xla_store *store;
  nms_lazy *lz;
  pthread_t worker;
  int working;
  job job;
  int code;             /* of the refusal; 0: not refused */
  char refusal[TEXT];
};

static void
do_job (job *j)
{
  j->code = j->store ? NMS_OK
                     : nms__xla_store_open (j->plugin, &j->store, j->error, sizeof j->error);
  if (!j->code)
    j->code = nms__xla_prepare (j->store, j->kind, j->error, sizeof j->error);
}

static void *
work (void *data)
{
  job *j = data;

  do_job (j);
  atomic_store (&j->done, 1);
  return NULL;
}

/* Starts the worker with all signals blocked, so that the application's other threads
 * handle them. */
static int
start_worker (struct nms__xla *xla)
{
  sigset_t all, before;
  int error;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  atomic_store (&xla->job.done, 0);
  error = pthread_create (&xla->worker, NULL, work, &xla->job);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  xla->working = !error;
  return error;
}

static void
refuse (struct nms__xla *xla, int code, const char *why)
{
  xla->code = code;
  snprintf (xla->refusal, sizeof xla->refusal, "%s", why);
}

/* Takes over the result of a job. */
static void
end_job (struct nms__xla *xla)
{
  xla->store = xla->job.store;
  if (xla->job.code)
    refuse (xla, xla->job.code, xla->job.error);
  else if (!xla->lz) {
    xla->lz = nms_lazy_new (xla->store->cache);
    if (!xla->lz)
      refuse (xla, NMS_ERROR_MEMORY, "out of memory");
  }
}

static void
join_worker (struct nms__xla *xla)
{
  pthread_join (xla->worker, NULL);
  xla->working = 0;
  end_job (xla);
}

void
nms__xla_free (struct nms__xla **xla)
{
  struct nms__xla *x = *xla;

  *xla = NULL;
  if (!x)
    return;
  if (x->pid == getpid ()) {
    if (x->working)
      join_worker (x);
    nms_lazy_free (&x->lz);
    nms__xla_store_close (&x->store);
  }                             /* else these and their locks belong to the parent */
  free (x->asked);
  free (x->plugin);
  free (x);
}

/* Copies a string or NULL. Returns 0 when out of memory. */
static int
copy (char **to, const char *from)
{
  size_t size = from ? strlen (from) + 1 : 0;

  *to = from ? malloc (size) : NULL;
  if (*to)
    memcpy (*to, from, size);
  return !from || *to;
}

static struct nms__xla *
new_xla (const char *plugin)
{
  struct nms__xla *x = calloc (1, sizeof *x);

  if (!x)
    return NULL;
  x->pid = getpid ();
  if (!copy (&x->asked, plugin)
      || !copy (&x->plugin, plugin ? plugin : getenv ("NMS_XLA_PLUGIN"))) {
    nms__xla_free (&x);
    return NULL;
  }
  x->job.plugin = x->plugin;
  if (!x->plugin || !*x->plugin)
    refuse (x, NMS_ERROR_DEVICE, "no plugin is named, by option or by NMS_XLA_PLUGIN");
  return x;
}

/* Returns the context's state for the plugin that the options name, a new one if the
 * plugin has changed; NULL when out of memory. */
static struct nms__xla *
current (nms_context *ctx)
{
  const char *plugin = ctx->settings.options.xla_plugin;
  struct nms__xla *x = ctx->xla;

  if (x && ((plugin && x->asked) ? strcmp (plugin, x->asked) != 0 : plugin != x->asked))
    nms__xla_free (&ctx->xla);
  if (!ctx->xla)
    ctx->xla = new_xla (plugin);
  x = ctx->xla;
  if (x && !x->code && x->pid != getpid ())
    refuse (x, NMS_ERROR_DEVICE,
        "this process was forked from one that had opened an XLA plugin, whose threads do not "
        "exist here");
  return x;
}

/* Returns whether the program of a kind can run now. If not, the worker is started to
 * prepare it, or with `strict` the caller's thread prepares it. */
static int
is_ready (struct nms__xla *x, nms__xla_kind kind, int strict)
{
  if (x->code)
    return 0;
  if (x->working && (strict || atomic_load (&x->job.done)))
    join_worker (x);
  if (x->code || x->working)
    return 0;
  if (x->lz && nms__xla_store_state (x->store, kind) == NMS__XLA_READY)
    return 1;
  x->job.store = x->store;
  x->job.kind = kind;
  if (!strict) {
    start_worker (x); /* if no thread can be started, a later frame tries again */
    return 0;
  }
  do_job (&x->job);
  end_job (x);
  return !x->code;
}

int
nms__xla (nms_context *ctx)
{
  const nms_options *o = &ctx->settings.options;
  const int strict = o->xla_strict;
  char why_not[TEXT];
  nms__xla_kind kind;
  int code;

  if (!nms__xla_frame_kind (&ctx->frame, &kind, why_not, sizeof why_not))
    return strict ? nms__fail (ctx, NMS_ERROR_UNSUPPORTED, "engine xla: %s", why_not)
                  : NMS__NOT_RUN;
  struct nms__xla *x = current (ctx);
  if (!x)
    return nms__fail (ctx, NMS_ERROR_MEMORY, "no memory for engine xla");
  if (is_ready (x, kind, strict)) {
    code = nms__xla_frame_run (x->lz, x->store, &ctx->frame, kind, why_not, sizeof why_not);
    if (code)
      refuse (x, code, why_not);
    else {
      snprintf (ctx->in_use, sizeof ctx->in_use, "%s", x->store->backend->name);
      return NMS_OK;
    }
  }
  if (strict)
    return nms__fail (ctx, x->code, "engine xla: %.160s", x->refusal);
  return NMS__NOT_RUN;
}

const char *
nms__xla_refusal (const struct nms__xla *x)
{
  return x && x->code ? x->refusal : NULL;
}
