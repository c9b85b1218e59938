/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* checkrunner: puts the cases of a program into one suite of GstCheck and runs it. */
#include "checkrunner.h"

int
checkrunner_run (int argc, char **argv, const CheckProgram *program)
{
  gchar *name = g_path_get_basename (argv[0]);
  Suite *suite = suite_create (name);
  TCase *group = tcase_create ("cases");
  int status;

  gst_check_init (&argc, &argv);
  suite_add_tcase (suite, group);
  tcase_add_checked_fixture (group, program->setup, program->teardown);
  for (const CheckCase *c = program->cases; c->name; c++)
    _tcase_add_test (group, c->run, c->name, 0, 0, 0, 1);
  status = gst_check_run_suite (suite, name, __FILE__);
  g_free (name);
  return status;
}
