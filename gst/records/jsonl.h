/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxlines: JSON Lines <-> boxes, one object a frame, in the schema of DL
 * Streamer's gvametaconvert:
 *
 *   {"timestamp":100000000,"resolution":{"width":768,"height":576},
 *    "objects":[{"x":10,"y":20,"w":30,"h":60,"roi_type":"person","region_id":3,
 *      "parent_id":1,"id":7,"rotation":0.5,"detection":{"bounding_box":{"x_min":0.013,
 *      "y_min":0.035,"x_max":0.052,"y_max":0.139},"confidence":0.91,
 *      "label_id":1,"label":"person"},
 *      "nms":{"state":"suppressed","suppressed-by":0}}]}
 *
 * timestamp       ns of stream time, 0 .. 2^63-1; may be missing
 * resolution      of the frame in pixels; may be missing
 * objects         required; [] is a frame without boxes
 *   x y w h       pixels; all four, or a bounding_box, or both
 *   roi_type      label; detection.label counts where it is missing or ""
 *   region_id     of this box, parent_id of the box it is a part of; 0: unset
 *   id            track
 *   rotation      radians by which the box, of x y w h or bounding_box as if it
 *                 were upright, is turned about its centre in pixels, clockwise;
 *                 missing: 0. A box goes to a frame of other proportions with the
 *                 angle it has. (Ours: other readers pass over it.)
 *   bounding_box  fractions of the frame, exact also off the frame; wins over
 *                 x y w h, which are clipped to the frame
 *   nms           what an nmsfilter with action=tag found
 *
 * These survive parsing; any other member is passed over.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _JsonlParser JsonlParser;

JsonlParser *jsonl_parser_new (void);
void jsonl_parser_free (JsonlParser * self);

/* Replaces timestamp, size and boxes of `frame` with those of the line, which
 * may be written to. FALSE and RECORD_ERROR_MALFORMED: the reason names the
 * member; the frame then holds nothing to rely on. */
gboolean jsonl_parse (JsonlParser * self, gchar * line, gsize length, RecordedFrame * frame,
    GError ** error);

/* Appends the frame as one line, its end included. With a frame size,
 * bounding_box is always written and the integers are clipped. Returns how
 * many confidences were left out because they are no finite number. */
guint jsonl_format (const RecordedFrame * frame, GString * out);

G_END_DECLS
