/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaframes: runs frames on a device, also from many threads. */
#include "xlaframes.h"

#include "nmsxla.h"

#include <glib.h>

typedef struct {
  const char *plugin;
  size_t seed;
  GThread *thread;
} Runner;

void
xlaframes_ask (nms_options *options, const char *plugin, int strict)
{
  options->engine = NMS_ENGINE_XLA;
  options->xla_plugin = plugin;
  options->xla_strict = (uint8_t) strict;
}

void
xlaframes_init (Frame *f, size_t count, const char *plugin, int strict)
{
  frame_init (f, count, (uint32_t) count);
  xlaframes_ask (&f->options, plugin, strict);
}

void
xlaframes_check_in_use (nms_context *ctx, const char *name)
{
  g_assert_cmpint (nms_context_engine (ctx), ==, NMS_ENGINE_XLA);
  g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, name);
  g_assert_null (nms_context_engine_refusal (ctx));
}

static gpointer
run_some (gpointer data)
{
  const Runner *r = data;
  nms_context *ctx = nms_context_new ();

  for (size_t i = 0; i < 12; i++) {
    Frame f;
    xlaframes_init (&f, 1 + (r->seed * 97 + i * 53) % 300, r->plugin, i % 3 != 0);
    frame_check (&f, ctx);
    frame_clear (&f);
  }
  g_assert_null (nms_context_engine_refusal (ctx));
  nms_context_free (&ctx);
  return NULL;
}

void
xlaframes_check_threads (const char *plugin)
{
  Runner runners[4];

  for (size_t i = 0; i < G_N_ELEMENTS (runners); i++) {
    runners[i] = (Runner) { .plugin = plugin, .seed = i };
    runners[i].thread = g_thread_new (NULL, run_some, &runners[i]);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (runners); i++)
    g_thread_join (runners[i].thread);
  frame_check_closed ();
}
