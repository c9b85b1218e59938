/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmerge in pipelines: tiles that videocrop cuts and whose boxes boxreplay attaches, seeks, and
 * a live stream with a branch that is too slow.
 */
#include "gstrunner.h"
#include "merging.h"
#include "playing.h"
#include "textfiles.h"

#define FRAMES 50
#define QUEUE "queue max-size-buffers=100 max-size-bytes=0 max-size-time=0"

/* Returns the path of a recording with one box at x = number of the frame, y = 20 in pictures of
 * 320x240. Free it. */
static gchar *
write_recording (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gchar *path;

  for (guint i = 0; i < FRAMES; i++)
    g_string_append_printf (text,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"resolution\":{\"width\":"
        "320,\"height\":240},\"objects\":[{\"x\":%u,\"y\":20,\"w\":30,\"h\":40,\"roi_type\":\"a\","
        "\"detection\":{\"confidence\":0.5}}]}\n",
        i * FRAME, i);
  path = text_file_new ("tile.jsonl", text->str, -1);
  return path;
}

typedef struct
{
  guint frames;
  gint wrong; /* atomic: frames with other boxes than expected */
} Output;

/* Checks that a frame has the boxes of all four tiles at its time. */
static GstPadProbeReturn
check_tiles (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const guint i = (guint) (GST_BUFFER_PTS (buffer) / FRAME);
  g_autofree gchar *expected = g_strdup_printf ("%u,20,30,40 %u,20,30,40 %u,260,30,40 %u,260,30,40",
      i, i + 320, i, i + 320);
  Output *output = user_data;

  output->frames++;
  if (!g_str_equal (boxes_on (buffer), expected)) {
    g_test_message ("frame %u: %s", i, boxes_on (buffer));
    g_atomic_int_inc (&output->wrong);
  }
  return GST_PAD_PROBE_OK;
}

static GstElement *
tiled_new (const gchar *path)
{
  return playing_new (
      "videotestsrc ! "
      "video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1 ! tee name=t "
      "t. ! " QUEUE " ! boxmerge name=m sink_0::tiles=2x2 sink_1::tiles=2x2 "
      "sink_1::tile-index=1 sink_2::tiles=2x2 sink_2::tile-index=2 sink_3::tiles=2x2 "
      "sink_3::tile-index=3 ! nmsfilter name=filter ! fakesink name=sink "
      "t. ! queue ! videocrop right=320 bottom=240 ! boxreplay location=%s ! m.sink_0 "
      "t. ! queue ! videocrop left=320 bottom=240 ! boxreplay location=%s ! m.sink_1 "
      "t. ! queue ! videocrop right=320 top=240 ! boxreplay location=%s ! m.sink_2 "
      "t. ! queue ! videocrop left=320 top=240 ! boxreplay location=%s ! m.sink_3",
      path, path, path, path);
}

/* The seeks leave nothing behind, and all frames up to the end have their boxes. */
static void
test_seeks (void)
{
  g_autofree gchar *path = write_recording ();
  g_autoptr (GstElement) pipeline = tiled_new (path);
  Output output = { 0 };

  playing_probe (pipeline, "sink", "sink", check_tiles, &output);
  playing_seek (pipeline, FRAMES, FRAME);
  g_assert_cmpuint (output.frames, >=, 20);
  g_assert_cmpint (output.wrong, ==, 0);
}

/* Keeps the largest delay of a buffer against the clock. */
static GstPadProbeReturn
measure_delay (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  GstClockTime now = gst_element_get_current_running_time (element);
  GstClockTime pts = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));
  GstClockTime *worst = user_data;

  if (GST_CLOCK_TIME_IS_VALID (now) && now > pts)
    *worst = MAX (*worst, now - pts);
  return GST_PAD_PROBE_OK;
}

/* A branch that takes 3 s for each frame does not delay the main stream. The limit leaves room for
 * other load on the machine. */
static void
test_slow_branch (void)
{
  GstClockTime worst = 0;
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc is-live=true num-buffers=30 ! "
      "video/x-raw,format=GRAY8,width=64,height=48,framerate=20/1 ! tee name=t "
      "t. ! queue ! boxmerge name=m latency=50000000 ! fakesink name=sink sync=false "
      "t. ! queue leaky=downstream max-size-buffers=1 ! identity sleep-time=3000000 ! m.sink_0 "
      "t. ! queue ! m.sink_1");

  playing_probe (pipeline, "sink", "sink", measure_delay, &worst);
  playing_to_end (pipeline);
  g_test_message ("largest delay: %" GST_TIME_FORMAT, GST_TIME_ARGS (worst));
  g_assert_cmpuint (worst, <, 2 * GST_SECOND);
}

static const TestCase cases[] = { CASE (test_seeks), CASE (test_slow_branch), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "boxreplay videocrop");
