/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlatext: compiles a text of StableHLO with a PJRT plugin for a device that is not here. It is a
 * process of its own, because plugins start threads and some abort.
 *
 *     xlatext ahead PLUGIN TOPOLOGY MODULE
 */
#include "nmsxla.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

static int
fail (const char *what, const char *why)
{
  fprintf (stderr, "xlatext: %s: %s\n", what, why);
  return 1;
}

int
main (int argc, char **argv)
{
  char why[4096], *text;
  size_t length;

  if (argc != 5 || strcmp (argv[1], "ahead"))
    return fail ("usage", "ahead PLUGIN TOPOLOGY MODULE");
  if (!g_file_get_contents (argv[4], &text, &length, NULL))
    return fail (argv[4], "cannot be read");
  int error = nms_xla_compile_ahead (argv[2], argv[3], NULL, text, length, why, sizeof why);
  g_free (text);
  return error < 0 ? fail (argv[4], why) : 0;
}
