/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterstream: the counters of each stream beside the totals, and its lost confidences. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "filterstream.h"

gpointer
filter_stream_new (GstObject *element)
{
  FilterStream *self = g_new0 (FilterStream, 1);

  score_loss_init (&self->score_loss);
  return self;
}

void
filter_stream_free (gpointer stream)
{
  FilterStream *self = stream;

  score_loss_clear (&self->score_loss);
  g_free (self);
}

void
filter_stream_event (GstObject *element, BatchStream *stream, GstEvent *event)
{
  FilterStream *self = stream->data;
  const gchar *id;

  if (GST_EVENT_TYPE (event) != GST_EVENT_STREAM_START)
    return;
  gst_event_parse_stream_start (event, &id);
  score_loss_begin_stream (&self->score_loss, id);
}

static void
stream_to_structure (gpointer data, gpointer user_data)
{
  const BatchStream *stream = data;
  const FilterStream *self = stream->data;
  const gchar *id = batch_meta_stream_id (stream);
  gchar *name = g_strdup_printf ("stream-%u", stream->index);
  GstStructure *structure = gst_structure_new_empty (name);

  if (id)
    gst_structure_set (structure, "stream-id", G_TYPE_STRING, id, NULL);
  filter_stats_to_structure (&self->stats, structure);
  gst_structure_set (user_data, name, GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
  g_free (name);
}

void
filter_streams_to_structure (BatchMeta *batch, GstStructure *structure)
{
  batch_meta_foreach_stream (batch, stream_to_structure, structure);
}
