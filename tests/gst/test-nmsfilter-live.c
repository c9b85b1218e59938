/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter in live pipelines: it adds no latency, waits for no other thread, and a
 * frame that takes long does not make others slow. Times are only compared with times of the
 * same run, which are a thousand times as long.
 */
#include "gstrunner.h"
#include "playing.h"

#define LIVE \
  "videotestsrc name=source is-live=true num-buffers=%d ! " \
  "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1"
#define FRAME (GST_SECOND / 25)

/* ------------------------------------------------------------------- latency */

static void
query_latency (const gchar *between, gboolean *live, GstClockTime *least, GstClockTime *most)
{
  g_autoptr (GstElement) pipeline = playing_new (LIVE " ! %s fakesink sync=true", 50, between);
  g_autoptr (GstQuery) query = gst_query_new_latency ();

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_assert_true (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, live, least, most);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* The latency query has the same answer with and without nmsfilter. */
static void
test_latency (void)
{
  static const gchar *const between[] = { "", "nmsfilter ! " };
  GstClockTime least[2], most[2];

  for (guint i = 0; i < 2; i++) {
    gboolean live;

    query_latency (between[i], &live, &least[i], &most[i]);
    g_assert_true (live);
    g_assert_cmpuint (least[i], >=, FRAME);
  }
  g_assert_cmpuint (least[1], ==, least[0]);
  g_assert_cmpuint (most[1], ==, most[0]);
}

/* ------------------------------------------------------------------- blocking */

static GstPadProbeReturn
on_block (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  g_async_queue_push (user_data, pad);
  return GST_PAD_PROBE_OK;
}

/* While a buffer is blocked downstream, everything but the stream works. */
static void
test_stuck_downstream (void)
{
  g_autoptr (GAsyncQueue) blocked = g_async_queue_new ();
  g_autoptr (GstElement)
      pipeline = playing_new (LIVE " ! nmsfilter name=filter ! fakesink name=sink async=false", 20);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime least, most;
  gboolean live;
  gulong probe;

  probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, on_block,
      blocked, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_assert_nonnull (g_async_queue_timeout_pop (blocked, 60 * G_TIME_SPAN_SECOND));

  for (guint i = 0; i < 20; i++) {
    g_object_set (filter, "iou-threshold", i / 20.0, "classes", "person", "max-detections", i,
        NULL);
    gst_util_set_object_arg (G_OBJECT (filter), "class-options", "o,car=[o,max=5]");
    g_assert_cmpuint (stat_of (filter, "frames"), ==, 1);
  }
  g_assert_true (gst_element_query (sink, query));
  gst_query_parse_latency (query, &live, &least, &most);
  g_assert_cmpuint (least, >=, FRAME);
  g_assert_true (gst_element_send_event (sink,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, GST_SECOND, 0)));

  gst_pad_remove_probe (pad, probe);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  g_assert_cmpuint (stat_of (filter, "frames"), ==, 20); /* although a QoS event came */
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* --------------------------------------------------------------- a slow frame */

#define BOXES 10   /* two groups of five equal boxes */
#define HEAP 20000 /* boxes that do not overlap, which take longest */

static GstBuffer *
frame_of (gboolean slow)
{
  const gint count = slow ? HEAP : BOXES, columns = slow ? 200 : 2;
  GstBuffer *buffer = frame_new (0);

  for (gint i = 0; i < count; i++)
    add_scored (buffer, i + 1, "a",
        (Rect) { i % columns * 20, slow ? i / columns * 20 : 0, 15, 15 },
        (gdouble) (count - i) / count);
  return buffer;
}

/* Frames with 20,000 boxes take long, and do not make the frames behind them slow. A few of these
 * may be as slow, because the machine may be busy. */
static void
test_slow_frame (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter engine=sequential");
  gint64 spent[60], shortest = G_MAXINT64;
  guint as_slow = 0;

  for (guint i = 0; i < G_N_ELEMENTS (spent); i++) {
    const gboolean slow = i % 20 == 10;
    GstBuffer *buffer = frame_of (slow);
    g_autoptr (GstBuffer) out = NULL;

    spent[i] = -g_get_monotonic_time ();
    out = through (h, buffer);
    spent[i] += g_get_monotonic_time ();
    g_assert_cmpuint (count_on (out), ==, slow ? HEAP : 2);
    if (slow)
      shortest = MIN (shortest, spent[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (spent); i++)
    as_slow += i % 20 != 10 && spent[i] >= shortest;
  g_test_message ("slow frames took %" G_GINT64_FORMAT " us and more, %u others as long", shortest,
      as_slow);
  g_assert_cmpuint (as_slow, <=, G_N_ELEMENTS (spent) / 10);
}

static const TestCase cases[] = { CASE (test_latency), CASE (test_stuck_downstream),
  CASE (test_slow_frame), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
