/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxappend: appends the boxes of one buffer to those of another one, for example those that a
 * branch found in a part of the frame.
 *
 *     box_meta_reading_take (reading, branch, branch_width, branch_height, 0);
 *     box_meta_reading_map (reading, &map, width, height, TRUE);
 *     main = gst_buffer_make_writable (main);
 *     count = box_append (main, branch, reading, width, height, "sink_0", FALSE);
 */
#pragma once

#include "boxmeta.h"

G_BEGIN_DECLS

/* Appends the boxes that were read from `source`, except dropped boxes (box_state_is_drop),
 * to those on `target`, a writable buffer whose frame is width x height, 0 if unknown. Returns
 * their number. Nothing in `source` is referenced afterwards. `source` does not change unless
 * `move` is TRUE. Then it has to be writable, and its appended regions lose their structures,
 * which are moved instead of copied, in half of the time. The boxes of the reading may be changed
 * before, as for box_rewrite. Normalized coordinates are computed again from x1 .. y2, because
 * they are fractions of the frame.
 *
 * Read with no flags except BOX_READ_CUT, because with BOX_READ_STATE boxes tagged "suppressed" are
 * not appended, and with BOX_READ_RECORDED the ids are those of a recording.
 *
 * - Regions: label and copies of all structures. A region with an id gets a new one, which no
 *   region and no OD on `target` has; one with an OD gets the id of that. One without an id keeps
 *   0, but gets an id if `target` has ODs then, because 0 is the id of the first OD. Parent ids
 *   follow; that of a parent which is not appended becomes 0. Removed: the structure "recorded",
 *   and the field suppressed-by in "nms", because they name boxes of `source`.
 * - ODs: with each class, track, tensor and mask that is related to them, and the relations among
 *   these. Masks are moved as box_meta_reading_map moved the boxes. Mtds of unknown types, which
 *   may hold ids and positions, and masks of a flipped or turned picture are left out, with what
 *   is related to them alone; see box_meta_reading_warn. No OD is appended, nor a box that is only
 *   an OD, if another element has locked the relation meta.
 * - `name`, if not NULL, is the structure "source" of each region, and for each OD a related class
 *   "source:NAME"; a box that has such a name already gets the new one. box_meta_read returns it
 *   with BOX_READ_SOURCE.
 * - A box with BOX_CUT is marked: by the field `cut` (TRUE) of the structure "source" of its
 *   region, which is added if there is no `name`, and by a class "source-cut" that is related to
 *   its OD.
 *
 * Appending to a relation meta with many mtds takes time that grows with the square of their
 * number. */
guint box_append (GstBuffer *target, GstBuffer *source, BoxMetaReading *reading, gint width,
    gint height, const gchar *name, gboolean move);

G_END_DECLS
