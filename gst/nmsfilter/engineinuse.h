/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engineinuse: the value of nmsfilter's property engine-in-use. */
#pragma once

#include <gst/gst.h>

#include "nmscore.h"

G_BEGIN_DECLS

typedef struct
{
  gint engine;      /* of the last run; NMS_ENGINE_AUTO: no run yet */
  const gchar *isa; /* likewise; static */
  guint method;     /* likewise; any number for each method */
  gchar text[80];
} EngineInUse;

/* Forgets the last run. Returns whether that changes the value. */
gboolean engine_in_use_reset (EngineInUse *self);

/* Takes the engine of the last run of `context`, with `method`. Returns whether that changes the
 * value. */
gboolean engine_in_use_note (EngineInUse *self, nms_context *context, guint method);

/* Returns the value, or NULL before the first run. */
const gchar *engine_in_use_text (const EngineInUse *self);

/* Returns the property. */
GParamSpec *engine_in_use_spec (void);

G_END_DECLS
