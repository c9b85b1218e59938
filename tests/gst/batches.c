/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "batches.h"

static GstAnalyticsBatchStream *
stream_of (GstBuffer *batch, guint stream)
{
  GstAnalyticsBatchMeta *meta = gst_buffer_get_analytics_batch_meta (batch);

  g_assert_nonnull (meta);
  g_assert_cmpuint (stream, <, meta->n_streams);
  return &meta->streams[stream];
}

GstBuffer *
batches_new (GstClockTime pts, guint n_streams)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

  GST_BUFFER_PTS (batch) = pts;
  GST_BUFFER_DURATION (batch) = 100 * GST_MSECOND;
  meta->streams = g_new0 (GstAnalyticsBatchStream, n_streams);
  meta->n_streams = n_streams;
  for (guint i = 0; i < n_streams; i++)
    meta->streams[i].index = i;
  return batch;
}

void
batches_add_sticky (GstBuffer *batch, guint stream, GstEvent *event)
{
  GstAnalyticsBatchStream *to = stream_of (batch, stream);

  to->sticky_events = g_renew (GstEvent *, to->sticky_events, to->n_sticky_events + 1);
  to->sticky_events[to->n_sticky_events++] = event;
}

void
batches_begin_stream (GstBuffer *batch, guint stream, const gchar *id, const gchar *caps,
    GstClockTime start)
{
  g_autoptr (GstCaps) parsed = caps ? gst_caps_from_string (caps) : NULL;
  GstSegment segment;

  if (id)
    batches_add_sticky (batch, stream, gst_event_new_stream_start (id));
  if (caps)
    batches_add_sticky (batch, stream, gst_event_new_caps (parsed));
  if (!GST_CLOCK_TIME_IS_VALID (start))
    return;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = start;
  batches_add_sticky (batch, stream, gst_event_new_segment (&segment));
}

void
batches_add (GstBuffer *batch, guint stream, gpointer object)
{
  GstAnalyticsBatchStream *to = stream_of (batch, stream);

  to->objects = g_renew (GstMiniObject *, to->objects, to->n_objects + 1);
  to->objects[to->n_objects++] = object;
}

gpointer
batches_get (GstBuffer *batch, guint stream, guint object)
{
  GstAnalyticsBatchStream *from = stream_of (batch, stream);

  g_assert_cmpuint (object, <, from->n_objects);
  return from->objects[object];
}

GstBuffer *
batches_single_new (GstClockTime pts, gint x)
{
  g_autofree gchar *box = g_strdup_printf ("1 o %d,0,40,40 0.9", x);
  GstBuffer *buffer = frame_new (pts);

  add_boxes (buffer, box);
  return buffer;
}

GstBuffer *
batches_pair_new (GstClockTime pts, gint x)
{
  g_autofree gchar *box = g_strdup_printf ("2 o %d,0,40,40 0.8", x);
  GstBuffer *buffer = batches_single_new (pts, x);

  add_boxes (buffer, box);
  return buffer;
}

guint64
batches_stat_of (GstElement *element, guint stream, const gchar *name)
{
  g_autofree gchar *field = g_strdup_printf ("stream-%u", stream);
  const GValue *inner;
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  inner = gst_structure_get_value (stats, field);
  if (inner == NULL || !gst_structure_get_uint64 (gst_value_get_structure (inner), name, &value))
    g_error ("stats have no guint64 %s of %s", name, field);
  return value;
}
