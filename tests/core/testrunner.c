/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* testrunner: registers the cases of a program with GLib and runs them. */
#include "testrunner.h"

#include <string.h>

static void
add_row (const TestCase *test, const char *name, gconstpointer row)
{
  const char *gap = strstr (test->path, "%s");
  char *leaf = g_strdelimit (g_strdup (name), "/", ':'), *path;

  g_assert_nonnull (gap);
  path = g_strdup_printf ("%.*s%s%s", (int) (gap - test->path), test->path, leaf, gap + 2);
  g_test_add_data_func (path, row, test->run_row);
  g_free (path);
  g_free (leaf);
}

static void
add_case (const TestCase *test)
{
  const char *row = test->rows, *name;

  if (!row)
    g_test_add_func (test->path, test->run);
  else
    for (; (name = *(const char *const *) (const void *) row) != NULL; row += test->row_size)
      add_row (test, name, row);
}

/* Reports that the program is skipped. Returns its exit status. */
static int
skip (int tap, const char *reason, const char *needs)
{
  if (tap)
    g_print ("1..0 # SKIP %s %s\n", reason, needs);
  else
    g_printerr ("SKIP: %s %s\n", reason, needs);
  return tap ? 0 : 77;
}

int
testrunner_run (int argc, char **argv, const TestProgram *program)
{
  const int tap = g_strv_contains ((const char *const *) argv, "--tap");
  int status = argc > 1 && program->child ? program->child (argv[1]) : -1;
  const char *reason;

  if (status >= 0)
    return status;
  g_test_init (&argc, &argv, NULL);
  reason = program->start ? program->start (program->needs) : NULL;
  if (reason)
    return skip (tap, reason, program->needs ? program->needs : "");
  for (const TestCase *test = program->cases; test->path; test++)
    add_case (test);
  status = g_test_run ();
  if (program->finish)
    program->finish ();
  return status;
}
