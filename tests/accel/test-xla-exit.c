/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that ends while engine xla compiles waits for the compiler's thread before destructors
 * run that the plugin registered since it was loaded. The plugin of this test registers one when it
 * begins to compile, which aborts the process if it runs before the end. A process that would have
 * to wait for longer than 3 s ends with its status and output. The tests start this program again
 * with an argument.
 */
#include "frames.h"
#include "testrunner.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PLUGIN FAKE_PLUGINS "/fakepjrt-late.so"
#define OUTPUT "decided"
#define STATUS 3

/* Decides a frame by another engine, while the thread of engine xla compiles. */
static gpointer
run_frame (gpointer frame)
{
  frame_init (frame, 70, PLUGIN, 0);
  frame_check (frame);
  return NULL;
}

static int
leave (const char *how)
{
  static Frame f; /* static, so that one that is kept is not a leak */

  if (*how == '-')
    return -1;
  if (g_str_has_prefix (how, "thread"))
    g_thread_join (g_thread_new ("stream", run_frame, &f));
  else
    run_frame (&f);
  g_usleep (200000); /* the plugin compiles for 1 s */
  fputs (OUTPUT, stdout);
  if (!g_str_has_suffix (how, "kept"))
    frame_clear (&f);
  return STATUS;
}

static const char *const rows[] = { "kept", "freed", "thread", "thread-kept", "long-kept", NULL };

static void
test_exit (gconstpointer row)
{
  const char *how = *(const char *const *) row;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL), *output = NULL;
  char *argv[] = { program, (char *) how, NULL };
  g_auto (GStrv) env = g_get_environ ();
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
}

static const TestCase cases[] = { TEST_ROWS ("/xla/exit/%s", test_exit, rows), { NULL } };

TEST_PROGRAM (cases, .child = leave);
