/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests engine xla with plugins that are missing or broken (tests/accel/fakepjrt.c, in
 * folder FAKE_PLUGINS): the native engines run, and one message gives the reason; with
 * xla_strict it is an error.
 */
#include "frames.h"
#include "nmsxla.h"
#include "sanitized.h"
#include "testrunner.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
  const char *kind, *reason;
} rows[] = {
  { "none", "is not a PJRT plugin" },
  { "null", "its GetPjrtApi returned nothing" },
  { "small", "is too old" },
  { "major", "has version 1.81" },
  { "hole", "lacks a function" },
  { "start", "the plugin does not start" },
  { "empty", "the plugin has no device" },
  { "missing", "cannot load the plugin" },
  /* it works, but copies its inputs instead of running the program */
  { "works", "" },
};

static char *
plugin (const char *kind)
{
  return g_strdup_printf ("%s/fakepjrt-%s.so", FAKE_PLUGINS, kind);
}

/* Runs frames until the engine is refused; each result must be right. */
static void
run_until_refused (Frame *f, nms_context *ctx)
{
  gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;

  while (!nms_context_engine_reason (ctx) && g_get_monotonic_time () < end) {
    frame_check (f, ctx);
    g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
    g_usleep (500);
  }
  g_assert_nonnull (nms_context_engine_reason (ctx));
}

static void
test_native_takes_over (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    nms_context *ctx = nms_context_new ();
    g_autofree char *path = plugin (rows[i].kind), *reason = NULL;
    g_auto (Frame) f = { 0 };
    frame_init (&f, 70, (uint32_t) i);
    g_assert_null (nms_context_engine_reason (ctx));
    f.options.engine = NMS_ENGINE_ADDED;
    f.plugin = path;
    run_until_refused (&f, ctx);
    reason = g_strdup (nms_context_engine_reason (ctx));
    if (!strstr (reason, rows[i].reason) || !*reason || strchr (reason, '\n'))
      g_error ("\"%s\" does not say \"%s\"", reason, rows[i].reason);
    g_assert_false (g_str_has_prefix (nms_context_engine_in_use (ctx), "xla"));

    /* and remains refused, without another attempt */
    for (int again = 0; again < 3; again++)
      frame_check (&f, ctx);
    g_assert_cmpstr (nms_context_engine_reason (ctx), ==, reason);
    nms_context_free (&ctx);
    frame_check_closed ();
  }
}

static void
test_strict_fails (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    nms_context *ctx = nms_context_new ();
    g_autofree char *path = plugin (rows[i].kind);
    g_auto (Frame) f = { 0 };
    frame_init (&f, 70, (uint32_t) i);
    f.options.engine = NMS_ENGINE_ADDED;
    f.plugin = path;
    f.strict = 1;
    for (int again = 0; again < 2; again++) {
      frame_fails (&f, ctx, NMS_ERROR_DEVICE, rows[i].reason);
      g_assert_true (g_str_has_prefix (nms_context_error (ctx), "engine xla: "));
    }
    /* the native engines still work */
    f.options.engine = NMS_ENGINE_SORTED;
    frame_check (&f, ctx);
    nms_context_free (&ctx);
    frame_check_closed ();
  }
}

/* Runs a frame in a new context. Returns whether engine xla is refused at once, because this
 * process was forked. */
static int
is_refused_at_once (Frame *f)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  int refused;

  frame_check (f, ctx);
  nms_context_interrupt (ctx);
  refused = nms_context_engine_reason (ctx) && strstr (nms_context_engine_reason (ctx), "forked");
  return refused;
}

/* A process that is forked right after the first frame, when no thread may have reached the plugin
 * yet, starts no thread for a plugin and waits for no lock of the parent. It has to be the first
 * test, because it needs the first frame of the process. */
static void
test_fork_after_first_frame (void)
{
  nms_context *ctx;
  char *path;
  int status;
  pid_t child;
  Frame f;

  if (SANITIZED) {
    g_test_skip ("a thread may allocate during the fork: see sanitized.h");
    return;
  }
  ctx = nms_context_new ();
  path = plugin ("works");
  frame_init (&f, 70, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.plugin = path;
  frame_check (&f, ctx);
  child = fork ();
  if (child == 0) {
    alarm (60);
    /* another program, because valgrind would report what the parent's threads have allocated */
    if (is_refused_at_once (&f))
      execl ("/bin/true", "true", NULL);
    _exit (1);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
  nms_context_free (&ctx);
  frame_check_closed ();
  frame_clear (&f);
  g_free (path);
}

static void
test_no_plugin_named (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  g_auto (Frame) f = { 0 };

  g_unsetenv ("NMS_XLA_PLUGIN");
  frame_init (&f, 10, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  frame_check (&f, ctx);
  g_assert_cmpstr (nms_context_engine_reason (ctx), ==,
      "no plugin is named, by option or by NMS_XLA_PLUGIN");
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "no plugin is named");
  f.plugin = "";
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "no plugin is named");
}

/* NMS_XLA_PLUGIN is used if the option is not set, and a change of the option is another
 * attempt. */
static void
test_names (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  g_autofree char *none = plugin ("none"), *null = plugin ("null");
  g_auto (Frame) f = { 0 };

  g_setenv ("NMS_XLA_PLUGIN", none, TRUE);
  frame_init (&f, 10, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "is not a PJRT plugin");
  f.plugin = null;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "returned nothing");
  f.plugin = NULL;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "is not a PJRT plugin");
  g_unsetenv ("NMS_XLA_PLUGIN");
}

/* The native engines run a frame that no program supports, and the device is not
 * refused. */
static void
test_too_many_boxes (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  nms_result result = { .size = sizeof result };
  g_auto (Frame) f = { 0 };

  frame_init (&f, NMS_XLA_MAX_BOXES + 1, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.plugin = "/nowhere";
  f.options.max_detections = 3;
  g_assert_cmpint (frame_run (&f, ctx, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 3);
  g_assert_null (nms_context_engine_reason (ctx));
  result.kept_count = 0;
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_ENGINE, "65537 boxes take part, it takes at most 65536");
}

static const TestCase cases[] = { CASE (test_fork_after_first_frame), CASE (test_native_takes_over),
  CASE (test_strict_fails), CASE (test_no_plugin_named), CASE (test_names),
  CASE (test_too_many_boxes), { NULL } };

TEST_PROGRAM (cases);
