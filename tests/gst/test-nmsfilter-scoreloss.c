/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: the warning about boxes without a confidence: when it is posted, and that it is
 * posted once for each stream.
 */
#include "gstrunner.h"
#include "playing.h"
#include "textfiles.h"

#define SCORED "1 a 0,0,100,100 0.9"
#define UNSCORED "1 a 0,0,100,100"

static void
push (GstHarness *h, const gchar *boxes)
{
  gst_buffer_unref (through (h, frame_with (boxes)));
}

/* Fails unless the bus has exactly one warning, which says these words. */
static void
expect_warning (GstBus *bus, const gchar *words)
{
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), words);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
}

#define expect_no_warning(bus) g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0)

/* ---------------------------------------------------------------- when it comes */

static void
test_global_threshold (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.6");
  GstBus *bus = harness_bus (h);

  push (h, "");
  push (h, SCORED);
  expect_no_warning (bus);
  push (h, UNSCORED);
  expect_warning (bus, "score threshold does not apply");
  for (guint i = 0; i < 3; i++) /* once a stream */
    push (h, UNSCORED);
  expect_no_warning (bus);
  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  push (h, UNSCORED);
  expect_warning (bus, "nmsfilter before videoconvert");
  for (guint i = 0; i < 3; i++) { /* streams interleaved as funnel does it */
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("third")));
    push (h, SCORED);
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
    push (h, UNSCORED);
  }
  expect_no_warning (bus);
  g_assert_cmpuint (stat_of (h->element, "unscored"), ==, 8);
}

/* The threshold of a class leads to the warning only for boxes of that class. */
static void
test_class_threshold (void)
{
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter class-options=o,b=[o,score-threshold=0.5],c=[o,max=3]");
  GstBus *bus = harness_bus (h);

  push (h, UNSCORED);
  push (h, "1 c 0,0,100,100");
  g_object_set (h->element, "classes", "a", NULL);
  push (h, "1 b 0,0,100,100"); /* passes with any confidence */
  g_object_set (h->element, "classes", NULL, NULL);
  expect_no_warning (bus);
  push (h, "1 b 0,0,100,100");
  expect_warning (bus, "score threshold does not apply");
}

/* The warning also comes if only some of the boxes have no confidence. */
static void
test_partly_scored (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < 3; i++) /* no warning without a threshold */
    push (h, SCORED "; 3 a 300,0,100,100");
  expect_no_warning (bus);
  g_object_set (h->element, "score-threshold", -0.5, NULL); /* negative ones count, too */
  push (h, SCORED "; 3 a 300,0,100,100");
  expect_warning (bus, "score threshold does not apply");
}

/* Without a threshold it warns if no box of a frame has a confidence, after a frame in
 * which boxes had one. */
static void
test_lost_scores (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  for (guint round = 0; round < 2; round++) {
    push (h, UNSCORED); /* no box had a confidence so far */
    push (h, "");
    push (h, SCORED);
    push (h, "");
    expect_no_warning (bus);
    push (h, UNSCORED);
    expect_warning (bus, "earlier boxes of this stream had one");
    push (h, SCORED); /* once for each stream */
    push (h, UNSCORED);
    expect_no_warning (bus);
    g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  }
}

#define LINE "{\"objects\":[{\"x\":1,\"y\":2,\"w\":30,\"h\":40,\"roi_type\":\"a\""

/* A converter in the pipeline drops recorded confidences. There is a warning with a threshold and
 * without one, and none if the converter converts nothing or is in front of the boxes. */
static void
test_converted (void)
{
  static const struct
  {
    const gchar *before, *behind, *properties;
    gboolean unscored;
    GstMessageType end;
  } rows[] = {
    { "", "", "score-threshold=0.6", FALSE, GST_MESSAGE_EOS },
    { "", "videoconvert ! video/x-raw,format=I420 !", "score-threshold=0.6", FALSE,
        GST_MESSAGE_WARNING },
    { "", "videoconvert ! video/x-raw,format=I420 !", "", FALSE, GST_MESSAGE_WARNING },
    { "", "videoscale ! video/x-raw,width=160 ! queue ! videoconvert !", "", FALSE,
        GST_MESSAGE_WARNING },
    { "", "videoconvert ! queue !", "", TRUE, GST_MESSAGE_EOS },
    { "videoconvert ! video/x-raw,format=I420 !", "queue !", "", TRUE, GST_MESSAGE_EOS },
  };
  gchar *paths[2];

  if (!has_element ("boxreplay")) {
    g_test_skip ("built without boxreplay");
    return;
  }
  paths[FALSE] = text_file_new ("boxes.jsonl", LINE ",\"detection\":{\"confidence\":0.9}}]}\n", -1);
  paths[TRUE] = text_file_new ("unscored.jsonl", LINE "}]}\n", -1);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    /* regions only, because videoconvert copies GstAnalytics metadata from GStreamer 1.26 on */
    g_autoptr (GstElement)
        pipeline = playing_new ("videotestsrc num-buffers=3 ! "
                                "video/x-raw,format=RGB,width=320,height=240 ! %s "
                                "boxreplay meta=roi location=%s ! %s "
                                "nmsfilter %s ! fakesink",
            rows[i].before, paths[rows[i].unscored], rows[i].behind, rows[i].properties);

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_message_unref (playing_wait (pipeline, rows[i].end));
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  g_free (paths[FALSE]);
  g_free (paths[TRUE]);
}

static const TestCase cases[] = { CASE (test_global_threshold), CASE (test_class_threshold),
  CASE (test_partly_scored), CASE (test_lost_scores), CASE (test_converted), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc videoconvert");
