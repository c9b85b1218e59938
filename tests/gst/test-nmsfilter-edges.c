/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: boxes that the edge of a tile or of a region of interest cuts. */
#include "gstboxes.h"
#include "gstrunner.h"

/* Two regions of a frame of 640 x 480 share the columns 300 to 340. The left one reports the
 * left part of a person up to its border, with a higher confidence than the whole person that
 * the right one reports. A second person is at the edge of the frame. */
static GstBuffer *
two_regions (void)
{
  GstBuffer *buffer = frame_new (0);

  add_scored (buffer, 1, "person", 302, 100, 36, 100, 0.95);
  add_scored (buffer, 2, "person", 302, 100, 60, 100, 0.7);
  add_scored (buffer, 3, "person", 0, 300, 50, 100, 0.9);
  add_scored (buffer, 4, "person", 10, 300, 50, 100, 0.8);
  add_scored (buffer, 5, "person", 300, 400, 40, 70, 0.2);
  return buffer;
}

/* As Frigate does: boxes within 5 pixels of the border of a region give way to whole ones,
 * except at the edge of the frame. */
static void
test_frigate (void)
{
  expect ("nmsfilter", two_regions (), "1 3 5");
  expect ("nmsfilter roi=0,0,340,480 edge-policy=lower-rank", two_regions (), "2 3 5");
  expect ("nmsfilter roi=0,0,340,480 edge-policy=lower-rank edge-margin=1", two_regions (),
      "1 3 5");
  /* the frame extends beyond this region, so that 3 is cut too */
  expect ("nmsfilter roi=2,0,338,480 edge-policy=lower-rank", two_regions (), "2 4 5");
  /* 5 overlaps no whole box: it is kept, unless its own confidence is too low */
  expect ("nmsfilter roi=0,0,340,480 edge-policy=lower-rank score-threshold=0.3", two_regions (),
      "2 3");
  expect ("nmsfilter roi=0,0,340,480 edge-policy=lower-rank max-detections=2", two_regions (),
      "2 3");
}

/* As Hailo's border-threshold does: boxes that reach the outer part of a tile are dropped. */
static void
test_hailo (void)
{
  GstBuffer *buffer = frame_new (0);

  add_scored (buffer, 1, "a", 64, 100, 50, 50, 0.9); /* a tenth of 640 */
  add_scored (buffer, 2, "a", 65, 200, 50, 50, 0.9);
  add_scored (buffer, 3, "a", 300, 382, 50, 50, 0.9); /* ends at nine tenths of 480 */
  add_scored (buffer, 4, "a", 400, 381, 50, 50, 0.9);
  expect ("nmsfilter edge-policy=drop edge-margin=10%", gst_buffer_ref (buffer), "2 4");
  expect ("nmsfilter edge-policy=drop edge-margin=9.9%", buffer, "1 2 3 4");
}

/* Two overlapping slices of SAHI, of 640 x 480 pixels in a picture of 1120 x 480. Each is
 * filtered alone, then the boxes of both are joined. The part of a car that the left slice
 * sees overlaps the whole car by IoU 0.6 and has the better score. */
static void
test_sahi (void)
{
  GstBuffer *left = frame_new (0), *right = frame_new (0), *both = frame_new (0);

  add_scored (left, 1, "car", 540, 100, 100, 50, 0.9); /* the visible part of 3 */
  add_scored (left, 2, "car", 0, 300, 80, 50, 0.8);    /* at the edge of the picture */
  add_scored (right, 3, "car", 60, 100, 160, 50, 0.6);
  left = filtered ("nmsfilter edge-policy=drop edge-sides=right", left);
  assert_ids (left, "2");
  right = filtered ("nmsfilter edge-policy=drop edge-sides=left", right);
  assert_ids (right, "3");
  add_scored (both, 2, "car", 0, 300, 80, 50, 0.8);
  add_scored (both, 3, "car", 480 + 60, 100, 160, 50, 0.6);
  gst_buffer_unref (left);
  gst_buffer_unref (right);
  /* without the policy the part suppresses the whole */
  left = gst_buffer_copy (both);
  add_scored (left, 1, "car", 540, 100, 100, 50, 0.9);
  expect ("nmsfilter", both, "2 3");
  expect ("nmsfilter", left, "2 1");
}

static void
test_sides (void)
{
  static const gchar *const sides[] = { "left", "top", "right", "bottom" };
  GstBuffer *buffer = frame_new (0);
  guint i;

  add_scored (buffer, 0, "a", 5, 200, 20, 20, 0.9);
  add_scored (buffer, 1, "a", 300, 5, 20, 20, 0.9);
  add_scored (buffer, 2, "a", 615, 200, 20, 20, 0.9);
  add_scored (buffer, 3, "a", 300, 455, 20, 20, 0.9);
  add_scored (buffer, 4, "a", -30, 100, 20, 20, 0.9); /* beyond the left edge */
  for (i = 0; i < 4; i++) {
    static const gchar *const left[] = { "1 2 3", "0 2 3 4", "0 1 3 4", "0 1 2 4" };
    gchar *line = g_strdup_printf ("nmsfilter edge-policy=drop edge-sides=%s", sides[i]);

    expect (line, gst_buffer_ref (buffer), left[i]);
    g_free (line);
  }
  expect ("nmsfilter edge-policy=drop edge-margin=4.9", gst_buffer_ref (buffer), "0 1 2 3");
  expect ("nmsfilter edge-policy=drop edge-margin=0", gst_buffer_ref (buffer), "0 1 2 3");
  expect ("nmsfilter edge-policy=drop edge-margin=\"\"", gst_buffer_ref (buffer), "0 1 2 3 4");
  expect ("nmsfilter edge-policy=drop edge-sides=0", gst_buffer_ref (buffer), "0 1 2 3 4");
  expect ("nmsfilter edge-policy=drop", buffer, "");
}

/* Boxes without a confidence, whole ones first: 2 and 4 have most neighbors. */
static void
test_unscored (void)
{
  GstBuffer *buffer = frame_new (0), *out;
  GstHarness *h;

  add_region (buffer, 1, "a", 20, 0, 100, 100);
  add_region (buffer, 2, "a", 0, 0, 100, 100);
  add_region (buffer, 3, "a", 40, 0, 100, 100);
  add_scored (buffer, 4, "a", 0, 0, 90, 100, 0.9);
  h = harness_new ("nmsfilter edge-policy=lower-rank edge-sides=left");
  out = through (h, gst_buffer_ref (buffer));
  assert_ids (out, "1");
  gst_buffer_unref (out);
  g_assert_cmpuint (stat_of (h->element, "lower-ranked"), ==, 2);
  g_assert_cmpuint (stat_of (h->element, "suppressed"), ==, 3);
  gst_harness_teardown (h);
  expect ("nmsfilter", buffer, "3 4");
}

/* The confidences on the buffer remain, and the tag names the whole box. */
static void
test_confidences_remain (void)
{
  GstBuffer *out = filtered ("nmsfilter action=tag roi=0,0,340,480 edge-policy=lower-rank "
                             "score-threshold=0.3",
      two_regions ());
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  gdouble confidence;

  g_assert_true (
      gst_structure_get_double (gst_video_region_of_interest_meta_get_param (roi, "detection"),
          "confidence", &confidence));
  g_assert_cmpfloat (confidence, ==, 0.95);
  assert_tag (out, 1, "suppressed:1");
  assert_tag (out, 2, "kept");
  assert_tag (out, 5, "below-score");
  gst_buffer_unref (out);
}

/* A lower rank equals scores from which 10 is subtracted. */
static void
test_as_if_scored_lower (void)
{
  static const gchar rule[] = "nmsfilter iou-threshold=0.3 max-per-class=4 max-candidates=40";
  gchar *line = g_strconcat (rule, " edge-policy=lower-rank edge-margin=12", NULL);
  GstHarness *policy = harness_new_caps (line, "video/x-raw,format=GRAY8,width=470,height=400");
  GstHarness *lower = harness_new (rule);
  GRand *random = g_rand_new_with_seed (6);
  guint round, cut = 0;
  gint i;

  for (round = 0; round < 200; round++) {
    GstBuffer *a = frame_new (0), *b = frame_new (0);
    gchar *ids;

    for (i = 0; i < 60; i++) {
      const gint x = g_rand_int_range (random, 0, 12) * 30;
      const gint y = g_rand_int_range (random, 0, 10) * 30;
      const gint w = g_rand_int_range (random, 1, 8) * 20;
      const gint h = g_rand_int_range (random, 1, 8) * 20;
      const gdouble confidence = g_rand_int_range (random, 0, 50) / 50.0;
      const gboolean at_edge = x <= 12 || y <= 12 || x + w >= 458 || y + h >= 388;
      const gchar *label = i % 3 ? "a" : "b";

      add_scored (a, i, label, x, y, (guint) w, (guint) h, confidence);
      add_scored (b, i, label, x, y, (guint) w, (guint) h, confidence - (at_edge ? 10 : 0));
      cut += at_edge;
    }
    a = through (policy, a);
    b = through (lower, b);
    ids = g_strdup (ids_on (b));
    assert_ids (a, ids);
    g_free (ids);
    gst_buffer_unref (a);
    gst_buffer_unref (b);
  }
  g_assert_cmpuint (stat_of (policy->element, "lower-ranked"), ==, cut);
  g_assert_cmpuint (cut, >, 1000);
  g_rand_free (random);
  g_free (line);
  gst_harness_teardown (policy);
  gst_harness_teardown (lower);
}

static const TestCase cases[] = { { "/nmsfilter/edges/frigate", test_frigate },
  { "/nmsfilter/edges/hailo", test_hailo }, { "/nmsfilter/edges/sahi", test_sahi },
  { "/nmsfilter/edges/sides", test_sides }, { "/nmsfilter/edges/unscored", test_unscored },
  { "/nmsfilter/edges/confidences-remain", test_confidences_remain },
  { "/nmsfilter/edges/as-if-scored-lower", test_as_if_scored_lower }, { NULL } };

GST_TEST_PROGRAM (cases);
