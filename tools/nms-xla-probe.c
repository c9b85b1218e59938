/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms-xla-probe PLUGIN [SECONDS]: opens the device of a PJRT plugin and closes it. Prints
 * "ok xla:PLATFORM" and returns 0, or prints "error REASON" and returns 1. A plugin that aborts
 * or crashes ends the process, and one that blocks is ended by SIGALRM after SECONDS. What the
 * plugin prints goes to standard error. nmscore runs this program before it opens a plugin
 * (nmsxla.h); by hand it tells whether a plugin works on this machine.
 */
#include "nmsxla.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  nms_lazy_backend *backend;
  char why[200], name[64] = "";

  if (argc < 2 || argc > 3) {
    fprintf (stderr, "usage: nms-xla-probe PLUGIN [SECONDS]\n");
    return 2;
  }
  if (argc == 3)
    alarm ((unsigned) strtoul (argv[2], NULL, 10));
  const int report = dup (STDOUT_FILENO);
  dup2 (STDERR_FILENO, STDOUT_FILENO);
  setenv ("NMS_XLA_PROBE", "", 1); /* this process makes the trial, so it needs none */
  const int code = nms_xla_open (argv[1], &backend, why, sizeof why);
  if (!code) {
    snprintf (name, sizeof name, "%s", backend->name);
    nms_xla_close (&backend);
  }
  dprintf (report, "%s %s\n", code ? "error" : "ok", code ? why : name);
  _exit (code != 0); /* without the plugin's destructors */
}
