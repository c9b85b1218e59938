/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linemeta: carries the line of JSON Lines of a frame (jsonl.h) on its buffer, as the custom
 * metadata NmsBoxLineMeta, whose structure has the text as the field "line". GStreamer 1.24
 * and later serialize custom metadata, so unixfdsink and unixfdsrc pass it to another
 * process; regions of interest and GstAnalytics relations have no serialization. Copies of
 * a buffer and conversions of its format keep it; changes of the frame's geometry drop it.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the metadata, once in a process. Called before the functions below and before a
 * buffer comes from another process. Any thread may call it. */
void line_meta_register (void);

/* Sets the line of a writable buffer, and replaces one that it has. `line` is UTF-8. */
void line_meta_set (GstBuffer *buffer, const gchar *line);

/* Returns the line of a buffer, which owns it, or NULL. */
const gchar *line_meta_get (GstBuffer *buffer);

/* Removes the line of a writable buffer, if it has one. */
void line_meta_remove (GstBuffer *buffer);

G_END_DECLS
