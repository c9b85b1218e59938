/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonl: converts lines of JSON to boxes and back, one object for each frame, in
 * the schema of DL Streamer's gvametaconvert:
 *
 *   {"timestamp":100000000,"resolution":{"width":768,"height":576},
 *    "objects":[{"x":10,"y":20,"w":30,"h":60,"roi_type":"person","region_id":3,
 *      "parent_id":1,"id":7,"rotation":0.5,"detection":{"bounding_box":{"x_min":0.013,
 *      "y_min":0.035,"x_max":0.052,"y_max":0.139},"confidence":0.91,
 *      "label_id":1,"label":"person"},
 *      "nms":{"state":"suppressed","suppressed-by":0}}]}
 *
 * timestamp       in ns of stream time, 0 .. 2^63-1; optional
 * outside-segment, dropped, stream, stream-id
 *                 written only where a frame needs them; docs/recording.md
 * resolution      of the frame in pixels; optional
 * objects         required on a line without resolution; [] or missing: a frame without boxes
 *   x y w h       in pixels; an object has these four, a bounding_box, or both. x and y from
 *                 2^31 to 2^32-1 are negative numbers, less 2^32
 *   roi_type      the label; if missing or "", detection.label is used
 *   region_id     the id of this box; 0 if there is none
 *   parent_id     the region_id of the box that this one is a part of; 0 if there is none
 *   id            the track
 *   rotation      the angle in radians, clockwise, by which the box is rotated
 *                 about its centre; x y w h and bounding_box describe the box
 *                 before it is rotated. Missing: 0. On a frame of other
 *                 proportions the box keeps its angle. (An extension of this
 *                 project, which other readers ignore.)
 *   bounding_box  in fractions of the frame, exact off the frame too. It wins over
 *                 x y w h, which are clipped to the frame, unless it has the same pixels
 *   nms           the decision of an nmsfilter with action=tag
 *
 * Parsing keeps these members and ignores all others.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct _JsonlParser JsonlParser;

JsonlParser *jsonl_parser_new (void);
void jsonl_parser_free (JsonlParser *self);

/* Parses one line: sets all fields of `frame` except index and line. If the line is
 * malformed, returns FALSE and RECORD_ERROR_MALFORMED, whose message names the member;
 * the contents of `frame` are then undefined. */
gboolean jsonl_parse (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame,
    GError **error);

/* Parses one line as jsonl_parse () does, except that it passes over the boxes without checking
 * them and leaves `frame` without boxes, which takes a tenth of the time. If the boxes are last, as
 * boxrecord writes them, they are not read at all, and a line takes half a microsecond. */
gboolean jsonl_parse_header (JsonlParser *self, const gchar *line, gsize length,
    RecordedFrame *frame, GError **error);

/* Appends the frame as one line, its end of line included. If the frame size is
 * known, each object gets a bounding_box and its integers are clipped to the frame.
 * Returns the number of confidences left out because they are not finite. */
guint jsonl_format (const RecordedFrame *frame, GString *out);

G_END_DECLS
