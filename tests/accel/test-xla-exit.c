/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that ends while engine xla compiles waits for the compiler's thread before destructors
 * run that the plugin registered since it was loaded. The plugin of this test registers one when it
 * begins to compile, which aborts the process if it runs before the end. A process that would have
 * to wait for longer than 3 s ends with its status and output. The tests start this program again
 * with an argument.
 */
#include "frames.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PLUGIN FAKE_PLUGINS "/fakepjrt-late.so"
#define OUTPUT "decided"
#define STATUS 3

/* Decides a frame by another engine, while the thread of engine xla compiles. */
static gpointer
run_frame (gpointer ctx)
{
  g_auto (Frame) f = { 0 };

  frame_init (&f, 70, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.plugin = PLUGIN;
  frame_check (&f, ctx);
  return NULL;
}

static int
leave (const char *how)
{
  static nms_context *ctx; /* static, so that one that is kept is not a leak */

  ctx = nms_context_new ();
  if (g_str_has_prefix (how, "thread"))
    g_thread_join (g_thread_new ("stream", run_frame, ctx));
  else
    run_frame (ctx);
  g_usleep (200000); /* the plugin compiles for 1 s */
  fputs (OUTPUT, stdout);
  if (!g_str_has_suffix (how, "kept"))
    nms_context_free (&ctx);
  return STATUS;
}

static void
test_exit (gconstpointer how)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL), *output = NULL;
  char *argv[] = { program, (char *) how, NULL };
  char **env = g_get_environ ();
  int status = 0;

  if (!strcmp (how, "long-kept"))
    env = g_environ_setenv (env, "NMS_TEST_COMPILE", "20", TRUE);
  const gint64 start = g_get_monotonic_time ();
  g_assert_true (
      g_spawn_sync (NULL, argv, env, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, STATUS);
  g_assert_cmpstr (output, ==, OUTPUT);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 15 * G_USEC_PER_SEC);
  g_strfreev (env);
}

int
main (int argc, char **argv)
{
  if (argc == 2 && argv[1][0] != '-')
    return leave (argv[1]);
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/xla/exit/kept", "kept", test_exit);
  g_test_add_data_func ("/xla/exit/freed", "freed", test_exit);
  g_test_add_data_func ("/xla/exit/thread", "thread", test_exit);
  g_test_add_data_func ("/xla/exit/thread-kept", "thread-kept", test_exit);
  g_test_add_data_func ("/xla/exit/long", "long-kept", test_exit);
  return g_test_run ();
}
