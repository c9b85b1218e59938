/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gstrunner: what GLib test programs of the elements do before and after their cases. */
#pragma once

#include "gstboxes.h"
#include "testrunner.h"

/* The function `start` of a TestProgram; `needs` are the elements without which the
 * program is skipped. */
static inline const char *
start_gst (const char *needs)
{
  gchar **names = g_strsplit (needs ? needs : "", " ", -1);
  gboolean found = TRUE;

  gst_init (NULL, NULL);
  for (guint i = 0; names[i]; i++)
    found = found && has_element (names[i]);
  g_strfreev (names);
  return found ? NULL : "needs elements that are not installed";
}

/* TEST_PROGRAM with gst_init () and gst_deinit (), in which the leaks tracer reports. */
#define GST_TEST_PROGRAM(cases, ...) TEST_PROGRAM (cases, start_gst, gst_deinit, __VA_ARGS__)
