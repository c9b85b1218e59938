/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxremove: removes boxes from a buffer.
 *
 *     box_meta_reading_take (reading, buffer, width, height, 0);
 *     for each box:  box->state = ...;
 *     buffer = gst_buffer_make_writable (buffer);
 *     box_remove (buffer, reading);
 */
#pragma once

#include "boxmeta.h"

G_BEGIN_DECLS

/* Removes from a writable buffer (the one that was read, or a copy of it) each box
 * whose state is one that box_state_is_drop names. The remaining parts of removed regions get
 * the parent id 0. If box_meta_reading_map moved the boxes, also removes the GstAnalytics metadata
 * that cannot be moved with them: that of unknown types, and masks if the picture is flipped or
 * turned. */
void box_remove (GstBuffer *buffer, BoxMetaReading *reading);

/* Removes all boxes from a writable buffer, which need not have been read. */
void box_remove_all (GstBuffer *buffer);

/* Returns a writable copy of the buffer that was read (memory and all metadata; the
 * memory is shared where it can be) without the boxes that box_remove would
 * remove. Returns NULL if the memory cannot be copied. */
GstBuffer *box_remove_copy (GstBuffer *buffer, const BoxMetaReading *reading);

G_END_DECLS
