/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergeoutput: makes the source pad of boxmerge push the events of the main stream, which
 * GstAggregator would replace or drop: STREAM_START, GAP, TAG and others. Its functions are
 * called by the source pad's thread, or while that is stopped.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstPad *pad;            /* not owned */
  GstEvent *stream_start; /* of the main stream; NULL: that of GstAggregator is used */
  GQueue events;          /* to be pushed behind the next segment, before its buffers */
  gboolean ready;         /* a buffer has followed the last segment */
} MergeOutput;

/* Takes over the source pad, which must live as long as the output is used. */
void merge_output_init (MergeOutput *self, GstPad *pad);

/* Handles STREAM_START of the main stream. */
void merge_output_begin_stream (MergeOutput *self, GstEvent *event);

/* Holds events back until the first buffer of the segment that follows. */
void merge_output_begin_segment (MergeOutput *self);

/* Pushes a serialized event, which it takes, in the order of the main stream. */
void merge_output_push_event (MergeOutput *self, GstEvent *event);

/* Forgets the events that were not pushed; with `stream`, the stream too. */
void merge_output_reset (MergeOutput *self, gboolean stream);

G_END_DECLS
