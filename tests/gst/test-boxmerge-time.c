/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: which buffer of a branch belongs to which main buffer, and how long a main buffer
 * waits. Live cases run on a test clock.
 */
#include "gstrunner.h"
#include "merging.h"

typedef struct
{
  const gchar *launch;
  guint branches;
  const gchar *steps; /* see merging_play */
} Row;

static void
play_rows (const Row *rows, guint count, gboolean live)
{
  for (guint i = 0; i < count; i++) {
    g_auto (Merging) m = { 0 };

    g_test_message ("%s", rows[i].steps);
    merging_open (&m, rows[i].launch, rows[i].branches, NULL, live);
    merging_play (&m, rows[i].steps);
  }
}

static void
test_files (void)
{
  static const Row rows[] = {
    /* 60 ms is more than half a frame from 0, and less from 100 ms */
    { "boxmerge", 1, "a60:1 m0 =0: m100 =100:1 a250:2 m200 =200:2 a.merged:2" },
    { "boxmerge tolerance=1000000", 1, "a1:1 m0 =0:1 a102:2 m100 =100:" },
    /* a main buffer waits for each of several branches */
    { "boxmerge", 2, "m0 none a0:1 none b0:2 =0:1+2" },
    /* a buffer between the main buffers is dropped, and the main buffer waits for the next one */
    { "boxmerge tolerance=1000000", 1,
        "a0:1 m0 =0:1 m100 a50:2 none a100:3 =100:3 a.in:3 a.merged:2 a.without-match:1 "
        "a.too-late:0" },
    /* a later buffer in the queue of a branch that drops frames shows that no earlier one comes */
    { "boxmerge", 1,
        "a0:0 m0 =0:0 m100 none a500:5 =100: m200 =200: m300 =300: m400 =400: m500 =500:5" },
    { "boxmerge sink_0::hold=250000000", 1,
        "a0:1 m0 =0:1 a500:2 m100 =100:1 m200 =200:1 m300 =300: m400 =400: m500 =500:2 "
        "a.merged:2 a.held:2 a.boxes:4" },
    /* held boxes are forgotten when the size of the branch's picture changes */
    { "boxmerge sink_0::hold=1000000000 sink_0::width=640 sink_0::height=480", 1,
        "a0:1 m0 =0:1 small-a a200:2 m100 =100: m200 =200:4,40,60,80" },
    /* a GAP blocks no main buffer that it covers, and does not end the hold */
    { "boxmerge sink_0::hold=100000000", 1,
        "a0:1 m0 =0:1 gap-a:100+200 m100 =100:1 m200 =200: m300 none gap-a:300 =300: m400 none "
        "a400:4 =400:4 a.in:2" },
    /* EOS of a branch ends the waiting for it */
    { "boxmerge", 3, "a0:1 eos-a b0:2 m0 none eos-c =0:1+2 m100 none b100:3 =100:3" },
    /* buffers without a PTS are matched in their order */
    { "boxmerge", 1, "a-:0 m- =-:0 a-:1 m100 =100:1 a100:2 m- =-:2" },
  };

  play_rows (rows, G_N_ELEMENTS (rows), FALSE);
}

static void
test_live (void)
{
  static const Row rows[] = {
    /* A main buffer leaves when its branch has its buffer, or when its running time plus latency
     * has come. What comes later is counted. */
    { "boxmerge latency=200000000", 1,
        "a0:1 m0 =0:1 m100 !300 =100: a100:2 a200:3 m200 =200:3 a.too-late:1 a.merged:2 a.in:3" },
    /* a dead branch costs the latency, and a main buffer without a PTS does not wait */
    { "boxmerge latency=50000000", 1, "m0 !50 =0: m100 !150 =100: m200 !250 =200: m- !50 =-:" },
    /* waits for a branch without data once */
    { "boxmerge latency=200000000 ignore-inactive-pads=true", 2,
        "a0:1 m0 !200 =0:1 m100 a100:2 =100:2" },
  };

  play_rows (rows, G_N_ELEMENTS (rows), TRUE);
}

static void
test_force_live (void)
{
  static const Row row = { "boxmerge force-live=true latency=200000000", 1, "m0 !200 =0:" };

  play_rows (&row, 1, FALSE);
}

/* The latency of upstream counts too. */
static void
test_upstream_latency (void)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge latency=200000000", 1, NULL, TRUE);
  gst_harness_set_upstream_latency (m.main, 30 * GST_MSECOND);
  merging_play (&m, "m0 !230 =0:");
}

/* A detector that takes every fifth frame and needs 150 ms: hold adds its boxes to the frames
 * after that. */
static void
test_slow_branch (void)
{
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge latency=50000000 sink_0::hold=700000000", 1, NULL, TRUE);
  for (guint i = 0; i < 50; i++) {
    g_autofree gchar *steps = g_strdup_printf ("m%u !%u =%u:%s", 100 * i, 100 * i + 50, 100 * i,
        i < 2 ? "" : "0");

    if (i % 5 == 2)
      merging_push_box (&m, 0, (i - 2) * FRAME, 0);
    merging_play (&m, steps);
  }
  merging_play (&m, "a.in:10 a.too-late:10 a.held:48");
}

/* A GAP of the main stream leaves as one, in order. */
static void
test_main_gap (void)
{
  GstClockTime time, duration;
  g_autoptr (GstEvent) event = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_push_event (m.main, gst_event_new_gap (0, FRAME));
  merging_play (&m, "a100:1 m100 =100:1");
  gst_event_unref (merging_wait_event (&m, GST_EVENT_SEGMENT));
  event = merging_wait_event (&m, GST_EVENT_GAP);
  gst_event_parse_gap (event, &time, &duration);
  g_assert_cmpuint (time, ==, 0);
  g_assert_cmpuint (duration, ==, FRAME);
}

/* EOS of the main stream ends the stream, also if a branch has neither data nor EOS and nothing
 * came before, and tells that the statistics are final. */
static void
test_eos (void)
{
  static const gchar *const before[] = { "a0:1 b0:2 m0 =0:1+2", "a.in:0" };

  for (guint i = 0; i < G_N_ELEMENTS (before); i++) {
    gint notified = 0;
    g_auto (Merging) m = { 0 };

    merging_open (&m, "boxmerge", 2, NULL, FALSE);
    g_signal_connect (m.element, "notify::stats", G_CALLBACK (count_notification), &notified);
    merging_play (&m, before[i]);
    g_assert_cmpint (g_atomic_int_get (&notified), ==, 0);
    gst_harness_push_event (m.main, gst_event_new_eos ());
    gst_event_unref (merging_wait_event (&m, GST_EVENT_EOS));
    g_assert_cmpint (g_atomic_int_get (&notified), ==, 1);
  }
}

/* Running times are compared, not timestamps. */
static void
test_segments (void)
{
  GstSegment segment;
  Merging m;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  gst_harness_push_event (m.branch[0], gst_event_new_segment (&segment));
  merging_play (&m, "a10100:1 m0 =0: m100 =100:1");
  merging_close (&m);

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  segment.start = 0;
  segment.stop = 10 * FRAME;
  segment.rate = -1;
  gst_harness_push_event (m.branch[0], gst_event_new_segment (&segment));
  gst_harness_push_event (m.main, gst_event_new_segment (&segment));
  merging_play (&m, "a900:9 m900 =900:9 a800:8 m800 =800:8 a700:7 m700 =700:7 a0:1 m0 =0:1");
  merging_close (&m);
}

static const TestCase cases[] = { CASE (test_files), CASE (test_live), CASE (test_force_live),
  CASE (test_upstream_latency), CASE (test_slow_branch), CASE (test_main_gap), CASE (test_eos),
  CASE (test_segments), { NULL } };

GST_TEST_PROGRAM (cases);
