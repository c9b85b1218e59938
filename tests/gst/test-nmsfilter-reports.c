/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: statistics, the messages with them, and the time of each message. */
#include "gstrunner.h"
#include "playing.h"
#include "steps.h"

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 10,0,100,100 0.5");
  return buffer;
}

/* Fails unless the next message on the bus is a report with these times, in milliseconds (-: none),
 * and this number of frames: "(timestamp,running-time,stream-time,duration,endtime,frames)". */
static void
expect_report (GstBus *bus, const gchar *expected)
{
  static const gchar *const names[] = { "timestamp", "running-time", "stream-time", "duration",
    "endtime", "frames" };
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_autoptr (GString) found = g_string_new ("(");

  g_assert_nonnull (message);
  g_assert_true (gst_message_has_name (message, "nmsfilter"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    guint64 value;

    g_assert_true (
        gst_structure_get_uint64 (gst_message_get_structure (message), names[i], &value));
    if (value == GST_CLOCK_TIME_NONE)
      g_string_append (found, "-,");
    else if (i < 5)
      g_string_append_printf (found, "%g,", (gdouble) value / GST_MSECOND);
    else
      g_string_append_printf (found, "%" G_GUINT64_FORMAT ")", value);
  }
  g_assert_cmpstr (found->str, ==, expected);
}

/* Plays a step of steps_event, or one of these:
 *   0..9, -      frames with two boxes, of which one is suppressed; - has no timestamp
 *   #1, #1-2     so many messages have come since
 *   (0,0,...)    the next message, as expect_report takes it
 *   interval=5   sets the property
 *   double       a segment with the rate 2
 *   sleep        25 ms pass
 *   ready, paused  the state */
static void
play_step (gpointer player, const gchar *step)
{
  GstHarness *h = player;
  g_autoptr (GstBus) bus = gst_element_get_bus (h->element);
  GstClockTime first;
  GstSegment segment;

  if (g_ascii_isdigit (*step) || *step == '-') {
    const gchar *at = step;
    const gint range = steps_range (step, &at, &first);

    for (gint i = 0; i <= range; i++)
      gst_buffer_unref (through (h, pair (steps_nth (first, range, i))));
  } else if (*step == '#') {
    const guint count = count_messages (bus, GST_MESSAGE_ELEMENT);
    const gchar *most = strchr (step, '-');

    g_assert_cmpuint (count, >=, (guint) atoi (step + 1));
    g_assert_cmpuint (count, <=, (guint) atoi (most ? most + 1 : step + 1));
  } else if (*step == '(') {
    expect_report (bus, step);
  } else if (g_str_has_prefix (step, "interval=")) {
    gst_util_set_object_arg (G_OBJECT (h->element), "interval", strchr (step, '=') + 1);
  } else if (g_str_equal (step, "double")) {
    gst_segment_init (&segment, GST_FORMAT_TIME);
    segment.rate = 2;
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  } else if (g_str_equal (step, "sleep")) {
    g_usleep (25000);
  } else if (g_str_equal (step, "ready") || g_str_equal (step, "paused")) {
    gst_element_set_state (h->element, *step == 'r' ? GST_STATE_READY : GST_STATE_PAUSED);
  } else if (!steps_event (h, step)) {
    steps_unknown (step);
  }
}

typedef struct
{
  const gchar *name;
  const gchar *interval; /* ns */
  const gchar *steps;
} Row;

static void
run_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  harness_bus (h);
  if (row->interval)
    gst_util_set_object_arg (G_OBJECT (h->element), "interval", row->interval);
  steps_play (row->steps, play_step, h);
}

static const Row rows[] = {
  { "off by default", NULL, "0..29 eos #0" },
  { "changes while playing", "1000000000",
      "0..8 #0 9 #1 10..39 #3 interval=500000000 40..49 #2 interval=0 50..69 #0" },
  { "shorter than a frame", "1", "0..4 #5" },
  /* the last report comes at the end; an empty one begins where the one before ends */
  { "short stream", "1000000000", "0..2 eos (0,0,0,300,300,3) #0" },
  { "running and stream time", "1000000000",
      "from-50/20 50..59 eos (5000,0,2000,1000,3000,10) (6000,1000,3000,0,3000,10) #0" },
  /* an interval of running time is twice as long in stream time */
  { "twice the speed", "1000000000",
      "double 0..19 eos (0,0,0,1000,2000,20) (2000,1000,2000,0,2000,20) #0" },
  { "empty stream", "1000000000", "eos (-,-,-,-,-,0) #0" },
  /* buffers before the target of a seek take part in no interval, however long they take */
  { "outside the segment", "20000000",
      "from-100 0 sleep 1 sleep 2 sleep #0 100 (10000,0,10000,100,10100,4)" },
  { "an hour forward and back", "1000000000", "0..4 36000..36009 #0-2 5..15 #1-2" },
  { "seeks to the start", "1000000000",
      "0..4 seek-0 0..8 #0 9..19 #2 seek-0 0..8 #0 9..19 #2 seek-0 0..8 #0 9..19 #2" },
  /* the system clock gives the interval */
  { "no timestamps", "20000000", "- sleep - #1 - sleep - #1 - sleep - #1" },
  { "reset at the next start", NULL,
      "0 frames=1 ready frames=1 paused frames=0 suppressed=0 time=0" },
  { NULL },
};

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

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (through (h, pair (i * FRAME)));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  g_assert_true (GST_MESSAGE_SRC (message) == GST_OBJECT (h->element));
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_assert_true (
        gst_structure_get_uint64 (gst_message_get_structure (message), counts[i], &value));
    g_assert_cmpuint (value, ==, stat_of (h->element, counts[i]));
  }
  assert_stats (h->element, "boxes-in=20 boxes-out=10 suppressed=10");
  g_assert_cmpuint (stat_of (h->element, "time"), >, 0);
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

static const TestCase cases[] = { TEST_ROWS ("/%s", run_row, rows), CASE (test_fields),
  CASE (test_in_a_pipeline), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
