/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaysearch: finds the record of each buffer that passes boxreplay, in the place that the
 * properties select: the recording at the location, the text of the pad boxes, or the
 * metadata of the buffer. Called by the streaming thread, except where the element is made,
 * started, stopped and freed. The element sets `match`, informs `position` of caps and events,
 * and reads `frame`.
 */
#pragma once

#include "recordmatch.h"
#include "replaypad.h"
#include "replaysettings.h"
#include "replaytext.h"
#include "streamposition.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element; /* posts the errors; its lock guards the settings; not owned */
  const ReplaySettings *settings;
  GstBoxReplayPad *pad; /* the pad boxes or NULL; not owned */
  RecordMatch *match;   /* of the location or NULL; owned */
  StreamPosition position;
  RecordedFrame *frame; /* the record of the buffer, or NULL; not owned */

  /* private */
  ReplayText text;
} ReplaySearch;

void replay_search_init (ReplaySearch *self, GstElement *element, const ReplaySettings *settings);
void replay_search_clear (ReplaySearch *self);

/* Resets the counts, and begins with the pad (NULL: none). The caller sets `match`. `labels`
 * is not owned. */
void replay_search_start (ReplaySearch *self, GstBoxReplayPad *pad, LabelTable *labels);

/* Frees `match` and forgets the pad. */
void replay_search_stop (ReplaySearch *self);

/* Returns whether there is a recording, a pad or line-meta. */
gboolean replay_search_is_open (const ReplaySearch *self);

/* Returns the name of the recording for messages. */
const gchar *replay_search_source (const ReplaySearch *self);

/* Sets `frame` to the record of the buffer, whose boxes fit the frame size of the caps, or to
 * NULL if it has none. Returns GST_FLOW_ERROR after an error message, GST_FLOW_FLUSHING if a
 * flush interrupted waiting, else GST_FLOW_OK. */
GstFlowReturn replay_search_find (ReplaySearch *self, const GstSegment *segment, GstBuffer *buffer);

/* Counts the remaining records as unmatched, at EOS of the video. */
void replay_search_finish (ReplaySearch *self);

const RecordMatchCounts *replay_search_counts (ReplaySearch *self);

/* Returns the message about the first line that was skipped, or NULL. */
const gchar *replay_search_first_skipped (ReplaySearch *self);

G_END_DECLS
