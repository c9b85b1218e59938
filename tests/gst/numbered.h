/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * numbered: frames with a number and, by that, with boxes that are known: for
 * tests that send frames through pipelines of other people's elements and want
 * to know of each what became of its boxes. Frames come ten a second of stream
 * time.
 */
#pragma once

#include <gst/gst.h>

#define NUMBERED_MOST 200
#define NUMBERED_TIME (100 * GST_MSECOND)

typedef struct
{
  gint width, height;           /* of the frames that `expected` is of; 0: not known */
  guint32 expected[NUMBERED_MOST];      /* a digest of what has to be left */
  guint seen[NUMBERED_MOST];    /* how many times each came */
  guint order[4 * NUMBERED_MOST];       /* which came when */
  guint count;                  /* of order */
  guint wrong;                  /* frames with other boxes than expected */
} Numbered;

/* Attaches the boxes of frame `index`, for frames of that size (0: none). */
void numbered_attach (GstBuffer * buffer, guint index, gint width, gint height);

/* A file for boxreplay with the frames 0 .. count - 1; recorded with a time for
 * each if `times` is NULL, else with those (-1: none). */
void numbered_record (const gchar * path, guint count, gint width, gint height,
    const GstClockTime * times);

/* Empties the list of frames seen, which from now on are expected to be what an
 * nmsfilter with these settings leaves of the frames 0 .. count - 1, alone. NULL:
 * all of their boxes. */
void numbered_expect (Numbered * numbered, const gchar * settings, guint count, gint width,
    gint height);

/* The frames that came are first, first + 1 .. last, or the same backwards if
 * last < first; each once, and all with the right boxes. */
void numbered_must_be (const Numbered * numbered, guint first, guint last);

/* Takes a frame that came as number `index` down. */
void numbered_see (Numbered * numbered, GstBuffer * buffer, guint index);

/* For the probe of a pad: takes each buffer down as the number that its stream
 * time says. */
GstPadProbeReturn numbered_see_on_pad (GstPad * pad, GstPadProbeInfo * info,
    gpointer numbered);
