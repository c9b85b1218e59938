/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes without a confidence: their order, alone and among scored boxes, and
 * the neighbors that they need.
 */
#include "gstrunner.h"

/* Three equal boxes, each 20 pixels to the right of the previous one: adjacent ones
 * overlap by 2/3, the first and the third by 3/7. Two larger boxes lie apart. */
static GstBuffer *
row (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 a 0,0,100,100; 2 a 20,0,100,100; 3 a 40,0,100,100; 4 a 300,0,110,100; "
      "5 a 300,0,120,100");
  return buffer;
}

static void
test_ranks (void)
{
  /* 2 has two neighbors, all others one; 4 is before 5 because it is smaller */
  expect ("nmsfilter", row (), "2 4");
  expect ("nmsfilter missing-score=neighbors", row (), "2 4");
  /* equal areas: the leftmost box is first */
  expect ("nmsfilter missing-score=area", row (), "1 3 5");
  expect ("nmsfilter missing-score=order", row (), "1 3 4");
  expect ("nmsfilter missing-score=drop", row (), "");
}

static void
test_min_neighbors (void)
{
  expect ("nmsfilter min-neighbors=1", row (), "2 4");
  expect ("nmsfilter min-neighbors=2", row (), "2");
  expect ("nmsfilter min-neighbors=3", row (), "");
  expect ("nmsfilter min-neighbors=2 iou-threshold=0.4", row (), "1");
  expect ("nmsfilter min-neighbors=2 missing-score=area", row (), "2");
  expect ("nmsfilter min-neighbors=2 missing-score=order", row (), "2");
  expect ("nmsfilter min-neighbors=2 missing-score=drop", row (), "");
}

static void
test_caps_and_thresholds (void)
{
  expect ("nmsfilter max-detections=1", row (), "2");
  expect ("nmsfilter score-threshold=1000", row (), "2 4");
  expect ("nmsfilter class-options=\"o,a=[o,score-threshold=1000]\"", row (), "2 4");
  expect ("nmsfilter class-options=\"o,a=[o,max=1,score-threshold=9]\"", row (), "2");
}

/* The order of the boxes does not change the result. */
static void
test_order_does_not_matter (void)
{
  static const gint x[] = { 0, 20, 40, 60, 80, 100 };
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autofree gchar *first = NULL;

  for (guint round = 0; round < 50; round++) {
    gint ids[] = { 1, 2, 3, 4, 5, 6 };
    GString *left = g_string_new (NULL);
    GstBuffer *buffer = frame_new (0), *out;

    for (guint i = 0; i < 6; i++) {
      guint k = (guint) g_rand_int_range (random, (gint32) i, 6);
      gint swap = ids[i];

      ids[i] = ids[k];
      ids[k] = swap;
      add_region (buffer, ids[i], "a", x[ids[i] - 1], 0, 100, 100);
    }
    out = filtered ("nmsfilter", buffer);
    for (guint i = 1; i <= 6; i++)
      if (gst_buffer_get_video_region_of_interest_meta_id (out, (gint) i))
        g_string_append_printf (left, "%u ", i);
    gst_buffer_unref (out);
    if (first == NULL)
      first = g_string_free (left, FALSE);
    else {
      g_assert_cmpstr (left->str, ==, first);
      g_string_free (left, TRUE);
    }
  }
}

static GstBuffer *
mixed (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 0,0,100,100");
  add_scored (buffer, 2, "a", 10, 0, 100, 100, -5.0); /* ranks above box 1, which has no score */
  add_boxes (buffer,
      "3 a 200,0,100,100; 4 b 200,0,100,100; 5 a 400,0,100,100 0.5; 6 a 400,0,100,100 0.5; "
      "7 a 405,0,100,100 0.9");
  return buffer;
}

static void
test_mixed (void)
{
  expect ("nmsfilter", mixed (), "2 3 4 7");
  expect ("nmsfilter score-threshold=0.1", mixed (), "1 3 4 7");
  expect ("nmsfilter score-threshold=0.1 class-options=\"o,a=[o,score-threshold=-9]\"", mixed (),
      "2 3 4 7");
  expect ("nmsfilter max-detections=2", mixed (), "2 7");
  expect ("nmsfilter max-detections=3 missing-score=order", mixed (), "2 3 7");
  expect ("nmsfilter missing-score=drop", mixed (), "2 7");
  expect ("nmsfilter class-agnostic=true", mixed (), "2 3 7");
  /* 1 has the neighbor 2, unless 2 is below the threshold; scored boxes need no
   * neighbors */
  expect ("nmsfilter min-neighbors=1", mixed (), "2 7");
  expect ("nmsfilter min-neighbors=1 iou-threshold=0.95", mixed (), "2 5 7");
  expect ("nmsfilter min-neighbors=1 score-threshold=0.1", mixed (), "7");
  expect ("nmsfilter iou-threshold=1", mixed (), "1 2 3 4 5 6 7");
}

static void
test_mixed_suppressors (void)
{
  GstBuffer *out = filtered ("nmsfilter action=tag score-threshold=-4", mixed ());

  assert_tags (out, "1=kept 2=below-score 5=suppressed:6 6=suppressed:6 7=kept");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter action=tag", mixed ());
  assert_tag (out, 1, "suppressed:1");
  gst_buffer_unref (out);
}

/* The scores that the filter computes for the order are never written. */
static void
test_no_score_is_written (void)
{
  g_autoptr (GstBuffer) out = filtered ("nmsfilter", row ());
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (out, 2);

  g_assert_nonnull (roi);
  g_assert_null (roi->params);
}

static void
test_counts (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter missing-score=drop");

  gst_buffer_unref (through (h, mixed ()));
  assert_stats (h->element, "no-score=3 unscored=3 boxes-out=2 suppressed=2");
}

/* One frame with 100,001 boxes for each setting. */
static void
test_huge_frames (void)
{
  static const gchar *const lines[] = { "nmsfilter", "nmsfilter min-neighbors=1",
    "nmsfilter missing-score=area", "nmsfilter missing-score=drop" };

  for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
    g_autoptr (GstHarness) h = harness_new (lines[k]);
    g_autoptr (GRand) random = g_rand_new_with_seed (k);
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    for (guint i = 0; i <= 100000; i++) {
      gint x = g_rand_int_range (random, 0, 3000), y = g_rand_int_range (random, 0, 3000);

      if (k < 2 || i % 2)
        add_region (buffer, (gint) i, "a", x, y, 50, 50);
      else
        add_scored (buffer, (gint) i, "a", x, y, 50, 50, g_rand_double (random));
    }
    out = through (h, buffer);
    g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 100001);
    g_assert_cmpuint (stat_of (h->element, "boxes-out"), ==, count_on (out));
    g_assert_cmpuint (stat_of (h->element, "boxes-out") + stat_of (h->element, "suppressed")
            + stat_of (h->element, "no-score") + stat_of (h->element, "too-few-neighbors"),
        ==, 100001);
  }
}

/* All boxes at the same position. */
static void
test_huge_frame_of_equal_boxes (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  for (gint i = 0; i <= 100000; i++)
    add_region (buffer, i, "a", 10 + i % 3, 10, 50, 50);
  out = through (h, buffer);
  assert_ids (out, "0"); /* equal numbers of neighbors: x gives the order */
}

static const TestCase cases[] = { CASE (test_ranks), CASE (test_min_neighbors),
  CASE (test_caps_and_thresholds), CASE (test_order_does_not_matter), CASE (test_mixed),
  CASE (test_mixed_suppressors), CASE (test_no_score_is_written), CASE (test_counts),
  CASE (test_huge_frames), CASE (test_huge_frame_of_equal_boxes), { NULL } };

GST_TEST_PROGRAM (cases);
