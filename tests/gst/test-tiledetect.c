/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tiledetect: the detector of these tests is a boxreplay that reports each picture that it gets as
 * one box, so the boxes that come out are the tiles. The cases run with a detector for each tile
 * and with one for all.
 */
#include <string.h>

#include "gstrunner.h"
#include "merging.h"
#include "playing.h"
#include "textfiles.h"

#define FRAMES 10

static gboolean shares; /* the case that runs has share-detector=true */

/* Returns a launch line with the share-detector of the case. Free it. */
static gchar *
in_mode (const gchar *launch)
{
  const gchar *place = strstr (launch, "tiledetect") + strlen ("tiledetect");

  return g_strdup_printf ("%.*s share-detector=%s%s", (int) (place - launch), launch,
      shares ? "true" : "false", place);
}

static GstElement *
pipeline_new (const gchar *launch)
{
  gchar *line = in_mode (launch);
  GstElement *pipeline = playing_new ("%s", line);

  g_free (line);
  return pipeline;
}

/* Returns the path of a recording with a box as large as its frame, 10 frames a second. Free it. */
static gchar *
write_whole (void)
{
  GString *text = g_string_new (NULL);
  gchar *path;

  for (guint i = 0; i < FRAMES; i++)
    g_string_append_printf (text,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"resolution\":{\"width\":"
        "100,\"height\":100},\"objects\":[{\"x\":0,\"y\":0,\"w\":100,\"h\":100,\"roi_type\":\"a\","
        "\"detection\":{\"confidence\":0.9}}]}\n",
        i * FRAME);
  path = text_file_new ("whole.jsonl", text->str, -1);
  g_string_free (text, TRUE);
  return path;
}

/* Creates a tiledetect, which is a bin, from its launch line. */
static GstElement *
detect_new (const gchar *launch)
{
  return gst_object_ref_sink (pipeline_new (launch));
}

static GstHarness *
tiles_new (const gchar *properties)
{
  gchar *path = write_whole ();
  gchar *launch = g_strdup_printf ("tiledetect %s detector=\"boxreplay location=%s\"", properties,
      path);
  GstElement *element = detect_new (launch);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_object_unref (element);
  gst_harness_set_live (h, FALSE);
  g_free (launch);
  g_free (path);
  return h;
}

/* Pushes frame `i` of width x height and checks the tiles. */
static void
expect_tiles (GstHarness *h, guint i, gint width, gint height, const gchar *expected)
{
  gchar *caps = g_strdup_printf ("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=10/1",
      width, height);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize) (GST_ROUND_UP_4 (width) * height),
      NULL);

  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  gst_harness_set_src_caps_str (h, caps);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  buffer = gst_harness_pull (h);
  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, i * FRAME);
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, (gsize) (GST_ROUND_UP_4 (width) * height));
  g_assert_cmpstr (boxes_on (buffer), ==, expected);
  g_free (caps);
  gst_buffer_unref (buffer);
}

static void
test_tiles (void)
{
  GstHarness *h = tiles_new ("");

  expect_tiles (h, 0, 640, 480, "0,0,320,240 320,0,320,240 0,240,320,240 320,240,320,240");
  expect_tiles (h, 1, 640, 480, "0,0,320,240 320,0,320,240 0,240,320,240 320,240,320,240");
  gst_harness_teardown (h);
  h = tiles_new ("columns=3 rows=1 overlap=20");
  expect_tiles (h, 0, 640, 480, "0,0,228,480 206,0,228,480 412,0,228,480");
  gst_harness_teardown (h);
  h = tiles_new ("columns=1 rows=1");
  expect_tiles (h, 0, 640, 480, "0,0,640,480");
  gst_harness_teardown (h);
}

/* Tiles of several sizes, and the whole frame once. */
static void
test_scales (void)
{
  static const struct
  {
    const gchar *properties, *expected;
  } runs[] = {
    { "columns=2 rows=1 whole-frame=true", "0,0,320,480 320,0,320,480 0,0,640,480" },
    { "columns=2 rows=1 scales=1x2+40", "0,0,320,480 320,0,320,480 0,0,640,260 0,220,640,260" },
    { "columns=1 rows=2 scales=\"2x1, 1x1\" whole-frame=true",
        "0,0,640,240 0,240,640,240 0,0,320,480 320,0,320,480 0,0,640,480" },
    { "columns=1 rows=1 scales=\"\" whole-frame=true", "0,0,640,480" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    GstHarness *h = tiles_new (runs[i].properties);

    expect_tiles (h, 0, 640, 480, runs[i].expected);
    expect_tiles (h, 1, 640, 480, runs[i].expected);
    gst_harness_teardown (h);
  }
}

static gboolean
accepts (GstHarness *h, const gchar *size)
{
  gchar *text = g_strdup_printf ("video/x-raw,format=GRAY8,framerate=10/1,%s", size);
  GstCaps *caps = gst_caps_from_string (text);
  GstCaps *found = gst_pad_peer_query_caps (h->srcpad, caps);
  const gboolean accepted = gst_pad_peer_query_accept_caps (h->srcpad, caps);

  g_assert_cmpint (accepted, ==, !gst_caps_is_empty (found));
  gst_caps_unref (found);
  gst_caps_unref (caps);
  g_free (text);
  return accepted;
}

/* The tiles follow the size of the frames. Smaller frames are accepted before they come. */
static void
test_caps_changes (void)
{
  GstHarness *h = tiles_new ("rows=1");

  expect_tiles (h, 0, 640, 480, "0,0,320,480 320,0,320,480");
  g_assert_true (accepts (h, "width=320,height=240"));
  expect_tiles (h, 1, 320, 240, "0,0,160,240 160,0,160,240");
  expect_tiles (h, 2, 1280, 100, "0,0,640,100 640,0,640,100");
  gst_harness_teardown (h);
}

/* A detector that takes tiles of certain sizes only determines the sizes of the frames. */
static void
test_tile_sizes (void)
{
  static const struct
  {
    const gchar *grid, *tile, *accepted, *refused;
  } runs[] = {
    { "columns=2 rows=1 overlap=80", "width=640,height=640", "width=1200,height=640",
        "width=1202,height=640" },
    { "columns=3 rows=2", "width=200,height=102", "width=598,height=201", "width=601,height=204" },
    { "columns=1 rows=2", "width=641,height={102,103}", "width=641,height=204",
        "width=641,height=205" },
    { "columns=2 rows=2", "width={320,400},height=[100,200]", "width=800,height=400",
        "width=320,height=402" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    gchar *launch =
        g_strdup_printf ("tiledetect %s detector=\"capsfilter caps=\\\"video/x-raw,%s\\\"\"",
            runs[i].grid, runs[i].tile);
    GstElement *element = detect_new (launch);
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

    g_assert_true (accepts (h, runs[i].accepted));
    g_assert_false (accepts (h, runs[i].refused));
    gst_harness_teardown (h);
    gst_object_unref (element);
    g_free (launch);
  }
}

/* Such a detector gets its tiles, and the tiles of other grids scaled to their size. Boxes are
 * scaled back. */
static void
test_fixed_size (void)
{
  gchar *path = write_whole ();
  gchar *launch = g_strdup_printf ("tiledetect columns=2 rows=1 overlap=80 whole-frame=true "
                                   "scales=1x2 detector=\"capsfilter "
                                   "caps=video/x-raw,width=640,height=640 ! boxreplay "
                                   "location=%s\"",
      path);
  GstElement *element = detect_new (launch);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_harness_set_live (h, FALSE);
  expect_tiles (h, 0, 1200, 640,
      "0,0,640,640 560,0,640,640 0,0,1200,320 0,320,1200,320 "
      "0,0,1200,640");
  g_assert_false (accepts (h, "width=1202,height=640"));
  gst_harness_teardown (h);
  gst_object_unref (element);
  g_free (launch);
  g_free (path);
}

typedef struct
{
  guint number; /* buffer at which the source is asked to negotiate again, from 1; 0: none */
  guint count;  /* buffers that passed */
} Renegotiation;

static GstPadProbeReturn
renegotiate (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Renegotiation *state = user_data;

  if (++state->count == state->number)
    gst_pad_send_event (pad, gst_event_new_reconfigure ());
  return GST_PAD_PROBE_OK;
}

/* A detector that leaves frames out, as videorate does, and a source that negotiates again: its
 * ALLOCATION query does not wait for frames that wait for the detector. */
static void
test_slow_detector (void)
{
  GstElement *pipeline = pipeline_new (
      "videotestsrc num-buffers=60 name=s ! video/x-raw,framerate=30/1 ! tiledetect rows=1 "
      "detector=\"videorate ! video/x-raw,framerate=5/1\" ! fakesink name=f");
  Renegotiation in = { 20, 0 }, out = { 0, 0 };

  playing_probe (pipeline, "s", "src", renegotiate, &in);
  playing_probe (pipeline, "f", "sink", renegotiate, &out);
  playing_to_end (pipeline);
  g_assert_cmpuint (in.count, ==, 60);
  g_assert_cmpuint (out.count, ==, 60);
  gst_object_unref (pipeline);
}

/* Elements of a detector may have names, by which the properties of one tile can be set, or of the
 * detector that all tiles share. */
static void
test_names (void)
{
  GstElement *pipeline = pipeline_new (shares
          ? "videotestsrc num-buffers=3 ! tiledetect name=d detector=\"identity "
            "name=det\" shared::det::sleep-time=1 ! fakesink"
          : "videotestsrc num-buffers=3 ! tiledetect name=d detector=\"identity "
            "name=det\" tile_3::det::sleep-time=1 ! fakesink");
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  const gchar *last = shares ? "shared::det::sleep-time" : "tile_3::det::sleep-time";
  GstIterator *all;
  GValue item = G_VALUE_INIT;
  guint time, count = 0;

  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_child_proxy_get (GST_CHILD_PROXY (element), last, &time, NULL);
  g_assert_cmpuint (time, ==, 1);
  all = gst_bin_iterate_recurse (GST_BIN (pipeline));
  while (gst_iterator_next (all, &item) == GST_ITERATOR_OK) {
    count += g_str_equal (GST_OBJECT_NAME (g_value_get_object (&item)), "det");
    g_value_reset (&item);
  }
  gst_iterator_free (all);
  g_assert_cmpuint (count, ==, shares ? 1 : 4);
  playing_to_end (pipeline);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

typedef struct
{
  guint frames;
  gint wrong; /* atomic: frames with other boxes than the tiles */
} Output;

static GstPadProbeReturn
check_tiles (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const gchar *boxes = boxes_on (GST_PAD_PROBE_INFO_BUFFER (info));
  Output *output = user_data;

  output->frames++;
  if (!g_str_equal (boxes, "0,0,320,480 320,0,320,480 0,0,640,480")) {
    g_test_message ("frame %u: %s", output->frames, boxes);
    g_atomic_int_inc (&output->wrong);
  }
  return GST_PAD_PROBE_OK;
}

/* Seeks leave nothing behind, and all frames up to the end have the boxes of all tiles. */
static void
test_seeks (void)
{
  gchar *path = write_whole ();
  gchar *launch = g_strdup_printf (
      "videotestsrc ! video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1 ! tiledetect "
      "rows=1 whole-frame=true detector=\"boxreplay location=%s\" ! fakesink name=sink",
      path);
  GstElement *pipeline = pipeline_new (launch);
  Output output = { 0 };

  playing_probe (pipeline, "sink", "sink", check_tiles, &output);
  playing_seek (pipeline, FRAMES, FRAME);
  g_assert_cmpuint (output.frames, >=, 20);
  g_assert_cmpint (output.wrong, ==, 0);
  gst_object_unref (pipeline);
  g_free (launch);
  g_free (path);
}

/* A live stream does not wait for a detector that takes longer than latency, and answers the
 * LATENCY query with it. */
static void
test_live (void)
{
  GstElement *pipeline = pipeline_new (
      "videotestsrc is-live=true num-buffers=20 ! video/x-raw,width=64,height=48,framerate=20/1 "
      "! tiledetect latency=50000000 detector=\"queue leaky=downstream max-size-buffers=1 "
      "! identity sleep-time=300000\" ! fakesink name=sink sync=true");
  GstQuery *query = gst_query_new_latency ();
  Renegotiation out = { 0, 0 };
  GstClockTime least;
  gboolean live;

  playing_probe (pipeline, "sink", "sink", renegotiate, &out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  g_assert_true (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, &live, &least, NULL);
  g_assert_true (live);
  g_assert_cmpuint (least, >=, 50 * GST_MSECOND);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (out.count, ==, 20);
  gst_query_unref (query);
  gst_object_unref (pipeline);
}

/* An error of a detector stops the pipeline. */
static void
test_detector_error (void)
{
  GstElement *pipeline = pipeline_new (
      "videotestsrc ! tiledetect detector=\"identity error-after=10\" ! fakesink");
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  assert_says (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR),
      "Failed after iterations as requested");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static GstPadProbeReturn
count_event (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_QOS)
    ++*(guint *) user_data;
  return GST_PAD_PROBE_OK;
}

/* A QoS event reaches the source by the main stream and by each detector. */
static void
test_qos (void)
{
  GstElement *pipeline = pipeline_new (
      "videotestsrc name=s num-buffers=3 ! tiledetect rows=1 whole-frame=true detector=identity "
      "! fakesink name=f");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  guint count = 0;

  playing_probe_type (pipeline, "s", "src", GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, count_event, &count);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  count = 0;
  gst_pad_push_event (pad, gst_event_new_qos (GST_QOS_TYPE_THROTTLE, 1, 0, 0));
  g_assert_cmpuint (count, ==, shares ? 2 : 4);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

static GstPadProbeReturn
drop_metas (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_copy_into (buffer, info->data, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_MEMORY, 0,
      -1);
  gst_buffer_unref (info->data);
  info->data = buffer;
  return GST_PAD_PROBE_OK;
}

/* A detector that makes new buffers can have one tile only. */
static void
test_lost_metadata (void)
{
  GstElement *pipeline = pipeline_new (
      "videotestsrc num-buffers=3 ! tiledetect detector=\"identity name=det\" ! fakesink");
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_READY);
  playing_probe (pipeline, "det", "src", drop_metas, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (shares)
    assert_says (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR),
        "set share-detector=false");
  else
    gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

/* Drops the second of three tiles, and sends a GAP event for it as identity does. */
static GstPadProbeReturn
leave_out (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  guint *count = user_data;

  if (++*count % 3 != 2)
    return GST_PAD_PROBE_OK;
  gst_pad_push_event (pad, gst_event_new_gap (GST_BUFFER_PTS (info->data), FRAME));
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
check_two_tiles (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  g_assert_cmpstr (boxes_on (GST_PAD_PROBE_INFO_BUFFER (info)), ==, "0,0,320,480 0,0,640,480");
  ++*(guint *) user_data;
  return GST_PAD_PROBE_OK;
}

/* A shared detector that leaves a tile out does not lose the other tiles of the frame. */
static void
test_left_out (void)
{
  gchar *path = write_whole ();
  gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=10 ! video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1 "
      "! tiledetect rows=1 whole-frame=true detector=\"boxreplay location=%s ! identity name=det\" "
      "! fakesink name=sink",
      path);
  GstElement *pipeline = pipeline_new (launch);
  guint tiles = 0, frames = 0;

  if (shares) {
    gst_element_set_state (pipeline, GST_STATE_READY);
    playing_probe (pipeline, "det", "src", leave_out, &tiles);
    playing_probe (pipeline, "sink", "sink", check_two_tiles, &frames);
    playing_to_end (pipeline);
    g_assert_cmpuint (frames, ==, 10);
    g_assert_cmpuint (tiles, ==, 30);
  }
  gst_object_unref (pipeline);
  g_free (launch);
  g_free (path);
}

static GstPadProbeReturn
count_gap (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_GAP)
    ++*(guint *) user_data;
  return GST_PAD_PROBE_OK;
}

/* A GAP of the stream comes out once, without waiting for the frame behind it. */
static void
test_gap (void)
{
  GstHarness *h = tiles_new ("rows=1");
  guint count = 0;

  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, count_gap, &count, NULL);
  expect_tiles (h, 0, 640, 480, "0,0,320,480 320,0,320,480");
  gst_harness_push_event (h, gst_event_new_gap (FRAME, FRAME));
  for (guint i = 0; i < 500 && count == 0; i++)
    g_usleep (10000);
  g_assert_cmpuint (count, ==, 1);
  expect_tiles (h, 2, 640, 480, "0,0,320,480 320,0,320,480");
  g_assert_cmpuint (count, ==, 1);
  gst_harness_teardown (h);
}

/* tiledetect is a detector too: tiles of tiles. */
static void
test_nested (void)
{
  gchar *path = write_whole ();
  gchar *inner = in_mode ("tiledetect columns=1 rows=2 detector=\\\"boxreplay location=%s\\\"");
  gchar *detector = g_strdup_printf (inner, path);
  gchar *launch = g_strdup_printf ("tiledetect columns=2 rows=1 detector=\"%s\"", detector);
  GstElement *element = detect_new (launch);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_harness_set_live (h, FALSE);
  expect_tiles (h, 0, 640, 480, "0,0,320,240 0,240,320,240 320,0,320,240 320,240,320,240");
  gst_harness_teardown (h);
  gst_object_unref (element);
  g_free (launch);
  g_free (detector);
  g_free (inner);
  g_free (path);
}

/* Starts the element, expects that it fails, and that its message has this text. */
static void
expect_error (const gchar *launch, const gchar *text)
{
  GstElement *element = detect_new (launch);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), text);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

static void
test_errors (void)
{
  expect_error ("tiledetect", "set the property detector");
  expect_error ("tiledetect detector=nosuchdetector", "nosuchdetector");
  expect_error ("tiledetect detector=fakesink", "fakesink");
  expect_error ("tiledetect detector=videotestsrc", "videotestsrc");
  expect_error ("tiledetect detector=identity scales=2x", "scales: \"2x\" is not a list");
  expect_error ("tiledetect detector=identity scales=2x2,,1x1", "scales: \"2x2,,1x1\" is not");
  expect_error ("tiledetect detector=identity scales=101x1", "up to 100 columns and rows");
  expect_error ("tiledetect detector=identity edge-margin=5px", "edge-margin: \"5px\" is not");
}

/* Properties are fixed from READY on, and may change between two runs. */
static void
test_restart (void)
{
  GstElement *pipeline = pipeline_new ("videotestsrc num-buffers=3 ! tiledetect name=d "
                                       "detector=identity ! fakesink");
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  GstBus *bus = gst_element_get_bus (pipeline);
  guint columns;

  playing_to_end (pipeline);
  g_object_set (element, "columns", 3, "overlap", 10, NULL);
  playing_to_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_object_set (element, "columns", 4, NULL);
  g_object_get (element, "columns", &columns, NULL);
  g_assert_cmpuint (columns, ==, 3);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

/* Sends a frame on which a whole object was found already through tiledetect and nmsfilter. One
 * tile shows most of the object. Checks the boxes that are left. */
static void
expect_kept (const gchar *properties, const gchar *filter, const gchar *expected)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, FRAME_WIDTH * FRAME_HEIGHT, NULL);
  GstHarness *h = tiles_new (properties);

  GST_BUFFER_PTS (buffer) = 0;
  add_scored (buffer, 0, "a", 0, 0, 360, 480, 0.3);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  gst_harness_push (h, buffer);
  buffer = filtered (filter, gst_harness_pull (h));
  g_assert_cmpstr (boxes_on (buffer), ==, expected);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

/* A box at an inner edge of its tile gives way to a whole one with a lower confidence. */
static void
test_cut_boxes (void)
{
  expect_kept ("rows=1", "nmsfilter", "0,0,360,480 320,0,320,480");
  expect_kept ("rows=1 edge-margin=\"\"", "nmsfilter", "0,0,320,480 320,0,320,480");
  expect_kept ("rows=1 edge-margin=1%", "nmsfilter", "0,0,360,480 320,0,320,480");
  expect_kept ("rows=1 columns=1", "nmsfilter", "0,0,640,480");
}

/* Tiles report parts of a large object, and the whole frame reports all of it. With metric ios the
 * box of the whole object suppresses its parts, because no edge of a tile cuts it. */
static void
test_parts (void)
{
  expect_kept ("whole-frame=true", "nmsfilter metric=ios", "0,0,640,480");
  expect_kept ("scales=1x1", "nmsfilter metric=ios", "0,0,640,480");
  expect_kept ("rows=1 whole-frame=true edge-margin=NULL", "nmsfilter metric=ios",
      "0,0,320,480 320,0,320,480");
}

/* Boxes that were found upstream stay on the frame, once. */
static void
test_upstream_boxes (void)
{
  static const gchar *const grids[] = { "columns=1 rows=1", "columns=2 rows=1" };

  for (guint i = 0; i < G_N_ELEMENTS (grids); i++) {
    gchar *launch = g_strdup_printf ("tiledetect %s detector=identity", grids[i]);
    GstElement *element = detect_new (launch);
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, FRAME_WIDTH * FRAME_HEIGHT, NULL);

    gst_harness_set_live (h, FALSE);
    GST_BUFFER_PTS (buffer) = 0;
    add_scored (buffer, 0, "a", 10, 10, 30, 30, 0.3);
    gst_harness_set_src_caps_str (h, FRAME_CAPS);
    gst_harness_push (h, buffer);
    buffer = gst_harness_pull (h);
    g_assert_cmpstr (boxes_on (buffer), ==, "10,10,30,30");
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
    gst_object_unref (element);
    g_free (launch);
  }
}

static void
test_defaults (void)
{
  GstElement *element = gst_object_ref_sink (playing_new ("tiledetect"));

  assert_values (element,
      "columns rows overlap scales whole-frame share-detector latency edge-margin detector",
      "2 2 0 NULL false true 0 5 NULL");
  gst_object_unref (element);
}

typedef struct
{
  const gchar *name;
  void (*run) (void);
} Case;

static const Case all[] = {
  { "tiles", test_tiles },
  { "scales", test_scales },
  { "tile-sizes", test_tile_sizes },
  { "fixed-size", test_fixed_size },
  { "caps-changes", test_caps_changes },
  { "cut-boxes", test_cut_boxes },
  { "parts", test_parts },
  { "upstream-boxes", test_upstream_boxes },
  { "nested", test_nested },
  { "slow-detector", test_slow_detector },
  { "seeks", test_seeks },
  { "left-out", test_left_out },
  { "gap", test_gap },
  { "live", test_live },
  { "qos", test_qos },
  { "detector-error", test_detector_error },
  { "lost-metadata", test_lost_metadata },
  { "names", test_names },
  { "errors", test_errors },
  { "restart", test_restart },
  { NULL },
};

static void
run_separate (gconstpointer row)
{
  shares = FALSE;
  ((const Case *) row)->run ();
}

static void
run_shared (gconstpointer row)
{
  shares = TRUE;
  ((const Case *) row)->run ();
}

static const TestCase cases[] = { TEST_ROWS ("/tiledetect/separate/%s", run_separate, all),
  TEST_ROWS ("/tiledetect/shared/%s", run_shared, all), { "/tiledetect/defaults", test_defaults },
  { NULL } };

GST_TEST_PROGRAM (cases, .needs = "boxreplay videocrop");
