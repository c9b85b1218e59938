/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergeoutput: a probe of the source pad. GstAggregator pushes STREAM_START, CAPS and SEGMENT
 * right before the buffer that needs them, so the probe of that buffer is the first place
 * where other events of the main stream are in order.
 */
#include "mergeoutput.h"

#include "mergematch.h"

static void
push_events (MergeOutput *self)
{
  GstEvent *event;

  while ((event = g_queue_pop_head (&self->events)) != NULL)
    gst_pad_push_event (self->pad, event);
}

/* Returns the place of the main stream's event of this type, or NULL if it is not replaced. */
static GstEvent **
place_of (MergeOutput *self, GstEventType type)
{
  switch (type) {
    case GST_EVENT_STREAM_START:
      return &self->stream_start;
    case GST_EVENT_CAPS:
      return &self->caps;
    case GST_EVENT_SEGMENT:
      return &self->segment;
    case GST_EVENT_EOS:
      return &self->eos;
    default:
      return NULL;
  }
}

/* Replaces a buffer that GstAggregator made from a GAP event by the event. */
static GstPadProbeReturn
probe_buffer (MergeOutput *self, GstBuffer *buffer)
{
  GstEvent *gap = merge_match_gap (buffer);

  self->ready = TRUE;
  push_events (self);
  if (gap == NULL)
    return GST_PAD_PROBE_OK;
  gst_pad_push_event (self->pad, gst_event_ref (gap));
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
on_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  MergeOutput *self = user_data;
  GstEvent *event, **main_event;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return probe_buffer (self, GST_PAD_PROBE_INFO_BUFFER (info));
  event = GST_PAD_PROBE_INFO_EVENT (info);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    push_events (self);
  main_event = place_of (self, GST_EVENT_TYPE (event));
  if (main_event && *main_event) {
    info->data = gst_event_ref (*main_event);
    gst_event_unref (event);
  }
  return GST_PAD_PROBE_OK;
}

void
merge_output_init (MergeOutput *self, GstPad *pad)
{
  self->pad = pad;
  g_queue_init (&self->events);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_output, self, NULL);
}

/* Pushes STREAM_START if GstAggregator will not, because it has pushed one before. */
static void
push_stream_start (MergeOutput *self)
{
  GstEvent *pushed = gst_pad_get_sticky_event (self->pad, GST_EVENT_STREAM_START, 0);

  if (pushed == NULL)
    return;
  gst_event_unref (pushed);
  gst_pad_push_event (self->pad, gst_event_ref (self->stream_start));
}

void
merge_output_note_event (MergeOutput *self, GstEvent *event)
{
  gst_event_replace (place_of (self, GST_EVENT_TYPE (event)), event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    push_stream_start (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    self->ready = FALSE;
}

void
merge_output_push_event (MergeOutput *self, GstEvent *event)
{
  if (self->ready)
    gst_pad_push_event (self->pad, event);
  else
    g_queue_push_tail (&self->events, event);
}

void
merge_output_reset (MergeOutput *self, gboolean stream)
{
  self->ready = FALSE;
  g_queue_clear_full (&self->events, (GDestroyNotify) gst_event_unref);
  if (!stream)
    return;
  gst_clear_event (&self->stream_start);
  gst_clear_event (&self->caps);
  gst_clear_event (&self->segment);
  gst_clear_event (&self->eos);
}
