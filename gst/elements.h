/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* elements: the elements that plugin.c registers, each defined in gst<name>.c, and the
 * strings that gst-inspect-1.0 shows for all of them. */
#pragma once

#include <gst/gst.h>

#include "elementlist.h"

G_BEGIN_DECLS

#define ELEMENT_AUTHOR "The gst-nms authors"
#define PLUGIN_ORIGIN "Unknown package origin"

/* Describes an element for gst-inspect-1.0. `example`: a pipeline to copy, which
 * works on the files video.mkv and boxes.jsonl. All strings are static. */
static inline void
element_class_describe (GstElementClass *klass, const gchar *name, const gchar *kind,
    const gchar *description, const gchar *example)
{
  gst_element_class_set_static_metadata (klass, name, kind, description, ELEMENT_AUTHOR);
  gst_element_class_add_static_metadata (klass, "example", example);
}

#define DECLARE_ELEMENT(name) GST_ELEMENT_REGISTER_DECLARE (name);
FOR_EACH_ELEMENT (DECLARE_ELEMENT)
#undef DECLARE_ELEMENT

G_END_DECLS
