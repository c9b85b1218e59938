/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: methods that change the scores and places of kept boxes, and metrics. The core's tests
 * compare the methods with references; here the results have to arrive in the metadata.
 */
#include "gstrunner.h"

/* Two boxes with an IoU of 0.6 and an IoS of 0.75, one of another label, one apart. */
#define FOUR \
  "1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.6; 3 b 110,100,80,80 0.5; " \
  "4 a 300.5:200.25:340.5:240.25 0.3"

/* Box 2 is of another branch. */
#define LEFT \
  "1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.6 from left; 3 b 110,100,80,80 0.5; " \
  "4 a 300.5:200.25:340.5:240.25 0.3"

#define UNSCORED "1 a 100,100,80,80; 2 a 120,100,80,80"

/* A child (10 % of the area) stands in front of an adult, who is found twice. */
#define CHILD \
  "1 person 100,100,100,200 0.9; 2 person 150,250,40,50 0.8; 3 person 100,110,100,190 0.7"

/* Fails unless the region with the id that `text` begins with reads as in "2 120,100,80,80 0.24":
 * its place and, if it has one, its confidence. */
static void
assert_region (GstBuffer *buffer, const gchar *text)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer,
      atoi (text));
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  g_autoptr (GString) found = g_string_new (NULL);
  gdouble confidence;

  g_string_printf (found, "%d %d,%d,%u,%u", roi->id, (gint) roi->x, (gint) roi->y, roi->w, roi->h);
  if (detection && gst_structure_get_double (detection, "confidence", &confidence))
    g_string_append_printf (found, " %s",
        g_ascii_formatd (number, sizeof number, "%.6g", confidence));
  g_assert_cmpstr (found->str, ==, text);
}

static void
test_rows (void)
{
  static const struct
  {
    FrameRow frame;
    const gchar *region; /* as assert_region takes it, or NULL */
  } rows[] = {
    { { "scores", "nmsfilter method=hard", FOUR, "1 3 4" }, "1 100,100,80,80 0.9" },
    { { "scores", "nmsfilter method=soft-linear", FOUR, "1 2 3 4" }, "2 120,100,80,80 0.24" },
    { { "scores", "nmsfilter method=soft-linear iou-threshold=0.7", FOUR, "1 2 3 4" },
        "2 120,100,80,80 0.6" },
    { { "scores", "nmsfilter method=soft-linear method-options=o,min-score=0.25", FOUR, "1 3 4" },
        "1 100,100,80,80 0.9" },
    /* 0.0026 * 0.4 is above the default min-score of 0.001, 0.0024 * 0.4 below it */
    { { "scores", "nmsfilter method=soft-linear", "1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.0026",
          "1 2" },
        NULL },
    { { "scores", "nmsfilter method=soft-linear", "1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.0024",
          "1" },
        NULL },
    /* 0.6 * exp (-0.36 / 0.5), * exp (-0.36 / 1) */
    { { "scores", "nmsfilter method=soft-gaussian", FOUR, "1 2 3 4" }, "2 120,100,80,80 0.292051" },
    { { "scores", "nmsfilter method=soft-gaussian method-options=o,sigma=1", FOUR, "1 2 3 4" },
        "2 120,100,80,80 0.418606" },
    { { "scores", "nmsfilter method=matrix-linear", FOUR, "1 2 3 4" }, "2 120,100,80,80 0.24" },
    /* 0.6 * exp (-2 * 0.36) */
    { { "scores", "nmsfilter method=matrix-gaussian", FOUR, "1 2 3 4" },
        "2 120,100,80,80 0.292051" },
    { { "scores", "nmsfilter method=soft-linear class-agnostic=true", FOUR, "1 2 3 4" },
        "4 301,200,40,40 0.3" },
    /* 1 and 2 have a ProbIoU of 1 - sqrt (1 - exp (-6 * 20^2 / (4 * 80^2))) = 0.700851 */
    { { "probiou", "nmsfilter metric=probiou iou-threshold=0.7", FOUR, "1 3 4" },
        "1 100,100,80,80 0.9" },
    { { "probiou", "nmsfilter metric=probiou iou-threshold=0.702", FOUR, "1 2 3 4" },
        "2 120,100,80,80 0.6" },
    { { "probiou", "nmsfilter metric=probiou method=soft-linear", FOUR, "1 2 3 4" },
        "2 120,100,80,80 0.179489" },
    { { "places", "nmsfilter method=greedy-merge", FOUR, "1 3 4" }, "1 100,100,100,80 0.9" },
    { { "places", "nmsfilter method=merge", "1 a 100,100,80,80 0.9; 2 a 100,110,80,80 0.6", "1" },
        "1 100,100,80,90 0.9" },
    { { "places", "nmsfilter method=merge metric=ios iou-threshold=0.8", FOUR, "1 2 3 4" },
        "1 100,100,80,80 0.9" },
    { { "places", "nmsfilter method=merge metric=ios iou-threshold=0.7", FOUR, "1 3 4" },
        "1 100,100,100,80 0.9" },
    /* (0.9 * 100 + 0.6 * 120) / 1.5 */
    { { "places", "nmsfilter method=average", FOUR, "1 3 4" }, "1 108,100,80,80 0.9" },
    { { "places", "nmsfilter method=weighted", FOUR, "1 3 4" }, "1 108,100,80,80 0.75" },
    { { "places", "nmsfilter method=weighted method-options=o,fused-score=max", FOUR, "1 3 4" },
        "1 108,100,80,80 0.9" },
    /* scores 0.9 and 0.3; (0.9 + 0.3) / 2 * 2 / 1.5 */
    { { "sources", "nmsfilter method=weighted sources=\"main, left = 0.5\"", LEFT, "1 3 4" },
        "1 105,100,80,80 0.8" },
    /* a source that is not listed counts as the first one */
    { { "sources", "nmsfilter method=weighted sources=main,right", LEFT, "1 3 4" },
        "1 108,100,80,80 0.75" },
    { { "sources", "nmsfilter method=weighted sources=left=0.5,main", LEFT, "1 3 4" },
        "3 110,100,80,80 0.166667" },
    { { "sources", "nmsfilter sources=left=0.5,main", LEFT, "1 3 4" } },
    { { "min size ratio", "nmsfilter metric=ios", CHILD, "1" } },
    /* the child has exactly this size */
    { { "min size ratio", "nmsfilter metric=ios min-size-ratio=0.1", CHILD, "1" } },
    { { "min size ratio", "nmsfilter metric=ios min-size-ratio=0.125", CHILD, "1 2" } },
    { { "min size ratio", "nmsfilter metric=ios min-size-ratio=1", CHILD, "1 2 3" } },
    { { "min size ratio", "nmsfilter metric=ios min-size-ratio=0.125 method=greedy-merge", CHILD,
        "1 2" } },
    /* of boxes without a confidence, only those of similar sizes are neighbors */
    { { "neighbors of size", "nmsfilter iou-threshold=0.3 min-neighbors=2",
        "1 face 0,0,40,40; 2 face 0,0,40,39; 3 face 5,5,30,30", "2" } },
    { { "neighbors of size", "nmsfilter iou-threshold=0.3 min-neighbors=2 min-size-ratio=0.7",
        "1 face 0,0,40,40; 2 face 0,0,40,39; 3 face 5,5,30,30", "" } },
    /* Methods that compute with scores take all boxes as equal if none has a confidence, and drop
     * those without one if another box has one. */
    { { "no confidence", "nmsfilter method=weighted missing-score=order", UNSCORED, "1" },
        "1 110,100,80,80" },
    { { "no confidence", "nmsfilter method=merge missing-score=order", UNSCORED, "1" },
        "1 100,100,100,80" },
    { { "no confidence", "nmsfilter method=merge", UNSCORED "; 3 a 400,100,80,80 0.5", "1 3" } },
    { { "no confidence", "nmsfilter method=weighted action=tag", UNSCORED "; 3 a 400,100,80,80 0.5",
        "1 2 3", "1=no-score 3=kept" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    expect_frames (&rows[i].frame, 1);
    if (rows[i].region) {
      g_autoptr (GstBuffer) out = filtered (rows[i].frame.line, frame_with (rows[i].frame.boxes));

      assert_region (out, rows[i].region);
    }
  }
}

/* Other metadata of a region stays, and a box that is merged with none keeps its exact place. */
static void
test_other_fields (void)
{
  GstBuffer *buffer = frame_with (FOUR);
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);
  gdouble x_min;
  gint track;

  roi->parent_id = 77;
  add_structure (roi, "object_id, id=(int)5;");
  out = filtered ("nmsfilter method=weighted", buffer);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  g_assert_cmpint (roi->parent_id, ==, 77);
  g_assert_true (gst_structure_get_int (structure_on (roi, "object_id"), "id", &track));
  g_assert_cmpint (track, ==, 5);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 4);
  g_assert_true (gst_structure_get_double (structure_on (roi, "detection"), "x_min", &x_min));
  g_assert_cmpfloat (x_min, ==, 300.5 / FRAME_WIDTH);
}

/* A buffer with another owner does not change. */
static void
test_shared_buffer (void)
{
  g_autoptr (GstBuffer) buffer = frame_with (FOUR), out = NULL;

  out = filtered ("nmsfilter method=soft-linear", gst_buffer_ref (buffer));
  assert_region (out, "2 120,100,80,80 0.24");
  assert_region (buffer, "2 120,100,80,80 0.6");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=weighted action=tag", gst_buffer_ref (buffer));
  assert_ids (out, "1 2 3 4");
  assert_region (out, "1 108,100,80,80 0.75");
  assert_region (out, "2 120,100,80,80 0.6");
  assert_tags (out, "1=kept 2=suppressed:0");
  assert_tags (buffer, "1= 2=");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=soft-linear iou-threshold=1", gst_buffer_ref (buffer));
  g_assert_true (out == buffer);
}

/* Pairs that make no sense are refused. */
static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter method=soft-linear metric=giou",
        "Cannot use method=soft-linear with metric=giou" },
    { "nmsfilter method=merge metric=diou", "Cannot use method=merge with metric=diou" },
    { "nmsfilter method-options=o,sigma=-1",
        "Cannot use method-options: sigma=-1 must be a finite number of 0" },
    { "nmsfilter method-options=o,min-score=nan", "min-score=nan must be a finite number" },
    { "nmsfilter method-options=o,fused-score=best", "fused-score=best must be avg, max," },
    { "nmsfilter method-options=o,sigma=1,sigmas=2",
        "sigmas=2 is unknown; the keys are sigma, min-score and fused-score" },
  };

  expect_no_starts (refused, G_N_ELEMENTS (refused));
}

static const TestCase cases[] = { { "/nmsfilter/methods/rows", test_rows },
  { "/nmsfilter/methods/other-fields", test_other_fields },
  { "/nmsfilter/methods/shared-buffer", test_shared_buffer },
  { "/nmsfilter/methods/refusals", test_refusals }, { NULL } };

GST_TEST_PROGRAM (cases);
