/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * numbered: numbered frames with boxes that depend on the number. A test sends them
 * through a pipeline of any elements and checks the boxes of each frame at the end. The
 * stream has 10 frames a second.
 */
#pragma once

#include <gst/gst.h>

#define NUMBERED_MOST 200
#define NUMBERED_TIME (100 * GST_MSECOND)

typedef struct
{
  gint width, height;              /* size of the frames of `expected`; 0: unknown */
  guint32 expected[NUMBERED_MOST]; /* hash of the boxes that must be left */
  guint seen[NUMBERED_MOST];       /* how often each frame came */
  guint order[4 * NUMBERED_MOST];  /* numbers of the frames, in order of arrival */
  guint count;                     /* length of order */
  guint wrong;                     /* frames with other boxes than expected */
} Numbered;

/* Attaches the boxes of frame `index` to a frame of this size (0: unknown). */
void numbered_attach (GstBuffer *buffer, guint index, gint width, gint height);

/* Writes a file for boxreplay with the frames 0 to count - 1. If `times` is NULL each
 * has the time of its number, else times[i] (-1: none). */
void numbered_record (const gchar *path, guint count, gint width, gint height,
    const GstClockTime *times);

/* Empties the list of frames that came. From now on expects, in frames 0 to count - 1,
 * the boxes that an nmsfilter with these settings leaves. */
void numbered_expect (Numbered *numbered, const gchar *settings, guint count, gint width,
    gint height);

/* Fails unless the frames first to last came, in order, each once and with the right
 * boxes. They came backwards if last < first. */
void numbered_must_be (const Numbered *numbered, guint first, guint last);

/* Records that the frame `index` came, and checks its boxes. */
void numbered_see (Numbered *numbered, GstBuffer *buffer, guint index);

/* A probe of a pad: calls numbered_see for each buffer, with the number from its stream
 * time. */
GstPadProbeReturn numbered_see_on_pad (GstPad *pad, GstPadProbeInfo *info, gpointer numbered);
