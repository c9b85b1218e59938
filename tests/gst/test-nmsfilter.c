/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: which boxes of a buffer are kept: thresholds, caps, invalid boxes,
 * action=tag, metas that are not detections, coordinates in doubles and integers.
 */
#include "gstrunner.h"

#include <fenv.h>
#include <math.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* Boxes of 100x100. Shifted by 50: intersection 5000, union 15000, IoU 1/3. Shifted by
 * 20: 8000 / 12000 = 2/3. */
static GstBuffer *
two_objects (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 person 100,100,100,100 0.6");
  add_scored (buffer, 2, "person", 120, 100, 100, 100, 0.9); /* 2/3 with 1 */
  add_boxes (buffer, "3 person 300,100,100,100 0.5");
  add_scored (buffer, 4, "person", 350, 100, 100, 100, 0.4); /* 1/3 with 3 */
  return buffer;
}

static void
test_overlap (void)
{
  expect ("nmsfilter", two_objects (), "2 3 4");
  expect ("nmsfilter iou-threshold=0.3", two_objects (), "2 3");
  expect ("nmsfilter iou-threshold=0.7", two_objects (), "1 2 3 4");
  expect ("nmsfilter iou-threshold=1.0", two_objects (), "1 2 3 4");
  expect ("nmsfilter iou-threshold=0", two_objects (), "2 3");
}

static void
test_engines (void)
{
  static const gchar *const engines[] = { "auto", "sequential", "sorted", "spatial" };

  for (guint i = 0; i < G_N_ELEMENTS (engines); i++) {
    g_autofree gchar *line = g_strdup_printf ("nmsfilter engine=%s iou-threshold=0.3", engines[i]);
    GstHarness *h = harness_new (line);
    gchar *used;

    g_object_get (h->element, "engine-in-use", &used, NULL);
    g_assert_null (used);
    gst_buffer_unref (through (h, frame_new (0)));
    g_object_get (h->element, "engine-in-use", &used, NULL);
    g_assert_null (used);
    gst_buffer_unref (through (h, two_objects ()));
    g_object_get (h->element, "engine-in-use", &used, NULL);
    g_assert_nonnull (used);
    g_assert_nonnull (strchr (used, '/'));
    if (i > 0)
      g_assert_true (g_str_has_prefix (used, engines[i]));
    else
      g_assert_false (g_str_has_prefix (used, "auto"));
    g_free (used);
    gst_harness_teardown (h);
    expect (line, two_objects (), "2 3");
  }
}

/* 100x100 and 100x50 inside it: IoU is exactly 0.5. */
static GstBuffer *
at_the_threshold (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 a 0,0,100,50 0.7");
  return buffer;
}

static void
test_inclusive (void)
{
  expect ("nmsfilter iou-threshold=0.5", at_the_threshold (), "1 2");
  expect ("nmsfilter iou-threshold=0.5 inclusive=true", at_the_threshold (), "1");
}

static void
test_score_threshold (void)
{
  expect ("nmsfilter score-threshold=0.7", at_the_threshold (), "1 2");
  expect ("nmsfilter score-threshold=0.70001", at_the_threshold (), "1");
  expect ("nmsfilter score-threshold=0.95", at_the_threshold (), "");
}

static void
test_default_keeps_any_score (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a 0,0,10,10 -3.0");
  add_scored (buffer, 2, "a", 100, 0, 10, 10, -INFINITY);
  add_scored (buffer, 3, "a", 200, 0, 10, 10, INFINITY);
  add_scored (buffer, 4, "a", 300, 0, 10, 10, -1e300);
  expect ("nmsfilter", buffer, "1 2 3 4");
}

static void
test_caps (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 a 0,0,10,10 0.1; 2 a 100,0,10,10 0.5; 3 b 200,0,10,10 0.2; 4 a 300,0,10,10 0.9");
  expect ("nmsfilter max-detections=2", gst_buffer_ref (buffer), "2 4");
  expect ("nmsfilter max-per-class=1", gst_buffer_ref (buffer), "3 4");
  expect ("nmsfilter max-per-class=1 class-agnostic=true", gst_buffer_ref (buffer), "3 4");
  expect ("nmsfilter max-detections=1 max-per-class=5", buffer, "4");
}

static void
test_ties (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 a 5,0,100,100 0.5; 2 a 0,0,100,100 0.5; 3 a 400,0,10,10 -0.0; 4 a 400,0,10,10 0.0");
  expect ("nmsfilter", buffer, "1 3");
}

static void
test_invalid (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);

  add_scored (buffer, 1, "a", 0, 0, 100, 100, NAN);
  add_boxes (buffer, "2 a 0,0,100,100 0.1");
  /* without area, so they overlap no box and are kept */
  add_boxes (buffer, "3 a 10,10,0,50 0.9; 4 a 10,10,0,0 0.9; 5 a 10,10,0,50 0.9");
  expect_through (h, buffer, "2 3 4 5");
  assert_stats (h->element, "invalid=1 boxes-out=4");
}

static void
test_stats_add_up (void)
{
  static const gchar *const drops[] = { "suppressed", "below-score", "not-candidate", "over-cap",
    "too-few-neighbors", "no-score", "invalid" };
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter score-threshold=0.3 max-detections=3 classes=a,b "
                       "min-neighbors=1 max-candidates=5");
  GstBuffer *buffer = frame_new (0);
  guint64 dropped = 0;

  add_boxes (buffer, "1 a 0,0,100,100 0.9");
  add_scored (buffer, 2, "a", 5, 0, 100, 100, 0.8);   /* suppressed */
  add_scored (buffer, 3, "a", 200, 0, 100, 100, 0.2); /* below-score */
  add_boxes (buffer, "4 b 400,0,100,100 0.7; 5 b 0,200,100,100 0.6");
  add_scored (buffer, 6, "b", 0, 350, 100, 100, 0.5);   /* over-cap */
  add_scored (buffer, 7, "b", 300, 350, 100, 100, NAN); /* invalid */
  add_region (buffer, 8, "a", 500, 400, 20, 20);        /* too-few-neighbors */
  add_region (buffer, 9, "c", 500, 400, 20, 20);        /* not-selected */
  add_scored (buffer, 10, "b", 300, 400, 20, 20, 0.4);  /* not-candidate */
  expect_through (h, buffer, "1 4 5 9");

  assert_stats (h->element,
      "frames=1 boxes-in=10 boxes-out=4 suppressed=1 below-score=1 not-candidate=1 "
      "over-cap=1 too-few-neighbors=1 no-score=0 invalid=1 not-selected=1 unscored=2");
  g_assert_cmpuint (stat_of (h->element, "time"), >, 0);
  for (guint i = 0; i < G_N_ELEMENTS (drops); i++)
    dropped += stat_of (h->element, drops[i]);
  g_assert_cmpuint (stat_of (h->element, "boxes-out") + dropped, ==, 10);
}

/* ---------------------------------------------------------------------- tag */

static void
test_tag (void)
{
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter action=tag score-threshold=0.3 max-detections=2 "
                       "classes=a missing-score=drop");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;

  roi = add_scored (buffer, 1, "a", 5, 0, 100, 100, 0.8);
  add_structure (roi, "nms, state=(string)kept, other=(int)3;");
  add_boxes (buffer, "2 a 0,0,100,100");
  roi = add_scored (buffer, 3, "a", 0, 0, 100, 100, 0.9);
  add_structure (roi, "nms, state=(string)suppressed, suppressed-by=(int)0;");
  add_boxes (buffer, "4 a 200,0,100,100 0.1");
  add_scored (buffer, 5, "a", 200, 0, 100, 100, NAN);
  add_boxes (buffer, "6 b 200,0,100,100 0.9; 7 a 300,0,100,100 0.7; 8 a 400,0,100,100 0.6");
  out = through (h, buffer);
  assert_ids (out, "1 2 3 4 5 6 7 8");
  assert_tag (out, 1, "suppressed:2"); /* the detection at index 2, which has id 3 */
  assert_tags (out, "2=no-score 3=kept 4=below-score 5=invalid");
  assert_tag (out, 6, "");
  assert_tags (out, "7=kept 8=over-cap");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  g_assert_cmpuint (g_list_length (roi->params), ==, 2);
  assert_stats (h->element, "boxes-in=8 boxes-out=3");

  /* a filter downstream removes the same boxes with and without tags */
}

/* Boxes beyond max-candidates are removed though they overlap nothing, and tagged. */
static void
test_max_candidates (void)
{
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  add_boxes (buffer, "1 a 0,0,100,100 0.6; 2 b 200,0,100,100 0.8; 3 a 5,0,100,100 0.7");
  expect ("nmsfilter max-candidates=2", gst_buffer_ref (buffer), "2 3");
  expect ("nmsfilter max-candidates=1", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter max-candidates=0", gst_buffer_ref (buffer), "2 3");
  out = filtered ("nmsfilter action=tag max-candidates=2", buffer);
  assert_tags (out, "1=not-candidate 2=kept 3=kept");
}

static void
test_tag_then_remove (void)
{
  g_autoptr (GstBuffer) out = filtered ("nmsfilter action=tag iou-threshold=0.3", two_objects ());

  assert_tags (out, "1=suppressed:1 4=suppressed:2");
  out = filtered ("nmsfilter iou-threshold=0.3", out);
  assert_ids (out, "2 3");
  assert_tag (out, 2, "kept");
}

static void
test_tag_too_few_neighbors (void)
{
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  add_boxes (buffer, "1 a 0,0,100,100");
  out = filtered ("nmsfilter action=tag min-neighbors=1", buffer);
  assert_tag (out, 1, "too-few-neighbors");
}

/* ------------------------------------------------------- what is a detection */

static void
test_hints_and_locked (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;

  add_boxes (buffer, "1 a 0,0,100,100 0.9");
  roi = add_region (buffer, 2, "a", 0, 0, 100, 100); /* a hint */
  add_structure (roi, "roi/x264, delta-qp=(double)-0.5;");
  roi = add_scored (buffer, 3, "a", 0, 0, 100, 100, 0.8); /* locked */
  GST_META_FLAG_SET (&roi->meta, GST_META_FLAG_LOCKED);
  roi = add_scored (buffer, 4, "a", 0, 0, 100, 100, 0.7); /* a detection with a hint */
  add_structure (roi, "roi/x264, delta-qp=(double)-0.5;");
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  add_boxes (buffer, "5 a 0,0,100,100 0.6");
  out = through (h, buffer);
  assert_ids (out, "1 2 3");
  g_assert_nonnull (gst_buffer_get_video_meta (out));
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 3);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 3);
  GST_META_FLAG_UNSET (&roi->meta, GST_META_FLAG_LOCKED);
}

/* --------------------------------------------------- which coordinates count */

static void
test_doubles_decide (void)
{
  GstBuffer *buffer = frame_new (0);

  /* 10x10, the second is 3.4 to the right: the integers 10..20 and 13..23 have IoU
   * 70/130 = .538, the doubles 66/134 = .4925 */
  add_exact (buffer, 1, "a", 10.0, 10, 20.0, 20, 0.9);
  add_exact (buffer, 2, "a", 13.4, 10, 23.4, 20, 0.8);
  expect ("nmsfilter iou-threshold=0.5", gst_buffer_copy (buffer), "1 2");
  gst_buffer_get_video_region_of_interest_meta_id (buffer, 1)->x = 12; /* doubles outdated */
  expect ("nmsfilter iou-threshold=0.6", buffer, "1");
}

static void
test_doubles_agree_after_clipping (void)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  /* 60 of 100 columns lie left of the frame, so the integers are clipped */
  add_exact (buffer, 1, "a", 0, 10, 40, 110, 0.9);
  roi = add_exact (buffer, 2, "a", 0, 10, 100, 110, 0.8);
  gst_structure_set (roi->params->data, "x_min", G_TYPE_DOUBLE, -60.0 / FRAME_WIDTH, "x_max",
      G_TYPE_DOUBLE, 40.0 / FRAME_WIDTH, NULL);
  roi->w = 40;
  expect ("nmsfilter iou-threshold=0.5", buffer, "1 2"); /* IoU .4, not 1 */
}

static void
test_hopeless_doubles (void)
{
  static const gdouble bad[] = { NAN, INFINITY, -INFINITY, 1e308, -1e308 };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstBuffer *buffer = frame_new (0);
    GstVideoRegionOfInterestMeta *roi;

    add_exact (buffer, 1, "a", 10, 10, 110, 110, 0.9);
    roi = add_exact (buffer, 2, "a", 10, 10, 110, 110, 0.8);
    gst_structure_set (roi->params->data, "x_min", G_TYPE_DOUBLE, bad[i], NULL);
    expect ("nmsfilter", buffer, "1"); /* a duplicate, as its integers say */
  }
}

static void
test_field_types (void)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  roi = add_region (buffer, 1, "a", 0, 0, 100, 100);
  add_structure (roi, "detection, confidence=(float)0.25;");
  roi = add_region (buffer, 2, "a", 0, 0, 100, 100);
  add_structure (roi, "detection, confidence=(int)1;");
  roi = add_region (buffer, 3, "a", 0, 0, 100, 100); /* not a number: no score */
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "confidence", G_TYPE_STRING, "0.9", NULL));
  expect ("nmsfilter", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter score-threshold=0.5 iou-threshold=1 missing-score=drop", buffer, "2");
}

static void
test_wrapped_negatives (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 a -50,-50,100,100 0.9; 2 a -48,-50,100,100 0.8");
  add_scored (buffer, 3, "a", 0, 0, 50, 50, 0.7); /* a quarter of 1 */
  add_boxes (buffer, "4 a -20,-20,30,30 0.6");
  add_scored (buffer, 5, "a", G_MININT, 0, 10, 10, 0.6);
  add_scored (buffer, 6, "a", G_MAXINT, 0, G_MAXUINT, G_MAXUINT, 0.6);
  expect ("nmsfilter", buffer, "1 3 4 5 6");
}

static void
test_no_frame_size (void)
{
  g_autoptr (GstHarness) h = gst_harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  gst_harness_set_src_caps_str (h, "application/x-something");
  add_exact (buffer, 1, "a", 10.0, 10, 20.0, 20, 0.9);
  add_exact (buffer, 2, "a", 13.4, 10, 23.4, 20, 0.8);
  out = through (h, buffer);
  assert_ids (out, "1"); /* .538 by the integers */
}

static void
test_size_of_encoded_caps (void)
{
  static const gchar *const caps[] = {
    "video/x-h264,stream-format=byte-stream,alignment=au,width=640,height=480",
    "video/x-raw(memory:Other),format=NV12,width=640,height=480,framerate=0/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    g_autoptr (GstHarness) h = gst_harness_new ("nmsfilter");
    GstBuffer *buffer = frame_new (0);

    gst_harness_set_src_caps_str (h, caps[i]);
    add_exact (buffer, 1, "a", 10.0, 10, 20.0, 20, 0.9);
    add_exact (buffer, 2, "a", 13.4, 10, 23.4, 20, 0.8);
    expect_through (h, buffer, "1 2");
  }
}

/* ------------------------------------------------------ modes of arithmetic */

static void
test_rounding_mode (void)
{
  static const gint modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.1");
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    /* 0.7 is above the nearest float: rounded upward the second box would have the
     * higher score. 0.1 is below it: rounded downward the third box would be below the
     * threshold. */
    add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.7f);
    add_boxes (buffer, "2 a 0,0,100,100 0.7; 3 a 200,0,100,100 0.1");
    fesetround (modes[i]);
    out = through (h, buffer);
    g_assert_cmpint (fegetround (), ==, modes[i]);
    fesetround (FE_TONEAREST);
    assert_ids (out, "1 3");
  }
}

#if defined(__SSE2__)
static void
test_flush_to_zero (void)
{
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  guint before = _mm_getcsr ();

  add_scored (buffer, 1, "a", 0, 0, 100, 100, 1e-41); /* subnormal floats */
  add_scored (buffer, 2, "a", 0, 0, 100, 100, 2e-41);
  _mm_setcsr (before | 0x8040);
  out = through (h, buffer);
  g_assert_cmphex (_mm_getcsr () & 0x8040, ==, 0x8040);
  _mm_setcsr (before);
  assert_ids (out, "2");
}
#endif

static const TestCase cases[] = { CASE (test_overlap), CASE (test_engines), CASE (test_inclusive),
  CASE (test_score_threshold), CASE (test_default_keeps_any_score), CASE (test_caps),
  CASE (test_ties), CASE (test_invalid), CASE (test_stats_add_up), CASE (test_tag),
  CASE (test_tag_then_remove), CASE (test_max_candidates), CASE (test_tag_too_few_neighbors),
  CASE (test_hints_and_locked), CASE (test_doubles_decide),
  CASE (test_doubles_agree_after_clipping), CASE (test_hopeless_doubles), CASE (test_field_types),
  CASE (test_wrapped_negatives), CASE (test_no_frame_size), CASE (test_size_of_encoded_caps),
  CASE (test_rounding_mode),
#if defined(__SSE2__)
  CASE (test_flush_to_zero),
#endif
  { NULL } };

GST_TEST_PROGRAM (cases);
