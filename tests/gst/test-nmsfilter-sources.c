/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes of several branches: priorities and thresholds by source, and boxes that
 * boxmerge marked as cut.
 */
#include "gstrunner.h"

/* Adds a box at x of one of two rows, of this branch (NULL: of none). Boxes of a row overlap if
 * they are at most 30 pixels apart. */
static void
add_of (GstBuffer *buffer, gint id, const gchar *source, gint x, gint row, gdouble confidence)
{
  GstVideoRegionOfInterestMeta *roi = add_scored (buffer, id, "a", x, row * 200, 100, 100,
      confidence);

  if (source)
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("source", "name", G_TYPE_STRING, source, NULL));
}

static void
mark_cut (GstBuffer *buffer, gint id)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, id);
  GstStructure *source = gst_video_region_of_interest_meta_get_param (roi, "source");

  gst_structure_set (source, "cut", G_TYPE_BOOLEAN, TRUE, NULL);
}

/* Two objects, both found by the main stream and by the branches left and right. */
static GstBuffer *
three_sources (void)
{
  GstBuffer *buffer = frame_new (0);

  add_of (buffer, 1, NULL, 100, 0, 0.6);
  add_of (buffer, 2, NULL, 400, 0, 0.8);
  add_of (buffer, 3, "left", 110, 0, 0.9);
  add_of (buffer, 4, "left", 410, 0, 0.7);
  add_of (buffer, 5, "right", 120, 0, 0.3);
  add_of (buffer, 6, "right", 300, 1, 0.4);
  return buffer;
}

/* A higher priority wins whatever the scores are; unlisted names belong to the first one. */
static void
test_priorities (void)
{
  g_autoptr (GstBuffer) buffer = three_sources ();

  expect ("nmsfilter", gst_buffer_ref (buffer), "2 3 6");
  expect ("nmsfilter sources=main,left,right", gst_buffer_ref (buffer), "2 3 6");
  expect ("nmsfilter sources=main:priority=1,left,right", gst_buffer_ref (buffer), "1 2 6");
  expect ("nmsfilter sources=main,left:priority=-1", gst_buffer_ref (buffer), "1 2 6");
  expect ("nmsfilter sources=main,right:priority=1", gst_buffer_ref (buffer), "2 5 6");
  expect ("nmsfilter sources=main,left:priority=1,right:priority=2", gst_buffer_ref (buffer),
      "4 5 6");
  expect ("nmsfilter sources=\" main = 2 : priority = 1 , left , right\"", gst_buffer_ref (buffer),
      "1 2 6");
  /* the best ranks are those of priority 1; scores of all boxes still count for thresholds */
  expect ("nmsfilter sources=main,right:priority=1 max-detections=2", gst_buffer_ref (buffer),
      "5 6");
  expect ("nmsfilter sources=main,right:priority=1 score-threshold=0.35", gst_buffer_ref (buffer),
      "2 3 6");
  expect ("nmsfilter sources=main,left:priority=1 method=greedy-merge", gst_buffer_ref (buffer),
      "3 4 6");
}

/* Of equal scores the main stream wins, because boxmerge puts its boxes first. */
static void
test_ties (void)
{
  GstBuffer *buffer = frame_new (0);

  add_of (buffer, 1, NULL, 100, 0, 0.5);
  add_of (buffer, 2, "left", 110, 0, 0.5);
  expect ("nmsfilter", gst_buffer_ref (buffer), "1");
  expect ("nmsfilter sources=main,left", gst_buffer_ref (buffer), "1");
  expect ("nmsfilter sources=main,left:priority=1", buffer, "2");
}

/* A detector without confidences wins by its priority too. */
static void
test_unscored (void)
{
  GstBuffer *buffer = frame_new (0);

  add_of (buffer, 1, "left", 100, 0, 0.5);
  add_boxes (buffer, "2 a 110,0,100,100");
  expect ("nmsfilter", gst_buffer_ref (buffer), "1");
  expect ("nmsfilter sources=main:priority=1,left", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter sources=main:priority=1,left missing-score=drop", buffer, "1");
}

/* Thresholds of sources add to the other ones, and apply with every method. */
static void
test_thresholds (void)
{
  GstBuffer *buffer = three_sources ();
  g_autoptr (GstBuffer) out = NULL;

  expect ("nmsfilter sources=main,left:score-threshold=0.8", gst_buffer_ref (buffer), "2 3 6");
  expect ("nmsfilter sources=main,left:score-threshold=0.95", gst_buffer_ref (buffer), "1 2 6");
  expect ("nmsfilter sources=main:score-threshold=0.7,left,right:score-threshold=0.4",
      gst_buffer_ref (buffer), "2 3 6");
  expect ("nmsfilter sources=main:score-threshold=1,left,right score-threshold=0.8",
      gst_buffer_ref (buffer), "3");
  expect ("nmsfilter sources=main,left:score-threshold=1:priority=1", gst_buffer_ref (buffer),
      "1 2 6");
  expect ("nmsfilter sources=main,left:score-threshold=0.95 method=soft-linear",
      gst_buffer_ref (buffer), "1 2 5 6");
  out = filtered ("nmsfilter sources=main,left:score-threshold=0.95 action=tag", buffer);
  assert_tags (out, "1=kept 3=below-score");
}

/* Cut boxes lose to whole ones, whatever their scores and priorities are, and then to each other by
 * these. Their confidences do not change. */
static void
test_cut (void)
{
  GstBuffer *buffer = three_sources (), *out;
  GstHarness *h = harness_new ("nmsfilter");
  gdouble confidence;

  mark_cut (buffer, 3);
  mark_cut (buffer, 6);
  out = through (h, gst_buffer_ref (buffer));
  assert_ids (out, "1 2 6");
  gst_structure_get_double (gst_video_region_of_interest_meta_get_param (
                                gst_buffer_get_video_region_of_interest_meta_id (out, 6),
                                "detection"),
      "confidence", &confidence);
  g_assert_cmpfloat (confidence, ==, 0.4);
  g_assert_cmpuint (stat_of (h->element, "lower-ranked"), ==, 2);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  expect ("nmsfilter sources=main,left:priority=1", gst_buffer_ref (buffer), "1 4 6");
  expect ("nmsfilter max-detections=2", gst_buffer_ref (buffer), "1 2");
  expect ("nmsfilter method=merge", gst_buffer_ref (buffer), "1 2 6");
  mark_cut (buffer, 4);
  expect ("nmsfilter score-threshold=0.65", gst_buffer_ref (buffer), "2 3");
  /* methods that compute with scores do not use the mark */
  expect ("nmsfilter method=weighted", buffer, "2 3 6");
}

static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter sources=a,b:priority=x", "the priority of b is \"x\"" },
    { "nmsfilter sources=a,b:priority=0.5", "the priority of b is \"0.5\"" },
    { "nmsfilter sources=a,b:priority=1001", "must be a whole number from -1000 to 1000" },
    { "nmsfilter sources=a,b:score-threshold=", "the score-threshold of b is \"\"" },
    { "nmsfilter sources=a,b:score-threshold=nan", "the score-threshold of b is \"nan\"" },
    { "nmsfilter sources=a,b:rank=1", "b has \"rank=1\"; there are only priority=NUMBER" },
    { "nmsfilter sources=a,:priority=1", "a weight has no name" },
    { "nmsfilter sources=b:priority=1", "all boxes belong to the only name, b" },
    { "nmsfilter sources=a,b:priority=1 method=weighted",
        "method=weighted with priorities in sources" },
  };
  GstHarness *h = harness_new ("nmsfilter method=soft-linear");
  GstBus *bus = harness_bus (h);
  gchar *sources;

  g_object_set (h->element, "sources", "a,b:priority=1", NULL);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "priorities in sources");
  g_object_get (h->element, "sources", &sources, NULL);
  g_assert_null (sources);
  g_object_set (h->element, "sources", "a,b:score-threshold=1", NULL);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  harness_free (h);
  h = harness_new ("nmsfilter sources=a,b:priority=1");
  bus = harness_bus (h);
  g_object_set (h->element, "method", 1, NULL);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "priorities in sources");
  harness_free (h);
  expect_no_starts (refused, G_N_ELEMENTS (refused));
}

static const TestCase cases[] = { CASE (test_priorities), CASE (test_ties), CASE (test_unscored),
  CASE (test_thresholds), CASE (test_cut), CASE (test_refusals), { NULL } };

GST_TEST_PROGRAM (cases);
