/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boxpads.h"

#include <string.h>

void
box_pads_escape (GString *line)
{
  /* in JSON these characters are in strings only, where an escape may replace them */
  g_string_replace (line, "<", "\\u003c", 0);
  g_string_replace (line, ">", "\\u003e", 0);
  g_string_replace (line, "&", "\\u0026", 0);
}

void
box_pads_restore (GString *line)
{
  g_string_truncate (line, strlen (g_strchomp (line->str)));
  /* a line has quotes, unless they were escaped as &quot; */
  if (strchr (line->str, '"') != NULL)
    return;
  g_string_replace (line, "&quot;", "\"", 0);
  g_string_replace (line, "&apos;", "'", 0);
  g_string_replace (line, "&#39;", "'", 0);
  g_string_replace (line, "&lt;", "<", 0);
  g_string_replace (line, "&gt;", ">", 0);
  g_string_replace (line, "&amp;", "&", 0);
}
