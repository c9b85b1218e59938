/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: as an element of a pipeline: buffers that pass without a copy, queries, states.
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

/* Returns the API types of the metas of a buffer, in order, without the reference that a
 * copy keeps to the buffer of a pool. */
static gchar *
list_metas (GstBuffer *buffer)
{
  GString *list = g_string_new (NULL);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (buffer, &state)))
    if (meta->info->api != GST_PARENT_BUFFER_META_API_TYPE)
      g_string_append_printf (list, " %s", g_type_name (meta->info->api));
  return g_string_free (list, FALSE);
}

/* A shared buffer comes out as it does in place: with its flags and times, and with its metas in
 * their order. 2 is a hint to an encoder and 6 is locked, which a copy by GStreamer forgets. */
static void
test_copy_of_everything (void)
{
  static GstStaticCaps unix_time = GST_STATIC_CAPS ("timestamp/x-unix");
  g_autoptr (GstHarness) h = running_harness ("nmsfilter");
  g_autoptr (GstBufferPool) pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstBuffer) out = NULL, plain = NULL;
  g_autofree gchar *metas = NULL, *metas_in_place = NULL;
  GstBuffer *buffer;
  GstMeta *locked;

  gst_buffer_pool_config_set_params (config, NULL, 100, 1, 0);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  add_boxes (buffer, "1 a 10:10:20:20 0.5; 2 a 0,0,1,1");
  add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 2), "roi/x264;");
  gst_buffer_add_reference_timestamp_meta (buffer, gst_static_caps_get (&unix_time), 7, 8);
  add_boxes (buffer, "3 a 10:10:20:20 0.75; 4 a 10:10:20:20 0.25; 5 b 0,0,1,1; 6 a 10,10,10,10");
  locked = &gst_buffer_get_video_region_of_interest_meta_id (buffer, 6)->meta;
  GST_META_FLAG_SET (locked, GST_META_FLAG_LOCKED);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  GST_BUFFER_PTS (buffer) = 1;
  GST_BUFFER_DTS (buffer) = 2;
  GST_BUFFER_DURATION (buffer) = 3;
  GST_BUFFER_OFFSET (buffer) = 4;
  GST_BUFFER_OFFSET_END (buffer) = 5;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_DISCONT);
  plain = gst_buffer_copy (buffer);

  out = through (h, gst_buffer_ref (buffer));
  assert_ids (buffer, "1 2 3 4 5 6");
  assert_ids (out, "2 3 5 6");
  buffer = through (h, buffer);
  assert_ids (buffer, "2 3 5 6");
  metas = list_metas (out);
  metas_in_place = list_metas (buffer);
  g_assert_cmpstr (metas, ==, metas_in_place);
  g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  /* not every version of GStreamer keeps the buffer of the pool for a copy */
  g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_PARENT_BUFFER_META_API_TYPE), ==,
      gst_buffer_get_n_meta (plain, GST_PARENT_BUFFER_META_API_TYPE));
  g_assert_cmphex (GST_BUFFER_FLAGS (out), ==, GST_BUFFER_FLAGS (plain));
  g_assert_true (GST_BUFFER_PTS (out) == 1 && GST_BUFFER_DTS (out) == 2
      && GST_BUFFER_DURATION (out) == 3 && GST_BUFFER_OFFSET (out) == 4
      && GST_BUFFER_OFFSET_END (out) == 5);
  GST_META_FLAG_UNSET (locked, GST_META_FLAG_LOCKED);
  gst_buffer_unref (buffer);
  gst_buffer_pool_set_active (pool, FALSE);
}

/* --------------------------------------------------------------- pipelines */

typedef struct
{
  guint buffers;
  guint boxes;
} Seen;

/* Attaches three boxes, of which two overlap. */
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

/* Every second cycle from NULL to PLAYING and back may end before PLAYING is reached: nothing
 * hangs, no message is an error, and whatever came through was filtered. Each of the others filters
 * all frames. */
static void
test_restarts (void)
{
  g_autoptr (GstElement)
      pipeline = playing_new ("videotestsrc num-buffers=5 ! nmsfilter name=n "
                              "interval=1000000000 ! fakesink name=s sync=false");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  Seen seen;

  playing_probe (pipeline, "n", "sink", attach_boxes, NULL);
  playing_probe (pipeline, "s", "sink", count_boxes, &seen);
  for (guint round = 0; round < 20; round++) {
    seen = (Seen) { 0, 0 };
    if (round % 2) {
      g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PLAYING), !=,
          GST_STATE_CHANGE_FAILURE);
      g_usleep (round * 1500);
      g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_NULL), ==,
          GST_STATE_CHANGE_SUCCESS);
      g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
    } else {
      playing_to_end (pipeline);
      g_assert_cmpuint (seen.buffers, ==, 5);
      g_assert_cmpuint (playing_stat (pipeline, "n", "suppressed"), ==, 5);
    }
    g_assert_cmpuint (seen.boxes, ==, 2 * seen.buffers);
  }
}

/* ------------------------------------------------------------ events, queries */

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

static const TestCase cases[] = { CASE (test_copies), CASE (test_copy_of_everything),
  CASE (test_restarts), CASE (test_no_caps), CASE (test_allocation),
  CASE (test_allocation_without_answer), { NULL } };

GST_TEST_PROGRAM (cases, .needs = "videotestsrc");
