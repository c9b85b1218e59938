/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the pad boxes: its text, events, and what happens without a peer. */
#include "gstrunner.h"
#include "recorder.h"

#define BEGIN "sparse stream\ntext/x-raw\nsegment 0+0\n"
#define TEXT(time) \
  "{\"timestamp\":" time ",\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"

static const RecorderRow rows[] = {
  { "begins_as_the_video_does", "", "pad", "from-2 2o",
      "sparse stream\ntext/x-raw\nsegment 2+2\ngap 2+1\n" },
  { "pushes_a_line_with_the_times_of_the_frame", "", "pad", "3 frames=1",
      BEGIN "3+1 " TEXT ("300000000") },
  { "pushes_empty_lines_if_told_so", "empty-lines=true", "pad", "3o",
      BEGIN "3+1 {\"timestamp\":300000000,\"objects\":[]}\n" },
  { "forwards_gaps_flushes_and_eos", "", "pad", "0 gap-1 seek-0 1 eos",
      BEGIN "0+1 " TEXT ("0") "gap 1+1\nflush-start\nflush-stop\nsegment 0+0\n"
                              "1+1 " TEXT ("100000000") "eos\n" },
  { NULL },
};

#define VIDEO_AND_TEXT "boxrecord name=r ! fakesink async=false r.boxes ! identity name=text "

/* Demuxers take text with < or & for markup. */
static void
writes_markup_as_escapes (void)
{
  static const gchar expected[] = "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
                                  "\"roi_type\":\"\\u003cb\\u003e\\u0026amp\",\"region_id\":1,"
                                  "\"detection\":{\"label\":\"\\u003cb\\u003e\\u0026amp\"}}]}\n";
  g_autoptr (GstHarness) h = gst_harness_new_parse (VIDEO_AND_TEXT);
  g_autoptr (GstBuffer) text = NULL;

  gst_harness_set_src_caps_str (h, "application/x-anything");
  text = through (h, frame_with ("1 <b>&amp 1,2,3,4"));
  g_assert_cmpuint (gst_buffer_get_size (text), ==, strlen (expected));
  g_assert_cmpint (gst_buffer_memcmp (text, 0, expected, strlen (expected)), ==, 0);
}

static void
stops_at_an_error_downstream (void)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (VIDEO_AND_TEXT "error-after=1");

  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  g_assert_cmpint (gst_harness_push (h, frame_with ("")), ==, GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (h, frame_with ("1 a 1,2,3,4")), ==, GST_FLOW_ERROR);
}

static void
pass_a_box (GstHarness *h)
{
  gst_buffer_unref (through (h, frame_with ("1 a 1,2,3,4")));
}

/* Neither a pad without a peer nor one at its end stops the video. */
static void
leaves_the_video_alone (void)
{
  static const GstEventType begin[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT };
  g_autoptr (GstElement) element = element_new ("boxrecord");
  GstPad *pad = gst_element_request_pad_simple (element, "boxes");
  g_autoptr (GstPadTemplate) template = gst_pad_get_pad_template (pad);
  g_autoptr (GstHarness) h = gst_harness_new_with_element (element, "sink", "src"), boxes = NULL;
  g_autoptr (GstBuffer) text = NULL;

  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  pass_a_box (h);
  gst_pad_push_event (pad, gst_event_new_eos ());
  pass_a_box (h);
  g_assert_null (gst_element_request_pad (element, template, NULL, NULL));
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  pass_a_box (h);

  /* a pad requested in mid-stream gets the same events first */
  boxes = gst_harness_new_with_element (element, NULL, "boxes");
  pass_a_box (h);
  for (guint i = 0; i < G_N_ELEMENTS (begin); i++) {
    g_autoptr (GstEvent) event = gst_harness_try_pull_event (boxes);

    g_assert_cmpint (GST_EVENT_TYPE (event), ==, begin[i]);
  }
  text = gst_harness_try_pull (boxes);
  g_assert_nonnull (text);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", recorder_row, rows),
  CASE (writes_markup_as_escapes), CASE (stops_at_an_error_downstream),
  CASE (leaves_the_video_alone), { NULL } };

GST_TEST_PROGRAM (cases);
