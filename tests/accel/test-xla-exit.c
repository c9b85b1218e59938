/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that ends while engine xla compiles waits for the compiler's thread before destructors
 * run that the plugin registered since it was loaded. The plugin of this test registers one when it
 * begins to compile, which aborts the process if it runs before the end. The tests start this
 * program again with an argument.
 */
#include "frames.h"

#include <glib.h>
#include <string.h>

#define PLUGIN FAKE_PLUGINS "/fakepjrt-late.so"

/* Decides a frame by another engine, while the thread of engine xla compiles. */
static gpointer
run_frame (gpointer ctx)
{
  Frame f;

  frame_init (&f, 70, 1);
  f.options.engine = NMS_ENGINE_ADDED;
  f.plugin = PLUGIN;
  frame_check (&f, ctx);
  frame_clear (&f);
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
  if (!g_str_has_suffix (how, "kept"))
    nms_context_free (&ctx);
  return 0;
}

static void
test_exit (gconstpointer how)
{
  char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *argv[] = { program, (char *) how, NULL };
  GError *error = NULL;
  int status = 0;

  g_assert_true (
      g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
  g_spawn_check_wait_status (status, &error);
  g_assert_no_error (error);
  g_free (program);
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
  return g_test_run ();
}
