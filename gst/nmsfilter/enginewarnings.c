/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enginewarnings: asks nmscore for its reasons and posts them. */
#include "enginewarnings.h"

#include "nmsxla.h"

void
engine_warnings_post (EngineWarnings *self, GstElement *element, nms_context *context)
{
  const gchar *refusal = nms_context_engine_refusal (context);
  gchar reason[256];

  if (!self->probe) {
    self->probe = TRUE;
    if (nms_xla_probe_check (reason, sizeof reason) == NMS_ERROR_DEVICE)
      GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
          ("Engine xla opens its plugin without a trial: %s.", reason), (NULL));
  }
  if (refusal != NULL && !self->refusal) {
    self->refusal = TRUE;
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS, ("Engine xla cannot be used: %s.", refusal),
        ("another engine runs instead, with the same result"));
  }
}
