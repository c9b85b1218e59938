/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordstream: what boxrecord keeps of a stream: that of its buffers, or each one inside of
 * batches. The streaming thread uses it; the counts are under the object lock of the element.
 */
#pragma once

#include <gst/gst.h>

#include "meta/batchmeta.h"
#include "recordedframe.h"

G_BEGIN_DECLS

/* The property stats. */
typedef struct
{
  guint64 frames, boxes, bytes; /* written */
  guint64 failed;               /* frames that could not be written */
} RecordCounts;

typedef struct
{
  gint width, height; /* of the frames; 0: unknown */
  gint64 number;      /* of the stream in the batches; -1: not of a batch */
  gchar *id;          /* NULL: not written */
  guint64 next_index; /* of MOT text: index of the next frame */
  guint64 missing;    /* frames since the last line for which no line was written */
  RecordCounts counts;
} RecordStream;

/* Returns a new stream that is not of a batch. */
RecordStream *record_stream_new (void);
void record_stream_free (gpointer stream);

/* Begins anew, with the same number. */
void record_stream_reset (RecordStream *self);

/* Takes the id of the stream from STREAM_START if `add_id`; ignores all other events. */
void record_stream_event (RecordStream *self, GstEvent *event, gboolean add_id);

/* Resets `frame`, and writes all of it but the boxes: those of `buffer`, the next one. */
void record_stream_place (RecordStream *self, const GstSegment *segment, GstBuffer *buffer,
    RecordedFrame *frame);

/* Adds the counts of a frame to a sum. */
void record_counts_add (RecordCounts *self, const RecordCounts *more);

/* Returns the structure of the property stats, with a field stream-NUMBER for each stream of
 * batches, a structure of that name. Free it. Call with the object lock. */
GstStructure *record_counts_to_structure (const RecordCounts *total, BatchMeta *batch);

/* Returns the property stats. */
GParamSpec *record_counts_spec (void);

G_END_DECLS
