/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merging: a boxmerge under test, with a harness for the main stream and one for each branch.
 * Expected boxes are text: x,y,w,h of each region, in order, such as "10,20,30,40 5,5,9,9".
 */
#pragma once

#include "steps.h"

#define MERGING_BRANCHES 8
#define QUARTER_CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"

typedef struct
{
  GstElement *element; /* owned by the harness */
  GstHarness *main;
  GstHarness *branch[MERGING_BRANCHES];
  guint count; /* branches */
  /* what the element has pushed since merging_open, with times in ms: "stream-start caps segment
   * gap:100+50 buffer:200 eos " */
  GString *passed;
} Merging;

/* Creates the element of this launch line and `count` branches with pictures of these caps (NULL:
 * those of the main stream). A live upstream has a test clock, which stands at 0. */
void merging_open (Merging *m, const gchar *launch, guint count, const gchar *caps, gboolean live);

void merging_close (Merging *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Merging, merging_close)

/* Pushes a buffer at this time with a region of 30x40 pixels at x, 20 to a branch; with a
 * negative x, one without boxes. */
void merging_push_box (Merging *m, guint i, GstClockTime time, gint x);

/* Pushes a main buffer without boxes. */
void merging_push_main (Merging *m, GstClockTime time);

/* Pushes the buffers, which it takes, to the first branch and to the main stream (NULL: one at 0 s
 * without boxes). Returns the buffer that comes out. */
GstBuffer *merging_merge (Merging *m, GstBuffer *branch, GstBuffer *main);

/* Waits for a main buffer, checks its time and its boxes. */
void merging_expect (Merging *m, GstClockTime time, const gchar *boxes);

/* Returns the regions with their sources: "10,20,30,40 sink_0 cut; 5,5,9,9 -". Free it. */
gchar *merging_sources (GstBuffer *buffer);

/* Checks a count of a branch. */
void merging_expect_stat (Merging *m, guint i, const gchar *name, guint64 value);

/* Waits until the bus has an error, and checks its text. */
void merging_expect_error (GstBus *bus, const gchar *words);

/* Plays steps, separated by blanks, with times in ms; - is a buffer without a PTS:
 *   a60:7       branch a (sink_0), b, c, .. gets a buffer with a box at x = 7; a60: one without box
 *   m100        the main stream gets a buffer
 *   =100:1+2    a main buffer comes that has boxes at x = 1 and 2; or =100:4,40,60,80 in full
 *   =eos        the event EOS comes
 *   none        no main buffer comes
 *   gap-a:300+200  a GAP event of branch a, or m, the main stream; without + of unknown length
 *   eos-a, tag-a, custom-a  other events
 *   flush-a     a flush and the next segment
 *   from-a:100  a segment begins; reverse-a:900 one with the rate -1 that ends there
 *   small-a     pictures of 320x240 from now on; or large-a, of 640x480
 *   !300        (live) the element waits until 300 ms, which come now
 *   a.in:3      the count `in` of branch a is 3 */
void merging_play (Merging *m, const gchar *steps);

/* Removes what a harness has got at the source pad up to an event of this type, which is
 * returned. Waits for it. */
GstEvent *merging_wait_event (Merging *m, GstEventType type);

typedef struct
{
  const gchar *name, *launch;
  guint branches;
  gboolean live;
  const gchar *steps;
  const gchar *passed; /* as in Merging, or NULL */
} MergingRow;

/* Plays the steps of a MergingRow. */
void merging_run (gconstpointer row);
