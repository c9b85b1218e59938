/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: which boxes of a buffer are kept: thresholds, caps, invalid boxes, action=tag, metas
 * that are not detections, coordinates in doubles and integers. test-nmsfilter-reference compares
 * random frames and settings.
 */
#include "gstrunner.h"

#include <fenv.h>
#include <math.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* Boxes of 100x100. 1 and 2 have IoU 2/3 (8000 / 12000), 3 and 4 have 1/3 (5000 / 15000). */
#define TWO_OBJECTS \
  "1 person 100,100,100,100 0.6; 2 person 120,100,100,100 0.9; 3 person 300,100,100,100 0.5; " \
  "4 person 350,100,100,100 0.4"

/* 100x100 and 100x50 inside it: IoU is exactly 0.5. */
#define HALF "1 a 0,0,100,100 0.9; 2 a 0,0,100,50 0.7"

#define FOUR "1 a 0,0,10,10 0.1; 2 a 100,0,10,10 0.5; 3 b 200,0,10,10 0.2; 4 a 300,0,10,10 0.9"

/* 1 overlaps nothing that 2 candidates contain. */
#define THREE "1 a 0,0,100,100 0.6; 2 b 200,0,100,100 0.8; 3 a 5,0,100,100 0.7"

/* 10x10, the second is 3.4 to the right: the integers 10..20 and 13..23 have IoU 70/130 = .538,
 * the doubles 66/134 = .4925. */
#define EXACT "1 a 10:10:20:20 0.9; 2 a 13.4:10:23.4:20 0.8"

static void
test_frames (void)
{
  static const FrameRow rows[] = {
    { "overlap", "nmsfilter", TWO_OBJECTS, "2 3 4" },
    { "overlap", "nmsfilter iou-threshold=0.3", TWO_OBJECTS, "2 3" },
    { "overlap", "nmsfilter iou-threshold=1.0", TWO_OBJECTS, "1 2 3 4" },
    { "inclusive", "nmsfilter iou-threshold=0.5", HALF, "1 2" },
    { "inclusive", "nmsfilter iou-threshold=0.5 inclusive=true", HALF, "1" },
    { "score threshold", "nmsfilter score-threshold=0.7", HALF, "1 2" },
    { "score threshold", "nmsfilter score-threshold=0.70001", HALF, "1" },
    { "default keeps any score", "nmsfilter",
        "1 a 0,0,10,10 -3.0; 2 a 100,0,10,10 -inf; 3 a 200,0,10,10 inf; 4 a 300,0,10,10 -1e300",
        "1 2 3 4" },
    { "caps", "nmsfilter max-detections=2", FOUR, "2 4" },
    { "caps", "nmsfilter max-per-class=1", FOUR, "3 4" },
    { "caps", "nmsfilter max-detections=1 max-per-class=5", FOUR, "4" },
    { "max candidates", "nmsfilter max-candidates=2", THREE, "2 3" },
    { "max candidates", "nmsfilter max-candidates=1", THREE, "2" },
    { "max candidates", "nmsfilter action=tag max-candidates=2", THREE, "1 2 3",
        "1=not-candidate 2=kept 3=kept" },
    { "ties", "nmsfilter",
        "1 a 5,0,100,100 0.5; 2 a 0,0,100,100 0.5; 3 a 400,0,10,10 -0.0; 4 a 400,0,10,10 0.0",
        "1 3" },
    /* boxes without area overlap no box and are kept */
    { "invalid", "nmsfilter",
        "1 a 0,0,100,100 nan; 2 a 0,0,100,100 0.1; 3 a 10,10,0,50 0.9; 4 a 10,10,0,0 0.9; "
        "5 a 10,10,0,50 0.9",
        "2 3 4 5", NULL, "invalid=1 boxes-out=4" },
    { "stats add up",
        "nmsfilter score-threshold=0.3 max-detections=3 classes=a,b min-neighbors=1 "
        "max-candidates=5",
        "1 a 0,0,100,100 0.9; 2 a 5,0,100,100 0.8; 3 a 200,0,100,100 0.2; 4 b 400,0,100,100 0.7; "
        "5 b 0,200,100,100 0.6; 6 b 0,350,100,100 0.5; 7 b 300,350,100,100 nan; "
        "8 a 500,400,20,20; 9 c 500,400,20,20; 10 b 300,400,20,20 0.4",
        "1 4 5 9", NULL,
        "frames=1 boxes-in=10 boxes-out=4 suppressed=1 below-score=1 not-candidate=1 over-cap=1 "
        "too-few-neighbors=1 no-score=0 invalid=1 not-selected=1 unscored=2" },
    { "tag too few neighbors", "nmsfilter action=tag min-neighbors=1", "1 a 0,0,100,100", "1",
        "1=too-few-neighbors" },
    { "doubles decide", "nmsfilter iou-threshold=0.5", EXACT, "1 2" },
    /* negative coordinates wrap; 3 is a quarter of 1 */
    { "wrapped negatives", "nmsfilter",
        "1 a -50,-50,100,100 0.9; 2 a -48,-50,100,100 0.8; 3 a 0,0,50,50 0.7; "
        "4 a -20,-20,30,30 0.6; 5 a -2147483648,0,10,10 0.6; 6 a 2147483647,0,-1,-1 0.6",
        "1 3 4 5 6" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

/* ---------------------------------------------------------------------- tag */

/* A tag replaces an older one. 1 is suppressed by the detection at index 2, which has id 3. */
static void
test_tag (void)
{
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter action=tag score-threshold=0.3 max-detections=2 "
                       "classes=a missing-score=drop");
  g_autoptr (GstBuffer) out = NULL;
  GstBuffer *buffer = frame_with (
      "1 a 5,0,100,100 0.8; 2 a 0,0,100,100; 3 a 0,0,100,100 0.9; 4 a 200,0,100,100 0.1; "
      "5 a 200,0,100,100 nan; 6 b 200,0,100,100 0.9; 7 a 300,0,100,100 0.7; 8 a 400,0,100,100 0.6");
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);

  add_structure (roi, "nms, state=(string)kept, other=(int)3;");
  add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 3),
      "nms, state=(string)suppressed, suppressed-by=(int)0;");
  out = through (h, buffer);
  assert_ids (out, "1 2 3 4 5 6 7 8");
  assert_tags (out,
      "1=suppressed:2 2=no-score 3=kept 4=below-score 5=invalid 6= 7=kept 8=over-cap");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  g_assert_cmpuint (g_list_length (roi->params), ==, 2);
  assert_stats (h->element, "boxes-in=8 boxes-out=3");
}

/* ------------------------------------------------------- what is a detection */

/* 2 is a hint to an encoder, 3 is locked, 4 is a detection with a hint. */
static void
test_hints_and_locked (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_with ("1 a 0,0,100,100 0.9; 2 a 0,0,100,100; 3 a 0,0,100,100 0.8; "
                                  "4 a 0,0,100,100 0.7; 5 a 0,0,100,100 0.6");
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 3);

  GST_META_FLAG_SET (&roi->meta, GST_META_FLAG_LOCKED);
  for (gint id = 2; id <= 4; id += 2)
    add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, id),
        "roi/x264, delta-qp=(double)-0.5;");
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 4);
  out = through (h, buffer);
  assert_ids (out, "1 2 3");
  g_assert_nonnull (gst_buffer_get_video_meta (out));
  assert_stats (h->element, "boxes-in=3");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 3);
  GST_META_FLAG_UNSET (&roi->meta, GST_META_FLAG_LOCKED);
}

/* The confidence has any type of number; a text is none. */
static void
test_field_types (void)
{
  static const gchar *const confidences[] = { "(float)0.25", "(int)1", "(string)\"0.9\"" };
  GstBuffer *buffer = frame_with ("1 a 0,0,100,100; 2 a 0,0,100,100; 3 a 0,0,100,100");

  for (gint i = 0; i < 3; i++) {
    g_autofree gchar *text = g_strdup_printf ("detection, confidence=%s;", confidences[i]);

    add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, i + 1), text);
  }
  expect ("nmsfilter", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter score-threshold=0.5 iou-threshold=1 missing-score=drop", buffer, "2");
}

/* --------------------------------------------------- which coordinates count */

/* The size of the frame changes in mid-stream: in frames of an other or of an unknown size the
 * doubles do not agree, and the integers decide. */
static void
test_caps_change (void)
{
  static const gchar *const rows[][2] = {
    { "application/x-something", "1" },
    { FRAME_CAPS, "1 2" },
    { "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1", "1" },
    { "video/x-h264,stream-format=byte-stream,alignment=au,width=640,height=480", "1 2" },
    { "text/x-raw", "1" },
    { "video/x-raw(memory:Other),format=NV12,width=640,height=480,framerate=0/1", "1 2" },
  };
  g_autoptr (GstHarness) h = harness_new_caps ("nmsfilter", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%s", rows[i][0]);
    gst_harness_set_src_caps_str (h, rows[i][0]);
    expect_through (h, frame_with (EXACT), rows[i][1]);
  }
}

/* ------------------------------------------------------ modes of arithmetic */

/* 0.7 is above the nearest float: rounded upward the second box would have the higher score. 0.1 is
 * below it: rounded downward the third box would be below the threshold. */
static void
test_rounding_mode (void)
{
  static const gint modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.1");
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    add_scored (buffer, 1, "a", (Rect) { 0, 0, 100, 100 }, 0.7f);
    add_boxes (buffer, "2 a 0,0,100,100 0.7; 3 a 200,0,100,100 0.1");
    fesetround (modes[i]);
    out = through (h, buffer);
    g_assert_cmpint (fegetround (), ==, modes[i]);
    fesetround (FE_TONEAREST);
    assert_ids (out, "1 3");
  }
}

#if defined(__SSE2__)
/* The confidences are subnormal floats. */
static void
test_flush_to_zero (void)
{
  GstBuffer *buffer = frame_with ("1 a 0,0,100,100 1e-41; 2 a 0,0,100,100 2e-41");
  g_autoptr (GstBuffer) out = NULL;
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  guint before = _mm_getcsr ();

  _mm_setcsr (before | 0x8040);
  out = through (h, buffer);
  g_assert_cmphex (_mm_getcsr () & 0x8040, ==, 0x8040);
  _mm_setcsr (before);
  assert_ids (out, "2");
}
#endif

static const TestCase cases[] = { CASE (test_frames), CASE (test_tag), CASE (test_hints_and_locked),
  CASE (test_field_types), CASE (test_caps_change), CASE (test_rounding_mode),
#if defined(__SSE2__)
  CASE (test_flush_to_zero),
#endif
  { NULL } };

GST_TEST_PROGRAM (cases);
