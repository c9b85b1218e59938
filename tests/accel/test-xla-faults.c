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

#define PROBE "NMS_XLA_PROBE"
#define PLUGIN(kind) FAKE_PLUGINS "/fakepjrt-" kind ".so"

static FakePjrt *fake; /* the variable of the plugin "works" */
static char why[256];  /* the text of the last error */

static const char *
find_fake (const char *needs)
{
  void *library = dlopen (PLUGIN ("works"), RTLD_NOW | RTLD_LOCAL);

  g_assert_nonnull (library);
  fake = dlsym (library, "fakepjrt");
  g_assert_nonnull (fake);
  return NULL;
}

static int
open_plugin (const char *path, nms_lazy_backend **backend)
{
  return nms_xla_open (path, backend, why, sizeof why);
}

static int
compile (nms_lazy_backend *backend, const char *text, size_t outputs, void **program)
{
  return backend->compile (backend, text, strlen (text), outputs, program, why, sizeof why);
}

/* Runs a program with one input and one output. */
static int
run_one (nms_lazy_backend *backend, void *program, nms_lazy_buffer in, nms_lazy_buffer out)
{
  return backend->run (backend, program, &in, 1, &out, 1, why, sizeof why);
}

/* ------------------------------------------------------------------- opening */

static void
check_refused (const char *path, const char *reason)
{
  nms_lazy_backend *backend = (nms_lazy_backend *) &backend;

  g_assert_cmpint (open_plugin (path, &backend), ==, NMS_ERROR_DEVICE);
  g_assert_null (backend);
  if (!strstr (why, reason) || strchr (why, '\n'))
    g_error ("\"%s\" does not say \"%s\"", why, reason);
}

static void
check_opens (const char *path)
{
  nms_lazy_backend *backend;

  if (open_plugin (path, &backend))
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

  g_assert_cmpint (open_plugin (NULL, &backend), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (why, ==, "no plugin is named");
  g_assert_cmpint (open_plugin ("", &backend), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (open_plugin ("x", NULL), ==, NMS_ERROR_ARGUMENT);
  nms_xla_close (NULL);
  nms_xla_close (&backend);
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

/* Returns the contents of the plugin "works". */
static char *
read_works (gsize *size)
{
  char *text;

  g_assert_true (g_file_get_contents (PLUGIN ("works"), &text, size, NULL));
  return text;
}

/* Plugin files truncated to several sizes are refused: the loader reports an error, or ends the
 * trial process. */
static void
test_truncated (void)
{
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (folder, "truncated", NULL);
  gsize size;
  g_autofree char *text = read_works (&size);

  for (gsize length = 10; length < size - size / 3; length += size / 5) {
    g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
    check_refused (path, path);
  }
  g_remove (path);
  g_rmdir (folder);
}

/* Returns the length of a file, 0 if there is none. */
static gsize
length_of (const char *path)
{
  g_autofree char *text = NULL;
  gsize length = 0;

  g_file_get_contents (path, &text, &length, NULL);
  return length;
}

/* The program, here a script that appends a byte to a file, runs once for a plugin's file, and
 * again after that file has changed. */
static void
test_once (void)
{
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL), *probe = g_strdup (g_getenv (PROBE));
  g_autofree char *copy = g_build_filename (folder, "copy", NULL);
  g_autofree char *log = g_build_filename (folder, "log", NULL);
  g_autofree char *script = g_build_filename (folder, "script", NULL);
  g_autofree char *command = g_strdup_printf ("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", log,
      probe);
  gsize size;
  g_autofree char *text = read_works (&size);

  g_assert_true (g_file_set_contents (copy, text, (gssize) size, NULL));
  g_assert_true (g_file_set_contents (script, command, -1, NULL));
  g_assert_cmpint (g_chmod (script, 0700), ==, 0);
  g_setenv (PROBE, script, TRUE);
  for (size_t i = 0; i < 3; i++)
    check_opens (copy);
  g_assert_cmpuint (length_of (log), ==, 1);
  g_assert_true (g_file_set_contents (copy, text, (gssize) size, NULL));
  check_opens (copy);
  g_assert_cmpuint (length_of (log), ==, 2);

  /* tried again, because an error of the plugin may be temporary */
  check_refused (PLUGIN ("none"), "is not a PJRT plugin");
  check_refused (PLUGIN ("none"), "is not a PJRT plugin");
  g_assert_cmpuint (length_of (log), ==, 4);
  g_setenv (PROBE, probe, TRUE);
  g_remove (copy);
  g_remove (log);
  g_remove (script);
  g_rmdir (folder);
}

static void
test_program_absent (void)
{
  const char *path = PLUGIN ("works");
  g_autofree char *probe = g_strdup (g_getenv (PROBE));

  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_OK);
  g_setenv (PROBE, "", TRUE);
  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_OK);
  check_opens (path);
  g_setenv (PROBE, "/nowhere/nms-xla-probe", TRUE);
  g_assert_cmpint (nms_xla_probe_check (why, sizeof why), ==, NMS_ERROR_DEVICE);
  g_assert_nonnull (strstr (why, "/nowhere/nms-xla-probe cannot be run"));
  check_opens (path);
  g_setenv (PROBE, probe, TRUE);
}

/* Runs the program alone, and checks its output and its exit status. */
static void
test_program (void)
{
  static const char *const rows[][2] = {
    { PLUGIN ("works"), "ok xla:fake\n" },
    { PLUGIN ("start"), "error the plugin does not start: initialize always fails\n" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *output = NULL;
    char *argv[] = { (char *) g_getenv (PROBE), (char *) rows[i][0], NULL };
    int status = 0;
    g_assert_true (
        g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL));
    g_assert_cmpstr (output, ==, rows[i][1]);
    g_assert_true (g_spawn_check_wait_status (status, NULL) == (i == 0));
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
whole_life (void)
{
  float numbers[6] = { 1, 2, 3, 4, 5, 6 }, numbers_back[6] = { 0 };
  uint8_t flags[5] = { 1, 0, 1, 1, 0 }, flags_back[5] = { 0 };
  int32_t single = 77;
  nms_lazy_buffer in[] = { { shapes[0], numbers }, { shapes[1], flags }, { shapes[2], &single } };
  nms_lazy_buffer out[] = { { shapes[0], numbers_back }, { shapes[1], flags_back } };
  nms_lazy_backend *backend;
  void *program;
  int code = open_plugin (PLUGIN ("works"), &backend);

  if (code)
    return code;
  g_assert_cmpstr (backend->name, ==, "xla:fake");
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  code = compile (backend, TEXT, 2, &program);
  if (!code) {
    code = backend->run (backend, program, in, 3, out, 2, why, sizeof why);
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
  long count, failed = 0;

  g_assert_cmpint (whole_life (), ==, NMS_OK);
  g_assert_cmpint (fake->objects, ==, 0);
  fake->calls = 0;
  g_assert_cmpint (whole_life (), ==, NMS_OK);
  count = fake->calls;
  g_assert_cmpint (count, >, 30);
  for (long k = 1; k <= count; k++) {
    fake->calls = 0;
    fake->fail_at = k;
    int code = whole_life ();
    if (code) {
      g_assert_cmpint (code, ==, NMS_ERROR_DEVICE);
      if (!g_str_has_suffix (why, "fails on request"))
        g_error ("call %ld: \"%s\"", k, why);
      failed++;
    }
    if (fake->objects)
      g_error ("call %ld leaves %ld objects (%s)", k, fake->objects, why);
    g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  }
  fake->fail_at = 0;
  g_assert_cmpint (whole_life (), ==, NMS_OK);
  /* all calls but those that destroy buffers, programs and the client */
  g_assert_cmpint (failed, ==, count - 7);
}

static void
test_outputs (void)
{
  nms_lazy_backend *backend;
  float data[6] = { 0 };
  void *program = NULL;

  g_assert_cmpint (open_plugin (PLUGIN ("works"), &backend), ==, NMS_OK);
  g_assert_cmpint (compile (backend, "outputs 3", 2, &program), ==, NMS_ERROR_DEVICE);
  g_assert_cmpstr (why, ==, "the program has 3 outputs, must have 2");

  /* an output whose size differs from the text's is not written */
  g_assert_cmpint (compile (backend, "outputs 1", 1, &program), ==, NMS_OK);
  g_assert_cmpint (run_one (backend, program, (nms_lazy_buffer) { shapes[0], data },
                       (nms_lazy_buffer) { shapes[2], data }),
      ==, NMS_ERROR_DEVICE);
  g_assert_cmpstr (why, ==, "an output of the program has 24 bytes, must have 4");
  backend->free_program (backend, program);
  nms_xla_close (&backend);
  g_assert_cmpint (fake->objects, ==, 0);
}

static void
test_shared (void)
{
  nms_lazy_backend *first, *second;

  g_assert_cmpint (open_plugin (PLUGIN ("works"), &first), ==, NMS_OK);
  g_assert_cmpint (open_plugin (PLUGIN ("works"), &second), ==, NMS_OK);
  g_assert_true (first == second);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  g_assert_cmpint (fake->objects, ==, 1);
  nms_xla_close (&first);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  nms_xla_close (&second);
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  g_assert_cmpint (fake->objects, ==, 0);
}

/* A device and a program, and numbers that are its input and its output. */
typedef struct {
  nms_lazy_backend *backend;
  void *program;
  nms_lazy_buffer numbers;
} Opened;

static void
in_child (void *data)
{
  Opened *o = data;
  nms_lazy_backend *other;
  void *none;

  g_assert_cmpint (open_plugin (PLUGIN ("works"), &other), ==, NMS_ERROR_DEVICE);
  g_assert_true (strstr (why, "forked") && !other);
  g_assert_cmpint (run_one (o->backend, o->program, o->numbers, o->numbers), ==, NMS_ERROR_DEVICE);
  g_assert_cmpint (compile (o->backend, "outputs 1", 1, &none), ==, NMS_ERROR_DEVICE);
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  *why = '\0';
  g_assert_cmpint (nms_xla_compile_ahead (PLUGIN ("works"), "1x1x1", NULL, TEXT, sizeof TEXT, why,
                       sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_nonnull (strstr (why, "forked"));
  o->backend->free_program (o->backend, o->program);
  nms_xla_close (&o->backend);
  g_assert_null (o->backend);
}

/* In a forked process every function returns an error and waits for no thread of the
 * parent. */
static void
test_fork (void)
{
  float data[6] = { 0 };
  Opened o = { .numbers = { shapes[0], data } };

  g_assert_cmpint (open_plugin (PLUGIN ("works"), &o.backend), ==, NMS_OK);
  g_assert_cmpint (compile (o.backend, "outputs 1", 1, &o.program), ==, NMS_OK);
  frame_fork (in_child, &o);
  g_assert_cmpint (run_one (o.backend, o.program, o.numbers, o.numbers), ==, NMS_OK);
  o.backend->free_program (o.backend, o.program);
  nms_xla_close (&o.backend);
  g_assert_cmpint (fake->objects, ==, 0);
}

static int
serialize (const char *topology, void **executable, size_t *size)
{
  return nms_xla_serialize_ahead (PLUGIN ("works"), topology, NULL, TEXT, sizeof TEXT, executable,
      size, why, sizeof why);
}

static void
test_ahead (void)
{
  void *executable = &why;
  size_t size = 7;

  g_assert_cmpint (nms_xla_compile_ahead (PLUGIN ("works"), "1x1x1", NULL, TEXT, sizeof TEXT, why,
                       sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_suffix (why, "cannot compile for a device that is not here"));
  g_assert_cmpint (nms_xla_compile_ahead (PLUGIN ("works"), NULL, NULL, TEXT, sizeof TEXT, why,
                       sizeof why),
      ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (serialize ("1x1x1", &executable, &size), ==, NMS_ERROR_DEVICE);
  g_assert_null (executable);
  g_assert_cmpuint (size, ==, 0);
  g_assert_cmpint (serialize ("1x1x1", NULL, &size), ==, NMS_ERROR_ARGUMENT);
}

/* -------------------------------------------------------------------- engine */

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
    gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
    g_autofree char *reason = NULL;
    Frame f;

    frame_init (&f, 70, engines[i].path, 0);
    g_assert_null (nms_context_engine_reason (f.ctx));
    while (!nms_context_engine_reason (f.ctx) && g_get_monotonic_time () < end) {
      frame_check (&f);
      g_assert_cmpint (nms_context_engine (f.ctx), !=, NMS_ENGINE_ADDED);
      g_usleep (500);
    }
    reason = g_strdup (nms_context_engine_reason (f.ctx));
    g_assert_nonnull (reason);
    if (!strstr (reason, engines[i].reason) || !*reason || strchr (reason, '\n'))
      g_error ("\"%s\" does not say \"%s\"", reason, engines[i].reason);
    g_assert_false (g_str_has_prefix (nms_context_engine_in_use (f.ctx), "xla"));
    for (int again = 0; again < 3; again++) /* and remains refused, without another attempt */
      frame_check (&f);
    g_assert_cmpstr (nms_context_engine_reason (f.ctx), ==, reason);

    frame_use (&f, engines[i].path, 1);
    for (int again = 0; again < 2; again++) {
      frame_fails (&f, NMS_ERROR_DEVICE, engines[i].reason);
      g_assert_true (g_str_has_prefix (nms_context_error (f.ctx), "engine xla: "));
    }
    f.options.engine = NMS_ENGINE_SORTED; /* the native engines still work */
    frame_check (&f);
    frame_close (&f);
  }
}

/* Runs a frame in a new context, whose engine must be refused at once, because this process was
 * forked. */
static void
check_forked (void *unused)
{
  g_auto (Frame) f = { 0 };

  frame_init (&f, 70, PLUGIN ("works"), 0);
  frame_check (&f);
  nms_context_interrupt (f.ctx);
  g_assert_nonnull (strstr (nms_context_engine_reason (f.ctx), "forked"));
}

/* A process that is forked right after the first frame, when no thread may have reached the plugin
 * yet, starts no thread for a plugin and waits for no lock of the parent. It has to be the first
 * test, because it needs the first frame of the process. */
static void
test_fork_after_first_frame (void)
{
  Frame f;

  if (SANITIZED) {
    g_test_skip ("a thread may allocate during the fork: see sanitized.h");
    return;
  }
  frame_init (&f, 70, PLUGIN ("works"), 0);
  frame_check (&f);
  frame_fork (check_forked, NULL);
  frame_close (&f);
}

/* The option names the plugin or, if it is not set, NMS_XLA_PLUGIN does; a change of the option is
 * another attempt. */
static void
test_names (void)
{
  static const struct {
    const char *variable, *option, *reason;
  } rows[] = { { NULL, NULL, "no plugin is named" }, { NULL, "", "no plugin is named" },
    { PLUGIN ("none"), NULL, "is not a PJRT plugin" },
    { PLUGIN ("none"), PLUGIN ("null"), "returned nothing" },
    { PLUGIN ("none"), NULL, "is not a PJRT plugin" } };
  g_auto (Frame) f = { 0 };

  g_unsetenv ("NMS_XLA_PLUGIN");
  frame_init (&f, 70, NULL, 0);
  frame_check (&f);
  g_assert_cmpstr (nms_context_engine_reason (f.ctx), ==,
      "no plugin is named, by option or by NMS_XLA_PLUGIN");
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (rows[i].variable)
      g_setenv ("NMS_XLA_PLUGIN", rows[i].variable, TRUE);
    frame_use (&f, rows[i].option, 1);
    frame_fails (&f, NMS_ERROR_DEVICE, rows[i].reason);
  }
  g_unsetenv ("NMS_XLA_PLUGIN");
}

/* The native engines run a frame that no program supports, and the device is not
 * refused. */
static void
test_too_many_boxes (void)
{
  nms_result result = { .size = sizeof result };
  g_auto (Frame) f = { 0 };

  frame_init (&f, NMS_XLA_MAX_BOXES + 1, "/nowhere", 0);
  f.options.max_detections = 3;
  g_assert_cmpint (nms_run (f.ctx, &f.boxes, &f.options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 3);
  g_assert_null (nms_context_engine_reason (f.ctx));
  frame_use (&f, "/nowhere", 1);
  frame_fails (&f, NMS_ERROR_ENGINE, "65537 boxes take part, it takes at most 65536");
}

static gpointer
run_strict (gpointer data)
{
  Frame *f = data;

  for (int again = 0; again < 2; again++)
    frame_fails (f, NMS_ERROR_DEVICE, "engine xla: interrupted while it waited for ");
  f->options.engine = NMS_ENGINE_SORTED;
  frame_check (f);
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
  Frame *f = data;

  g_assert_cmpint (nms_run_batch (f->ctx, &f->boxes, offsets, 2, &f->options, &arrays, &result), ==,
      NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_prefix (nms_context_error (f->ctx),
      "image 0: engine xla: interrupted while it waited for "));
  return NULL;
}

/* A run or a batch that waits for a plugin ends when another thread interrupts it. */
static void
test_interrupt (void)
{
  const GThreadFunc functions[] = { run_strict, run_strict_batch };

  for (size_t i = 0; i < G_N_ELEMENTS (functions); i++) {
    g_auto (Frame) f = { 0 };
    frame_init (&f, 70, PLUGIN ("stall"), 1);
    g_assert_cmpint (nms_context_set_threads (f.ctx, 2), ==, NMS_OK);
    GThread *thread = g_thread_new (NULL, functions[i], &f);
    g_usleep (G_USEC_PER_SEC / 5);
    nms_context_interrupt (f.ctx);
    g_thread_join (thread);
  }
  nms_context_interrupt (NULL);
}

/* Frees a context whose job is inside a plugin that blocks, or whose plugin blocks when it
 * is closed. */
static void
check_free (const char *path, int wait_for_refusal)
{
  gint64 begin;
  Frame f;

  frame_init (&f, 70, path, 0);
  do {
    frame_check (&f);
    g_usleep (1000);
  } while (wait_for_refusal && !nms_context_engine_reason (f.ctx));
  begin = g_get_monotonic_time ();
  frame_clear (&f);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 5 * G_TIME_SPAN_SECOND);
}

static void
test_free (void)
{
  check_free (PLUGIN ("stall"), FALSE);
  check_free (PLUGIN ("stuck"), TRUE);
}

static const TestCase cases[] = { CASE (test_fork_after_first_frame),
  /* these add variables to the environment, which threads of the later cases read */
  CASE (test_names), CASE (test_blocks), CASE (test_broken), CASE (test_arguments),
  CASE (test_truncated), CASE (test_once), CASE (test_program_absent), CASE (test_program),
  CASE (test_every_failure), CASE (test_outputs), CASE (test_shared), CASE (test_fork),
  CASE (test_ahead), CASE (test_native_takes_over), CASE (test_too_many_boxes),
  CASE (test_interrupt),
  /* last, because the plugins block threads of this process */
  CASE (test_free), { NULL } };

TEST_PROGRAM (cases, find_fake);
