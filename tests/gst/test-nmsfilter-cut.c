/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: boxes that boxmerge has marked, because the edge of their tile cuts them. */
#include "gstrunner.h"

static void
mark (GstVideoRegionOfInterestMeta *roi)
{
  add_structure (roi, "source, cut=(boolean)true;");
}

/* Two tiles of a frame share the columns 300 to 340. The left one reports the left part of a person
 * up to its border, with a higher confidence than the whole person that the right one reports. */
static GstBuffer *
two_tiles (void)
{
  GstBuffer *buffer = frame_new (0);

  mark (add_scored (buffer, 1, "person", 302, 100, 36, 100, 0.95));
  add_boxes (buffer,
      "2 person 302,100,60,100 0.7; 3 person 0,300,50,100 0.9; 4 person 10,300,50,100 0.8");
  mark (add_scored (buffer, 5, "person", 300, 400, 40, 70, 0.2));
  return buffer;
}

static void
test_whole_boxes_first (void)
{
  expect ("nmsfilter", two_tiles (), "2 3 5");
  /* 5 overlaps no whole box: it is kept, unless its own confidence is too low */
  expect ("nmsfilter score-threshold=0.3", two_tiles (), "2 3");
  expect ("nmsfilter max-detections=2", two_tiles (), "2 3");
  /* methods that compute with scores do not use the marks */
  expect ("nmsfilter method=average", two_tiles (), "1 3 5");
}

/* boxselect drops marked boxes, as Hailo's border-threshold does. */
static void
test_dropped (void)
{
  expect ("nmsfilter", filtered ("boxselect drop-cut=true", two_tiles ()), "2 3");
}

/* Boxes without a confidence, whole ones first: 2 and 4 have most neighbors. */
static void
test_unscored (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 20,0,100,100");
  mark (add_region (buffer, 2, "a", 0, 0, 100, 100));
  add_boxes (buffer, "3 a 40,0,100,100");
  mark (add_scored (buffer, 4, "a", 0, 0, 90, 100, 0.9));
  expect_through (h, buffer, "1");
  assert_stats (h->element, "lower-ranked=2 suppressed=3");
}

/* The confidences on the buffer remain, and the tag names the whole box. */
static void
test_confidences_remain (void)
{
  g_autoptr (GstBuffer) out = filtered ("nmsfilter action=tag score-threshold=0.3", two_tiles ());
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  gdouble confidence;

  g_assert_true (
      gst_structure_get_double (gst_video_region_of_interest_meta_get_param (roi, "detection"),
          "confidence", &confidence));
  g_assert_cmpfloat (confidence, ==, 0.95);
  assert_tags (out, "1=suppressed:1 2=kept 5=below-score");
}

/* A lower rank equals scores from which 10 is subtracted. */
static void
test_as_if_scored_lower (void)
{
  static const gchar rule[] = "nmsfilter iou-threshold=0.3 max-per-class=4 max-candidates=40";
  g_autoptr (GstHarness) marked = harness_new (rule), lower = harness_new (rule);
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  guint cut = 0;

  for (guint round = 0; round < 200; round++) {
    g_autoptr (GstBuffer) a = frame_new (0), b = frame_new (0);
    g_autofree gchar *ids = NULL;

    for (gint i = 0; i < 60; i++) {
      const gint x = g_rand_int_range (random, 0, 12) * 30;
      const gint y = g_rand_int_range (random, 0, 10) * 30;
      const gint w = g_rand_int_range (random, 1, 8) * 20;
      const gint h = g_rand_int_range (random, 1, 8) * 20;
      const gdouble confidence = g_rand_int_range (random, 0, 50) / 50.0;
      const gboolean is_cut = g_rand_int_range (random, 0, 3) == 0;
      const gchar *label = i % 3 ? "a" : "b";
      GstVideoRegionOfInterestMeta *roi;

      roi = add_scored (a, i, label, x, y, (guint) w, (guint) h, confidence);
      add_scored (b, i, label, x, y, (guint) w, (guint) h, confidence - (is_cut ? 10 : 0));
      if (is_cut)
        mark (roi);
      cut += is_cut;
    }
    a = through (marked, a);
    b = through (lower, b);
    ids = g_strdup (ids_on (b));
    assert_ids (a, ids);
  }
  g_assert_cmpuint (stat_of (marked->element, "lower-ranked"), ==, cut);
  g_assert_cmpuint (cut, >, 1000);
}

static const TestCase cases[] = { CASE (test_whole_boxes_first), CASE (test_dropped),
  CASE (test_unscored), CASE (test_confidences_remain), CASE (test_as_if_scored_lower), { NULL } };

GST_TEST_PROGRAM (cases);
