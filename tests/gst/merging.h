/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merging: a boxmerge under test, with a harness for the main stream and one for each branch.
 * Expected boxes are text: x,y,w,h of each region, in order, such as "10,20,30,40 5,5,9,9".
 */
#pragma once

#include "gstboxes.h"

#define MERGING_BRANCHES 8
#define FRAME (100 * GST_MSECOND)

typedef struct
{
  GstElement *element; /* owned by the harness */
  GstHarness *main;
  GstHarness *branch[MERGING_BRANCHES];
  guint count; /* branches */
} Merging;

/* Creates the element of this launch line and `count` branches with pictures of these caps (NULL:
 * those of the main stream). A live upstream has a test clock, which stands at 0. */
void merging_open (Merging *m, const gchar *launch, guint count, const gchar *caps, gboolean live);

/* Does the same in two steps: merging_start sends the first events. */
void merging_new (Merging *m, const gchar *launch, guint count, gboolean live);
void merging_start (Merging *m, const gchar *caps);

void merging_close (Merging *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Merging, merging_close)

/* Returns the pad of a branch. Unref it. */
GstPad *merging_pad (Merging *m, guint i);

/* Pushes a buffer at this time with a region of 30x40 pixels at x, 20 to a branch; with a
 * negative x, one without boxes. */
void merging_push_box (Merging *m, guint i, GstClockTime time, gint x);

/* Pushes a main buffer without boxes. */
void merging_push_main (Merging *m, GstClockTime time);

/* Waits for a main buffer, checks its time and its boxes. */
void merging_expect (Merging *m, GstClockTime time, const gchar *boxes);

/* Checks that no main buffer comes within 30 ms. */
void merging_expect_none (Merging *m);

/* Checks a count of a branch. */
void merging_expect_stat (Merging *m, guint i, const gchar *name, guint64 value);

/* Plays steps, separated by blanks, with times in ms; - is a buffer without a PTS:
 *   a60:7       branch a (sink_0), b, c, .. gets a buffer with a box at x = 7; a60: one without box
 *   m100        the main stream gets a buffer
 *   =100:1+2    a main buffer comes that has boxes at x = 1 and 2; or =100:4,40,60,80 in full
 *   none        no main buffer comes
 *   gap-a:300+200  a GAP event of branch a; without + of unknown length
 *   eos-a       EOS of branch a
 *   small-a     branch a has pictures of 320x240 from now on
 *   !300        (live) the element waits until 300 ms, which come now
 *   a.in:3      the count `in` of branch a is 3 */
void merging_play (Merging *m, const gchar *steps);

/* Removes what a harness has got at the source pad up to an event of this type, which is
 * returned. Waits for it. */
GstEvent *merging_wait_event (Merging *m, GstEventType type);
