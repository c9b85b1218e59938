/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaytext: parses the lines that come to boxreplay one at a time, each for a certain
 * frame: from the pad boxes (replaypad.h) or on the buffers (linemeta.h). Called by the streaming
 * thread of the video.
 */
#pragma once

#include <gst/gst.h>

#include "jsonl.h"
#include "recordmatch.h"

G_BEGIN_DECLS

typedef struct
{
  RecordMatchCounts *counts; /* not owned */

  /* private */
  JsonlParser *parser;
  RecordedFrame frame; /* parsed last */
  GString *line;
  gboolean skip_errors;
  gsize max_line;
} ReplayText;

void replay_text_init (ReplayText *self, RecordMatchCounts *counts);
void replay_text_clear (ReplayText *self);

/* Sets what to do with a line that is malformed or longer than `max_line` bytes: with skip_errors
 * it is counted; without, it makes replay_text_parse () return RECORD_MATCH_FAILED. `labels` is not
 * owned. */
void replay_text_start (ReplayText *self, gboolean skip_errors, gsize max_line, LabelTable *labels);

/* Parses the line of a frame, which came at running time `time`, for messages. A demuxer may have
 * added NULs, or have turned quotes into entities of markup. Sets *frame, which fits the size of
 * the frame and is valid until the next call, and returns RECORD_MATCH_FOUND; or returns
 * RECORD_MATCH_NONE if the line is empty or skipped, which is a frame without boxes. */
RecordMatchResult replay_text_parse (ReplayText *self, const RecordSearch *search,
    GstClockTime time, const GstMapInfo *line, RecordedFrame **frame, GError **error);

G_END_DECLS
