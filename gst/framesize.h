/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* framesize: the size of a stream's frames, as its caps state it. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Writes the frame size of fixed caps of any format; 0 and 0 if they state no
 * size, or one that is not positive. */
static inline void
frame_size_from_caps (const GstCaps *caps, gint *width, gint *height)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  if (!gst_structure_get_int (s, "width", width) || !gst_structure_get_int (s, "height", height)
      || *width <= 0 || *height <= 0)
    *width = *height = 0;
}

G_END_DECLS
