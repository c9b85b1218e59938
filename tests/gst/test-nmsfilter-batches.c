/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter on batches: each stream with its own caps and counters, and which buffers are
 * copied. */
#include "batches.h"
#include "gstrunner.h"

#define LARGE "video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1"
#define SMALL "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1"

/* Returns a batch of the streams a (LARGE) and b (SMALL), without objects. */
static GstBuffer *
two_streams (GstClockTime pts)
{
  GstBuffer *batch = batches_new (pts, 2);

  batches_begin_stream (batch, 0, "a", LARGE, 0);
  batches_begin_stream (batch, 1, "b", SMALL, 0);
  return batch;
}

/* A box at x = 200 is in the left half of a frame that is 640 wide, and not of one of 320. */
static void
test_sizes (void)
{
  GstHarness *h = harness_new_caps ("boxselect roi=0,0,50%,100%", BATCH_CAPS);
  GstBuffer *batch = two_streams (0);

  batches_add (batch, 0, batches_single_new (0, 200));
  batches_add (batch, 1, batches_single_new (0, 200));
  batches_add (batch, 1, batches_single_new (0, 20));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1");
  batches_assert_ids (batch, 1, 0, "");
  batches_assert_ids (batch, 1, 1, "1");
  gst_buffer_unref (batch);
  gst_harness_teardown (h);
}

static void
test_stats (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstStructure *stats;
  const GstStructure *inner;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *batch = two_streams (i * 100 * GST_MSECOND);

    batches_add (batch, 0, batches_pair_new (0, 0));
    if (i > 0)
      batches_add (batch, 1, batches_single_new (0, 0));
    gst_buffer_unref (through (h, batch));
  }
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 5);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 8);
  g_assert_cmpuint (stat_of (h->element, "suppressed"), ==, 3);
  g_assert_cmpuint (batches_stat_of (h->element, 0, "frames"), ==, 3);
  g_assert_cmpuint (batches_stat_of (h->element, 0, "boxes-in"), ==, 6);
  g_assert_cmpuint (batches_stat_of (h->element, 0, "boxes-out"), ==, 3);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "frames"), ==, 2);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "suppressed"), ==, 0);
  g_object_get (h->element, "stats", &stats, NULL);
  inner = gst_value_get_structure (gst_structure_get_value (stats, "stream-1"));
  g_assert_cmpstr (gst_structure_get_string (inner, "stream-id"), ==, "b");
  gst_structure_free (stats);
  gst_harness_teardown (h);
}

/* The counters begin anew when the element starts again. */
static void
test_restart (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstStructure *stats;

  gst_buffer_unref (through (h, two_streams (0)));
  g_assert_cmpuint (batches_stat_of (h->element, 1, "frames"), ==, 0);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  g_object_get (h->element, "stats", &stats, NULL);
  g_assert_false (gst_structure_has_field (stats, "stream-1"));
  gst_structure_free (stats);
  gst_harness_teardown (h);
}

static void
test_in_place (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBuffer *batch = two_streams (0), *out;
  GstBuffer *changed = batches_pair_new (0, 0), *same = batches_single_new (0, 0);

  batches_add (batch, 0, changed);
  batches_add (batch, 1, same);
  out = through (h, batch);
  g_assert_true (out == batch);
  g_assert_true (batches_get (out, 0, 0) == changed);
  g_assert_true (batches_get (out, 1, 0) == same);
  batches_assert_ids (out, 0, 0, "1");
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* A batch that a tee sent to another branch too keeps all its boxes there. */
static void
test_tee (const gchar *launch_line, gboolean removes)
{
  GstHarness *h = harness_new_caps (launch_line, BATCH_CAPS);
  GstBuffer *batch = two_streams (0), *out;

  batches_add (batch, 0, batches_pair_new (0, 0));
  batches_add (batch, 1, batches_single_new (0, 0));
  out = through (h, gst_buffer_ref (batch));
  batches_assert_ids (batch, 0, 0, "1 2");
  assert_tag (GST_BUFFER (batches_get (batch, 0, 0)), 1, "");
  batches_assert_ids (out, 0, 0, removes ? "1" : "1 2");
  g_assert_true (out != batch);
  g_assert_true (batches_get (out, 0, 0) != batches_get (batch, 0, 0));
  if (removes)
    g_assert_true (batches_get (out, 1, 0) == batches_get (batch, 1, 0));
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, GST_BUFFER_PTS (batch));
  g_assert_true (gst_buffer_peek_memory (batches_get (out, 0, 0), 0)
      == gst_buffer_peek_memory (batches_get (batch, 0, 0), 0));
  gst_buffer_unref (out);
  gst_buffer_unref (batch);
  gst_harness_teardown (h);
}

static void
test_tee_remove (void)
{
  test_tee ("nmsfilter", TRUE);
}

static void
test_tee_tag (void)
{
  test_tee ("nmsfilter action=tag", FALSE);
}

static void
test_tee_unchanged (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBuffer *batch = two_streams (0), *out;

  batches_add (batch, 0, batches_single_new (0, 0));
  out = through (h, gst_buffer_ref (batch));
  g_assert_true (out == batch);
  gst_buffer_unref (out);
  gst_buffer_unref (batch);
  gst_harness_teardown (h);
}

/* A buffer that has another owner is copied, although its batch has none. */
static void
test_shared_frame (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBuffer *batch = two_streams (0), *out, *frame = batches_pair_new (0, 0);

  batches_add (batch, 0, gst_buffer_ref (frame));
  out = through (h, batch);
  g_assert_true (out == batch);
  assert_ids (frame, "1 2");
  batches_assert_ids (out, 0, 0, "1");
  gst_buffer_unref (out);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

static void
test_empty (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter interval=1", BATCH_CAPS);
  GstBuffer *none = batches_new (0, 0), *idle = two_streams (0), *out;

  out = through (h, none);
  g_assert_true (out == none);
  gst_buffer_unref (out);
  out = through (h, idle);
  g_assert_true (out == idle);
  gst_buffer_unref (out);
  g_assert_cmpuint (stat_of (h->element, "frames"), ==, 0);
  gst_harness_teardown (h);
}

static void
test_list (gboolean shared)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBuffer *batch = two_streams (0), *out, *same = batches_single_new (0, 0);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, same);
  gst_buffer_list_add (list, batches_pair_new (0, 0));
  gst_buffer_list_add (list, batches_pair_new (0, 100));
  batches_add (batch, 0, list);
  if (shared)
    gst_buffer_list_ref (list);
  out = through (h, batch);
  if (shared) {
    g_assert_cmpuint (count_on (gst_buffer_list_get (list, 1)), ==, 2);
    g_assert_true (batches_get (out, 0, 0) != list);
    gst_buffer_list_unref (list);
  }
  list = batches_get (out, 0, 0);
  g_assert_true (gst_buffer_list_get (list, 0) == same);
  assert_ids (gst_buffer_list_get (list, 1), "1");
  assert_ids (gst_buffer_list_get (list, 2), "1");
  g_assert_cmpuint (batches_stat_of (h->element, 0, "frames"), ==, 3);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
test_list_alone (void)
{
  test_list (FALSE);
}

static void
test_list_shared (void)
{
  test_list (TRUE);
}

/* Caps that come between two buffers apply from the second one on, in later batches too. */
static void
test_new_caps (void)
{
  GstHarness *h = harness_new_caps ("boxselect roi=0,0,50%,100%", BATCH_CAPS);
  GstBuffer *batch = two_streams (0);
  GstCaps *caps = gst_caps_from_string (SMALL);

  batches_add (batch, 0, batches_single_new (0, 200));
  batches_add (batch, 0, gst_event_new_caps (caps));
  batches_add (batch, 0, gst_event_new_gap (0, 1));
  batches_add (batch, 0, batches_single_new (0, 200));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1");
  batches_assert_ids (batch, 0, 3, "");
  gst_buffer_unref (batch);
  batch = batches_new (GST_SECOND, 1); /* states no caps */
  batches_add (batch, 0, batches_single_new (0, 200));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "");
  gst_buffer_unref (batch);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}

/* A stream without caps has frames of an unknown size. */
static void
test_no_caps (void)
{
  GstHarness *h = harness_new_caps ("boxselect roi=0,0,50%,100%", BATCH_CAPS);
  GstBus *bus = harness_bus (h);
  GstBuffer *batch = batches_new (0, 1);

  batches_add (batch, 0, batches_pair_new (0, 400));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1 2");
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "caps state no frame size");
  gst_buffer_unref (batch);
  harness_free (h);
}

static void
test_no_batch (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBus *bus = harness_bus (h);

  g_assert_cmpint (gst_harness_push (h, batches_pair_new (0, 0)), ==, GST_FLOW_ERROR);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), "not a batch");
  harness_free (h);
}

/* The slices of one stream: the caps of the video with the feature. */
static void
test_one_stream (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter",
      "video/x-raw(meta:GstAnalyticsBatchMeta),format=GRAY8,width=640,height=480");
  GstBuffer *batch = batches_new (0, 1);

  batches_begin_stream (batch, 0, "a", SMALL, 0);
  batches_add (batch, 0, batches_pair_new (0, 0));
  batches_add (batch, 0, batches_pair_new (0, 0));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1");
  batches_assert_ids (batch, 0, 1, "1");
  gst_buffer_unref (batch);
  gst_harness_teardown (h);
}

/* Without the feature in the caps, the metadata marks the source of an ordinary frame. */
static void
test_no_feature (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", LARGE);
  GstBuffer *frame = batches_new (0, 2);

  add_scored (frame, 1, "o", 0, 0, 40, 40, 0.9);
  add_scored (frame, 2, "o", 0, 0, 40, 40, 0.8);
  frame = through (h, frame);
  assert_ids (frame, "1");
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

/* Each stream loses its own confidences, although the streams alternate. */
static void
test_score_loss (void)
{
  GstHarness *h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBus *bus = harness_bus (h);
  GstBuffer *batch = two_streams (0);
  GstBuffer *unscored = frame_new (0);

  batches_add (batch, 0, batches_single_new (0, 0));
  batches_add (batch, 1, frame_new (0));
  add_region (batches_get (batch, 1, 0), 1, "o", 0, 0, 40, 40);
  gst_buffer_unref (through (h, batch));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  batch = batches_new (GST_SECOND, 2);
  add_region (unscored, 1, "o", 0, 0, 40, 40);
  batches_add (batch, 1, gst_buffer_copy (unscored));
  batches_add (batch, 0, unscored);
  gst_buffer_unref (through (h, batch));
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "arrive without a confidence");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  harness_free (h);
}

static const TestCase cases[] = { { "/batches/nmsfilter/sizes", test_sizes },
  { "/batches/nmsfilter/stats", test_stats }, { "/batches/nmsfilter/restart", test_restart },
  { "/batches/nmsfilter/in-place", test_in_place },
  { "/batches/nmsfilter/tee-remove", test_tee_remove },
  { "/batches/nmsfilter/tee-tag", test_tee_tag },
  { "/batches/nmsfilter/tee-unchanged", test_tee_unchanged },
  { "/batches/nmsfilter/shared-frame", test_shared_frame },
  { "/batches/nmsfilter/empty", test_empty }, { "/batches/nmsfilter/list-alone", test_list_alone },
  { "/batches/nmsfilter/list-shared", test_list_shared },
  { "/batches/nmsfilter/new-caps", test_new_caps }, { "/batches/nmsfilter/no-caps", test_no_caps },
  { "/batches/nmsfilter/no-batch", test_no_batch },
  { "/batches/nmsfilter/one-stream", test_one_stream },
  { "/batches/nmsfilter/no-feature", test_no_feature },
  { "/batches/nmsfilter/score-loss", test_score_loss }, { NULL } };

GST_TEST_PROGRAM (cases);
