/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: as an element of a pipeline: buffers that pass without a copy, branches of
 * a tee, events, caps changes, queries, states.
 */
#include "gstrunner.h"
#include "playing.h"

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 10,0,100,100 0.5");
  return buffer;
}

static GstBuffer *
lone (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 300,0,100,100 0.5");
  return buffer;
}

/* Creates a harness and pushes the first buffer, which the base class marks as a
 * discontinuity. */
static GstHarness *
running_harness (const gchar *launch_line)
{
  GstHarness *h = harness_new (launch_line);

  gst_buffer_unref (through (h, frame_new (0)));
  return h;
}

/* ------------------------------------------------------------------- copying */

/* A shared buffer with nothing to remove is passed on itself. */
static void
test_unchanged_is_not_copied (void)
{
  static const gchar *const lines[] = { "nmsfilter", "nmsfilter action=tag classes=b",
    "nmsfilter classes=b" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autoptr (GstHarness) h = running_harness (lines[i]);
    GstBuffer *buffers[] = { frame_new (0), lone (0) }, *out;

    for (guint k = 0; k < 2; k++) {
      out = through (h, gst_buffer_ref (buffers[k]));
      g_assert_true (out == buffers[k]);
      gst_buffer_unref (out);
      gst_buffer_unref (buffers[k]);
    }
  }
}

/* A buffer with no other owner is changed in place. */
static void
test_writable_is_changed_in_place (void)
{
  g_autoptr (GstHarness) h = running_harness ("nmsfilter");
  GstBuffer *buffer = pair (0);
  g_autoptr (GstBuffer) out = NULL;

  out = through (h, buffer);
  g_assert_true (out == buffer);
  assert_ids (out, "1");
}

/* A shared buffer with boxes to remove is copied, without its memory; the other owner
 * keeps all boxes. */
static void
test_shared_is_copied_without_memory (void)
{
  static const gchar *const lines[] = { "nmsfilter", "nmsfilter action=tag" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autoptr (GstHarness) h = running_harness (lines[i]);
    g_autoptr (GstBuffer) buffer = pair (7 * GST_SECOND), out = NULL;

    out = through (h, gst_buffer_ref (buffer));
    g_assert_true (out != buffer);
    g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 7 * GST_SECOND);
    g_assert_cmpuint (GST_BUFFER_DURATION (out), ==, GST_BUFFER_DURATION (buffer));
    assert_ids (out, i == 0 ? "1" : "1 2");
    assert_tag (out, 1, i == 0 ? "" : "kept");
    assert_ids (buffer, "1 2");
    assert_tag (buffer, 1, "");
  }
}

/* GStreamer does not copy the flag of locked metas, nor what marks a hint; the filter
 * still recognises these metas in the copy. */
static void
test_shared_with_locked (void)
{
  g_autoptr (GstHarness) h = running_harness ("nmsfilter");
  g_autoptr (GstBuffer) buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  roi = add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.1);
  GST_META_FLAG_SET (&roi->meta, GST_META_FLAG_LOCKED);
  add_boxes (buffer, "2 a 0,0,100,100 0.5; 3 a 0,0,100,100 0.9");
  expect_through (h, gst_buffer_ref (buffer), "1 3");
  GST_META_FLAG_UNSET (&roi->meta, GST_META_FLAG_LOCKED);
}

/* Memory that fails the test when it is mapped. */
static gpointer
never_map (GstMemory *memory, gsize size, GstMapFlags flags)
{
  g_error ("the memory was mapped");
  return NULL;
}

static void
free_memory (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

typedef GstAllocator NoMapAllocator;
typedef GstAllocatorClass NoMapAllocatorClass;
static GType no_map_allocator_get_type (void);
G_DEFINE_TYPE (NoMapAllocator, no_map_allocator, GST_TYPE_ALLOCATOR)

static void
no_map_allocator_class_init (NoMapAllocatorClass *klass)
{
  klass->free = free_memory;
}

static void
no_map_allocator_init (NoMapAllocator *allocator)
{
  allocator->mem_type = "no-map";
  allocator->mem_map = never_map;
}

static void
test_memory_is_never_mapped (void)
{
  static const gchar *const lines[] = { "nmsfilter", "nmsfilter action=tag" };
  g_autoptr (GstAllocator)
      allocator = gst_object_ref_sink (g_object_new (no_map_allocator_get_type (), NULL));
  guint i;

  for (i = 0; i < G_N_ELEMENTS (lines); i++)
    for (guint shared = 0; shared < 2; shared++) {
      g_autoptr (GstHarness) h = running_harness (lines[i]);
      GstMemory *memory = g_new0 (GstMemory, 1);
      GstBuffer *buffer = gst_buffer_new (), *out;

      gst_memory_init (memory, 0, allocator, NULL, 64, 0, 0, 64);
      gst_buffer_append_memory (buffer, memory);
      add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 0,0,100,100 0.8");
      out = through (h, shared ? gst_buffer_ref (buffer) : buffer);
      assert_ids (out, i == 0 ? "1" : "1 2");
      g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
      gst_buffer_unref (out);
      if (shared)
        gst_buffer_unref (buffer);
    }
}

/* --------------------------------------------------------------- pipelines */

typedef struct
{
  guint buffers;
  guint boxes;
} Seen;

static GstPadProbeReturn
attach_boxes (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 10,0,100,100 0.5; 3 a 200,0,100,100 0.5");
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
count_boxes (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;

  seen->buffers++;
  seen->boxes += count_on (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* Creates a pipeline. Its element n gets three boxes on each buffer: one of two that
 * overlap is suppressed. */
static GstElement *
boxes_pipeline (const gchar *launch_line)
{
  GstElement *pipeline = playing_new ("%s", launch_line);

  playing_probe (pipeline, "n", "sink", attach_boxes, NULL);
  return pipeline;
}

static void
test_tee (void)
{
  g_autoptr (GstElement)
      pipeline = playing_new ("videotestsrc num-buffers=20 ! "
                              "video/x-raw,width=320,height=240 ! tee name=t "
                              "t. ! queue ! nmsfilter ! fakesink name=clean sync=false "
                              "t. ! queue ! nmsfilter action=tag ! fakesink name=tagged sync=false "
                              "t. ! queue ! fakesink name=raw sync=false");
  Seen clean = { 0 }, tagged = { 0 }, raw = { 0 };

  playing_probe (pipeline, "t", "sink", attach_boxes, NULL);
  playing_probe (pipeline, "clean", "sink", count_boxes, &clean);
  playing_probe (pipeline, "tagged", "sink", count_boxes, &tagged);
  playing_probe (pipeline, "raw", "sink", count_boxes, &raw);
  playing_to_end (pipeline);
  g_assert_cmpuint (clean.buffers, ==, 20);
  g_assert_cmpuint (clean.boxes, ==, 40);
  g_assert_cmpuint (tagged.boxes, ==, 60);
  g_assert_cmpuint (raw.buffers, ==, 20);
  g_assert_cmpuint (raw.boxes, ==, 60);
}

/* Each of several cycles from NULL to PLAYING and back gives the same result. */
static void
test_null_playing_loop (void)
{
  g_autoptr (GstElement)
      pipeline = boxes_pipeline ("videotestsrc num-buffers=5 ! nmsfilter name=n "
                                 "interval=1000000000 ! fakesink name=s sync=false");
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "n");

  for (guint round = 0; round < 20; round++) {
    Seen seen = { 0 };
    g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
    gulong id = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_boxes, &seen, NULL);

    playing_to_end (pipeline);
    gst_pad_remove_probe (pad, id);
    g_assert_cmpuint (seen.boxes, ==, 10);
    g_assert_cmpuint (stat_of (filter, "frames"), ==, 5); /* reset from READY to PAUSED */
    g_assert_cmpuint (stat_of (filter, "suppressed"), ==, 5);
  }
}

/* States are left before they are reached: nothing hangs, no message is an error, and whatever came
 * through was filtered. */
static void
test_aborted_playing (void)
{
  g_autoptr (GstElement)
      pipeline = boxes_pipeline ("videotestsrc is-live=true ! nmsfilter name=n ! "
                                 "fakesink name=s sync=false");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  Seen seen = { 0 };

  playing_probe (pipeline, "s", "sink", count_boxes, &seen);
  for (guint round = 0; round < 10; round++) {
    g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PLAYING), !=,
        GST_STATE_CHANGE_FAILURE);
    g_usleep (round * 3000);
    g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_READY), ==,
        GST_STATE_CHANGE_SUCCESS);
    g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
    g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_NULL), ==,
        GST_STATE_CHANGE_SUCCESS);
  }
  g_assert_cmpuint (seen.boxes, ==, 2 * seen.buffers);
}

static void
test_seek (void)
{
  g_autoptr (GstElement) pipeline = boxes_pipeline (
      "videotestsrc num-buffers=500 ! "
      "video/x-raw,framerate=10/1 ! nmsfilter name=n ! fakesink sync=false name=s");
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "n");

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND);
  for (guint i = 0; i < 5; i++) {
    g_assert_true (gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
        (i % 2 ? 1 : 3) * GST_SECOND));
    gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND);
  }
  playing_to_end (pipeline);
  g_assert_cmpuint (stat_of (filter, "boxes-in"), ==, 3 * stat_of (filter, "frames"));
  g_assert_cmpuint (stat_of (filter, "suppressed"), ==, stat_of (filter, "frames"));
}

/* Other threads set and read all properties while it plays. */
static gpointer
fiddle (gpointer user_data)
{
  GstElement *filter = user_data;

  for (guint i = 0; g_object_get_data (G_OBJECT (filter), "stop") == NULL; i++) {
    g_autoptr (GstStructure) stats = NULL;
    g_autofree gchar *used = NULL;

    g_object_set (filter, "iou-threshold", (i % 11) / 10.f, "classes", i % 2 ? "a" : NULL,
        "max-detections", i % 3, "engine", i % 3, "missing-score", i % 4, "action", i % 2, NULL);
    gst_util_set_object_arg (G_OBJECT (filter), "class-options",
        i % 2 ? "o,a=[o,max=1]" : "o,b=[o,max=2]");
    g_object_get (filter, "stats", &stats, "engine-in-use", &used, NULL);
  }
  return NULL;
}

static void
test_settings_from_other_threads (void)
{
  g_autoptr (GstElement) pipeline = boxes_pipeline (
      "videotestsrc num-buffers=2000 ! "
      "video/x-raw,width=16,height=16 ! nmsfilter name=n ! fakesink sync=false");
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "n");
  GThread *threads[2];

  threads[0] = g_thread_new ("fiddle", fiddle, filter);
  threads[1] = g_thread_new ("fiddle", fiddle, filter);
  playing_to_end (pipeline);
  g_object_set_data (G_OBJECT (filter), "stop", filter);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  assert_stats (filter, "frames=2000 boxes-in=6000");
}

/* ------------------------------------------------------------ events, queries */

static void
test_gap (void)
{
  g_autoptr (GstHarness) h = running_harness ("nmsfilter");
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  g_assert_true (gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND)));
  event = gst_harness_pull_event (h);
  g_assert_cmpint (GST_EVENT_TYPE (event), ==, GST_EVENT_GAP);
  gst_event_unref (event);
  gst_buffer_unref (through (h, pair (2 * GST_SECOND)));
}

static void
test_no_caps (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", NULL);
  GstSegment segment;

  gst_harness_play (h);
  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("s")));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  expect_through (h, pair (GST_CLOCK_TIME_NONE), "1");
}

static void
test_no_timestamps (void)
{
  g_autoptr (GstHarness) h = running_harness ("nmsfilter interval=1000000000");
  g_autoptr (GstBuffer) out = through (h, pair (GST_CLOCK_TIME_NONE));

  assert_ids (out, "1");
  g_assert_false (GST_BUFFER_PTS_IS_VALID (out));
}

static void
test_allocation (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  g_autoptr (GstQuery) query = NULL;
  guint index, pools;

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  gst_harness_set_propose_allocator (h, NULL, NULL);
  gst_buffer_unref (through (h, frame_new (0)));
  query = gst_query_new_allocation (caps, TRUE);
  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, &index));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, &index));
  pools = gst_query_get_n_allocation_pools (query);
  g_assert_cmpuint (pools, ==, 0);
}

/* The query succeeds where no element downstream answers it. */
static void
test_allocation_without_answer (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *caps = gst_caps_from_string (FRAME_CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_element_set_state (element, GST_STATE_PAUSED);
  g_assert_true (gst_pad_send_event (pad, gst_event_new_stream_start ("s")));
  g_assert_true (gst_pad_send_event (pad, gst_event_new_caps (caps)));
  g_assert_true (gst_pad_query (pad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_element_set_state (element, GST_STATE_NULL);
}

static void
test_latency (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  gst_harness_set_upstream_latency (h, 30 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (h), ==, 30 * GST_MSECOND);
}

static const TestCase cases[] = { CASE (test_unchanged_is_not_copied),
  CASE (test_writable_is_changed_in_place), CASE (test_shared_is_copied_without_memory),
  CASE (test_shared_with_locked), CASE (test_memory_is_never_mapped), CASE (test_tee),
  CASE (test_null_playing_loop), CASE (test_aborted_playing), CASE (test_seek),
  CASE (test_settings_from_other_threads), CASE (test_gap), CASE (test_no_caps),
  CASE (test_no_timestamps), CASE (test_allocation), CASE (test_allocation_without_answer),
  CASE (test_latency), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
