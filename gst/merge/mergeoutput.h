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
  GstPad *pad; /* not owned */
  /* the main stream's last events of these types, or NULL; they replace the events of the same
   * content that GstAggregator makes, because only these have the seqnums of the seek */
  GstEvent *stream_start, *caps, *segment, *eos;
  GQueue events;  /* events that wait for the first buffer of a segment */
  gboolean ready; /* a buffer has followed the last segment */
} MergeOutput;

/* Takes over the source pad, which must live as long as the output is used. */
void merge_output_init (MergeOutput *self, GstPad *pad);

/* Takes note of STREAM_START, CAPS, SEGMENT or EOS of the main stream, before GstAggregator gets
 * it. Other events are held back from SEGMENT to its first buffer. */
void merge_output_note_event (MergeOutput *self, GstEvent *event);

/* Pushes a serialized event, which it takes, in the order of the main stream. */
void merge_output_push_event (MergeOutput *self, GstEvent *event);

/* Forgets the events that were not pushed; if `stream` is TRUE, also the stream's events. */
void merge_output_reset (MergeOutput *self, gboolean stream);

G_END_DECLS
