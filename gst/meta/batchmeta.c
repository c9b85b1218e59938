/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * batchmeta: walks over streams, objects and buffers by their places, because a copy of the batch
 * has its objects at the same places. There are few streams, so they are searched one by one.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "batchmeta.h"

#include "framesize.h"

#include <gst/analytics/analytics.h>

struct _BatchMeta
{
  GstObject *owner;
  const BatchFuncs *funcs;
  GPtrArray *streams; /* elements: BatchStream */
};

gboolean
batch_meta_in_caps (const GstCaps *caps)
{
  return gst_caps_get_size (caps) > 0
      && gst_caps_features_contains (gst_caps_get_features (caps, 0),
          GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META);
}

void
batch_meta_append_caps (GstCaps *caps)
{
  GstCaps *single = gst_caps_copy (caps);
  GstCaps *several = gst_caps_new_empty_simple ("multistream/x-analytics-batch");

  gst_caps_set_features_simple (single,
      gst_caps_features_new_single (GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META));
  gst_caps_set_features_simple (several,
      gst_caps_features_new_single (GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META));
  gst_caps_append (caps, several);
  gst_caps_append (caps, single);
}

/* --------------------------------------------------------------------- streams */

BatchMeta *
batch_meta_new (GstObject *owner, const BatchFuncs *funcs)
{
  BatchMeta *self = g_new (BatchMeta, 1);

  *self = (BatchMeta) { .owner = owner, .funcs = funcs, .streams = g_ptr_array_new () };
  return self;
}

static void
stream_free (BatchMeta *self, BatchStream *stream)
{
  gst_clear_event (&stream->start);
  gst_clear_event (&stream->caps);
  gst_clear_event (&stream->segment);
  if (self->funcs->stream_free)
    self->funcs->stream_free (stream->data);
  g_free (stream);
}

void
batch_meta_reset (BatchMeta *self)
{
  guint i;

  GST_OBJECT_LOCK (self->owner);
  for (i = 0; i < self->streams->len; i++)
    stream_free (self, g_ptr_array_index (self->streams, i));
  g_ptr_array_set_size (self->streams, 0);
  GST_OBJECT_UNLOCK (self->owner);
}

void
batch_meta_free (BatchMeta *self)
{
  batch_meta_reset (self);
  g_ptr_array_unref (self->streams);
  g_free (self);
}

void
batch_meta_foreach_stream (BatchMeta *self, GFunc func, gpointer user_data)
{
  g_ptr_array_foreach (self->streams, func, user_data);
}

const gchar *
batch_meta_stream_id (const BatchStream *self)
{
  const gchar *id = NULL;

  if (self->start)
    gst_event_parse_stream_start (self->start, &id);
  return id;
}

/* Returns the stream with this number, a new one if there is none. */
static BatchStream *
get_stream (BatchMeta *self, guint index)
{
  BatchStream *stream;
  guint i;

  for (i = 0; i < self->streams->len; i++) {
    stream = g_ptr_array_index (self->streams, i);
    if (stream->index == index)
      return stream;
  }
  stream = g_new0 (BatchStream, 1);
  stream->index = index;
  if (self->funcs->stream_new)
    stream->data = self->funcs->stream_new (self->owner);
  GST_OBJECT_LOCK (self->owner);
  g_ptr_array_add (self->streams, stream);
  GST_OBJECT_UNLOCK (self->owner);
  return stream;
}

/* ---------------------------------------------------------------------- events */

/* Returns where the stream keeps the last event of this type, or NULL if it does not. */
static GstEvent **
kept_event (BatchStream *stream, GstEventType type)
{
  switch (type) {
    case GST_EVENT_STREAM_START:
      return &stream->start;
    case GST_EVENT_CAPS:
      return &stream->caps;
    case GST_EVENT_SEGMENT:
      return &stream->segment;
    default:
      return NULL;
  }
}

static void
take_size (BatchStream *stream)
{
  GstCaps *caps;

  gst_event_parse_caps (stream->caps, &caps);
  frame_size_from_caps (caps, &stream->width, &stream->height);
}

static void
take_event (BatchMeta *self, BatchStream *stream, GstEvent *event)
{
  GstEvent **kept = kept_event (stream, GST_EVENT_TYPE (event));

  if (kept != NULL) {
    GST_OBJECT_LOCK (self->owner);
    gst_event_replace (kept, event);
    if (kept == &stream->caps)
      take_size (stream);
    GST_OBJECT_UNLOCK (self->owner);
  }
  if (self->funcs->event)
    self->funcs->event (self->owner, stream, event);
}

/* Takes the sticky events that hold at the start of a batch and differ from those of the last
 * batch. */
static void
take_sticky_events (BatchMeta *self, BatchStream *stream, const GstAnalyticsBatchStream *from)
{
  GstEvent **kept;
  gsize i;

  for (i = 0; i < from->n_sticky_events; i++) {
    if (from->sticky_events[i] == NULL)
      continue;
    kept = kept_event (stream, GST_EVENT_TYPE (from->sticky_events[i]));
    if (kept != NULL && *kept != from->sticky_events[i])
      take_event (self, stream, from->sticky_events[i]);
  }
}

/* ---------------------------------------------------------------------- frames */

/* Returns the stream in which a frame lies. */
static GstAnalyticsBatchStream *
stream_of (const BatchFrame *frame)
{
  return &gst_buffer_get_analytics_batch_meta (*frame->batch)->streams[frame->number];
}

GstBuffer *
batch_meta_make_writable (BatchFrame *self)
{
  GstMiniObject **object;

  if (!gst_buffer_is_writable (*self->batch))
    *self->batch = gst_buffer_copy (*self->batch);
  object = &stream_of (self)->objects[self->object];
  *object = gst_mini_object_make_writable (*object);
  self->buffer = GST_IS_BUFFER (*object)
      ? GST_BUFFER (*object)
      : gst_buffer_list_get_writable (GST_BUFFER_LIST (*object), self->item);
  return self->buffer;
}

static GstFlowReturn
visit (BatchMeta *self, BatchFrame *frame, GstBuffer *buffer)
{
  GstFlowReturn flow;

  frame->buffer = buffer;
  flow = self->funcs->frame (self->owner, frame);
  frame->position++;
  return flow;
}

static GstFlowReturn
walk_list (BatchMeta *self, BatchFrame *frame)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (frame->item = 0; flow == GST_FLOW_OK; frame->item++) {
    GstBufferList *list = GST_BUFFER_LIST (stream_of (frame)->objects[frame->object]);

    if (frame->item >= gst_buffer_list_length (list))
      break;
    flow = visit (self, frame, gst_buffer_list_get (list, frame->item));
  }
  return flow;
}

static GstFlowReturn
walk_object (BatchMeta *self, BatchFrame *frame, const GstSegment *segment)
{
  GstMiniObject *object = stream_of (frame)->objects[frame->object];

  frame->segment = segment;
  if (frame->stream->segment)
    gst_event_parse_segment (frame->stream->segment, &frame->segment);
  if (GST_IS_EVENT (object))
    take_event (self, frame->stream, GST_EVENT (object));
  if (GST_IS_BUFFER_LIST (object))
    return walk_list (self, frame);
  return GST_IS_BUFFER (object) ? visit (self, frame, GST_BUFFER (object)) : GST_FLOW_OK;
}

static GstFlowReturn
walk_stream (BatchMeta *self, BatchFrame *frame, const GstSegment *segment)
{
  const GstAnalyticsBatchStream *from = stream_of (frame);
  const gsize n_objects = from->n_objects;
  GstFlowReturn flow = GST_FLOW_OK;

  frame->stream = get_stream (self, from->index);
  frame->position = 0;
  take_sticky_events (self, frame->stream, from);
  for (frame->object = 0; frame->object < n_objects && flow == GST_FLOW_OK; frame->object++)
    flow = walk_object (self, frame, segment);
  return flow;
}

GstFlowReturn
batch_meta_walk (BatchMeta *self, GstBuffer **batch, const GstSegment *segment)
{
  const GstAnalyticsBatchMeta *meta = gst_buffer_get_analytics_batch_meta (*batch);
  GstBuffer *const input = *batch;
  BatchFrame frame = { .batch = batch };
  GstFlowReturn flow = GST_FLOW_OK;
  gsize n_streams;

  if (meta == NULL) {
    if (GST_IS_ELEMENT (self->owner))
      GST_ELEMENT_ERROR (self->owner, STREAM, FORMAT,
          ("A buffer is not a batch, although its "
           "caps state one."),
          ("it has no GstAnalyticsBatchMeta"));
    return GST_FLOW_ERROR;
  }
  n_streams = meta->n_streams;
  for (; frame.number < n_streams && flow == GST_FLOW_OK; frame.number++)
    flow = walk_stream (self, &frame, segment);
  if (flow != GST_FLOW_OK && *batch != input) {
    gst_buffer_unref (*batch);
    *batch = input;
  }
  return flow;
}
