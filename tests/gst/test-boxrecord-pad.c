/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the pad boxes: its text, events, and what happens without a peer. */
#include <string.h>

#include "checkrunner.h"
#include "gstboxes.h"

#define FRAME (100 * GST_MSECOND)

/* A boxrecord whose two source pads are in a harness each. */
typedef struct
{
  GstElement *element;
  GstHarness *video, *boxes;
} Pads;

static Pads
pads_new (const gchar *launch_line)
{
  Pads pads = { .element = element_new (launch_line) };

  /* the first harness starts the element */
  pads.boxes = gst_harness_new_with_element (pads.element, NULL, "boxes");
  pads.video = gst_harness_new_with_element (pads.element, "sink", "src");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  return pads;
}

static void
pads_free (Pads *pads)
{
  gst_harness_teardown (pads->boxes);
  gst_harness_teardown (pads->video);
  gst_object_unref (pads->element);
}

/* Pushes a frame with a box of this label, or without a box if `label` is NULL. */
static void
push_frame (Pads *pads, guint number, const gchar *label)
{
  GstBuffer *buffer = frame_new (number * FRAME);

  if (label)
    add_scored (buffer, 1, label, 10, 20, 30, 40, 0.5);
  gst_buffer_unref (through (pads->video, buffer));
}

/* Takes the next buffer of the pad boxes, which must be of this frame. Returns its text.
 * Free it. */
static gchar *
take_text (Pads *pads, guint number)
{
  GstBuffer *buffer = gst_harness_try_pull (pads->boxes);
  gsize length;
  gpointer bytes;
  gchar *text;

  fail_unless (buffer != NULL);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), number * FRAME);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), FRAME);
  gst_buffer_extract_dup (buffer, 0, gst_buffer_get_size (buffer), &bytes, &length);
  text = g_strndup (bytes, length);
  g_free (bytes);
  gst_buffer_unref (buffer);
  return text;
}

/* Returns the next event of this type that came out of the pad boxes, dropping others, or
 * NULL. */
static GstEvent *
take_event (Pads *pads, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (pads->boxes)) != NULL) {
    if (GST_EVENT_TYPE (event) == type)
      break;
    gst_event_unref (event);
  }
  return event;
}

static void
must_come (Pads *pads, GstEventType type)
{
  GstEvent *event = take_event (pads, type);

  fail_unless (event != NULL, "no %s", gst_event_type_get_name (type));
  gst_event_unref (event);
}

GST_START_TEST (pushes_a_line_with_the_times_of_the_frame)
{
  Pads pads = pads_new ("boxrecord");
  gchar *text;

  push_frame (&pads, 3, "a");
  push_frame (&pads, 4, "b");
  text = take_text (&pads, 3);
  fail_unless_equals_string (text,
      "{\"timestamp\":300000000,\"resolution\":{\"width\":640,"
      "\"height\":480},\"objects\":[{\"x\":10,\"y\":20,\"w\":30,\"h\":40,\"roi_type\":\"a\","
      "\"region_id\":1,\"detection\":{\"bounding_box\":{\"x_min\":0.015625,"
      "\"y_min\":0.041666666666666664,\"x_max\":0.0625,\"y_max\":0.125},\"confidence\":0.5,"
      "\"label\":\"a\"}}]}\n");
  g_free (text);
  g_free (take_text (&pads, 4));
  fail_unless_equals_uint64 (stat_of (pads.element, "frames"), 2);
  pads_free (&pads);
}
GST_END_TEST

GST_START_TEST (begins_as_the_video_does)
{
  Pads pads = pads_new ("boxrecord");
  GstSegment segment;
  const GstSegment *found;
  GstStreamFlags flags;
  GstEvent *event;
  GstCaps *caps;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 2 * FRAME;
  gst_harness_push_event (pads.video, gst_event_new_segment (&segment));
  push_frame (&pads, 2, NULL);
  event = take_event (&pads, GST_EVENT_STREAM_START);
  gst_event_parse_stream_flags (event, &flags);
  fail_unless (flags & GST_STREAM_FLAG_SPARSE);
  gst_event_unref (event);
  event = take_event (&pads, GST_EVENT_CAPS);
  gst_event_parse_caps (event, &caps);
  fail_unless (gst_structure_has_name (gst_caps_get_structure (caps, 0), "text/x-raw"));
  gst_event_unref (event);
  event = take_event (&pads, GST_EVENT_SEGMENT);
  gst_event_parse_segment (event, &found);
  fail_unless (gst_segment_is_equal (found, &segment));
  gst_event_unref (event);
  pads_free (&pads);
}
GST_END_TEST

GST_START_TEST (pushes_a_gap_for_a_frame_without_boxes)
{
  Pads pads = pads_new ("boxrecord");
  GstClockTime start, duration;
  GstEvent *event;

  push_frame (&pads, 5, NULL);
  fail_unless (gst_harness_try_pull (pads.boxes) == NULL);
  event = take_event (&pads, GST_EVENT_GAP);
  gst_event_parse_gap (event, &start, &duration);
  fail_unless_equals_uint64 (start, 5 * FRAME);
  fail_unless_equals_uint64 (duration, FRAME);
  gst_event_unref (event);
  pads_free (&pads);
}
GST_END_TEST

GST_START_TEST (pushes_empty_lines_if_told_so)
{
  Pads pads = pads_new ("boxrecord empty-lines=true");
  gchar *text;

  push_frame (&pads, 5, NULL);
  text = take_text (&pads, 5);
  fail_unless (g_str_has_suffix (text, "\"objects\":[]}\n"));
  g_free (text);
  fail_unless (take_event (&pads, GST_EVENT_GAP) == NULL);
  pads_free (&pads);
}
GST_END_TEST

/* Demuxers take text with < or & for markup. */
GST_START_TEST (writes_markup_as_escapes)
{
  Pads pads = pads_new ("boxrecord");
  gchar *text;

  push_frame (&pads, 0, "<b>&amp;");
  text = take_text (&pads, 0);
  fail_unless (strpbrk (text, "<>&") == NULL);
  fail_unless (strstr (text, "\"\\u003cb\\u003e\\u0026amp;\"") != NULL);
  g_free (text);
  pads_free (&pads);
}
GST_END_TEST

GST_START_TEST (forwards_gaps_flushes_and_eos)
{
  Pads pads = pads_new ("boxrecord");
  GstSegment segment;

  push_frame (&pads, 0, "a");
  gst_harness_push_event (pads.video, gst_event_new_gap (FRAME, FRAME));
  must_come (&pads, GST_EVENT_GAP);
  gst_harness_push_event (pads.video, gst_event_new_flush_start ());
  gst_harness_push_event (pads.video, gst_event_new_flush_stop (TRUE));
  must_come (&pads, GST_EVENT_FLUSH_START);
  must_come (&pads, GST_EVENT_FLUSH_STOP);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (pads.video, gst_event_new_segment (&segment));
  push_frame (&pads, 1, "a");
  must_come (&pads, GST_EVENT_SEGMENT);
  gst_harness_push_event (pads.video, gst_event_new_eos ());
  must_come (&pads, GST_EVENT_EOS);
  pads_free (&pads);
}
GST_END_TEST

/* Neither a pad without a peer nor one at its end stops the video. */
GST_START_TEST (leaves_the_video_alone)
{
  GstElement *element = element_new ("boxrecord");
  GstPad *pad = gst_element_request_pad_simple (element, "boxes");
  GstPadTemplate *template = gst_pad_get_pad_template (pad);
  Pads pads = { .element = element };

  pads.video = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  push_frame (&pads, 0, "a");
  gst_pad_push_event (pad, gst_event_new_eos ());
  push_frame (&pads, 1, "a");
  fail_unless (gst_element_request_pad (element, template, NULL, NULL) == NULL);
  gst_object_unref (template);
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  push_frame (&pads, 2, "a");

  /* a pad requested in mid-stream gets the same events first */
  pads.boxes = gst_harness_new_with_element (element, NULL, "boxes");
  push_frame (&pads, 3, "a");
  must_come (&pads, GST_EVENT_SEGMENT);
  g_free (take_text (&pads, 3));
  pads_free (&pads);
}
GST_END_TEST

static GstFlowReturn
fail_to_take (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

GST_START_TEST (stops_at_an_error_downstream)
{
  Pads pads = pads_new ("boxrecord");

  gst_pad_set_chain_function (pads.boxes->sinkpad, fail_to_take);
  fail_unless_equals_int (gst_harness_push (pads.video, frame_new (0)), GST_FLOW_OK);
  {
    GstBuffer *buffer = frame_new (FRAME);

    add_scored (buffer, 1, "a", 10, 20, 30, 40, 0.5);
    fail_unless_equals_int (gst_harness_push (pads.video, buffer), GST_FLOW_ERROR);
  }
  pads_free (&pads);
}
GST_END_TEST

static const CheckCase cases[] = { CHECK_CASE (pushes_a_line_with_the_times_of_the_frame),
  CHECK_CASE (begins_as_the_video_does), CHECK_CASE (pushes_a_gap_for_a_frame_without_boxes),
  CHECK_CASE (pushes_empty_lines_if_told_so), CHECK_CASE (writes_markup_as_escapes),
  CHECK_CASE (forwards_gaps_flushes_and_eos), CHECK_CASE (leaves_the_video_alone),
  CHECK_CASE (stops_at_an_error_downstream), { NULL } };

CHECK_PROGRAM (cases);
