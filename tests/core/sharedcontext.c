/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sharedcontext: a context for programs whose cases need no context of their own. */
#include "sharedcontext.h"

#include <glib.h>

nms_context *context;

const char *
sharedcontext_start (const char *needs)
{
  context = nms_context_new ();
  g_assert_nonnull (context);
  return NULL;
}

void
sharedcontext_finish (void)
{
  nms_context_free (&context);
}
