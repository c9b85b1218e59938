/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests plugins that are missing, broken, crash, block, or fail at any call: each gives an error
 * with the cause and leaks no object, calls do not wait for them, and engine xla lets the native
 * engines run or, with NMS_XLA_STRICT, fails with the cause. The plugins are built from
 * tests/accel/fakepjrt.c; FAKE_PLUGINS is their folder. NMS_XLA_PROBE names the program that makes
 * the trials.
 */
#include "accel/xla/xladevice.h"
#include "fakepjrt.h"
#include "frames.h"
#include "nmsxla.h"
#include "sanitized.h"
#include "testrunner.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLUGIN(kind) FAKE_PLUGINS "/fakepjrt-" kind ".so"

/* The functions of fakepjrt.h in the plugin FAKE_WORKS. */
static void (*fail_at) (long);
static long (*calls) (void);
static long (*alive) (void);

static const char *
find_functions (const char *needs)
{
  void *library = dlopen (PLUGIN ("works"), RTLD_NOW | RTLD_LOCAL);

  g_assert_nonnull (library);
  *(void **) &fail_at = dlsym (library, "fakepjrt_fail_at");
  *(void **) &calls = dlsym (library, "fakepjrt_calls");
  *(void **) &alive = dlsym (library, "fakepjrt_objects");
  g_assert_true (fail_at && calls && alive);
  return NULL;
}

/* ------------------------------------------------------------------- opening */

static void
check_refused (const char *path, const char *reason)
{
  nms_lazy_backend *backend = (nms_lazy_backend *) &backend;
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

  if (nms_xla_open (path, &backend, why, sizeof why))
    g_error ("%s: %s", path, why);
  nms_xla_close (&backend);
}

#define CRASHES "the plugin crashes: it ended a trial process"

static void
test_broken (void)
{
  static const struct {
    const char *path, *reason;
  } rows[] = {
    { PLUGIN ("none"), "is not a PJRT plugin: it has no function GetPjrtApi" },
    { PLUGIN ("null"), "its GetPjrtApi returned nothing" },
#if UINTPTR_MAX == 0xffffffffffffffff
    { PLUGIN ("small"), "is too old: its table of functions has 600 bytes, 608 are needed" },
#else
    { PLUGIN ("small"), "is too old: its table of functions has 304 bytes, 308 are needed" },
#endif
    { PLUGIN ("major"), "has version 1.81 of the PJRT interface, not 0" },
    { PLUGIN ("hole"), "lacks a function of the PJRT interface, that of slot 55" },
    { PLUGIN ("start"), "the plugin does not start: initialize always fails" },
    { PLUGIN ("empty"), "the plugin has no device" },
    { PLUGIN ("missing"), "cannot load the plugin: " },
    { __FILE__, "cannot load the plugin: " },
    { FAKE_PLUGINS "/", "cannot load the plugin: " },
    { PLUGIN ("abort"), CRASHES },
    { PLUGIN ("crash"), CRASHES },
    { PLUGIN ("quit"), CRASHES },
    { PLUGIN ("quit"), PLUGIN ("quit") }, /* the path */
  };
  nms_lazy_backend *backend;
  char little[9] = "", least[1] = { 'x' };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    check_refused (rows[i].path, rows[i].reason);
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  g_assert_cmpint (nms_xla_open (PLUGIN ("start"), &backend, little, sizeof little), ==,
      NMS_ERROR_DEVICE);
  g_assert_cmpstr (little, ==, "the plug");
  g_assert_cmpint (nms_xla_open (PLUGIN ("start"), &backend, least, sizeof least), ==,
      NMS_ERROR_DEVICE);
  g_assert_cmpint (least[0], ==, '\0');
  g_assert_cmpint (nms_xla_open (PLUGIN ("start"), &backend, NULL, 0), ==, NMS_ERROR_DEVICE);
}

static void
test_arguments (void)
{
  nms_lazy_backend *backend = NULL;
  char why[80];

  g_assert_cmpint (nms_xla_open (NULL, &backend, why, sizeof why), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (why, ==, "no plugin is named");
  g_assert_cmpint (nms_xla_open ("", &backend, why, sizeof why), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_xla_open ("x", NULL, why, sizeof why), ==, NMS_ERROR_ARGUMENT);
  nms_xla_close (NULL);
  nms_xla_close (&backend);
}

static char *
temporary (const char *name)
{
  return g_strdup_printf ("%s/%s-%d-%u", g_get_tmp_dir (), name, (int) g_get_monotonic_time (),
      g_random_int ());
}

/* A plugin that blocks is tried once, until the time limit; the second call gets the kept
 * answer. */
static void
test_blocks (void)
{
  const char *path = PLUGIN ("hang");
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
  g_autofree char *path = temporary ("truncated"), *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (PLUGIN ("works"), &text, &size, NULL));
  for (gsize length = 10; length < size - size / 3; length += size / 5) {
    g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
    check_refused (path, path);
  }
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
  char *copy = temporary ("copy"), *log = temporary ("log"), *script = temporary ("script");
  char *probe = g_strdup (g_getenv ("NMS_XLA_PROBE")), *text;
  char *command = g_strdup_printf ("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", log, probe);
  gsize size;

  g_assert_true (g_file_get_contents (PLUGIN ("works"), &text, &size, NULL));
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
  check_refused (PLUGIN ("none"), "is not a PJRT plugin");
  check_refused (PLUGIN ("none"), "is not a PJRT plugin");
  g_assert_cmpuint (lines_in (log), ==, 4);
  g_setenv ("NMS_XLA_PROBE", probe, TRUE);
  g_remove (copy);
  g_remove (log);
  g_remove (script);
  g_free (copy), g_free (log), g_free (script);
  g_free (probe), g_free (text), g_free (command);
}

static void
test_program_absent (void)
{
  const char *path = PLUGIN ("works");
  g_autofree char *probe = g_strdup (g_getenv ("NMS_XLA_PROBE"));
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
    const char *path, *output;
    int code;
  } rows[] = {
    { PLUGIN ("works"), "ok xla:fake\n", 0 },
    { PLUGIN ("start"), "error the plugin does not start: initialize always fails\n", 1 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *output = NULL;
    char *argv[] = { (char *) g_getenv ("NMS_XLA_PROBE"), (char *) rows[i].path, NULL };
    GError *error = NULL;
    int status = 0;
    g_assert_true (
        g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL));
    g_assert_cmpstr (output, ==, rows[i].output);
    g_assert_true (g_spawn_check_wait_status (status, &error) == !rows[i].code);
    g_clear_error (&error);
  }
}

/* ------------------------------------------------------------------- working */

#define TEXT "outputs 2, each an input"

static const nms_lazy_shape shapes[] = {
  { .type = NMS_LAZY_F32, .rank = 2, .dims = { 2, 3 } },
  { .type = NMS_LAZY_PRED, .rank = 1, .dims = { 5 } },
  { .type = NMS_LAZY_S32 },
};

/* Opens, compiles, runs once, frees and closes. Returns the first error. */
static int
whole_life (const char *path, char *why, size_t why_size)
{
  float numbers[6] = { 1, 2, 3, 4, 5, 6 }, numbers_back[6] = { 0 };
  uint8_t flags[5] = { 1, 0, 1, 1, 0 }, flags_back[5] = { 0 };
  int32_t single = 77;
  nms_lazy_buffer in[] = { { shapes[0], numbers }, { shapes[1], flags }, { shapes[2], &single } };
  nms_lazy_buffer out[] = { { shapes[0], numbers_back }, { shapes[1], flags_back } };
  nms_lazy_backend *backend;
  void *program;
  int code = nms_xla_open (path, &backend, why, why_size);

  if (code)
    return code;
  g_assert_cmpstr (backend->name, ==, "xla:fake");
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  code = backend->compile (backend, TEXT, sizeof TEXT - 1, 2, &program, why, why_size);
  if (!code) {
    code = backend->run (backend, program, in, 3, out, 2, why, why_size);
    if (!code) {
      g_assert_cmpmem (numbers, sizeof numbers, numbers_back, sizeof numbers_back);
      g_assert_cmpmem (flags, sizeof flags, flags_back, sizeof flags_back);
    }
    backend->free_program (backend, program);
  }
  nms_xla_close (&backend);
  g_assert_null (backend);
  return code;
}

/* Every call fails once. All objects are destroyed after the error, and the next use
 * works. */
static void
test_every_failure (void)
{
  const char *path = PLUGIN ("works");
  char why[160];
  long count, failed = 0;

  fail_at (0);
  g_assert_cmpint (whole_life (path, why, sizeof why), ==, NMS_OK);
  g_assert_cmpint (alive (), ==, 0);
  fail_at (0);
  g_assert_cmpint (whole_life (path, why, sizeof why), ==, NMS_OK);
  count = calls ();
  g_assert_cmpint (count, >, 30);
  for (long k = 1; k <= count; k++) {
    fail_at (k);
    int code = whole_life (path, why, sizeof why);
    if (code) {
      g_assert_cmpint (code, ==, NMS_ERROR_DEVICE);
      if (!g_str_has_suffix (why, "fails on request"))
        g_error ("call %ld: \"%s\"", k, why);
      failed++;
    }
    if (alive ())
      g_error ("call %ld leaves %ld objects (%s)", k, alive (), why);
    g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  }
  fail_at (0);
  g_assert_cmpint (whole_life (path, why, sizeof why), ==, NMS_OK);
  /* all calls but those that destroy buffers, programs and the client */
  g_assert_cmpint (failed, ==, count - 7);
}

static void
test_outputs (void)
{
  const char *path = PLUGIN ("works");
  char why[120];
  nms_lazy_backend *backend;
  nms_lazy_buffer in = { shapes[0], NULL }, out[2] = { { shapes[0], NULL }, { shapes[0], NULL } };
  float data[6] = { 0 };
  void *program = NULL;

  g_assert_cmpint (nms_xla_open (path, &backend, why, sizeof why), ==, NMS_OK);
  g_assert_cmpint (backend->compile (backend, "outputs 3", 9, 2, &program, why, sizeof why), ==,
      NMS_ERROR_DEVICE);
  g_assert_cmpstr (why, ==, "the program has 3 outputs, must have 2");

  /* an output whose size differs from the text's is not written */
  in.data = data;
  out[0] = (nms_lazy_buffer) { shapes[2], data };
  g_assert_cmpint (backend->compile (backend, "outputs 1", 9, 1, &program, why, sizeof why), ==,
      NMS_OK);
  g_assert_cmpint (backend->run (backend, program, &in, 1, out, 1, why, sizeof why), ==,
      NMS_ERROR_DEVICE);
  g_assert_cmpstr (why, ==, "an output of the program has 24 bytes, must have 4");
  backend->free_program (backend, program);
  nms_xla_close (&backend);
  g_assert_cmpint (alive (), ==, 0);
}

static void
test_shared (void)
{
  const char *path = PLUGIN ("works");
  nms_lazy_backend *first, *second;

  g_assert_cmpint (nms_xla_open (path, &first, NULL, 0), ==, NMS_OK);
  g_assert_cmpint (nms_xla_open (path, &second, NULL, 0), ==, NMS_OK);
  g_assert_true (first == second);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  g_assert_cmpint (alive (), ==, 1);
  nms_xla_close (&first);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  nms_xla_close (&second);
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  g_assert_cmpint (alive (), ==, 0);
}

/* In a forked process every function returns an error and waits for no thread of the
 * parent. */
static void
test_fork (void)
{
  const char *path = PLUGIN ("works");
  char why[160];
  float data[6] = { 0 };
  nms_lazy_buffer in = { shapes[0], data }, out = { shapes[0], data };
  nms_lazy_backend *backend, *other;
  void *program, *none;
  int status;
  pid_t child;

  g_assert_cmpint (nms_xla_open (path, &backend, why, sizeof why), ==, NMS_OK);
  g_assert_cmpint (backend->compile (backend, "outputs 1", 9, 1, &program, why, sizeof why), ==,
      NMS_OK);
  child = fork ();
  if (child == 0) {
    int wrong = 0;
    alarm (20);
    wrong |= nms_xla_open (path, &other, why, sizeof why) != NMS_ERROR_DEVICE;
    wrong |= !strstr (why, "forked") || other;
    wrong |= 2
        * (backend->run (backend, program, &in, 1, &out, 1, why, sizeof why) != NMS_ERROR_DEVICE);
    wrong |= 4
        * (backend->compile (backend, "outputs 1", 9, 1, &none, why, sizeof why)
            != NMS_ERROR_DEVICE);
    wrong |= 8 * (nms__xla_device_count () != 0);
    wrong |= 32
        * (nms_xla_compile_ahead (path, "1x1x1", NULL, TEXT, sizeof TEXT, why, sizeof why)
                != NMS_ERROR_DEVICE
            || !strstr (why, "forked"));
    backend->free_program (backend, program);
    nms_xla_close (&backend);
    wrong |= 16 * (backend != NULL);
    _exit (wrong);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);

  g_assert_cmpint (backend->run (backend, program, &in, 1, &out, 1, why, sizeof why), ==, NMS_OK);
  backend->free_program (backend, program);
  nms_xla_close (&backend);
  g_assert_cmpint (alive (), ==, 0);
}

static void
test_ahead (void)
{
  const char *path = PLUGIN ("works");
  char why[160];

  g_assert_cmpint (nms_xla_compile_ahead (path, "1x1x1", NULL, TEXT, sizeof TEXT, why, sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_suffix (why, "cannot compile for a device that is not here"));
  g_assert_cmpint (nms_xla_compile_ahead (path, NULL, NULL, TEXT, sizeof TEXT, why, sizeof why), ==,
      NMS_ERROR_ARGUMENT);
  void *executable = &why;
  size_t size = 7;
  g_assert_cmpint (nms_xla_serialize_ahead (path, "1x1x1", NULL, TEXT, sizeof TEXT, &executable,
                       &size, why, sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_null (executable);
  g_assert_cmpuint (size, ==, 0);
  g_assert_cmpint (nms_xla_serialize_ahead (path, "1x1x1", NULL, TEXT, sizeof TEXT, NULL, &size,
                       why, sizeof why),
      ==, NMS_ERROR_ARGUMENT);
}

/* -------------------------------------------------------------------- engine */

/* Makes a frame that engine xla with this plugin is to run. */
static void
start (Frame *f, const char *path, int strict)
{
  frame_init (f, 70, 1);
  f->options.engine = NMS_ENGINE_ADDED;
  f->plugin = path;
  f->strict = strict;
}

/* Plugins that fail when they are opened, and when their program is checked: this one copies its
 * inputs instead of running it. */
static const struct {
  const char *path, *reason;
} engines[] = { { PLUGIN ("none"), "is not a PJRT plugin" },
  { PLUGIN ("empty"), "the plugin has no device" },
  { PLUGIN ("missing"), "cannot load the plugin" }, { PLUGIN ("works"), "" } };

static void
test_native_takes_over (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (engines); i++) {
    nms_context *ctx = nms_context_new ();
    gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
    g_autofree char *reason = NULL;
    g_auto (Frame) f = { 0 };

    start (&f, engines[i].path, 0);
    g_assert_null (nms_context_engine_reason (ctx));
    while (!nms_context_engine_reason (ctx) && g_get_monotonic_time () < end) {
      frame_check (&f, ctx);
      g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
      g_usleep (500);
    }
    reason = g_strdup (nms_context_engine_reason (ctx));
    g_assert_nonnull (reason);
    if (!strstr (reason, engines[i].reason) || !*reason || strchr (reason, '\n'))
      g_error ("\"%s\" does not say \"%s\"", reason, engines[i].reason);
    g_assert_false (g_str_has_prefix (nms_context_engine_in_use (ctx), "xla"));
    for (int again = 0; again < 3; again++) /* and remains refused, without another attempt */
      frame_check (&f, ctx);
    g_assert_cmpstr (nms_context_engine_reason (ctx), ==, reason);

    f.strict = 1;
    for (int again = 0; again < 2; again++) {
      frame_fails (&f, ctx, NMS_ERROR_DEVICE, engines[i].reason);
      g_assert_true (g_str_has_prefix (nms_context_error (ctx), "engine xla: "));
    }
    f.options.engine = NMS_ENGINE_SORTED; /* the native engines still work */
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
  int status;
  pid_t child;
  Frame f;

  if (SANITIZED) {
    g_test_skip ("a thread may allocate during the fork: see sanitized.h");
    return;
  }
  ctx = nms_context_new ();
  start (&f, PLUGIN ("works"), 0);
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
}

/* The option names the plugin or, if it is not set, NMS_XLA_PLUGIN does; a change of the option is
 * another attempt. */
static void
test_names (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  g_auto (Frame) f = { 0 };

  g_unsetenv ("NMS_XLA_PLUGIN");
  start (&f, NULL, 0);
  frame_check (&f, ctx);
  g_assert_cmpstr (nms_context_engine_reason (ctx), ==,
      "no plugin is named, by option or by NMS_XLA_PLUGIN");
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "no plugin is named");
  f.plugin = "";
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "no plugin is named");
  g_setenv ("NMS_XLA_PLUGIN", PLUGIN ("none"), TRUE);
  f.plugin = NULL;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "is not a PJRT plugin");
  f.plugin = PLUGIN ("null");
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

  for (size_t i = 0; i < G_N_ELEMENTS (functions); i++) {
    Waiting w = { .ctx = nms_context_new () };
    start (&w.f, PLUGIN ("stall"), 1);
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
check_free (const char *path, int wait_for_refusal)
{
  nms_context *ctx = nms_context_new ();
  gint64 begin;
  g_auto (Frame) f = { 0 };

  start (&f, path, 0);
  do {
    frame_check (&f, ctx);
    g_usleep (1000);
  } while (wait_for_refusal && !nms_context_engine_reason (ctx));
  begin = g_get_monotonic_time ();
  nms_context_free (&ctx);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 5 * G_TIME_SPAN_SECOND);
}

static void
test_free (void)
{
  check_free (PLUGIN ("stall"), FALSE);
  check_free (PLUGIN ("stuck"), TRUE);
}

static const TestCase cases[] = { CASE (test_fork_after_first_frame), CASE (test_broken),
  CASE (test_arguments), CASE (test_blocks), CASE (test_truncated), CASE (test_once),
  CASE (test_program_absent), CASE (test_program), CASE (test_every_failure), CASE (test_outputs),
  CASE (test_shared), CASE (test_fork), CASE (test_ahead), CASE (test_native_takes_over),
  CASE (test_names), CASE (test_too_many_boxes), CASE (test_interrupt),
  /* last, because the plugins block threads of this process */
  CASE (test_free), { NULL } };

TEST_PROGRAM (cases, find_functions);
