/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests plugins that are missing, broken, or fail at any call: each gives an error with
 * the cause and leaks no object. The plugins are built from tests/accel/fakepjrt.c;
 * FAKE_PLUGINS is their folder.
 */
#include "accel/xla/xladevice.h"
#include "fakepjrt.h"
#include "nmsxla.h"
#include "testrunner.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *
plugin (const char *kind)
{
  return g_strdup_printf ("%s/fakepjrt-%s.so", FAKE_PLUGINS, kind);
}

/* The functions of fakepjrt.h in the plugin FAKE_WORKS. */
static void (*fail_at) (long);
static long (*calls) (void);
static long (*alive) (void);

static const char *
find_functions (const char *needs)
{
  g_autofree char *path = plugin ("works");
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);

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
  char why[200] = "", little[9] = "", least[1] = { 'x' };

  g_assert_cmpint (nms_xla_open (path, &backend, why, sizeof why), ==, NMS_ERROR_DEVICE);
  g_assert_null (backend);
  if (!strstr (why, reason) || strchr (why, '\n'))
    g_error ("\"%s\" does not say \"%s\"", why, reason);
  g_assert_cmpint (nms_xla_open (path, &backend, little, sizeof little), ==, NMS_ERROR_DEVICE);
  g_assert_cmpint (nms_xla_open (path, &backend, NULL, 0), ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_prefix (why, little) && strlen (little) == 8);
  g_assert_cmpint (nms_xla_open (path, &backend, least, sizeof least), ==, NMS_ERROR_DEVICE);
  g_assert_cmpint (least[0], ==, '\0');
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
  nms_xla_close (&backend);
}

static void
test_broken (void)
{
  static const struct {
    const char *kind, *reason;
  } rows[] = {
    { "none", "is not a PJRT plugin: it has no function GetPjrtApi" },
    { "null", "its GetPjrtApi returned nothing" },
#if UINTPTR_MAX == 0xffffffffffffffff
    { "small", "is too old: its table of functions has 600 bytes, 608 are needed" },
#else
    { "small", "is too old: its table of functions has 304 bytes, 308 are needed" },
#endif
    { "major", "has version 1.81 of the PJRT interface, not 0" },
    { "hole", "lacks a function of the PJRT interface, that of slot 55" },
    { "start", "the plugin does not start: initialize always fails" },
    { "empty", "the plugin has no device" },
    { "missing", "cannot load the plugin: " },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = plugin (rows[i].kind);
    check_refused (path, rows[i].reason);
  }
  check_refused (__FILE__, "cannot load the plugin: ");
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
  g_autofree char *path = plugin ("works");
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
  g_autofree char *path = plugin ("works");
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
  g_autofree char *path = plugin ("works");
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
  char *path = plugin ("works"), why[160];
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
    g_free (path);
    _exit (wrong);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);

  g_assert_cmpint (backend->run (backend, program, &in, 1, &out, 1, why, sizeof why), ==, NMS_OK);
  backend->free_program (backend, program);
  nms_xla_close (&backend);
  g_assert_cmpint (alive (), ==, 0);
  g_free (path);
}

static void
test_ahead (void)
{
  g_autofree char *path = plugin ("works");
  char why[160];

  g_assert_cmpint (nms_xla_compile_ahead (path, "1x1x1", NULL, TEXT, sizeof TEXT, why, sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_suffix (why, "cannot compile for a device that is not here"));
  g_assert_cmpint (nms_xla_compile_ahead (path, NULL, NULL, TEXT, sizeof TEXT, why, sizeof why), ==,
      NMS_ERROR_ARGUMENT);
  void *executable = path;
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

static const TestCase cases[] = { CASE (test_broken), CASE (test_arguments),
  CASE (test_every_failure), CASE (test_outputs), CASE (test_shared), CASE (test_fork),
  CASE (test_ahead), { NULL } };

TEST_PROGRAM (cases, find_functions);
