/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter in live pipelines: it adds no latency, waits for no other thread, and a
 * frame that takes long does not delay others. Times are only compared with times of the
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
  static const gchar *const queues[] = { "", "queue max-size-buffers=3 ! ",
    "queue leaky=downstream max-size-buffers=1 max-size-time=0 max-size-bytes=0 ! " };

  for (guint i = 0; i < G_N_ELEMENTS (queues); i++) {
    g_autofree gchar *with = g_strdup_printf ("%s nmsfilter ! ", queues[i]);
    GstClockTime least[2], most[2];
    gboolean live[2];

    query_latency (queues[i], &live[0], &least[0], &most[0]);
    query_latency (with, &live[1], &least[1], &most[1]);
    g_assert_true (live[0]);
    g_assert_true (live[1]);
    g_assert_cmpuint (least[0], >=, FRAME);
    g_assert_cmpuint (least[1], ==, least[0]);
    g_assert_cmpuint (most[1], ==, most[0]);
  }
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

#define FRAMES 70
#define BOXES 10   /* two groups of five equal boxes */
#define HEAP 20000 /* boxes that do not overlap, which take longest */

/* The queue may drop a slow frame, but hardly all of them. */
static gboolean
is_slow (guint number)
{
  return number == 25 || number == 38 || number == 51;
}

typedef struct
{
  guint sent, entered, left, wrong;
  gint64 since;         /* microseconds; when the current frame entered */
  gint64 spent[FRAMES]; /* -1: dropped earlier */
  guint last;
} Live;

static guint
number_of (GstBuffer *buffer)
{
  return (guint) GST_BUFFER_OFFSET (buffer);
}

static GstPadProbeReturn
attach_boxes (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  guint number = number_of (buffer);
  gint count = is_slow (number) ? HEAP : BOXES, columns = is_slow (number) ? 200 : 2;
  Live *live = user_data;

  for (gint i = 0; i < count; i++)
    add_scored (buffer, i + 1, "a",
        (Rect) { i % columns * 20, is_slow (number) ? i / columns * 20 : 0, 15, 15 },
        (gdouble) (count - i) / count);
  live->sent++;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_enter (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Live *live = user_data;

  /* the previous buffer has left, because nmsfilter holds none back */
  live->wrong += live->entered++ != live->left;
  live->since = g_get_monotonic_time ();
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_leave (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint number = number_of (buffer);
  Live *live = user_data;

  live->spent[number] = g_get_monotonic_time () - live->since;
  live->wrong += live->left++ > 0 && number <= live->last;
  live->wrong += count_on (buffer) != (is_slow (number) ? HEAP : 2);
  live->last = number;
  return GST_PAD_PROBE_OK;
}

/* Plays the pipeline once. Returns FALSE if the queue dropped every slow frame, as it
 * does when the machine stops for some seconds. */
static gboolean
play_slow_frames (Live *live)
{
  GstElement *pipeline = playing_new (LIVE
      " ! queue leaky=downstream max-size-buffers=1 "
      "max-size-bytes=0 max-size-time=0 ! nmsfilter name=filter engine=sequential ! "
      "fakesink sync=true qos=true",
      FRAMES);
  guint slow = 0;

  *live = (Live) { .sent = 0 };
  for (guint i = 0; i < FRAMES; i++)
    live->spent[i] = -1;
  playing_probe (pipeline, "source", "src", attach_boxes, live);
  playing_probe (pipeline, "filter", "sink", on_enter, live);
  playing_probe (pipeline, "filter", "src", on_leave, live);
  playing_to_end (pipeline);
  g_assert_cmpuint (live->sent, ==, FRAMES);
  g_assert_cmpuint (live->wrong, ==, 0);
  g_assert_cmpuint (live->left, ==, live->entered);
  g_assert_cmpuint (live->last, ==, FRAMES - 1);
  gst_object_unref (pipeline);
  for (guint i = 0; i < FRAMES; i++)
    slow += is_slow (i) && live->spent[i] >= 0;
  return slow > 0;
}

/* A camera, a queue that drops old frames, a sink that shows frames on time. Frames with 20,000
 * boxes take long, and do not delay the others. A few of these may be as slow, because the machine
 * may be busy. */
static void
test_slow_frame (void)
{
  g_autofree Live *live = g_new (Live, 1);
  gint64 shortest = G_MAXINT64;
  guint tries = 1, as_slow = 0, ordinary = 0;

  while (!play_slow_frames (live))
    g_assert_cmpuint (tries++, <, 5);
  for (guint i = 0; i < FRAMES; i++)
    if (is_slow (i) && live->spent[i] >= 0)
      shortest = MIN (shortest, live->spent[i]);
  for (guint i = 0; i < FRAMES; i++) {
    ordinary += !is_slow (i) && live->spent[i] >= 0;
    as_slow += !is_slow (i) && live->spent[i] >= shortest;
  }
  g_test_message ("%u of %u frames passed; slow ones took %" G_GINT64_FORMAT
                  " us and more, %u others as long",
      live->left, live->sent, shortest, as_slow);
  g_assert_cmpuint (as_slow, <=, FRAMES / 10);
  g_assert_cmpuint (2 * as_slow, <, ordinary);
}

static const TestCase cases[] = { CASE (test_latency), CASE (test_stuck_downstream),
  CASE (test_slow_frame), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
