/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* steps: plays the steps of rows, which describe a stream, and reads the times of those of
 * boxrecord, boxreplay and nmsfilter in frames, such as 5 or 1.5. An unknown step ends the test
 * with its text. */
#pragma once

#include "gstboxes.h"

#define FRAME (100 * GST_MSECOND)

/* Plays steps, which are separated by blanks. */
void steps_play (const gchar *steps, void (*play) (gpointer player, const gchar *step),
    gpointer player);

/* Reads the time at *at, or "-" for none, and moves *at behind it. */
GstClockTime steps_time (const gchar *step, const gchar **at);

/* Reads times such as 5 or 5..9 or 9..5 at *at, and moves *at behind them. Returns how many frames
 * the last one is behind the first. */
gint steps_range (const gchar *step, const gchar **at, GstClockTime *first);

/* Returns the time of frame `i` of such a range. */
GstClockTime steps_nth (GstClockTime first, gint range, gint i);

/* Pushes the events of one of these steps. Returns FALSE for any other step:
 *   from-5     a segment begins; from-5/0 has the stream time 0, from-5/0/7 ends at 7
 *   flush      FLUSH_START and FLUSH_STOP
 *   seek-5     flush and from-5
 *   reverse-5  flush and a segment with the rate -1 that ends at 5
 *   gap-5      a gap of one frame; gap-5/2 of two
 *   eos
 *   again      the element stops and plays, and another stream begins
 *   matched=3  no event: the field `matched` of the property stats is 3 */
gboolean steps_event (GstHarness *h, const gchar *step);

/* Appends a line of JSON with this time and the box x,2,3,4. Returns the text behind its kind:
 *   d   one frame is dropped before it
 *   h   it is outside of its segment
 *   o   no objects
 *   m   a malformed box */
const gchar *steps_record (GString *text, const gchar *kind, GstClockTime time, guint x);

/* Returns JSON Lines with records such as "0 1.5 4..9 - 2o"; n is an empty line. x is 1, or counts
 * the records from 1 if `numbered`. Free it. */
gchar *steps_records (const gchar *records, gboolean numbered);

/* Fails unless there is exactly one error or warning, which has this type and contains these words
 * and the name of the file (NULL: any). If `words` is NULL, there must be none. */
void steps_must_say (GstBus *bus, GstMessageType type, const gchar *words, const gchar *file);

/* Ends the test with the text of the step. */
void steps_unknown (const gchar *step) G_GNUC_NORETURN;
