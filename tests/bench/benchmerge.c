/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * benchmerge: times boxmerge with eight branches. The time of a frame is the processor time of
 * the element's thread from one output to the next one: waiting costs none, and GstAggregator's
 * work for each buffer is included. Branches and the main stream are pushed by this
 * program's thread, which also frees all buffers that come out.
 */
#include "bench-elements.h"

#include <gst/video/video.h>

#define BRANCHES 8

typedef struct {
  GstElement *element;
  GstPad *before[BRANCHES + 1]; /* the last one is that of the main stream */
  GstPad *after;
  Timings *timings;
  GAsyncQueue *caught; /* GstBuffer */
  guint64 start;
} MergeBed;

static GstFlowReturn catch (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  MergeBed *bed = gst_pad_get_element_private (pad);

  if (bed->start != 0)
    timings_add (bed->timings, &bed->timings->main, bed->start);
  g_async_queue_push (bed->caught, buffer);
  bed->start = timings_now (bed->timings);
  return GST_FLOW_OK;
}

static GstPad *
source_for (GstPad *sink)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;

  gst_pad_set_active (pad, TRUE);
  gst_pad_link (pad, sink);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  gst_object_unref (sink);
  return pad;
}

static void
bed_start (MergeBed *bed, Timings *timings, const gchar *source)
{
  GstPad *src;

  *bed = (MergeBed) { .element = gst_element_factory_make ("boxmerge", NULL), .timings = timings };
  bed->caught = g_async_queue_new ();
  bed->after = gst_pad_new (NULL, GST_PAD_SINK);
  gst_pad_set_element_private (bed->after, bed);
  gst_pad_set_chain_function (bed->after, catch);
  gst_pad_set_active (bed->after, TRUE);
  src = gst_element_get_static_pad (bed->element, "src");
  gst_pad_link (src, bed->after);
  gst_object_unref (src);
  gst_element_set_state (bed->element, GST_STATE_PLAYING);
  for (guint i = 0; i < BRANCHES; i++) {
    GstPad *sink = gst_element_request_pad_simple (bed->element, "sink_%u");

    g_object_set (sink, "source", source, "xpos", (gint) i, NULL);
    bed->before[i] = source_for (sink);
  }
  bed->before[BRANCHES] = source_for (gst_element_get_static_pad (bed->element, "sink"));
}

static void
bed_stop (MergeBed *bed)
{
  gst_element_set_state (bed->element, GST_STATE_NULL);
  for (guint i = 0; i <= BRANCHES; i++)
    gst_object_unref (bed->before[i]);
  gst_pad_set_active (bed->after, FALSE);
  gst_object_unref (bed->after);
  gst_object_unref (bed->element);
  g_async_queue_unref (bed->caught);
}

static void
push_frame (MergeBed *bed, const GArray *list, guint frame)
{
  GstBuffer *out;

  for (guint i = 0; i <= BRANCHES; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    GST_BUFFER_PTS (buffer) = frame * FRAME;
    if (i < BRANCHES)
      attach_all (buffer, list);
    gst_pad_push (bed->before[i], buffer);
  }
  out = g_async_queue_pop (bed->caught);
  if (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      != BRANCHES * list->len)
    g_error ("boxmerge attached %u boxes",
        gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  gst_buffer_unref (out);
}

static void
time_merge (Timings *timings, guint count, const gchar *source)
{
  GArray *list = make_detections (count);
  MergeBed bed;

  bed_start (&bed, timings, source);
  for (guint i = 0; i < timings_calls (timings) / 4; i++)
    push_frame (&bed, list, i);
  bed_stop (&bed);
  timings_print (timings, "boxmerge, %u branches of %u boxes%s", BRANCHES, list->len,
      source ? ", source=\"\"" : "");
  g_array_unref (list);
}

void
bench_merge (Timings *timings)
{
  const clockid_t clock = timings->clock;

  timings->clock = CLOCK_THREAD_CPUTIME_ID;
  time_merge (timings, 10, NULL);
  time_merge (timings, 38, NULL);
  time_merge (timings, 38, "");
  time_merge (timings, 300, NULL);
  time_merge (timings, 300, "");
  timings->clock = clock;
}
