/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* accelengine: engine xla of libnmsaccel, which is opened when an element first needs it, and the
 * warnings about it. */
#pragma once

#include <gst/gst.h>

#include "nmscore.h"

G_BEGIN_DECLS

/* All members are FALSE after a start of the element. */
typedef struct
{
  gboolean tried;  /* accel_engine_add was called */
  gboolean added;  /* the context has the engine */
  gboolean warned; /* a warning that the engine does not run was posted */
} AccelEngine;

/* Opens libnmsaccel and adds engine xla to the context, in the first call after a start. Posts a
 * warning if the library is missing, or, with `strict`, an error; returns FALSE after an error.
 * Call without the object lock, which it takes to change the context. */
gboolean accel_engine_add (AccelEngine *self, GstElement *element, nms_context *context,
    const gchar *plugin, gboolean strict);

/* Posts a warning, once after a start, if the engine cannot run. Call after a run of `context`,
 * without the object lock. */
void accel_engine_warn (AccelEngine *self, GstElement *element, nms_context *context);

G_END_DECLS
