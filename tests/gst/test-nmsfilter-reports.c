/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: statistics, the messages with them, and the time of each message. */
#include "gstboxes.h"
#include "gstrunner.h"

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.9);
  add_scored (buffer, 2, "a", 10, 0, 100, 100, 0.5);
  return buffer;
}

static guint64
number (const GstStructure *structure, const gchar *name)
{
  guint64 value = 0;

  if (!gst_structure_get_uint64 (structure, name, &value))
    g_error ("the message has no guint64 %s", name);
  return value;
}

/* Removes all messages from the bus. Returns how many are called "nmsfilter". */
static guint
count_reports (GstBus *bus)
{
  GstMessage *message;
  guint count = 0;

  while ((message = gst_bus_pop (bus)) != NULL) {
    count += GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT
        && gst_message_has_name (message, "nmsfilter");
    gst_message_unref (message);
  }
  return count;
}

static void
push_seconds (GstHarness *h, guint from_tenth, guint tenths)
{
  guint i;

  for (i = 0; i < tenths; i++)
    gst_buffer_unref (through (h, pair ((from_tenth + i) * 100 * GST_MSECOND)));
}

static void
test_off_by_default (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  push_seconds (h, 0, 30);
  gst_harness_push_event (h, gst_event_new_eos ());
  g_assert_cmpuint (count_reports (bus), ==, 0);
  harness_teardown (h, bus);
}

static void
test_fields (void)
{
  static const gchar *const counts[] = { "boxes-in", "boxes-out", "suppressed", "below-score",
    "not-candidate", "over-cap", "too-few-neighbors", "no-score", "invalid", "not-selected",
    "unscored", "lower-ranked", "time" };
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  const GstStructure *report;
  GstMessage *message;
  GstSegment segment;
  guint i;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND; /* running time is PTS - 5 s, stream time PTS - 3 s */
  segment.time = 2 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_seconds (h, 50, 10);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_true (GST_MESSAGE_SRC (message) == GST_OBJECT (h->element));
  report = gst_message_get_structure (message);
  g_assert_true (gst_structure_has_name (report, "nmsfilter"));
  g_assert_cmpuint (number (report, "timestamp"), ==, 5 * GST_SECOND);
  g_assert_cmpuint (number (report, "running-time"), ==, 0);
  g_assert_cmpuint (number (report, "stream-time"), ==, 2 * GST_SECOND);
  g_assert_cmpuint (number (report, "duration"), ==, GST_SECOND);
  g_assert_cmpuint (number (report, "endtime"), ==, 3 * GST_SECOND);
  g_assert_cmpuint (number (report, "frames"), ==, 10);
  g_assert_cmpuint (number (report, "boxes-in"), ==, 20);
  g_assert_cmpuint (number (report, "boxes-out"), ==, 10);
  g_assert_cmpuint (number (report, "suppressed"), ==, 10);
  for (i = 0; i < G_N_ELEMENTS (counts); i++)
    g_assert_cmpuint (number (report, counts[i]), ==, stat_of (h->element, counts[i]));
  gst_message_unref (message);
  harness_teardown (h, bus);
}

static void
test_interval (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);

  push_seconds (h, 0, 9);
  g_assert_cmpuint (count_reports (bus), ==, 0);
  push_seconds (h, 9, 1);
  g_assert_cmpuint (count_reports (bus), ==, 1);
  push_seconds (h, 10, 30);
  g_assert_cmpuint (count_reports (bus), ==, 3);
  /* changes while playing */
  g_object_set (h->element, "interval", 500 * GST_MSECOND, NULL);
  push_seconds (h, 40, 10);
  g_assert_cmpuint (count_reports (bus), ==, 2);
  g_object_set (h->element, "interval", (guint64) 0, NULL);
  push_seconds (h, 50, 20);
  g_assert_cmpuint (count_reports (bus), ==, 0);
  /* shorter than a frame: a message with each frame */
  g_object_set (h->element, "interval", (guint64) 1, NULL);
  push_seconds (h, 70, 5);
  g_assert_cmpuint (count_reports (bus), ==, 5);
  harness_teardown (h, bus);
}

static void
test_end_of_stream (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  GstMessage *message;

  push_seconds (h, 0, 3);
  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_cmpuint (number (gst_message_get_structure (message), "frames"), ==, 3);
  g_assert_cmpuint (number (gst_message_get_structure (message), "duration"), ==,
      300 * GST_MSECOND);
  gst_message_unref (message);
  g_assert_cmpuint (count_reports (bus), ==, 0);
  harness_teardown (h, bus);
}

/* EOS after a full interval reports an empty one, which begins where the full one ends. */
static void
test_end_after_interval (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  const GstStructure *report;
  GstMessage *message;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_seconds (h, 50, 10);
  g_assert_cmpuint (count_reports (bus), ==, 1);
  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  report = gst_message_get_structure (message);
  g_assert_cmpuint (number (report, "timestamp"), ==, 6 * GST_SECOND);
  g_assert_cmpuint (number (report, "running-time"), ==, GST_SECOND);
  g_assert_cmpuint (number (report, "stream-time"), ==, 3 * GST_SECOND);
  g_assert_cmpuint (number (report, "duration"), ==, 0);
  g_assert_cmpuint (number (report, "endtime"), ==, 3 * GST_SECOND);
  g_assert_cmpuint (number (report, "frames"), ==, 10);
  gst_message_unref (message);
  harness_teardown (h, bus);
}

/* Buffers outside of the segment, such as those before the target of a seek, take part in no
 * interval, however long they take. */
static void
test_outside_segment (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=20000000");
  GstBus *bus = harness_bus (h);
  const GstStructure *report;
  GstMessage *message;
  GstSegment segment;
  guint i;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 10 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (i = 0; i < 3; i++) {
    push_seconds (h, i, 1);
    g_usleep (25000);
  }
  g_assert_cmpuint (count_reports (bus), ==, 0);
  push_seconds (h, 100, 1);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  report = gst_message_get_structure (message);
  g_assert_cmpuint (number (report, "stream-time"), ==, 10 * GST_SECOND);
  g_assert_cmpuint (number (report, "duration"), ==, 100 * GST_MSECOND);
  gst_message_unref (message);
  harness_teardown (h, bus);
}

/* At twice the speed, an interval of running time is twice as long in stream time. */
static void
test_end_time_at_double_rate (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  const GstStructure *report;
  GstMessage *message;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_seconds (h, 0, 20);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  report = gst_message_get_structure (message);
  g_assert_cmpuint (number (report, "stream-time"), ==, 0);
  g_assert_cmpuint (number (report, "endtime"), ==, 2 * GST_SECOND);
  gst_message_unref (message);
  harness_teardown (h, bus);
}

static void
test_empty_stream (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  GstMessage *message;

  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_cmpuint (number (gst_message_get_structure (message), "frames"), ==, 0);
  g_assert_cmpuint (number (gst_message_get_structure (message), "timestamp"), ==,
      GST_CLOCK_TIME_NONE);
  gst_message_unref (message);
  harness_teardown (h, bus);
}

/* The stream jumps far forward and back; messages go on at the interval. */
static void
test_jumps (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=1000000000");
  GstBus *bus = harness_bus (h);
  GstSegment segment;
  guint i;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push_seconds (h, 0, 5);
  push_seconds (h, 36000, 10); /* an hour forward, without a new segment */
  g_assert_cmpuint (count_reports (bus), <=, 2);
  push_seconds (h, 5, 11); /* and back */
  i = count_reports (bus);
  g_assert_cmpuint (i, >=, 1);
  g_assert_cmpuint (i, <=, 2);

  for (i = 0; i < 3; i++) { /* seeks back to the start */
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    push_seconds (h, 0, 9);
    g_assert_cmpuint (count_reports (bus), ==, 0);
    push_seconds (h, 9, 11);
    g_assert_cmpuint (count_reports (bus), ==, 2);
  }
  harness_teardown (h, bus);
}

/* Without timestamps the system clock gives the interval. */
static void
test_without_timestamps (void)
{
  GstHarness *h = harness_new ("nmsfilter interval=20000000");
  GstBus *bus = harness_bus (h);
  guint i;

  for (i = 0; i < 4; i++) {
    gst_buffer_unref (through (h, pair (GST_CLOCK_TIME_NONE)));
    g_usleep (25000);
    gst_buffer_unref (through (h, pair (GST_CLOCK_TIME_NONE)));
    g_assert_cmpuint (count_reports (bus), ==, 1);
  }
  harness_teardown (h, bus);
}

/* In a pipeline the message reaches the application before EOS. */
static void
test_in_a_pipeline (void)
{
  GstElement *pipeline =
      gst_parse_launch ("videotestsrc num-buffers=25 ! "
                        "video/x-raw,framerate=10/1 ! nmsfilter interval=1000000000 ! fakesink",
          NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint reports = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
              GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT))) {
    gboolean end = GST_MESSAGE_TYPE (message) != GST_MESSAGE_ELEMENT;

    reports += gst_message_has_name (message, "nmsfilter");
    g_assert_cmpint (GST_MESSAGE_TYPE (message), !=, GST_MESSAGE_ERROR);
    gst_message_unref (message);
    if (end)
      break;
  }
  g_assert_cmpuint (reports, ==, 3); /* at 1 s, 2 s and the end */
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

/* A pipeline with a converter between the detector and the filter. */
static GstPadProbeReturn
attach_late (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.9);
  return GST_PAD_PROBE_OK;
}

static void
test_stats_reset (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  gchar *used;

  gst_buffer_unref (through (h, pair (0)));
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 1);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 1); /* unread */
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 0);
  g_assert_cmpuint (stat_of (h->element, "time"), ==, 0);
  g_object_get (h->element, "engine-in-use", &used, NULL);
  g_assert_null (used);
  gst_harness_teardown (h);
}

static void
test_converter_upstream (void)
{
  GstElement *pipeline =
      gst_parse_launch ("videotestsrc num-buffers=5 ! "
                        "video/x-raw,format=RGB,width=320,height=240 ! identity name=detector ! "
                        "videoconvert ! video/x-raw,format=I420 ! nmsfilter name=n ! fakesink",
          NULL);
  GstElement *detector = gst_bin_get_by_name (GST_BIN (pipeline), "detector");
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "n");
  GstPad *pad = gst_element_get_static_pad (detector, "src");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, attach_late, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  /* for any behaviour of the converter no box is lost, and a box that lost its
   * confidence is counted */
  g_assert_cmpuint (stat_of (filter, "boxes-in"), ==, 5);
  g_assert_cmpuint (stat_of (filter, "boxes-out"), ==, 5);
  g_assert_true (stat_of (filter, "unscored") == 5 || stat_of (filter, "unscored") == 0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (filter);
  gst_object_unref (detector);
  gst_object_unref (pipeline);
}

static const TestCase cases[] = { { "/nmsfilter/reports/off-by-default", test_off_by_default },
  { "/nmsfilter/reports/fields", test_fields }, { "/nmsfilter/reports/interval", test_interval },
  { "/nmsfilter/reports/end-of-stream", test_end_of_stream },
  { "/nmsfilter/reports/end-after-interval", test_end_after_interval },
  { "/nmsfilter/reports/outside-segment", test_outside_segment },
  { "/nmsfilter/reports/end-time-at-double-rate", test_end_time_at_double_rate },
  { "/nmsfilter/reports/empty-stream", test_empty_stream },
  { "/nmsfilter/reports/jumps", test_jumps },
  { "/nmsfilter/reports/without-timestamps", test_without_timestamps },
  { "/nmsfilter/reports/in-a-pipeline", test_in_a_pipeline },
  { "/nmsfilter/reports/stats-reset", test_stats_reset },
  { "/nmsfilter/reports/converter-upstream", test_converter_upstream }, { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
