/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaypad: the sink pad `boxes` of boxreplay, on request. It takes the boxes of frames
 * as text, as recordpad.h pushes it, and holds up to REPLAY_PAD_LINES of them until their frames
 * come; then its upstream waits. Text and frames are matched by running time.
 */
#pragma once

#include <gst/gst.h>

#include "replaytext.h"

G_BEGIN_DECLS

#define REPLAY_PAD_LINES 64

#define REPLAY_TYPE_PAD (replay_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxReplayPad, replay_pad, REPLAY, PAD, GstPad)

/* Returns the template of the pad, floating. */
GstPadTemplate *replay_pad_template (void);

/* The methods request_new_pad and release_pad. `slot` is where the element keeps the pad, or NULL
 * if it has none; it changes under the object lock. replay_pad_request () returns NULL if it has
 * one, or while *started is TRUE. A released pad is at its end. */
GstPad *replay_pad_request (GstElement *element, GstPadTemplate *template, GstBoxReplayPad **slot,
    const gboolean *started);
void replay_pad_release (GstElement *element, GstPad *pad, GstBoxReplayPad **slot);

/* Forgets all text; called before the video starts. `text`, which is not owned, parses and
 * counts what comes. */
void replay_pad_start (GstBoxReplayPad *self, ReplayText *text);

/* Returns the running time of a buffer, at least that of the start of its segment;
 * GST_CLOCK_TIME_NONE if it has no PTS, is outside of the segment, or the segment is not
 * in time. */
GstClockTime replay_pad_time (const GstSegment *segment, GstBuffer *buffer);

/* Finds the first text that is at most the tolerance of the search away from the running time
 * `time` of a frame. Earlier text is dropped and counted as unmatched. Waits until such text, a
 * later text, a GAP event or EOS has come, but no longer than until the deadline of the search.
 * Text without content is a frame without boxes, and so is a frame without a time.
 * Called by the streaming thread of the video. The frame is that of replay_text_parse (). */
RecordMatchResult replay_pad_find (GstBoxReplayPad *self, GstClockTime time,
    const RecordSearch *search, RecordedFrame **frame, GError **error);

/* At EOS of the video, call it with TRUE: it counts the remaining text as unmatched and refuses
 * later text. At SEGMENT of the video, call it with FALSE: text is accepted again. */
void replay_pad_set_finished (GstBoxReplayPad *self, gboolean finished);

/* If called with TRUE, interrupts replay_pad_find () and the upstream of the pad, and keeps both
 * from waiting until it is called with FALSE. Any thread may call it. */
void replay_pad_set_flushing (GstBoxReplayPad *self, gboolean flushing);

G_END_DECLS
