/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxpads: the text that passes between the pads `boxes` of boxrecord and boxreplay. A
 * buffer holds the line of JSON Lines of one frame (jsonl.h), its end of line included,
 * with the PTS and duration of the frame. A GAP event says that a span of time has no
 * boxes.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Text as muxers take it for subtitles. Matroska's demuxer calls it pango-markup. */
#define BOX_PADS_CAPS "text/x-raw, format=(string)utf8"
#define BOX_PADS_CAPS_READ "text/x-raw, format=(string){ utf8, pango-markup }"

/* Replaces < > & by JSON's escapes, so that no demuxer takes the line for markup. */
void box_pads_escape (GString *line);

/* Removes the end of line and the NULs that a demuxer adds behind it, and replaces the
 * entities of markup (&quot; ...) if the demuxer has escaped the quotes. */
void box_pads_restore (GString *line);

G_END_DECLS
