/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorder: a boxrecord in a harness, for the tests of its files and pipes. */
#pragma once

#include "gstboxes.h"

#define FRAME (100 * GST_MSECOND)

/* Number of boxes of a line longer than PIPE_BUF: about 12 kB. */
#define BIG 200

/* Returns a boxrecord that plays. If `bus` is not NULL, sets it to the bus of its messages, which
 * it owns. */
GstHarness *recorder_new (GstBus **bus, const gchar *location, const gchar *properties);

/* Fails unless a boxrecord with these properties cannot start, and its error contains the text. */
void recorder_must_refuse (const gchar *location, const gchar *properties, const gchar *text);

/* Pushes the frame at index * FRAME, with that number of boxes. */
GstFlowReturn recorder_push (GstHarness *h, guint index, guint boxes);

/* Pushes frames from..to-1, each with one box; fails unless each passes. */
void recorder_push_range (GstHarness *h, guint from, guint to);

/* Returns the number of messages of that type on the bus, which it empties. Fails if one
 * lacks the text. */
guint recorder_messages (GstBus *bus, GstMessageType type, const gchar *text);

/* Fails unless `text` consists of complete lines of JSON. Returns their number. */
guint recorder_lines (const gchar *text);

/* Fails unless the file consists of complete lines of JSON. Returns their number. */
guint recorder_file_lines (const gchar *path);
