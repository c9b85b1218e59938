/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xla: engine xla, which runs the whole selection as one program on a device. A job on
 * another thread (xlajob.h) loads the plugin, opens the device, and compiles and checks the
 * program. Meanwhile, and for frames larger than the largest program, the native engines run,
 * which give the same bits. With xla_strict the caller waits for the job.
 */
#include "accel/accel.h"
#include "engines/engine.h"
#include "xlaframe.h"
#include "xlajob.h"
#include "xlaowner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 256

struct nms__xla {
  char *asked; /* option xla_plugin; NULL: it is not set */
  char *plugin;
  nms__xla_store *store; /* NULL: not open, or in use by the job */
  nms_lazy *lz;
  nms__xla_job *job; /* the job in progress, or NULL */
  int code;          /* of the refusal; 0: not refused */
  char refusal[TEXT];
};

static void
refuse (struct nms__xla *xla, int code, const char *why)
{
  xla->code = code;
  snprintf (xla->refusal, sizeof xla->refusal, "%s", why);
}

/* Takes the store or the error from the job, which has finished, and frees the job. */
static void
end_job (struct nms__xla *xla)
{
  char error[TEXT];
  const int code = nms__xla_job_take (&xla->job, &xla->store, error, sizeof error);

  if (code)
    refuse (xla, code, error);
  else if (!xla->lz) {
    xla->lz = nms_lazy_new (xla->store->cache);
    if (!xla->lz)
      refuse (xla, NMS_ERROR_MEMORY, "out of memory");
  }
}

void
nms__xla_free (struct nms__xla **xla)
{
  struct nms__xla *x = *xla;

  *xla = NULL;
  if (!x)
    return;
  if (nms__xla_owner_is_self ()) {
    nms_lazy_free (&x->lz);
    nms__xla_job_abandon (&x->job);
    nms__xla_job_close (&x->store);
  } /* else these and their locks belong to the parent */
  free (x->asked);
  free (x->plugin);
  free (x);
}

void
nms__xla_wake (void)
{
  /* a process that is not the owner has no jobs; if it was forked, their lock may stay locked for
   * ever */
  if (nms__xla_owner_is_self ())
    nms__xla_job_wake ();
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
  if (!copy (&x->asked, plugin)
      || !copy (&x->plugin, plugin ? plugin : getenv ("NMS_XLA_PLUGIN"))) {
    nms__xla_free (&x);
    return NULL;
  }
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
  char error[TEXT];

  if (x && ((plugin && x->asked) ? strcmp (plugin, x->asked) != 0 : plugin != x->asked))
    nms__xla_free (&ctx->xla);
  if (!ctx->xla)
    ctx->xla = new_xla (plugin);
  x = ctx->xla;
  /* before a thread is started, because a forked process must not wait for the parent's locks */
  if (x && !x->code && nms__xla_owner_claim (error, sizeof error))
    refuse (x, NMS_ERROR_DEVICE, error);
  return x;
}

/* Returns whether the program of a kind can run now. If not, starts a job that prepares it. With
 * `strict` waits for the job, until *interrupted is not 0. */
static int
is_ready (struct nms__xla *x, nms__xla_kind kind, int strict, const atomic_int *interrupted)
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
  if (!(strict ? nms__xla_job_wait (x->job, interrupted) : nms__xla_job_is_done (x->job)))
    return 0;
  end_job (x);
  /* the job may have been started for a frame of another kind */
  return !x->code
      && (nms__xla_store_state (x->store, kind) == NMS__XLA_READY
          || (strict && is_ready (x, kind, strict, interrupted)));
}

/* Sets the error of a frame whose program is not ready under xla_strict, and returns its code. */
static int
fail_strict (nms_context *ctx, const struct nms__xla *x)
{
  if (x->code)
    return nms__fail (ctx, x->code, "engine xla: %.160s", x->refusal);
  if (x->job)
    return nms__fail (ctx, NMS_ERROR_DEVICE, "engine xla: interrupted while it waited for %.120s",
        x->plugin);
  return nms__fail (ctx, NMS_ERROR_MEMORY, "engine xla: no memory or no thread for a job");
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
  if (is_ready (x, kind, strict, ctx->stop)) {
    code = nms__xla_frame_run (x->lz, x->store, &ctx->frame, kind, why_not, sizeof why_not);
    if (code)
      refuse (x, code, why_not);
    else {
      snprintf (ctx->in_use, sizeof ctx->in_use, "%s", x->store->backend->name);
      return NMS_OK;
    }
  }
  return strict ? fail_strict (ctx, x) : NMS__NOT_RUN;
}

const char *
nms__xla_refusal (const struct nms__xla *x)
{
  return x && x->code ? x->refusal : NULL;
}
