/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge: which buffer of a branch belongs to which main buffer, and how long a main buffer
 * waits. Live cases run on a test clock.
 */
#include <gst/check/gsttestclock.h>

#include "gstrunner.h"
#include "merging.h"

/* ------------------------------------------------------------ file pipelines */

static void
test_tolerance (void)
{
  Merging m;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  /* 60 ms is more than half a frame from 0, and less from 100 ms */
  merging_push_box (&m, 0, 60 * GST_MSECOND, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "");
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "1,20,30,40");
  merging_push_box (&m, 0, 2 * FRAME + 50 * GST_MSECOND, 2);
  merging_push_main (&m, 2 * FRAME);
  merging_expect (&m, 2 * FRAME, "2,20,30,40");
  merging_expect_stat (&m, 0, "merged", 2);
  merging_close (&m);

  merging_open (&m, "boxmerge tolerance=1", 1, NULL, FALSE);
  merging_push_box (&m, 0, 1, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "1,20,30,40");
  merging_push_box (&m, 0, FRAME + 2, 2);
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "");
  merging_close (&m);
}

/* A main buffer waits for its branch, and for each of several. */
static void
test_waiting (void)
{
  Merging m;

  merging_open (&m, "boxmerge", 2, NULL, FALSE);
  merging_push_main (&m, 0);
  merging_expect_none (&m);
  merging_push_box (&m, 0, 0, 1);
  merging_expect_none (&m);
  merging_push_box (&m, 1, 0, 2);
  merging_expect (&m, 0, "1,20,30,40 2,20,30,40");
  merging_close (&m);
}

/* Buffers between the main buffers are dropped, and the main buffer waits for the next one. */
static void
test_without_match (void)
{
  Merging m;

  merging_open (&m, "boxmerge tolerance=1000000", 1, NULL, FALSE);
  merging_push_box (&m, 0, 0, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "1,20,30,40");
  merging_push_main (&m, FRAME);
  merging_push_box (&m, 0, FRAME / 2, 2);
  merging_expect_none (&m);
  merging_push_box (&m, 0, FRAME, 3);
  merging_expect (&m, FRAME, "3,20,30,40");
  merging_expect_stat (&m, 0, "in", 3);
  merging_expect_stat (&m, 0, "merged", 2);
  merging_expect_stat (&m, 0, "without-match", 1);
  merging_expect_stat (&m, 0, "too-late", 0);
  merging_close (&m);
}

/* A branch that drops frames: a later buffer in its queue shows that no earlier one comes. */
static void
test_dropping_branch (void)
{
  Merging m;
  guint i;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  merging_push_box (&m, 0, 0, 0);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "0,20,30,40");
  merging_push_main (&m, FRAME);
  merging_expect_none (&m);
  merging_push_box (&m, 0, 5 * FRAME, 5);
  merging_expect (&m, FRAME, "");
  for (i = 2; i < 5; i++) {
    merging_push_main (&m, i * FRAME);
    merging_expect (&m, i * FRAME, "");
  }
  merging_push_main (&m, 5 * FRAME);
  merging_expect (&m, 5 * FRAME, "5,20,30,40");
  merging_close (&m);
}

static void
test_hold (void)
{
  static const gchar *const expected[] = { "1,20,30,40", "1,20,30,40", "1,20,30,40", "", "",
    "2,20,30,40" };
  Merging m;
  guint i;

  merging_open (&m, "boxmerge sink_0::hold=250000000", 1, NULL, FALSE);
  for (i = 0; i < G_N_ELEMENTS (expected); i++) {
    if (i == 0)
      merging_push_box (&m, 0, 0, 1);
    if (i == 1)
      merging_push_box (&m, 0, 5 * FRAME, 2);
    merging_push_main (&m, i * FRAME);
    merging_expect (&m, i * FRAME, expected[i]);
  }
  merging_expect_stat (&m, 0, "merged", 2);
  merging_expect_stat (&m, 0, "held", 2);
  merging_expect_stat (&m, 0, "boxes", 4);
  merging_close (&m);
}

/* Held boxes are forgotten when the size of the branch's picture changes. */
static void
test_hold_and_caps (void)
{
  Merging m;

  merging_open (&m, "boxmerge sink_0::hold=1000000000 sink_0::width=640 sink_0::height=480", 1,
      NULL, FALSE);
  merging_push_box (&m, 0, 0, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "1,20,30,40");
  gst_harness_set_src_caps_str (m.branch[0],
      "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  merging_push_box (&m, 0, 2 * FRAME, 2);
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "");
  merging_push_main (&m, 2 * FRAME);
  merging_expect (&m, 2 * FRAME, "4,40,60,80");
  merging_close (&m);
}

/* A GAP of a branch blocks no main buffer that it covers, and does not end the hold. */
static void
test_branch_gap (void)
{
  Merging m;

  merging_open (&m, "boxmerge sink_0::hold=100000000", 1, NULL, FALSE);
  merging_push_box (&m, 0, 0, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "1,20,30,40");
  gst_harness_push_event (m.branch[0], gst_event_new_gap (FRAME, 2 * FRAME));
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "1,20,30,40");
  merging_push_main (&m, 2 * FRAME);
  merging_expect (&m, 2 * FRAME, "");
  merging_push_main (&m, 3 * FRAME);
  merging_expect_none (&m);
  gst_harness_push_event (m.branch[0], gst_event_new_gap (3 * FRAME, GST_CLOCK_TIME_NONE));
  merging_expect (&m, 3 * FRAME, "");
  merging_push_main (&m, 4 * FRAME);
  merging_expect_none (&m);
  merging_push_box (&m, 0, 4 * FRAME, 4);
  merging_expect (&m, 4 * FRAME, "4,20,30,40");
  merging_expect_stat (&m, 0, "in", 2);
  merging_close (&m);
}

/* A GAP of the main stream leaves as one, in order. */
static void
test_main_gap (void)
{
  GstClockTime time, duration;
  GstEvent *event;
  Merging m;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_push_event (m.main, gst_event_new_gap (0, FRAME));
  merging_push_box (&m, 0, FRAME, 1);
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "1,20,30,40");
  gst_event_unref (merging_wait_event (&m, GST_EVENT_SEGMENT));
  event = merging_wait_event (&m, GST_EVENT_GAP);
  gst_event_parse_gap (event, &time, &duration);
  g_assert_cmpuint (time, ==, 0);
  g_assert_cmpuint (duration, ==, FRAME);
  gst_event_unref (event);
  merging_close (&m);
}

/* EOS of a branch ends the waiting for it; EOS of the main stream ends the stream, also if a
 * branch has neither data nor EOS, and tells that the statistics are final. */
static void
test_eos (void)
{
  Merging m;
  gint notified = 0;

  merging_open (&m, "boxmerge", 3, NULL, FALSE);
  g_signal_connect (m.element, "notify::stats", G_CALLBACK (count_notification), &notified);
  merging_push_box (&m, 0, 0, 1);
  gst_harness_push_event (m.branch[0], gst_event_new_eos ());
  merging_push_box (&m, 1, 0, 2);
  merging_push_main (&m, 0);
  merging_expect_none (&m);
  gst_harness_push_event (m.branch[2], gst_event_new_eos ());
  merging_expect (&m, 0, "1,20,30,40 2,20,30,40");
  merging_push_main (&m, FRAME);
  merging_expect_none (&m);
  merging_push_box (&m, 1, FRAME, 3);
  merging_expect (&m, FRAME, "3,20,30,40");
  g_assert_cmpint (g_atomic_int_get (&notified), ==, 0);
  gst_harness_push_event (m.main, gst_event_new_eos ());
  gst_event_unref (merging_wait_event (&m, GST_EVENT_EOS));
  g_assert_cmpint (g_atomic_int_get (&notified), ==, 1);
  merging_close (&m);
}

/* A main stream that is shorter than what its branches need to start. */
static void
test_early_eos (void)
{
  Merging m;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  gst_harness_push_event (m.main, gst_event_new_eos ());
  gst_event_unref (merging_wait_event (&m, GST_EVENT_EOS));
  merging_close (&m);
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
  merging_push_box (&m, 0, 10 * GST_SECOND + FRAME, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "");
  merging_push_main (&m, FRAME);
  merging_expect (&m, FRAME, "1,20,30,40");
  merging_close (&m);

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  segment.start = 0;
  segment.stop = 10 * FRAME;
  segment.rate = -1;
  gst_harness_push_event (m.branch[0], gst_event_new_segment (&segment));
  gst_harness_push_event (m.main, gst_event_new_segment (&segment));
  for (gint i = 9; i >= 0; i--) {
    gchar *expected = g_strdup_printf ("%d,20,30,40", i);

    merging_push_box (&m, 0, (GstClockTime) i * FRAME, i);
    merging_push_main (&m, (GstClockTime) i * FRAME);
    merging_expect (&m, (GstClockTime) i * FRAME, expected);
    g_free (expected);
  }
  merging_close (&m);
}

/* Buffers without a PTS are matched in their order. */
static void
test_without_times (void)
{
  Merging m;

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  for (gint i = 0; i < 3; i++) {
    gchar *expected = g_strdup_printf ("%d,20,30,40", i);

    merging_push_box (&m, 0, i == 2 ? FRAME : GST_CLOCK_TIME_NONE, i);
    merging_push_main (&m, i == 1 ? FRAME : GST_CLOCK_TIME_NONE);
    merging_expect (&m, i == 1 ? FRAME : GST_CLOCK_TIME_NONE, expected);
    g_free (expected);
  }
  merging_close (&m);
}

/* ------------------------------------------------------------ live pipelines */

static GstTestClock *
clock_of (Merging *m)
{
  GstClock *clock = gst_element_get_clock (m->element);

  g_assert_true (GST_IS_TEST_CLOCK (clock));
  return GST_TEST_CLOCK (clock);
}

/* Waits until the element waits for the clock, checks the time, and lets it come. */
static void
reach_deadline (Merging *m, GstClockTime deadline)
{
  GstTestClock *clock = clock_of (m);
  GstClockID id;

  gst_test_clock_wait_for_next_pending_id (clock, &id);
  g_assert_cmpuint (gst_clock_id_get_time (id), ==, deadline);
  gst_clock_id_unref (id);
  g_assert_cmpuint (gst_harness_buffers_in_queue (m->main), ==, 0);
  g_assert_true (gst_test_clock_crank (clock));
  gst_object_unref (clock);
}

/* A main buffer leaves when its branch has its buffer, or when its running time plus latency has
 * come. What comes later is counted. */
static void
test_deadline (void)
{
  Merging m;

  merging_open (&m, "boxmerge latency=200000000", 1, NULL, TRUE);
  merging_push_box (&m, 0, 0, 1);
  merging_push_main (&m, 0);
  merging_expect (&m, 0, "1,20,30,40");
  merging_push_main (&m, FRAME);
  reach_deadline (&m, 3 * FRAME);
  merging_expect (&m, FRAME, "");
  merging_push_box (&m, 0, FRAME, 2);
  merging_push_box (&m, 0, 2 * FRAME, 3);
  merging_push_main (&m, 2 * FRAME);
  merging_expect (&m, 2 * FRAME, "3,20,30,40");
  merging_expect_stat (&m, 0, "too-late", 1);
  merging_expect_stat (&m, 0, "merged", 2);
  merging_expect_stat (&m, 0, "in", 3);
  merging_close (&m);
}

/* The latency of upstream counts too. */
static void
test_upstream_latency (void)
{
  Merging m;

  merging_open (&m, "boxmerge latency=200000000", 1, NULL, TRUE);
  gst_harness_set_upstream_latency (m.main, 30 * GST_MSECOND);
  merging_push_main (&m, 0);
  reach_deadline (&m, 230 * GST_MSECOND);
  merging_expect (&m, 0, "");
  merging_close (&m);
}

/* A detector that takes every fifth frame and needs 150 ms: hold adds its boxes to the frames
 * after that. */
static void
test_slow_branch (void)
{
  Merging m;
  guint i;

  merging_open (&m, "boxmerge latency=50000000 sink_0::hold=700000000", 1, NULL, TRUE);
  for (i = 0; i < 50; i++) {
    if (i % 5 == 2)
      merging_push_box (&m, 0, (i - 2) * FRAME, 0);
    merging_push_main (&m, i * FRAME);
    reach_deadline (&m, i * FRAME + 50 * GST_MSECOND);
    merging_expect (&m, i * FRAME, i < 2 ? "" : "0,20,30,40");
  }
  merging_expect_stat (&m, 0, "in", 10);
  merging_expect_stat (&m, 0, "too-late", 10);
  merging_expect_stat (&m, 0, "held", 48);
  merging_close (&m);
}

/* Waits for a branch without data once. */
static void
test_inactive_pads (void)
{
  Merging m;

  merging_open (&m, "boxmerge latency=200000000 ignore-inactive-pads=true", 2, NULL, TRUE);
  merging_push_box (&m, 0, 0, 1);
  merging_push_main (&m, 0);
  reach_deadline (&m, 2 * FRAME);
  merging_expect (&m, 0, "1,20,30,40");
  merging_push_main (&m, FRAME);
  merging_push_box (&m, 0, FRAME, 2);
  merging_expect (&m, FRAME, "2,20,30,40");
  merging_close (&m);
}

static void
test_force_live (void)
{
  Merging m;

  merging_open (&m, "boxmerge force-live=true latency=200000000", 1, NULL, FALSE);
  merging_push_main (&m, 0);
  reach_deadline (&m, 2 * FRAME);
  merging_expect (&m, 0, "");
  merging_close (&m);
}

/* A dead branch costs the latency, not more, and a main buffer without a PTS does not wait. */
static void
test_dead_branch (void)
{
  Merging m;

  merging_open (&m, "boxmerge latency=50000000", 1, NULL, TRUE);
  for (guint i = 0; i < 5; i++) {
    merging_push_main (&m, i * FRAME);
    reach_deadline (&m, i * FRAME + 50 * GST_MSECOND);
    merging_expect (&m, i * FRAME, "");
  }
  merging_push_main (&m, GST_CLOCK_TIME_NONE);
  reach_deadline (&m, 50 * GST_MSECOND); /* which has passed */
  merging_expect (&m, GST_CLOCK_TIME_NONE, "");
  merging_close (&m);
}

static const TestCase cases[] = { { "/boxmerge-time/tolerance", test_tolerance },
  { "/boxmerge-time/waiting", test_waiting },
  { "/boxmerge-time/without-match", test_without_match },
  { "/boxmerge-time/dropping-branch", test_dropping_branch }, { "/boxmerge-time/hold", test_hold },
  { "/boxmerge-time/hold-and-caps", test_hold_and_caps },
  { "/boxmerge-time/branch-gap", test_branch_gap }, { "/boxmerge-time/main-gap", test_main_gap },
  { "/boxmerge-time/eos", test_eos }, { "/boxmerge-time/early-eos", test_early_eos },
  { "/boxmerge-time/segments", test_segments },
  { "/boxmerge-time/without-times", test_without_times },
  { "/boxmerge-time/deadline", test_deadline },
  { "/boxmerge-time/upstream-latency", test_upstream_latency },
  { "/boxmerge-time/slow-branch", test_slow_branch },
  { "/boxmerge-time/inactive-pads", test_inactive_pads },
  { "/boxmerge-time/force-live", test_force_live },
  { "/boxmerge-time/dead-branch", test_dead_branch }, { NULL } };

GST_TEST_PROGRAM (cases);
