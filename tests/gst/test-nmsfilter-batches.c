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

/* The counters begin anew when the element starts again. */
static void
test_stats (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  g_autoptr (GstStructure) stats = NULL;
  const GstStructure *inner;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *batch = two_streams (i * 100 * GST_MSECOND);

    batches_add (batch, 0, batches_pair_new (0, 0));
    if (i > 0)
      batches_add (batch, 1, batches_single_new (0, 0));
    gst_buffer_unref (through (h, batch));
  }
  assert_stats (h->element, "frames=5 boxes-in=8 suppressed=3");
  g_assert_cmpuint (batches_stat_of (h->element, 0, "frames"), ==, 3);
  g_assert_cmpuint (batches_stat_of (h->element, 0, "boxes-in"), ==, 6);
  g_assert_cmpuint (batches_stat_of (h->element, 0, "boxes-out"), ==, 3);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "frames"), ==, 2);
  g_assert_cmpuint (batches_stat_of (h->element, 1, "suppressed"), ==, 0);
  g_object_get (h->element, "stats", &stats, NULL);
  inner = gst_value_get_structure (gst_structure_get_value (stats, "stream-1"));
  g_assert_cmpstr (gst_structure_get_string (inner, "stream-id"), ==, "b");
  gst_structure_free (stats);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  g_object_get (h->element, "stats", &stats, NULL);
  g_assert_false (gst_structure_has_field (stats, "stream-1"));
}

/* What changes is copied if it has another owner, such as another branch of a tee: the batch, or
 * the first frame in it. */
static void
test_copies (void)
{
  static const struct
  {
    const gchar *line;
    gboolean batch_owned, frame_owned; /* whether another branch has it, too */
    const gchar *ids, *tag;            /* ids of the first frame, and tag of its first box */
    const gchar *copied;
  } rows[] = {
    { "nmsfilter", FALSE, FALSE, "1", "", "" },
    { "nmsfilter", FALSE, TRUE, "1", "", "first" },
    { "nmsfilter", TRUE, FALSE, "1", "", "batch first" },
    { "nmsfilter action=tag", TRUE, FALSE, "1 2", "kept", "batch first second" },
    /* unchanged */
    { "nmsfilter iou-threshold=1", TRUE, FALSE, "1 2", "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstHarness) h = harness_new_caps (rows[i].line, BATCH_CAPS);
    GstBuffer *batch = two_streams (0), *first = batches_pair_new (0, 0),
              *second = batches_single_new (0, 0);
    g_autoptr (GstBuffer) out = NULL, owned = NULL;

    batches_add (batch, 0, first);
    batches_add (batch, 1, second);
    if (rows[i].batch_owned || rows[i].frame_owned)
      owned = gst_buffer_ref (rows[i].batch_owned ? batch : first);
    out = through (h, batch);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 0);
    batches_assert_ids (out, 0, 0, rows[i].ids);
    assert_tag (GST_BUFFER (batches_get (out, 0, 0)), 1, rows[i].tag);
    g_assert_true ((out != batch) == (strstr (rows[i].copied, "batch") != NULL));
    g_assert_true (
        (batches_get (out, 0, 0) != first) == (strstr (rows[i].copied, "first") != NULL));
    g_assert_true (
        (batches_get (out, 1, 0) != second) == (strstr (rows[i].copied, "second") != NULL));
    if (owned) {
      assert_ids (first, "1 2");
      assert_tag (first, 1, "");
      g_assert_true (
          gst_buffer_peek_memory (batches_get (out, 0, 0), 0) == gst_buffer_peek_memory (first, 0));
    }
  }
}

static void
test_empty (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter interval=1", BATCH_CAPS);
  GstBuffer *batches[] = { batches_new (0, 0), two_streams (0) };

  for (guint i = 0; i < G_N_ELEMENTS (batches); i++) {
    g_autoptr (GstBuffer) out = through (h, batches[i]);

    g_assert_true (out == batches[i]);
  }
  assert_stats (h->element, "frames=0");
}

static void
test_list (void)
{
  for (guint shared = 0; shared < 2; shared++) {
    g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", BATCH_CAPS);
    GstBuffer *batch = two_streams (0), *same = batches_single_new (0, 0);
    g_autoptr (GstBuffer) out = NULL;
    GstBufferList *list = gst_buffer_list_new (), *left;
    g_autoptr (GstBufferList) other = NULL;

    gst_buffer_list_add (list, same);
    gst_buffer_list_add (list, batches_pair_new (0, 0));
    gst_buffer_list_add (list, batches_pair_new (0, 100));
    batches_add (batch, 0, list);
    other = shared ? gst_buffer_list_ref (list) : NULL;
    out = through (h, batch);
    left = batches_get (out, 0, 0);
    g_assert_cmpint (left != list, ==, shared);
    if (shared)
      g_assert_cmpuint (count_on (gst_buffer_list_get (list, 1)), ==, 2);
    g_assert_true (gst_buffer_list_get (left, 0) == same);
    assert_ids (gst_buffer_list_get (left, 1), "1");
    assert_ids (gst_buffer_list_get (left, 2), "1");
    g_assert_cmpuint (batches_stat_of (h->element, 0, "frames"), ==, 3);
  }
}

/* A box at x = 200 is in the left half of a frame that is 640 wide, and not of one of 320. Caps
 * between two buffers apply from the second one on, in later batches too. */
static void
test_caps (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxselect roi=0,0,50%,100%", BATCH_CAPS);
  GstBuffer *batch = two_streams (0);
  g_autoptr (GstCaps) caps = gst_caps_from_string (SMALL);

  batches_add (batch, 0, batches_single_new (0, 200));
  batches_add (batch, 0, gst_event_new_caps (caps));
  batches_add (batch, 0, gst_event_new_gap (0, 1));
  batches_add (batch, 0, batches_single_new (0, 200));
  batches_add (batch, 1, batches_single_new (0, 200));
  batches_add (batch, 1, batches_single_new (0, 20));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1");
  batches_assert_ids (batch, 0, 3, "");
  batches_assert_ids (batch, 1, 0, "");
  batches_assert_ids (batch, 1, 1, "1");
  gst_buffer_unref (batch);
  batch = batches_new (GST_SECOND, 1); /* states no caps */
  batches_add (batch, 0, batches_single_new (0, 200));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "");
  gst_buffer_unref (batch);
}

/* A stream without caps has frames of an unknown size. */
static void
test_no_caps (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("boxselect roi=0,0,50%,100%", BATCH_CAPS);
  GstBus *bus = harness_bus (h);
  g_autoptr (GstBuffer) batch = batches_new (0, 1);

  batches_add (batch, 0, batches_pair_new (0, 400));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1 2");
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "caps state no frame size");
}

static void
test_no_batch (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBus *bus = harness_bus (h);

  g_assert_cmpint (gst_harness_push (h, batches_pair_new (0, 0)), ==, GST_FLOW_ERROR);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), "not a batch");
}

/* The slices of one stream: the caps of the video with the feature. */
static void
test_one_stream (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter",
      "video/x-raw(meta:GstAnalyticsBatchMeta),format=GRAY8,width=640,height=480");
  g_autoptr (GstBuffer) batch = batches_new (0, 1);

  batches_begin_stream (batch, 0, "a", SMALL, 0);
  batches_add (batch, 0, batches_pair_new (0, 0));
  batches_add (batch, 0, batches_pair_new (0, 0));
  batch = through (h, batch);
  batches_assert_ids (batch, 0, 0, "1");
  batches_assert_ids (batch, 0, 1, "1");
}

/* Without the feature in the caps, the metadata marks the source of an ordinary frame. */
static void
test_no_feature (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", LARGE);
  g_autoptr (GstBuffer) frame = batches_new (0, 2);

  add_boxes (frame, "1 o 0,0,40,40 0.9; 2 o 0,0,40,40 0.8");
  frame = through (h, frame);
  assert_ids (frame, "1");
}

/* Each stream loses its own confidences, although the streams alternate. */
static void
test_score_loss (void)
{
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", BATCH_CAPS);
  GstBus *bus = harness_bus (h);
  GstBuffer *batch = two_streams (0);
  GstBuffer *unscored = frame_new (0);

  batches_add (batch, 0, batches_single_new (0, 0));
  batches_add (batch, 1, frame_new (0));
  add_region (batches_get (batch, 1, 0), 1, "o", (Rect) { 0, 0, 40, 40 });
  gst_buffer_unref (through (h, batch));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  batch = batches_new (GST_SECOND, 2);
  add_boxes (unscored, "1 o 0,0,40,40");
  batches_add (batch, 1, gst_buffer_copy (unscored));
  batches_add (batch, 0, unscored);
  gst_buffer_unref (through (h, batch));
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "arrive without a confidence");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
}

static const TestCase cases[] = { CASE (test_stats), CASE (test_copies), CASE (test_empty),
  CASE (test_list), CASE (test_caps), CASE (test_no_caps), CASE (test_no_batch),
  CASE (test_one_stream), CASE (test_no_feature), CASE (test_score_loss), { NULL } };

GST_TEST_PROGRAM (cases);
