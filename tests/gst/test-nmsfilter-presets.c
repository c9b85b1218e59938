/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: its presets, found in the folder that GST_PRESET_PATH names. */
#include "gstboxes.h"
#include "gstrunner.h"

static const struct
{
  const gchar *name;
  gfloat iou, score;
  guint most, candidates, neighbors;
} rows[] = {
  { "deepstream", 0.3f, 0.2f, 0, 0, 0 },
  { "opencv", 0.4f, 0.5f, 0, 0, 0 },
  { "ssd", 0.45f, 0.01f, 200, 0, 0 },
  { "torchvision", 0.5f, 0.05f, 100, 0, 0 },
  { "ultralytics", 0.7f, 0.25f, 300, 30000, 0 },
  { "viola-jones", 0.3f, -G_MAXFLOAT, 0, 0, 3 },
};

static void
test_names (void)
{
  GstElement *element = element_new ("nmsfilter");
  gchar **names;

  g_assert_true (GST_IS_PRESET (element));
  names = gst_preset_get_preset_names (GST_PRESET (element));
  g_assert_nonnull (names);
  g_assert_cmpuint (g_strv_length (names), ==, G_N_ELEMENTS (rows));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *comment = NULL;

    g_assert_true (g_strv_contains ((const gchar *const *) names, rows[i].name));
    g_assert_true (gst_preset_get_meta (GST_PRESET (element), rows[i].name, "comment", &comment));
    g_assert_nonnull (comment);
    g_free (comment);
  }
  g_strfreev (names);
  gst_object_unref (element);
}

/* A preset sets all properties of the rule, whatever was set before. */
static void
test_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *element = element_new (
        "nmsfilter iou-threshold=0.123 score-threshold=7 "
        "max-detections=9 max-per-class=9 max-candidates=9 min-neighbors=9 class-agnostic=true "
        "inclusive=true missing-score=drop");
    gboolean agnostic, inclusive;
    guint most, per_class, candidates, neighbors;
    gfloat iou, score;
    gint missing;

    g_assert_true (gst_preset_load_preset (GST_PRESET (element), rows[i].name));
    g_object_get (element, "iou-threshold", &iou, "score-threshold", &score, "max-detections",
        &most, "max-per-class", &per_class, "max-candidates", &candidates, "min-neighbors",
        &neighbors, "class-agnostic", &agnostic, "inclusive", &inclusive, "missing-score", &missing,
        NULL);
    g_assert_cmpfloat (iou, ==, rows[i].iou);
    g_assert_cmpfloat (score, ==, rows[i].score);
    g_assert_cmpuint (most, ==, rows[i].most);
    g_assert_cmpuint (candidates, ==, rows[i].candidates);
    g_assert_cmpuint (neighbors, ==, rows[i].neighbors);
    g_assert_cmpuint (per_class, ==, 0);
    g_assert_false (agnostic);
    g_assert_false (inclusive);
    g_assert_cmpint (missing, ==, 0);
    gst_object_unref (element);
  }
}

static void
test_launch_line (void)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch ("nmsfilter @preset=ssd", &error);
  gfloat iou;

  g_assert_no_error (error);
  g_object_get (element, "iou-threshold", &iou, NULL);
  g_assert_cmpfloat (iou, ==, 0.45f);
  gst_object_unref (element);
}

static const TestCase cases[] = { { "/nmsfilter/presets/names", test_names },
  { "/nmsfilter/presets/values", test_values },
  { "/nmsfilter/presets/launch-line", test_launch_line }, { NULL } };

GST_TEST_PROGRAM (cases);
