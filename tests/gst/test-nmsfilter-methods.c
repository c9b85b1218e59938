/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: methods that change the scores and places of kept boxes, and metrics. The core's tests
 * compare the methods with references; here the results have to arrive in the metadata.
 */
#include "gstboxes.h"
#include "gstrunner.h"

/* Returns a region as text: "x y w h", and its confidence if it has one. Static. */
static const gchar *
region_text (GstBuffer *buffer, gint id)
{
  static gchar text[96];
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, id);
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  gdouble confidence;
  gint n = g_snprintf (text, sizeof text, "%d %d %u %u", (gint) roi->x, (gint) roi->y, roi->w,
      roi->h);

  if (detection && gst_structure_get_double (detection, "confidence", &confidence)) {
    text[n++] = ' ';
    g_ascii_formatd (text + n, (gint) sizeof text - n, "%.6g", confidence);
  }
  return text;
}

/* Two boxes with an IoU of 0.6 and an IoS of 0.75, one of another label, one apart. */
static GstBuffer *
frame (void)
{
  GstBuffer *buffer = frame_new (0);

  add_scored (buffer, 1, "a", 100, 100, 80, 80, 0.9);
  add_scored (buffer, 2, "a", 120, 100, 80, 80, 0.6);
  add_scored (buffer, 3, "b", 110, 100, 80, 80, 0.5);
  add_exact (buffer, 4, "a", 300.5, 200.25, 340.5, 240.25, 0.3);
  return buffer;
}

/* Fails unless the method leaves these regions, of which `id` reads as `text`. */
static void
expect_region (const gchar *launch_line, const gchar *ids, gint id, const gchar *text)
{
  GstBuffer *out = filtered (launch_line, frame ());

  if (g_strcmp0 (ids_on (out), ids) != 0 || g_strcmp0 (region_text (out, id), text) != 0)
    g_error ("%s left \"%s\", region %d is %s, not %s", launch_line, ids_on (out), id,
        region_text (out, id), text);
  gst_buffer_unref (out);
}

static void
test_scores (void)
{
  expect_region ("nmsfilter method=hard", "1 3 4", 1, "100 100 80 80 0.9");
  expect_region ("nmsfilter method=soft-linear", "1 2 3 4", 2, "120 100 80 80 0.24");
  expect_region ("nmsfilter method=soft-linear iou-threshold=0.7", "1 2 3 4", 2,
      "120 100 80 80 0.6");
  expect_region ("nmsfilter method=soft-linear method-options=o,min-score=0.25", "1 3 4", 1,
      "100 100 80 80 0.9");
  /* 0.6 * exp (-0.36 / 0.5), * exp (-0.36 / 1) */
  expect_region ("nmsfilter method=soft-gaussian", "1 2 3 4", 2, "120 100 80 80 0.292051");
  expect_region ("nmsfilter method=soft-gaussian method-options=o,sigma=1", "1 2 3 4", 2,
      "120 100 80 80 0.418606");
  expect_region ("nmsfilter method=matrix-linear", "1 2 3 4", 2, "120 100 80 80 0.24");
  /* 0.6 * exp (-2 * 0.36) */
  expect_region ("nmsfilter method=matrix-gaussian", "1 2 3 4", 2, "120 100 80 80 0.292051");
  expect_region ("nmsfilter method=soft-linear class-agnostic=true", "1 2 3 4", 4,
      "301 200 40 40 0.3");
}

/* Boxes 1 and 2 have a ProbIoU of 1 - sqrt (1 - exp (-6 * 20^2 / (4 * 80^2))) = 0.700851. */
static void
test_probiou (void)
{
  expect_region ("nmsfilter metric=probiou iou-threshold=0.7", "1 3 4", 1, "100 100 80 80 0.9");
  expect_region ("nmsfilter metric=probiou iou-threshold=0.702", "1 2 3 4", 2, "120 100 80 80 0.6");
  expect_region ("nmsfilter metric=probiou method=soft-linear", "1 2 3 4", 2,
      "120 100 80 80 0.179489");
  expect_region ("nmsfilter metric=probiou method=greedy-merge", "1 3 4", 1, "100 100 100 80 0.9");
}

static void
test_places (void)
{
  expect_region ("nmsfilter method=greedy-merge", "1 3 4", 1, "100 100 100 80 0.9");
  expect_region ("nmsfilter method=merge", "1 3 4", 1, "100 100 100 80 0.9");
  expect_region ("nmsfilter method=merge metric=ios iou-threshold=0.8", "1 2 3 4", 1,
      "100 100 80 80 0.9");
  expect_region ("nmsfilter method=merge metric=ios iou-threshold=0.7", "1 3 4", 1,
      "100 100 100 80 0.9");
  /* (0.9 * 100 + 0.6 * 120) / 1.5 */
  expect_region ("nmsfilter method=average", "1 3 4", 1, "108 100 80 80 0.9");
  expect_region ("nmsfilter method=weighted", "1 3 4", 1, "108 100 80 80 0.75");
  expect_region ("nmsfilter method=weighted method-options=o,fused-score=max", "1 3 4", 1,
      "108 100 80 80 0.9");
  expect_region ("nmsfilter method=weighted", "1 3 4", 3, "110 100 80 80 0.5");
}

/* A child (10 % of the area) stands in front of an adult, who is found twice. */
static void
test_min_size_ratio (void)
{
  static const gchar *const methods[] = { "hard", "merge", "greedy-merge", "average" };
  static const struct
  {
    const gchar *settings, *ids;
  } rows[] = {
    { "metric=ios", "1" },
    { "metric=ios min-size-ratio=0.05", "1" },
    { "metric=ios min-size-ratio=0.1", "1" }, /* the child has exactly this size */
    { "metric=ios min-size-ratio=0.125", "1 2" },
    { "metric=ios min-size-ratio=1", "1 2 3" },
    { "metric=iou iou-threshold=0.05 min-size-ratio=0.125", "1 2" },
    { "metric=iou iou-threshold=0.05", "1" },
  };

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++)
    for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
      GstBuffer *buffer = frame_new (0);
      gchar *line = g_strdup_printf ("nmsfilter method=%s %s", methods[m], rows[r].settings);

      add_scored (buffer, 1, "person", 100, 100, 100, 200, 0.9);
      add_scored (buffer, 2, "person", 150, 250, 40, 50, 0.8);
      add_scored (buffer, 3, "person", 100, 110, 100, 190, 0.7);
      expect (line, buffer, rows[r].ids);
      g_free (line);
    }
}

/* With boxes without a confidence, only boxes of similar sizes are neighbors. */
static void
test_neighbors_of_size (void)
{
  GstBuffer *buffer = frame_new (0);

  add_region (buffer, 1, "face", 0, 0, 40, 40);
  add_region (buffer, 2, "face", 0, 0, 40, 39);
  add_region (buffer, 3, "face", 5, 5, 30, 30);
  expect ("nmsfilter iou-threshold=0.3 min-neighbors=2", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter iou-threshold=0.3 min-neighbors=2 min-size-ratio=0.7", gst_buffer_ref (buffer),
      "");
  expect ("nmsfilter iou-threshold=0.3 min-neighbors=1 min-size-ratio=0.7", buffer, "2");
}

/* The other metadata of a region stays, and a box that is merged with none keeps its exact place.
 */
static void
test_other_fields (void)
{
  GstBuffer *buffer = frame (), *out;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 1);
  GstStructure *s;
  gdouble x_min;
  gint track;

  roi->parent_id = 77;
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("object_id", "id", G_TYPE_INT, 5, NULL));
  out = filtered ("nmsfilter method=weighted", buffer);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 1);
  g_assert_cmpint (roi->parent_id, ==, 77);
  s = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  g_assert_true (gst_structure_get_int (s, "id", &track));
  g_assert_cmpint (track, ==, 5);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 4);
  s = gst_video_region_of_interest_meta_get_param (roi, "detection");
  g_assert_true (gst_structure_get_double (s, "x_min", &x_min));
  g_assert_cmpfloat (x_min, ==, 300.5 / FRAME_WIDTH);
  gst_buffer_unref (out);
}

/* A buffer with another owner does not change. */
static void
test_shared_buffer (void)
{
  GstBuffer *buffer = frame ();
  GstBuffer *out = filtered ("nmsfilter method=soft-linear", gst_buffer_ref (buffer));

  g_assert_true (out != buffer);
  g_assert_cmpstr (region_text (out, 2), ==, "120 100 80 80 0.24");
  g_assert_cmpstr (region_text (buffer, 2), ==, "120 100 80 80 0.6");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=weighted action=tag", gst_buffer_ref (buffer));
  assert_ids (out, "1 2 3 4");
  g_assert_cmpstr (region_text (out, 1), ==, "108 100 80 80 0.75");
  g_assert_cmpstr (region_text (out, 2), ==, "120 100 80 80 0.6");
  assert_tag (out, 1, "kept");
  assert_tag (out, 2, "suppressed:0");
  assert_tag (buffer, 1, "");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=soft-linear iou-threshold=1", gst_buffer_ref (buffer));
  g_assert_true (out == buffer);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
}

/* Methods that compute with scores take all boxes as equal if none has a confidence, and drop
 * those without one if another box has one. */
static void
test_no_confidence (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  add_region (buffer, 1, "a", 100, 100, 80, 80);
  add_region (buffer, 2, "a", 120, 100, 80, 80);
  out = filtered ("nmsfilter method=weighted missing-score=order", gst_buffer_ref (buffer));
  assert_ids (out, "1");
  g_assert_cmpstr (region_text (out, 1), ==, "110 100 80 80");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=merge missing-score=order", gst_buffer_ref (buffer));
  assert_ids (out, "1");
  g_assert_cmpstr (region_text (out, 1), ==, "100 100 100 80");
  gst_buffer_unref (out);
  add_scored (buffer, 3, "a", 400, 100, 80, 80, 0.5);
  expect ("nmsfilter method=merge", gst_buffer_ref (buffer), "1 3");
  out = filtered ("nmsfilter method=weighted action=tag", buffer);
  assert_tag (out, 1, "no-score");
  assert_tag (out, 3, "kept");
  gst_buffer_unref (out);
}

/* Boxes of the branch "left" weigh half. */
static void
test_sources (void)
{
  GstBuffer *buffer = frame (), *out;

  gst_video_region_of_interest_meta_add_param (
      gst_buffer_get_video_region_of_interest_meta_id (buffer, 2),
      gst_structure_new ("source", "name", G_TYPE_STRING, "left", NULL));
  /* scores 0.9 and 0.3; (0.9 + 0.3) / 2 * 2 / 1.5 */
  out = filtered ("nmsfilter method=weighted sources=\"main, left = 0.5\"",
      gst_buffer_ref (buffer));
  assert_ids (out, "1 3 4");
  g_assert_cmpstr (region_text (out, 1), ==, "105 100 80 80 0.8");
  gst_buffer_unref (out);
  /* a source that is not listed counts as the first one */
  out = filtered ("nmsfilter method=weighted sources=main,right", gst_buffer_ref (buffer));
  g_assert_cmpstr (region_text (out, 1), ==, "108 100 80 80 0.75");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=weighted sources=left=0.5,main", gst_buffer_ref (buffer));
  g_assert_cmpstr (region_text (out, 3), ==, "110 100 80 80 0.166667");
  gst_buffer_unref (out);
  expect ("nmsfilter sources=left=0.5,main", buffer, "1 3 4");
}

/* Pairs that make no sense are refused: before the stream with an error, in it with a warning. */
static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter method=soft-linear metric=giou",
        "Cannot use method=soft-linear with metric=giou" },
    { "nmsfilter sources=a,b=0", "Cannot use sources: the weight of b is \"0\"" },
    { "nmsfilter sources=a=2x", "Cannot use sources: the weight of a is \"2x\"" },
    { "nmsfilter sources=a,=2", "Cannot use sources: a weight has no name" },
    { "nmsfilter method=merge metric=diou", "Cannot use method=merge with metric=diou" },
    { "nmsfilter method-options=o,sigma=-1",
        "Cannot use method-options: sigma=-1 must be a finite number of 0" },
    { "nmsfilter method-options=o,min-score=nan", "min-score=nan must be a finite number" },
    { "nmsfilter method-options=o,fused-score=best", "fused-score=best must be avg, max," },
    { "nmsfilter method-options=o,sigma=1,sigmas=2",
        "sigmas=2 is unknown; the keys are sigma, min-score and fused-score" },
  };
  GstHarness *h = harness_new ("nmsfilter metric=giou");
  GstBus *bus = harness_bus (h);
  gint method;

  g_object_set (h->element, "method", 1, NULL);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "metric=giou");
  g_object_get (h->element, "method", &method, NULL);
  g_assert_cmpint (method, ==, 0);
  g_object_set (h->element, "metric", 1, NULL);
  g_object_set (h->element, "method", 1, NULL);
  g_object_get (h->element, "method", &method, NULL);
  g_assert_cmpint (method, ==, 1);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  gst_buffer_unref (through (h, frame ()));
  harness_free (h);
  expect_no_starts (refused, G_N_ELEMENTS (refused));
}

/* method-options change while playing. A value that cannot be used leaves the ones before. */
static void
test_options_while_playing (void)
{
  GstHarness *h = harness_new ("nmsfilter method=soft-linear method-options=o,min-score=0.25");
  GstBus *bus = harness_bus (h);
  GstStructure *options;

  expect_through (h, frame (), "1 3 4");
  gst_util_set_object_arg (G_OBJECT (h->element), "method-options", "o,min-score=-3");
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING),
      "Cannot use method-options: min-score=-3 must be");
  g_object_get (h->element, "method-options", &options, NULL);
  g_assert_true (gst_structure_has_field_typed (options, "min-score", G_TYPE_DOUBLE));
  gst_structure_free (options);
  expect_through (h, frame (), "1 3 4");
  g_object_set (h->element, "method-options", NULL, NULL);
  expect_through (h, frame (), "1 2 3 4");
  harness_free (h);
}

static void
test_engine_in_use (void)
{
  GstHarness *h = harness_new ("nmsfilter engine=sorted");
  gchar *text;

  gst_buffer_unref (through (h, frame ()));
  g_object_set (h->element, "method", 1, NULL);
  gst_buffer_unref (through (h, frame ()));
  g_object_get (h->element, "engine-in-use", &text, NULL);
  g_assert_true (g_str_has_prefix (text, "soft-linear/"));
  g_free (text);
  gst_harness_teardown (h);
}

static const TestCase cases[] = { { "/nmsfilter/methods/scores", test_scores },
  { "/nmsfilter/methods/probiou", test_probiou }, { "/nmsfilter/methods/places", test_places },
  { "/nmsfilter/methods/min-size-ratio", test_min_size_ratio },
  { "/nmsfilter/methods/neighbors-of-size", test_neighbors_of_size },
  { "/nmsfilter/methods/other-fields", test_other_fields },
  { "/nmsfilter/methods/shared-buffer", test_shared_buffer },
  { "/nmsfilter/methods/no-confidence", test_no_confidence },
  { "/nmsfilter/methods/sources", test_sources }, { "/nmsfilter/methods/refusals", test_refusals },
  { "/nmsfilter/methods/options-while-playing", test_options_while_playing },
  { "/nmsfilter/methods/engine-in-use", test_engine_in_use }, { NULL } };

GST_TEST_PROGRAM (cases);
