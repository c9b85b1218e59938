/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: statistics, the messages with them, and the time of each message. */
#include "gstrunner.h"
#include "playing.h"

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 10,0,100,100 0.5");
  return buffer;
}

/* Fails unless the next message on the bus is a report with these times, in milliseconds (-: none),
 * and this number of frames: "timestamp running-time stream-time duration endtime frames". */
static void
expect_report (GstBus *bus, const gchar *expected)
{
  static const gchar *const names[] = { "timestamp", "running-time", "stream-time", "duration",
    "endtime", "frames" };
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_autoptr (GString) found = g_string_new (NULL);

  g_assert_nonnull (message);
  g_assert_true (gst_message_has_name (message, "nmsfilter"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    guint64 value;

    g_assert_true (
        gst_structure_get_uint64 (gst_message_get_structure (message), names[i], &value));
    if (value == GST_CLOCK_TIME_NONE)
      g_string_append (found, "- ");
    else if (i < 5)
      g_string_append_printf (found, "%g ", (gdouble) value / GST_MSECOND);
    else
      g_string_append_printf (found, "%" G_GUINT64_FORMAT, value);
  }
  g_assert_cmpstr (found->str, ==, expected);
}

/* Sends a segment whose running time begins at `start` and whose stream time there is `time`. */
static void
push_rated_segment (GstHarness *h, GstClockTime start, GstClockTime time, gdouble rate)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = start;
  segment.time = time;
  segment.rate = rate;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static void
push_seconds (GstHarness *h, guint from_tenth, guint tenths)
{
  for (guint i = 0; i < tenths; i++)
    gst_buffer_unref (through (h, pair ((from_tenth + i) * 100 * GST_MSECOND)));
}

static void
test_off_by_default (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  push_seconds (h, 0, 30);
  gst_harness_push_event (h, gst_event_new_eos ());
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
}

static void
test_fields (void)
{
  static const gchar *const counts[] = { "frames", "boxes-in", "boxes-out", "suppressed",
    "below-score", "not-candidate", "over-cap", "too-few-neighbors", "no-score", "invalid",
    "not-selected", "unscored", "lower-ranked", "suppressed-by-other-class", "time" };
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  g_autoptr (GstMessage) message = NULL;
  guint64 value;

  push_seconds (h, 0, 10);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_true (GST_MESSAGE_SRC (message) == GST_OBJECT (h->element));
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_assert_true (
        gst_structure_get_uint64 (gst_message_get_structure (message), counts[i], &value));
    g_assert_cmpuint (value, ==, stat_of (h->element, counts[i]));
  }
  assert_stats (h->element, "boxes-in=20 boxes-out=10 suppressed=10");
}

static void
test_interval (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);

  push_seconds (h, 0, 9);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
  push_seconds (h, 9, 1);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 1);
  push_seconds (h, 10, 30);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 3);
  /* changes while playing */
  g_object_set (h->element, "interval", 500 * GST_MSECOND, NULL);
  push_seconds (h, 40, 10);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 2);
  g_object_set (h->element, "interval", (guint64) 0, NULL);
  push_seconds (h, 50, 20);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
  /* shorter than a frame: a message with each frame */
  g_object_set (h->element, "interval", (guint64) 1, NULL);
  push_seconds (h, 70, 5);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 5);
}

/* The reports of streams that end after some tenths of a second, one after a full interval if there
 * was one. An empty one at the end begins where the full one ends. At twice the speed, an interval
 * of running time is twice as long in stream time. */
static void
test_times (void)
{
  static const struct
  {
    guint64 start, time; /* seconds */
    guint rate, tenths;
    const gchar *full, *last; /* as expect_report takes them; NULL: none */
  } rows[] = {
    { 0, 0, 1, 3, NULL, "0 0 0 300 300 3" },
    { 5, 2, 1, 10, "5000 0 2000 1000 3000 10", "6000 1000 3000 0 3000 10" },
    { 0, 0, 2, 20, "0 0 0 1000 2000 20", "2000 1000 2000 0 2000 20" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=1000000000");
    GstBus *bus = harness_bus (h);

    push_rated_segment (h, rows[i].start * GST_SECOND, rows[i].time * GST_SECOND, rows[i].rate);
    push_seconds (h, (guint) rows[i].start * 10, rows[i].tenths);
    gst_harness_push_event (h, gst_event_new_eos ());
    if (rows[i].full)
      expect_report (bus, rows[i].full);
    expect_report (bus, rows[i].last);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
  }
}

/* Buffers outside of the segment, such as those before the target of a seek, take part in no
 * interval, however long they take. */
static void
test_outside_segment (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=20000000");
  GstBus *bus = harness_bus (h);

  push_rated_segment (h, 10 * GST_SECOND, 10 * GST_SECOND, 1);
  for (guint i = 0; i < 3; i++) {
    push_seconds (h, i, 1);
    g_usleep (25000);
  }
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
  push_seconds (h, 100, 1);
  expect_report (bus, "10000 0 10000 100 10100 4");
}

static void
test_empty_stream (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);

  gst_harness_push_event (h, gst_event_new_eos ());
  expect_report (bus, "- - - - - 0");
}

/* The stream jumps far forward and back; messages go on at the interval. */
static void
test_jumps (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  GstSegment segment;
  guint i;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push_seconds (h, 0, 5);
  push_seconds (h, 36000, 10); /* an hour forward, without a new segment */
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), <=, 2);
  push_seconds (h, 5, 11); /* and back */
  i = count_messages (bus, GST_MESSAGE_ELEMENT);
  g_assert_cmpuint (i, >=, 1);
  g_assert_cmpuint (i, <=, 2);

  for (i = 0; i < 3; i++) { /* seeks back to the start */
    push_flush (h);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    push_seconds (h, 0, 9);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 0);
    push_seconds (h, 9, 11);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 2);
  }
}

/* Without timestamps the system clock gives the interval. */
static void
test_without_timestamps (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter interval=20000000");
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < 4; i++) {
    gst_buffer_unref (through (h, pair (GST_CLOCK_TIME_NONE)));
    g_usleep (25000);
    gst_buffer_unref (through (h, pair (GST_CLOCK_TIME_NONE)));
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ELEMENT), ==, 1);
  }
}

/* In a pipeline the message reaches the application before EOS. */
static void
test_in_a_pipeline (void)
{
  g_autoptr (GstElement)
      pipeline = playing_new ("videotestsrc num-buffers=25 ! video/x-raw,framerate=10/1 ! "
                              "nmsfilter interval=1000000000 ! fakesink");
  guint reports = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gboolean end = FALSE; !end;) {
    g_autoptr (GstMessage) message = playing_wait (pipeline, GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);

    end = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    reports += gst_message_has_name (message, "nmsfilter");
  }
  g_assert_cmpuint (reports, ==, 3); /* at 1 s, 2 s and the end */
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
test_stats_reset (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  gst_buffer_unref (through (h, pair (0)));
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 1);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 1); /* unread */
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  assert_stats (h->element, "frames=0 time=0");
  assert_values (h->element, "engine-in-use", "NULL");
}

static const TestCase cases[] = { CASE (test_off_by_default), CASE (test_fields),
  CASE (test_interval), CASE (test_times), CASE (test_outside_segment), CASE (test_empty_stream),
  CASE (test_jumps), CASE (test_without_timestamps), CASE (test_in_a_pipeline),
  CASE (test_stats_reset), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
