/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin: registers the elements of this build. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = GST_ELEMENT_REGISTER (nmsfilter, plugin);
  ok &= GST_ELEMENT_REGISTER (boxselect, plugin);
  ok &= GST_ELEMENT_REGISTER (boxtransform, plugin);
  ok &= GST_ELEMENT_REGISTER (boxmerge, plugin);
  ok &= GST_ELEMENT_REGISTER (tiledetect, plugin);
#ifdef HAVE_RECORDS
  ok &= GST_ELEMENT_REGISTER (boxreplay, plugin);
  ok &= GST_ELEMENT_REGISTER (boxrecord, plugin);
#endif
#ifdef HAVE_OVERLAY
  ok &= GST_ELEMENT_REGISTER (boxoverlay, plugin);
#endif
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, nms,
    "Non-maximum suppression of the boxes that detectors attach to video", plugin_init,
    PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PLUGIN_ORIGIN)
