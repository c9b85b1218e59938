/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* elements: what plugin.c registers; each is defined in gst<name>.c. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (nmsfilter);
GST_ELEMENT_REGISTER_DECLARE (boxreplay);
GST_ELEMENT_REGISTER_DECLARE (boxrecord);
GST_ELEMENT_REGISTER_DECLARE (boxoverlay);

G_END_DECLS
