/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaytext: parses the lines that come to boxreplay one at a time, each for a certain
 * frame: from the pad boxes (replaypad.h) or on the buffers (linemeta.h). It counts them and
 * those that are malformed. Called by the streaming thread of the video.
 */
#pragma once

#include <gst/gst.h>

#include "jsonl.h"
#include "recordmatch.h"

G_BEGIN_DECLS

typedef struct
{
  RecordMatchCounts counts;
  gchar *first_skipped; /* the message about the first malformed line, or NULL */

  /* private */
  JsonlParser *parser;
  RecordedFrame frame; /* parsed last */
  GString *line;
  GstClockTime time; /* of the line parsed last */
  gboolean skip_errors;
  gsize max_line;
} ReplayText;

void replay_text_init (ReplayText *self);
void replay_text_clear (ReplayText *self);

/* Resets the counts. With skip_errors, a line that is malformed or longer than `max_line`
 * bytes is counted and the message about the first one is kept; without, it makes
 * replay_text_parse () return RECORD_MATCH_FAILED. `labels` is not owned. */
void replay_text_start (ReplayText *self, gboolean skip_errors, gsize max_line, LabelTable *labels);

/* Parses the line of the frame at `time`, which messages state. Sets *frame, which is valid
 * until the next call, and returns RECORD_MATCH_FOUND; or returns RECORD_MATCH_NONE if the line
 * is empty or skipped, which is a frame without boxes. */
RecordMatchResult replay_text_parse (ReplayText *self, const gchar *line, gsize size,
    GstClockTime time, RecordedFrame **frame, GError **error);

/* Puts the time of the line parsed last before the message. */
void replay_text_prefix_error (ReplayText *self, GError **error);

/* Counts the line parsed last as skipped instead of matched, for this reason. */
void replay_text_skip_found (ReplayText *self, const gchar *reason);

G_END_DECLS
