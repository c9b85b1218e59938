/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordstream: the position of each stream in the recording, and its counts. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recordstream.h"

#include "streamposition.h"

RecordStream *
record_stream_new (void)
{
  RecordStream *self = g_new0 (RecordStream, 1);

  self->number = -1;
  return self;
}

void
record_stream_free (gpointer stream)
{
  RecordStream *self = stream;

  g_free (self->id);
  g_free (self);
}

void
record_stream_reset (RecordStream *self)
{
  g_free (self->id);
  *self = (RecordStream) { .number = self->number };
}

void
record_stream_event (RecordStream *self, GstEvent *event, gboolean add_id)
{
  const gchar *id;

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    gst_event_parse_stream_start (event, &id);
    g_free (self->id);
    self->id = add_id ? g_strdup (id) : NULL;
  }
}

void
record_stream_place (RecordStream *self, const GstSegment *segment, GstBuffer *buffer,
    RecordedFrame *frame)
{
  recorded_frame_reset (frame);
  frame->timestamp = stream_position_time (segment, buffer);
  frame->outside_segment = stream_position_is_outside (segment, buffer);
  frame->stream = self->number;
  frame->stream_id = self->id;
  frame->width = self->width;
  frame->height = self->height;
  frame->index = self->next_index;
  self->next_index += !frame->outside_segment;
}

/* --------------------------------------------------------------------- counts */

void
record_counts_add (RecordCounts *self, const RecordCounts *more)
{
  self->frames += more->frames;
  self->boxes += more->boxes;
  self->bytes += more->bytes;
  self->failed += more->failed;
}

static GstStructure *
to_structure (const gchar *name, const RecordCounts *counts)
{
  return gst_structure_new (name, "frames", G_TYPE_UINT64, counts->frames, "boxes", G_TYPE_UINT64,
      counts->boxes, "bytes", G_TYPE_UINT64, counts->bytes, "failed", G_TYPE_UINT64, counts->failed,
      NULL);
}

static void
add_stream (gpointer data, gpointer user_data)
{
  const BatchStream *stream = data;
  const RecordStream *self = stream->data;
  gchar *name = g_strdup_printf ("stream-%u", stream->index);
  GstStructure *structure = to_structure (name, &self->counts);

  gst_structure_set (user_data, name, GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
  g_free (name);
}

GstStructure *
record_counts_to_structure (const RecordCounts *total, BatchMeta *batch)
{
  GstStructure *structure = to_structure ("boxrecord", total);

  batch_meta_foreach_stream (batch, add_stream, structure);
  return structure;
}

GParamSpec *
record_counts_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames, boxes and bytes (written), failed (frames that "
      "could not be written). For each stream of batches a structure stream-INDEX with the same "
      "fields",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}
