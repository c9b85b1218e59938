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

/* Pushes the GAP event of which GstAggregator made this buffer. */
static void
push_gap (MergeOutput *self, GstBuffer *buffer)
{
  GstEvent *event = gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer));

  if (gst_buffer_get_custom_meta (buffer, "GstAggregatorMissingDataMeta"))
    gst_event_set_gap_flags (event, GST_GAP_FLAG_MISSING_DATA);
  gst_pad_push_event (self->pad, event);
}

static GstPadProbeReturn
probe_buffer (MergeOutput *self, GstBuffer *buffer)
{
  self->ready = TRUE;
  push_events (self);
  if (!merge_match_is_gap (buffer))
    return GST_PAD_PROBE_OK;
  push_gap (self, buffer);
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
on_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  MergeOutput *self = user_data;
  GstEvent *event;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return probe_buffer (self, GST_PAD_PROBE_INFO_BUFFER (info));
  event = GST_PAD_PROBE_INFO_EVENT (info);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START && self->stream_start) {
    info->data = gst_event_ref (self->stream_start);
    gst_event_unref (event);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    push_events (self);
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

void
merge_output_begin_stream (MergeOutput *self, GstEvent *event)
{
  GstEvent *pushed = gst_pad_get_sticky_event (self->pad, GST_EVENT_STREAM_START, 0);

  gst_event_replace (&self->stream_start, event);
  if (pushed == NULL)
    return; /* GstAggregator will push one */
  gst_event_unref (pushed);
  gst_pad_push_event (self->pad, gst_event_ref (event));
}

void
merge_output_begin_segment (MergeOutput *self)
{
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
  if (stream)
    gst_clear_event (&self->stream_start);
}
