/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction set of a context, and the environment variable that names one. test-properties
 * compares all of them with the reference. */
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdio.h>
#include <string.h>

static void
test_names (void)
{
  nms_context *ctx = nms_context_new ();
  const char *best = nms_context_isa (ctx);

  g_assert_nonnull (best);
  g_assert_cmpint (nms_context_set_isa (ctx, "scalar"), ==, 0);
  g_assert_cmpstr (nms_context_isa (ctx), ==, "scalar");
  g_assert_cmpint (nms_context_set_isa (ctx, "mmx"), ==, NMS_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (nms_context_error (ctx), "mmx"));
  g_assert_cmpstr (nms_context_isa (ctx), ==, "scalar");
#ifdef __aarch64__
  g_assert_cmpint (nms_context_set_isa (ctx, "avx2"), ==, NMS_ERROR_UNSUPPORTED);
#else
  g_assert_cmpint (nms_context_set_isa (ctx, "neon"), ==, NMS_ERROR_UNSUPPORTED);
#endif
  g_assert_cmpint (nms_context_set_isa (ctx, NULL), ==, 0);
  g_assert_cmpstr (nms_context_isa (ctx), ==, best);
  g_assert_cmpint (nms_context_set_isa (NULL, "scalar"), ==, NMS_ERROR_ARGUMENT);
  nms_context_free (&ctx);
}

/* Runs this program again with NMS_ISA=value, because a process reads the variable only
 * once. Its output must begin with `expected`. */
static void
run_child (const char *value, const char *expected)
{
  gchar **environment = g_environ_setenv (g_get_environ (), "NMS_ISA", value, TRUE);
  const gchar *wrapper = g_getenv ("MESON_EXE_WRAPPER"); /* an emulator */
  g_autofree gchar *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree gchar *line = g_strdup_printf ("%s '%s' --print-level", wrapper ? wrapper : "", self);
  gchar **argv = NULL;
  g_autofree gchar *output = NULL;
  int status;

  g_assert_true (g_shell_parse_argv (line, NULL, &argv, NULL));
  g_assert_true (g_spawn_sync (NULL, argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
      NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  g_assert_true (g_str_has_prefix (output, expected));
  g_strfreev (argv);
  g_strfreev (environment);
}

static void
test_environment (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();

  for (const char *const *isa = enginecheck_isas; *isa; isa++)
    if (nms_context_set_isa (ctx, *isa) == NMS_OK) {
      g_autofree gchar *expected = g_strdup_printf ("%s (obeyed)\n", *isa);
      run_child (*isa, expected);
    }
  nms_context_set_isa (ctx, NULL);
  g_autofree gchar *refused = g_strdup_printf ("%s (NMS_ISA=fast: unknown", nms_context_isa (ctx));
  if (!g_getenv ("NMS_ISA"))
    run_child ("fast", refused);
}

static int
print_level (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  const char *refusal = nms_isa_reason ();

  printf ("%s (%s)\n", nms_context_isa (ctx), refusal ? refusal : "obeyed");
  return 0;
}

static int
child (const char *argument)
{
  return strcmp (argument, "--print-level") == 0 ? print_level () : -1;
}

static const TestCase cases[] = { CASE (test_names), CASE (test_environment), { NULL } };

TEST_PROGRAM (cases, .child = child);
