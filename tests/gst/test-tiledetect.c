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
#define GRAY_640 "video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1"

/* Returns whether the case that runs has share-detector=true: the cases are run in both modes. */
static gboolean
shares (void)
{
  return g_str_has_prefix (g_test_get_path (), "/tiledetect/shared/");
}

/* Returns a launch line with the share-detector of the case. WHOLE is the boxreplay, whose
 * recording has a box as large as its frame, 10 frames a second. Free it. */
static gchar *
line_of (const gchar *launch)
{
  g_autoptr (GString) recording = g_string_new (NULL);
  GString *line = g_string_new (launch);
  g_autofree gchar *path = NULL, *detector = NULL;

  for (guint i = 0; i < FRAMES; i++)
    g_string_append_printf (recording,
        "{\"timestamp\":%" G_GUINT64_FORMAT ",\"resolution\":{\"width\":"
        "100,\"height\":100},\"objects\":[{\"x\":0,\"y\":0,\"w\":100,\"h\":100,\"roi_type\":\"a\","
        "\"detection\":{\"confidence\":0.9}}]}\n",
        i * FRAME);
  path = text_file_new ("whole.jsonl", recording->str, -1);
  detector = g_strconcat ("boxreplay location=", path, NULL);
  g_string_replace (line, "WHOLE", detector, 0);
  g_string_replace (line, "tiledetect",
      shares () ? "tiledetect share-detector=true" : "tiledetect share-detector=false", 0);
  return g_string_free (line, FALSE);
}

static GstElement *
pipeline_new (const gchar *launch)
{
  g_autofree gchar *line = line_of (launch);

  return playing_new ("%s", line);
}

/* Creates a tiledetect in a harness, and behind it another element. */
static GstHarness *
tiles_new (const gchar *properties, const gchar *detector, const gchar *filter)
{
  g_autofree gchar *launch = g_strdup_printf ("tiledetect %s detector=\"%s\" ! %s", properties,
      detector, filter ? filter : "identity");
  g_autofree gchar *line = line_of (launch);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_live (h, FALSE);
  return h;
}

/* Returns the caps of a size such as 640x480, and the bytes of its frame. Unref them. */
static GstCaps *
gray_of (const gchar *size, gsize *bytes)
{
  gint width, height;

  g_assert_cmpint (sscanf (size, "%dx%d", &width, &height), ==, 2);
  *bytes = (gsize) (GST_ROUND_UP_4 (width) * height);
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT,
      width, "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
}

static void
expect_accepts (GstHarness *h, const gchar *size, gboolean expected)
{
  gsize bytes;
  g_autoptr (GstCaps) caps = gray_of (size, &bytes);
  g_autoptr (GstCaps) found = gst_pad_peer_query_caps (h->srcpad, caps);

  g_assert_cmpint (gst_pad_peer_query_accept_caps (h->srcpad, caps), ==, expected);
  g_assert_cmpint (gst_caps_is_empty (found), ==, !expected);
}

/* Pushes frame `i` of a size, with these boxes, and checks those that come out. */
static void
expect_boxes (GstHarness *h, guint i, const gchar *size, const gchar *boxes, const gchar *expected)
{
  g_autoptr (GstBuffer) buffer = NULL;
  gsize bytes;

  gst_harness_set_src_caps (h, gray_of (size, &bytes));
  buffer = gst_buffer_new_allocate (NULL, bytes, NULL);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  add_boxes (buffer, boxes);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  buffer = gst_harness_pull (h);
  g_assert_nonnull (buffer);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, i * FRAME);
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, bytes);
  g_assert_cmpstr (boxes_on (buffer), ==, expected);
}

/* The frames that a tiledetect gets, and the boxes that come out. */
typedef struct
{
  const gchar *name, *properties, *detector;
  const gchar *accepted, *refused; /* sizes, checked behind the first frame; or NULL */
  const gchar *frames[3][2]; /* sizes and boxes; the first comes twice if it is the only one */
  const gchar *box, *filter; /* a box that each frame already has, and an element behind; or NULL */
} Tiles;

static void
run_tiles (gconstpointer data)
{
  const Tiles *row = data;
  g_autoptr (GstHarness) h = tiles_new (row->properties, row->detector, row->filter);

  for (guint i = 0; i < 3; i++) {
    const gchar *const *frame = row->frames[i == 1 && row->frames[1][0] == NULL ? 0 : i];

    if (frame[0])
      expect_boxes (h, i, frame[0], row->box ? row->box : "", frame[1]);
    if (i == 0 && row->accepted)
      expect_accepts (h, row->accepted, TRUE);
    if (i == 0 && row->refused)
      expect_accepts (h, row->refused, FALSE);
  }
}

#define LARGE "0 a 0,0,360,480 0.3" /* one tile shows most of it */
#define SMALL "0 a 10,10,30,30 0.3"
#define HALVES "0,0,320,480 320,0,320,480"
#define FOUR "0,0,320,240 320,0,320,240 0,240,320,240 320,240,320,240"

static const Tiles tiles[] = {
  { "tiles", "", "WHOLE", NULL, NULL, { { "640x480", FOUR } } },
  { "overlap", "columns=3 rows=1 overlap=20", "WHOLE", NULL, NULL,
      { { "640x480", "0,0,228,480 206,0,228,480 412,0,228,480" } } },
  { "one-tile", "columns=1 rows=1", "WHOLE", NULL, NULL, { { "640x480", "0,0,640,480" } } },
  { "whole-frame", "columns=2 rows=1 whole-frame=true", "WHOLE", NULL, NULL,
      { { "640x480", "0,0,320,480 320,0,320,480 0,0,640,480" } } },
  { "scales", "columns=2 rows=1 scales=1x2+40", "WHOLE", NULL, NULL,
      { { "640x480", "0,0,320,480 320,0,320,480 0,0,640,260 0,220,640,260" } } },
  { "whole frame once", "columns=1 rows=2 scales=\"2x1, 1x1\" whole-frame=true", "WHOLE", NULL,
      NULL, { { "640x480", "0,0,640,240 0,240,640,240 0,0,320,480 320,0,320,480 0,0,640,480" } } },
  { "empty scales", "columns=1 rows=1 scales=\"\" whole-frame=true", "WHOLE", NULL, NULL,
      { { "640x480", "0,0,640,480" } } },
  { "nested", "columns=2 rows=1", "tiledetect columns=1 rows=2 detector=\\\"WHOLE\\\"", NULL, NULL,
      { { "640x480", "0,0,320,240 0,240,320,240 320,0,320,240 320,240,320,240" } } },
  /* The tiles follow the size of the frames. Smaller frames are accepted before they come. */
  { "caps-changes", "rows=1", "WHOLE", "320x240", NULL,
      { { "640x480", "0,0,320,480 320,0,320,480" }, { "320x240", "0,0,160,240 160,0,160,240" },
          { "1280x100", "0,0,640,100 640,0,640,100" } } },
  /* A detector that takes tiles of certain sizes only determines the sizes of the frames. It gets
   * the tiles of other grids scaled to its size, and boxes are scaled back. */
  { "fixed-size", "columns=2 rows=1 overlap=80 whole-frame=true scales=1x2",
      "capsfilter caps=video/x-raw,width=640,height=640 ! WHOLE", "1200x640", "1202x640",
      { { "1200x640", "0,0,640,640 560,0,640,640 0,0,1200,320 0,320,1200,320 0,0,1200,640" } } },
  { "tile-sizes", "columns=3 rows=2", "capsfilter caps=video/x-raw,width=200,height=102", "598x201",
      "601x204" },
  { "tile-heights", "columns=1 rows=2",
      "capsfilter caps=\\\"video/x-raw,width=641,height={102,103}\\\"", "641x204", "641x205" },
  { "tile-ranges", "columns=2 rows=2",
      "capsfilter caps=\\\"video/x-raw,width={320,400},height=[100,200]\\\"", "800x400",
      "320x402" },
  /* A box at an inner edge of its tile gives way to a whole one with a lower confidence. */
  { "cut-boxes", "rows=1", "WHOLE", NULL, NULL, { { "640x480", "0,0,360,480 320,0,320,480" } },
      LARGE, "nmsfilter" },
  { "no margin", "rows=1 edge-margin=\"\"", "WHOLE", NULL, NULL, { { "640x480", HALVES } }, LARGE,
      "nmsfilter" },
  { "margin", "rows=1 edge-margin=1%", "WHOLE", NULL, NULL,
      { { "640x480", "0,0,360,480 320,0,320,480" } }, LARGE, "nmsfilter" },
  { "no inner edge", "rows=1 columns=1", "WHOLE", NULL, NULL, { { "640x480", "0,0,640,480" } },
      LARGE, "nmsfilter" },
  /* Tiles report parts of a large object, and the whole frame reports all of it. With metric ios
   * the box of the whole object suppresses its parts, because no edge of a tile cuts it. */
  { "parts", "whole-frame=true", "WHOLE", NULL, NULL, { { "640x480", "0,0,640,480" } }, LARGE,
      "nmsfilter metric=ios" },
  { "scaled parts", "scales=1x1", "WHOLE", NULL, NULL, { { "640x480", "0,0,640,480" } }, LARGE,
      "nmsfilter metric=ios" },
  { "parts without margin", "rows=1 whole-frame=true edge-margin=NULL", "WHOLE", NULL, NULL,
      { { "640x480", HALVES } }, LARGE, "nmsfilter metric=ios" },
  /* Boxes that were found upstream stay on the frame, once. */
  { "upstream-boxes", "rows=1", "identity", NULL, NULL, { { "640x480", "10,10,30,30" } }, SMALL },
  { "one tile", "rows=1 columns=1", "identity", NULL, NULL, { { "640x480", "10,10,30,30" } },
      SMALL },
  { NULL },
};

typedef struct
{
  const gchar *tiles; /* the tiles of each frame; NULL: any */
  guint frames;
} Output;

static GstPadProbeReturn
check_tiles (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Output *output = user_data;

  output->frames++;
  if (output->tiles)
    g_assert_cmpstr (boxes_on (GST_PAD_PROBE_INFO_BUFFER (info)), ==, output->tiles);
  return GST_PAD_PROBE_OK;
}

/* Asks the source to negotiate again at the 20th buffer. */
static GstPadProbeReturn
renegotiate (GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  if (++*(guint *) count == 20)
    gst_pad_send_event (pad, gst_event_new_reconfigure ());
  return GST_PAD_PROBE_OK;
}

/* A detector that leaves frames out, as videorate does, and a source that negotiates again: its
 * ALLOCATION query does not wait for frames that wait for the detector. */
static void
test_slow_detector (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc num-buffers=60 name=s ! video/x-raw,framerate=30/1 ! tiledetect rows=1 "
      "detector=\"videorate ! video/x-raw,framerate=5/1\" ! fakesink name=f");
  Output output = { NULL, 0 };
  guint in = 0;

  playing_probe (pipeline, "s", "src", renegotiate, &in);
  playing_probe (pipeline, "f", "sink", check_tiles, &output);
  playing_to_end (pipeline);
  g_assert_cmpuint (output.frames, ==, 60);
}

/* Elements of a detector may have names, by which the properties of one tile can be set, or of the
 * detector that all tiles share. */
static void
test_names (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (shares ()
          ? "videotestsrc num-buffers=3 ! tiledetect name=d detector=\"identity name=det\" "
            "shared::det::sleep-time=1 ! fakesink"
          : "videotestsrc num-buffers=3 ! tiledetect name=d detector=\"identity name=det\" "
            "tile_3::det::sleep-time=1 ! fakesink");
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  static const gchar *const names[] = { "shared", "tile_0", "tile_1", "tile_2", "tile_3" };

  gst_element_set_state (pipeline, GST_STATE_READY);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *property = g_strconcat (names[i], "::det::sleep-time", NULL);
    const gboolean exists = shares () == (i == 0);
    guint time;

    g_assert_cmpint (gst_child_proxy_lookup (GST_CHILD_PROXY (element), property, NULL, NULL), ==,
        exists);
    if (!exists)
      continue;
    gst_child_proxy_get (GST_CHILD_PROXY (element), property, &time, NULL);
    g_assert_cmpuint (time, ==, i == 0 || i == 4);
  }
  playing_to_end (pipeline);
}

/* Seeks leave nothing behind, and all frames up to the end have the boxes of all tiles. */
static void
test_seeks (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc ! " GRAY_640
      " ! tiledetect rows=1 whole-frame=true detector=\"WHOLE\" ! fakesink name=sink");
  Output output = { "0,0,320,480 320,0,320,480 0,0,640,480", 0 };

  playing_probe (pipeline, "sink", "sink", check_tiles, &output);
  playing_seek (pipeline, FRAMES, FRAME);
  g_assert_cmpuint (output.frames, >=, 20);
}

/* A live stream does not wait for a detector that takes longer than latency, and answers the
 * LATENCY query with it. */
static void
test_live (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc is-live=true num-buffers=20 ! video/x-raw,width=64,height=48,framerate=20/1 "
      "! tiledetect latency=50000000 detector=\"queue leaky=downstream max-size-buffers=1 "
      "! identity sleep-time=300000\" ! fakesink name=sink sync=true");
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime least;
  gboolean live;
  Output output = { NULL, 0 };

  playing_probe (pipeline, "sink", "sink", check_tiles, &output);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  g_assert_true (gst_element_query (pipeline, query));
  gst_query_parse_latency (query, &live, &least, NULL);
  g_assert_true (live);
  g_assert_cmpuint (least, >=, 50 * GST_MSECOND);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (output.frames, ==, 20);
}

typedef struct
{
  GstEventType type;
  guint count;
} Events;

static GstPadProbeReturn
count_events (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Events *events = user_data;

  events->count += GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == events->type;
  return GST_PAD_PROBE_OK;
}

/* A QoS event reaches the source by the main stream and by each detector. */
static void
test_qos (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc name=s num-buffers=3 ! tiledetect rows=1 whole-frame=true detector=identity "
      "! fakesink name=f");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  Events events = { GST_EVENT_QOS, 0 };

  playing_probe_type (pipeline, "s", "src", GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, count_events,
      &events);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  events.count = 0;
  gst_pad_push_event (pad, gst_event_new_qos (GST_QOS_TYPE_THROTTLE, 1, 0, 0));
  g_assert_cmpuint (events.count, ==, shares () ? 2 : 4);
  gst_element_set_state (pipeline, GST_STATE_NULL);
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

/* Plays until an error, which says these words. */
static void
expect_error (GstElement *pipeline, const gchar *words)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  assert_says (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR), words);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* An error of a detector stops the pipeline. */
static void
test_detector_error (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc ! tiledetect detector=\"identity error-after=10\" ! fakesink");

  expect_error (pipeline, "Failed after iterations as requested");
}

/* A detector that makes new buffers can have one tile only. */
static void
test_lost_metadata (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc num-buffers=3 ! tiledetect detector=\"identity name=det\" ! fakesink");

  gst_element_set_state (pipeline, GST_STATE_READY);
  playing_probe (pipeline, "det", "src", drop_metas, NULL);
  if (shares ())
    expect_error (pipeline, "set share-detector=false");
  else
    playing_to_end (pipeline);
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

/* A shared detector that leaves a tile out does not lose the other tiles of the frame. */
static void
test_left_out (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc num-buffers=10 ! " GRAY_640
      " ! tiledetect rows=1 whole-frame=true detector=\"WHOLE ! identity name=det\" "
      "! fakesink name=sink");
  Output output = { "0,0,320,480 0,0,640,480", 0 };
  guint tiles_seen = 0;

  gst_element_set_state (pipeline, GST_STATE_READY);
  playing_probe (pipeline, "det", "src", leave_out, &tiles_seen);
  playing_probe (pipeline, "sink", "sink", check_tiles, &output);
  playing_to_end (pipeline);
  g_assert_cmpuint (output.frames, ==, 10);
  g_assert_cmpuint (tiles_seen, ==, 30);
}

/* A GAP of the stream comes out once, without waiting for the frame behind it. */
static void
test_gap (void)
{
  g_autoptr (GstHarness) h = tiles_new ("rows=1", "WHOLE", NULL);
  Events gaps = { GST_EVENT_GAP, 0 };

  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, count_events, &gaps, NULL);
  expect_boxes (h, 0, "640x480", "", HALVES);
  gst_harness_push_event (h, gst_event_new_gap (FRAME, FRAME));
  for (guint i = 0; i < 500 && gaps.count == 0; i++)
    g_usleep (10000);
  g_assert_cmpuint (gaps.count, ==, 1);
  expect_boxes (h, 2, "640x480", "", HALVES);
  g_assert_cmpuint (gaps.count, ==, 1);
}

/* Elements that do not start, and what their messages say. */
static void
test_errors (void)
{
  static const gchar *const rows[][2] = {
    { "tiledetect", "set the property detector" },
    { "tiledetect detector=nosuchdetector", "nosuchdetector" },
    { "tiledetect detector=fakesink", "fakesink" },
    { "tiledetect detector=videotestsrc", "videotestsrc" },
    { "tiledetect detector=identity scales=2x", "scales: \"2x\" is not a list" },
    { "tiledetect detector=identity scales=2x2,,1x1", "scales: \"2x2,,1x1\" is not" },
    { "tiledetect detector=identity scales=101x1", "up to 100 columns and rows" },
    { "tiledetect detector=identity edge-margin=5px", "edge-margin: \"5px\" is not" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstElement) element = gst_object_ref_sink (pipeline_new (rows[i][0]));
    g_autoptr (GstBus) bus = gst_bus_new ();

    gst_element_set_bus (element, bus);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==,
        GST_STATE_CHANGE_FAILURE);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), rows[i][1]);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
  }
}

/* Properties are fixed from READY on, and may change between two runs. */
static void
test_restart (void)
{
  g_autoptr (GstElement) pipeline = pipeline_new (
      "videotestsrc num-buffers=3 ! tiledetect name=d detector=identity ! fakesink");
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  playing_to_end (pipeline);
  g_object_set (element, "columns", 3, "overlap", 10, NULL);
  playing_to_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_object_set (element, "columns", 4, NULL);
  assert_values (element, "columns", "3");
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
test_defaults (void)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (playing_new ("tiledetect"));

  assert_values (element,
      "columns rows overlap scales whole-frame share-detector latency edge-margin detector",
      "2 2 0 NULL false true 0 5 NULL");
}

typedef struct
{
  const gchar *name;
  void (*run) (void);
} Case;

static const Case all[] = {
  { "slow-detector", test_slow_detector },
  { "seeks", test_seeks },
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
run_case (gconstpointer row)
{
  ((const Case *) row)->run ();
}

static const TestCase cases[] = {
  TEST_ROWS ("/tiledetect/separate/%s", run_tiles, tiles),
  TEST_ROWS ("/tiledetect/separate/%s", run_case, all),
  TEST_ROWS ("/tiledetect/shared/%s", run_tiles, tiles),
  TEST_ROWS ("/tiledetect/shared/%s", run_case, all),
  { "/tiledetect/shared/left-out", test_left_out },
  { "/tiledetect/defaults", test_defaults },
  { NULL },
};

GST_TEST_PROGRAM (cases, .needs = "boxreplay videocrop");
