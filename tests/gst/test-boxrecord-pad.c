/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the pad boxes: its text, events, and what happens without a peer. */
#include <string.h>

#include "gstrunner.h"

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
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pads, pads_free)

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
  g_autoptr (GstBuffer) buffer = gst_harness_try_pull (pads->boxes);
  gsize length;
  gpointer bytes;
  gchar *text;

  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, number * FRAME);
  g_assert_cmpuint (GST_BUFFER_DURATION (buffer), ==, FRAME);
  gst_buffer_extract_dup (buffer, 0, gst_buffer_get_size (buffer), &bytes, &length);
  text = g_strndup (bytes, length);
  g_free (bytes);
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
  g_autoptr (GstEvent) event = take_event (pads, type);

  if (event == NULL)
    g_error ("no %s", gst_event_type_get_name (type));
}

static void
pushes_a_line_with_the_times_of_the_frame (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");
  gchar *text;

  push_frame (&pads, 3, "a");
  push_frame (&pads, 4, "b");
  text = take_text (&pads, 3);
  g_assert_cmpstr (text, ==,
      "{\"timestamp\":300000000,\"resolution\":{\"width\":640,"
      "\"height\":480},\"objects\":[{\"x\":10,\"y\":20,\"w\":30,\"h\":40,\"roi_type\":\"a\","
      "\"region_id\":1,\"detection\":{\"bounding_box\":{\"x_min\":0.015625,"
      "\"y_min\":0.041666666666666664,\"x_max\":0.0625,\"y_max\":0.125},\"confidence\":0.5,"
      "\"label\":\"a\"}}]}\n");
  g_free (text);
  g_free (take_text (&pads, 4));
  g_assert_cmpuint (stat_of (pads.element, "frames"), ==, 2);
}

static void
begins_as_the_video_does (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");
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
  g_assert_true (flags & GST_STREAM_FLAG_SPARSE);
  gst_event_unref (event);
  event = take_event (&pads, GST_EVENT_CAPS);
  gst_event_parse_caps (event, &caps);
  g_assert_true (gst_structure_has_name (gst_caps_get_structure (caps, 0), "text/x-raw"));
  gst_event_unref (event);
  event = take_event (&pads, GST_EVENT_SEGMENT);
  gst_event_parse_segment (event, &found);
  g_assert_true (gst_segment_is_equal (found, &segment));
  gst_event_unref (event);
}

static void
pushes_a_gap_for_a_frame_without_boxes (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");
  GstClockTime start, duration;
  g_autoptr (GstEvent) event = NULL;

  push_frame (&pads, 5, NULL);
  g_assert_null (gst_harness_try_pull (pads.boxes));
  event = take_event (&pads, GST_EVENT_GAP);
  gst_event_parse_gap (event, &start, &duration);
  g_assert_cmpuint (start, ==, 5 * FRAME);
  g_assert_cmpuint (duration, ==, FRAME);
}

static void
pushes_empty_lines_if_told_so (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord empty-lines=true");
  gchar *text;

  push_frame (&pads, 5, NULL);
  text = take_text (&pads, 5);
  g_assert_true (g_str_has_suffix (text, "\"objects\":[]}\n"));
  g_free (text);
  g_assert_null (take_event (&pads, GST_EVENT_GAP));
}

/* Demuxers take text with < or & for markup. */
static void
writes_markup_as_escapes (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");
  g_autofree gchar *text = NULL;

  push_frame (&pads, 0, "<b>&amp;");
  text = take_text (&pads, 0);
  g_assert_null (strpbrk (text, "<>&"));
  g_assert_nonnull (strstr (text, "\"\\u003cb\\u003e\\u0026amp;\""));
}

static void
forwards_gaps_flushes_and_eos (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");

  push_frame (&pads, 0, "a");
  gst_harness_push_event (pads.video, gst_event_new_gap (FRAME, FRAME));
  must_come (&pads, GST_EVENT_GAP);
  push_flush (pads.video);
  must_come (&pads, GST_EVENT_FLUSH_START);
  must_come (&pads, GST_EVENT_FLUSH_STOP);
  push_segment (pads.video, 0, 0);
  push_frame (&pads, 1, "a");
  must_come (&pads, GST_EVENT_SEGMENT);
  gst_harness_push_event (pads.video, gst_event_new_eos ());
  must_come (&pads, GST_EVENT_EOS);
}

/* Neither a pad without a peer nor one at its end stops the video. */
static void
leaves_the_video_alone (void)
{
  GstElement *element = element_new ("boxrecord");
  GstPad *pad = gst_element_request_pad_simple (element, "boxes");
  GstPadTemplate *template = gst_pad_get_pad_template (pad);
  g_auto (Pads) pads = { .element = element };

  pads.video = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (pads.video, FRAME_CAPS);
  push_frame (&pads, 0, "a");
  gst_pad_push_event (pad, gst_event_new_eos ());
  push_frame (&pads, 1, "a");
  g_assert_null (gst_element_request_pad (element, template, NULL, NULL));
  gst_object_unref (template);
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  push_frame (&pads, 2, "a");

  /* a pad requested in mid-stream gets the same events first */
  pads.boxes = gst_harness_new_with_element (element, NULL, "boxes");
  push_frame (&pads, 3, "a");
  must_come (&pads, GST_EVENT_SEGMENT);
  g_free (take_text (&pads, 3));
}

static GstFlowReturn
fail_to_take (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

static void
stops_at_an_error_downstream (void)
{
  g_auto (Pads) pads = pads_new ("boxrecord");

  gst_pad_set_chain_function (pads.boxes->sinkpad, fail_to_take);
  g_assert_cmpint (gst_harness_push (pads.video, frame_new (0)), ==, GST_FLOW_OK);
  {
    GstBuffer *buffer = frame_new (FRAME);

    add_boxes (buffer, "1 a 10,20,30,40 0.5");
    g_assert_cmpint (gst_harness_push (pads.video, buffer), ==, GST_FLOW_ERROR);
  }
}

static const TestCase cases[] = { CASE (pushes_a_line_with_the_times_of_the_frame),
  CASE (begins_as_the_video_does), CASE (pushes_a_gap_for_a_frame_without_boxes),
  CASE (pushes_empty_lines_if_told_so), CASE (writes_markup_as_escapes),
  CASE (forwards_gaps_flushes_and_eos), CASE (leaves_the_video_alone),
  CASE (stops_at_an_error_downstream), { NULL } };

GST_TEST_PROGRAM (cases);
