/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enginewarnings: the warnings of an element about engine xla, each posted once after a start. */
#pragma once

#include <gst/gst.h>

#include "nmscore.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean probe;   /* checked whether nms-xla-probe can be run */
  gboolean refusal; /* warned that the engine cannot be used */
} EngineWarnings;

/* Posts each warning about engine xla once, after a run of `context` with it. Call without
 * the object lock. */
void engine_warnings_post (EngineWarnings *self, GstElement *element, nms_context *context);

G_END_DECLS
