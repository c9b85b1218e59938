/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engineinuse: compares numbers and pointers, because it is asked after each frame. */
#include "engineinuse.h"

gboolean
engine_in_use_reset (EngineInUse *self)
{
  const gboolean had_run = self->engine != NMS_ENGINE_AUTO;

  self->engine = NMS_ENGINE_AUTO;
  return had_run;
}

gboolean
engine_in_use_note (EngineInUse *self, nms_context *context, guint method)
{
  const gint engine = nms_context_engine (context);
  const gchar *isa = nms_context_isa (context);

  if (engine == self->engine && isa == self->isa && method == self->method)
    return FALSE;
  self->engine = engine;
  self->isa = isa;
  self->method = method;
  g_strlcpy (self->text, nms_context_engine_in_use (context), sizeof self->text);
  return TRUE;
}

const gchar *
engine_in_use_text (const EngineInUse *self)
{
  return self->engine == NMS_ENGINE_AUTO ? NULL : self->text;
}

GParamSpec *
engine_in_use_spec (void)
{
  return g_param_spec_string ("engine-in-use", "Engine in use",
      "The engine that ran last and its instruction set or device, such as \"sorted/scalar\" "
      "or \"xla:cpu\"; NULL before the first box. Notifies of each change",
      NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}
