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
xlaframes_ask (nms_context *ctx, const char *plugin, int strict)
{
  nms_added_engine engine = { .size = sizeof engine };

  g_assert_cmpint (nms_xla_engine (plugin, strict ? NMS_XLA_STRICT : 0, &engine), ==, NMS_OK);
  g_assert_cmpint (nms_context_add_engine (ctx, &engine), ==, NMS_OK);
}

void
xlaframes_init (Frame *f, size_t count, const char *plugin, int strict)
{
  frame_init (f, count, (uint32_t) count);
  f->options.engine = NMS_ENGINE_ADDED;
  f->plugin = plugin;
  f->strict = strict;
}

void
xlaframes_check_in_use (nms_context *ctx, const char *name)
{
  g_assert_cmpint (nms_context_engine (ctx), ==, NMS_ENGINE_ADDED);
  g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, name);
  g_assert_null (nms_context_engine_reason (ctx));
}

static gpointer
run_some (gpointer data)
{
  const Runner *r = data;
  g_autoptr (nms_context) ctx = nms_context_new ();

  for (size_t i = 0; i < 12; i++) {
    g_auto (Frame) f = { 0 };
    xlaframes_init (&f, 1 + (r->seed * 97 + i * 53) % 300, r->plugin, r->seed % 2 == 0);
    f.has_engine = i > 0;
    frame_check (&f, ctx);
  }
  g_assert_null (nms_context_engine_reason (ctx));
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
