/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin: registers the elements of this build. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

#define REGISTER_ELEMENT(name) ok &= GST_ELEMENT_REGISTER (name, plugin);
  FOR_EACH_ELEMENT (REGISTER_ELEMENT)
#undef REGISTER_ELEMENT
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, nms,
    "Non-maximum suppression of the boxes that detectors attach to video", plugin_init,
    PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PLUGIN_ORIGIN)
