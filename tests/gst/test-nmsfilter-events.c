/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: as an element of a pipeline: buffers that pass without a copy, branches of
 * a tee, events, caps changes, queries, states.
 */
#include "gstrunner.h"
#include "playing.h"

#define PAIR "1 a 0,0,100,100 0.9; 2 a 10,0,100,100 0.5"
#define LONE "1 a 0,0,100,100 0.9; 2 a 300,0,100,100 0.5"

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

/* GStreamer does not copy the flag of locked metas, nor what marks a hint; the filter
 * still recognises these metas in the copy. */
static void
test_shared_with_locked (void)
{
  g_autoptr (GstHarness) h = running_harness ("nmsfilter");
  g_autoptr (GstBuffer)
      buffer = frame_with ("1 a 0,0,100,100 0.1; 2 a 0,0,100,100 0.5; 3 a 0,0,100,100 0.9");
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);

  GST_META_FLAG_SET (&roi->meta, GST_META_FLAG_LOCKED);
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

/* A buffer with no other owner is changed in place. A shared one is copied, without its memory, if
 * it changes, and its other owner keeps all boxes. The memory is never mapped. */
static void
test_copies (void)
{
  static const struct
  {
    const gchar *line, *boxes, *before, *after, *tag; /* tag of box 1 */
  } rows[] = {
    { "nmsfilter", "", "", "", "" },
    { "nmsfilter", LONE, "1 2", "1 2", "" },
    { "nmsfilter classes=b", PAIR, "1 2", "1 2", "" },
    { "nmsfilter action=tag classes=b", PAIR, "1 2", "1 2", "" },
    { "nmsfilter", PAIR, "1 2", "1", "" },
    { "nmsfilter action=tag", PAIR, "1 2", "1 2", "kept" },
  };
  g_autoptr (GstAllocator)
      allocator = gst_object_ref_sink (g_object_new (no_map_allocator_get_type (), NULL));

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    const guint r = i / 2, shared = i % 2;
    const gboolean changes = *rows[r].tag || strcmp (rows[r].before, rows[r].after) != 0;
    g_autoptr (GstHarness) h = running_harness (rows[r].line);
    GstMemory *memory = g_new0 (GstMemory, 1);
    GstBuffer *buffer = gst_buffer_new ();
    g_autoptr (GstBuffer) out = NULL, other = NULL;

    g_test_message ("%s: %s", rows[r].line, rows[r].boxes);
    gst_memory_init (memory, 0, allocator, NULL, 64, 0, 0, 64);
    gst_buffer_append_memory (buffer, memory);
    GST_BUFFER_PTS (buffer) = 7 * GST_SECOND;
    GST_BUFFER_DURATION (buffer) = GST_SECOND;
    add_boxes (buffer, rows[r].boxes);
    other = shared ? gst_buffer_ref (buffer) : NULL;
    out = through (h, buffer);
    g_assert_cmpint (out != buffer, ==, shared && changes);
    g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 7 * GST_SECOND);
    g_assert_cmpuint (GST_BUFFER_DURATION (out), ==, GST_SECOND);
    assert_ids (out, rows[r].after);
    if (count_on (out))
      assert_tag (out, 1, rows[r].tag);
    if (shared)
      assert_ids (other, rows[r].before);
    if (shared && count_on (other))
      assert_tag (other, 1, "");
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
  expect_through (h, frame_with (PAIR), "1");
}

/* A stream of bytes without caps and timestamps. */
static void
test_no_caps (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter interval=1000000000", NULL);
  GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE);
  g_autoptr (GstBuffer) out = NULL;
  GstSegment segment;

  gst_harness_play (h);
  g_assert_true (gst_harness_push_event (h, gst_event_new_stream_start ("s")));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  add_boxes (buffer, PAIR);
  out = through (h, buffer);
  assert_ids (out, "1");
  g_assert_false (GST_BUFFER_PTS_IS_VALID (out));
}

static void
test_allocation (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  g_autoptr (GstQuery) query = NULL;

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  gst_harness_set_propose_allocator (h, NULL, NULL);
  gst_buffer_unref (through (h, frame_new (0)));
  query = gst_query_new_allocation (caps, TRUE);
  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  g_assert_cmpuint (gst_query_get_n_allocation_pools (query), ==, 0);
}

/* The query succeeds where no element downstream answers it. */
static void
test_allocation_without_answer (void)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);

  expect_allocation ("nmsfilter", caps);
}

static const TestCase cases[] = { CASE (test_copies), CASE (test_shared_with_locked),
  CASE (test_tee), CASE (test_null_playing_loop), CASE (test_aborted_playing), CASE (test_seek),
  CASE (test_gap), CASE (test_no_caps), CASE (test_allocation),
  CASE (test_allocation_without_answer), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
