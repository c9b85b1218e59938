/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests plugins that crash, end the process or block (tests/accel/fakepjrt.c, in folder
 * FAKE_PLUGINS), and truncated plugin files: this process continues, calls do not wait for them,
 * and the error gives the reason. NMS_XLA_PROBE names the program that makes the trial.
 */
#include "frames.h"
#include "nmsxla.h"
#include "testrunner.h"

#include <glib/gstdio.h>
#include <string.h>

static char *
plugin (const char *kind)
{
  return g_strdup_printf ("%s/fakepjrt-%s.so", FAKE_PLUGINS, kind);
}

static char *
temporary (const char *name)
{
  return g_strdup_printf ("%s/%s-%d-%u", g_get_tmp_dir (), name, (int) g_get_monotonic_time (),
      g_random_int ());
}

static void
check_refused (const char *path, const char *reason)
{
  nms_lazy_backend *backend;
  char why[256] = "";

  g_assert_cmpint (nms_xla_open (path, &backend, why, sizeof why), ==, NMS_ERROR_DEVICE);
  g_assert_null (backend);
  if (!strstr (why, reason) || strchr (why, '\n'))
    g_error ("\"%s\" does not say \"%s\"", why, reason);
}

static void
check_opens (const char *path)
{
  nms_lazy_backend *backend;
  char why[256] = "";
  const int code = nms_xla_open (path, &backend, why, sizeof why);

  if (code)
    g_error ("%s: %s", path, why);
  nms_xla_close (&backend);
}

static void
test_crashes (void)
{
  static const char *const kinds[] = { "abort", "crash", "quit" };

  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *path = plugin (kinds[i]);
    check_refused (path, "the plugin crashes: it ended a trial process");
    check_refused (path, path);
  }
}

/* A plugin that blocks is tried once, until the time limit; the second call gets the kept
 * answer. */
static void
test_blocks (void)
{
  g_autofree char *path = plugin ("hang");
  gint64 start;

  g_setenv ("NMS_XLA_PROBE_SECONDS", "1", TRUE);
  start = g_get_monotonic_time ();
  check_refused (path, "the plugin blocks: a trial process had not opened it after 1 s");
  g_assert_cmpint (g_get_monotonic_time () - start, >=, G_TIME_SPAN_SECOND);
  g_setenv ("NMS_XLA_PROBE_SECONDS", "3600", TRUE);
  check_refused (path, "the plugin blocks");
  g_unsetenv ("NMS_XLA_PROBE_SECONDS");
}

/* Plugin files truncated to several sizes are refused: the loader reports an error, or ends the
 * trial process. */
static void
test_truncated (void)
{
  g_autofree char *whole = plugin ("works"), *path = temporary ("truncated"), *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (whole, &text, &size, NULL));
  for (gsize length = 10; length < size - size / 3; length += size / 5) {
    g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
    check_refused (path, path);
  }
  check_refused (FAKE_PLUGINS "/", "cannot load the plugin: ");
  g_remove (path);
}

static size_t
lines_in (const char *path)
{
  char *text = NULL;
  size_t lines = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  for (const char *c = text; *c; c++)
    lines += *c == '\n';
  g_free (text);
  return lines;
}

/* The program runs once for a file, and again after the file has changed. */
static void
test_once (void)
{
  char *works = plugin ("works"), *none = plugin ("none");
  char *copy = temporary ("copy"), *log = temporary ("log"), *script = temporary ("script");
  char *probe = g_strdup (g_getenv ("NMS_XLA_PROBE")), *text;
  char *command = g_strdup_printf ("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", log, probe);
  gsize size;

  g_assert_true (g_file_get_contents (works, &text, &size, NULL));
  g_assert_true (g_file_set_contents (copy, text, (gssize) size, NULL));
  g_assert_true (g_file_set_contents (script, command, -1, NULL));
  g_assert_cmpint (g_chmod (script, 0700), ==, 0);
  g_setenv ("NMS_XLA_PROBE", script, TRUE);
  for (size_t i = 0; i < 3; i++)
    check_opens (copy);
  g_assert_cmpuint (lines_in (log), ==, 1);
  g_assert_true (g_file_set_contents (copy, text, (gssize) size, NULL));
  check_opens (copy);
  g_assert_cmpuint (lines_in (log), ==, 2);

  /* tried again, because an error of the plugin may be temporary */
  check_refused (none, "is not a PJRT plugin");
  check_refused (none, "is not a PJRT plugin");
  g_assert_cmpuint (lines_in (log), ==, 4);
  g_setenv ("NMS_XLA_PROBE", probe, TRUE);
  g_remove (copy);
  g_remove (log);
  g_remove (script);
  g_free (works), g_free (none), g_free (copy), g_free (log), g_free (script);
  g_free (probe), g_free (text), g_free (command);
}

static void
test_program_absent (void)
{
  g_autofree char *path = plugin ("works"), *probe = g_strdup (g_getenv ("NMS_XLA_PROBE"));
  char why[200] = "";

  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_OK);
  g_setenv ("NMS_XLA_PROBE", "", TRUE);
  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_OK);
  check_opens (path);
  g_setenv ("NMS_XLA_PROBE", "/nowhere/nms-xla-probe", TRUE);
  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_ERROR_DEVICE);
  g_assert_nonnull (strstr (why, "/nowhere/nms-xla-probe cannot be run"));
  check_opens (path);
  g_setenv ("NMS_XLA_PROBE", probe, TRUE);
}

/* Runs the program alone, and checks its output and its exit status. */
static void
test_program (void)
{
  static const struct {
    const char *kind, *output;
    int code;
  } rows[] = {
    { "works", "ok xla:fake\n", 0 },
    { "start", "error the plugin does not start: initialize always fails\n", 1 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = plugin (rows[i].kind), *output = NULL;
    char *argv[] = { (char *) g_getenv ("NMS_XLA_PROBE"), path, NULL };
    GError *error = NULL;
    int status = 0;
    g_assert_true (
        g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL));
    g_assert_cmpstr (output, ==, rows[i].output);
    g_assert_true (g_spawn_check_wait_status (status, &error) == !rows[i].code);
    g_clear_error (&error);
  }
}

/* A context whose engine waits for a plugin that blocks, and a frame for it. */
typedef struct {
  nms_context *ctx;
  Frame f;
} Waiting;

static gpointer
run_strict (gpointer data)
{
  Waiting *w = data;

  frame_fails (&w->f, w->ctx, NMS_ERROR_DEVICE, "engine xla: interrupted while it waited for ");
  frame_fails (&w->f, w->ctx, NMS_ERROR_DEVICE, "engine xla: interrupted while it waited for ");
  w->f.options.engine = NMS_ENGINE_SORTED;
  frame_check (&w->f, w->ctx);
  return NULL;
}

static gpointer
run_strict_batch (gpointer data)
{
  const size_t offsets[] = { 0, 35, 70 };
  size_t kept_offsets[G_N_ELEMENTS (offsets)];
  int32_t kept[70];
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = G_N_ELEMENTS (kept),
    .kept_offsets = kept_offsets };
  nms_result result = { .size = sizeof result };
  Waiting *w = data;

  g_assert_cmpint (nms_run_batch (w->ctx, &w->f.boxes, offsets, 2, &w->f.options, &arrays, &result),
      ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_prefix (nms_context_error (w->ctx),
      "image 0: engine xla: interrupted while it waited for "));
  return NULL;
}

/* A run or a batch that waits for a plugin ends when another thread interrupts it. */
static void
test_interrupt (void)
{
  const GThreadFunc functions[] = { run_strict, run_strict_batch };
  g_autofree char *path = plugin ("stall");

  for (size_t i = 0; i < G_N_ELEMENTS (functions); i++) {
    Waiting w = { .ctx = nms_context_new () };
    frame_init (&w.f, 70, 1);
    w.f.options.engine = NMS_ENGINE_ADDED;
    w.f.plugin = path;
    w.f.strict = 1;
    frame_add_engine (&w.f, w.ctx);
    g_assert_cmpint (nms_context_set_threads (w.ctx, 2), ==, NMS_OK);
    GThread *thread = g_thread_new (NULL, functions[i], &w);
    g_usleep (G_USEC_PER_SEC / 5);
    nms_context_interrupt (w.ctx);
    g_thread_join (thread);
    nms_context_free (&w.ctx);
    frame_clear (&w.f);
  }
  nms_context_interrupt (NULL);
}

/* Frees a context whose job is inside a plugin that blocks, or whose plugin blocks when it
 * is closed. */
static void
check_free (const char *kind, int wait_for_refusal)
{
  nms_context *ctx = nms_context_new ();
  g_autofree char *path = plugin (kind);
  gint64 start;
  g_auto (Frame) f = { 0 };

  frame_init (&f, 70, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.plugin = path;
  do {
    frame_check (&f, ctx);
    g_usleep (1000);
  } while (wait_for_refusal && !nms_context_engine_reason (ctx));
  start = g_get_monotonic_time ();
  nms_context_free (&ctx);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_TIME_SPAN_SECOND);
}

static void
test_free (void)
{
  check_free ("stall", FALSE);
  check_free ("stuck", TRUE);
}

static const TestCase cases[] = { CASE (test_crashes), CASE (test_blocks), CASE (test_truncated),
  CASE (test_once), CASE (test_program_absent), CASE (test_program), CASE (test_interrupt),
  /* last, because the plugins block threads of this process */
  CASE (test_free), { NULL } };

TEST_PROGRAM (cases);
