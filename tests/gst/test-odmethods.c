/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: methods that change the scores and places of GstAnalytics detections. */
#include "gstrunner.h"
#include "odboxes.h"

/* Returns an OD as text: "x y w h confidence". Static. */
static const gchar *
od_text (GstBuffer *buffer, guint id)
{
  static gchar text[96];
  GstAnalyticsODMtd od;
  gfloat confidence;
  gint x, y, w, h, n;

  g_assert_true (
      gst_analytics_relation_meta_get_od_mtd (gst_buffer_get_analytics_relation_meta (buffer), id,
          &od));
  gst_analytics_od_mtd_get_location (&od, &x, &y, &w, &h, &confidence);
  n = g_snprintf (text, sizeof text, "%d %d %d %d ", x, y, w, h);
  g_ascii_formatd (text + n, (gint) sizeof text - n, "%.6g", confidence);
  return text;
}

/* Two ODs with an IoU of 0.6, each with a class, and one apart. Writes their ids to `ids`. */
static GstBuffer *
frame (guint *ids)
{
  GstBuffer *buffer = frame_new (0);

  ids[0] = add_od (buffer, "a", 100, 100, 80, 80, 0.9f);
  ids[1] = add_od (buffer, "a", 120, 100, 80, 80, 0.6f);
  ids[2] = add_od (buffer, "a", 400, 100, 80, 80, 0.3f);
  add_class (buffer, ids[0], "red", 0.5f);
  add_class (buffer, ids[1], "blue", 0.5f);
  return buffer;
}

static void
test_scores (void)
{
  guint ids[3];
  GstBuffer *out = filtered ("nmsfilter method=soft-linear", frame (ids));

  assert_ods (out, "100 120 400");
  g_assert_cmpstr (od_text (out, ids[0]), ==, "100 100 80 80 0.9");
  g_assert_cmpstr (od_text (out, ids[1]), ==, "120 100 80 80 0.24");
  assert_classes (out, ids[1], "blue");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=soft-linear method-options=o,min-score=0.25", frame (ids));
  assert_ods (out, "100 400");
  gst_buffer_unref (out);
}

static void
test_places (void)
{
  guint ids[3];
  GstBuffer *out = filtered ("nmsfilter method=weighted", frame (ids));

  assert_ods (out, "108 400");
  g_assert_cmpstr (od_text (out, od_at (out, 108)), ==, "108 100 80 80 0.75");
  assert_classes (out, od_at (out, 108), "red");
  gst_buffer_unref (out);
  out = filtered ("nmsfilter method=greedy-merge action=tag", frame (ids));
  assert_ods (out, "100 120 400");
  g_assert_cmpstr (od_text (out, ids[0]), ==, "100 100 100 80 0.9");
  g_assert_cmpstr (od_text (out, ids[1]), ==, "120 100 80 80 0.6");
  assert_classes (out, ids[1], "blue nms:suppressed");
  gst_buffer_unref (out);
}

/* A region and an OD with its id are one detection: both change. */
static void
test_region_and_od (void)
{
  GstBuffer *buffer;
  g_autoptr (GstBuffer) out = NULL;
  GstVideoRegionOfInterestMeta *roi;
  guint ids[3];

  buffer = frame_new (0);
  add_od (buffer, "b", 0, 300, 10, 10, 0.5f); /* so that no other OD has id 0 */
  ids[0] = add_od (buffer, "a", 100, 100, 80, 80, 0.9f);
  ids[1] = add_od (buffer, "a", 120, 100, 80, 80, 0.6f);
  add_scored (buffer, (gint) ids[0], "a", 100, 100, 80, 80, 0.9);
  add_scored (buffer, (gint) ids[1], "a", 120, 100, 80, 80, 0.6);
  out = filtered ("nmsfilter method=average", buffer);
  assert_ods (out, "0 108");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, (gint) od_at (out, 108));
  g_assert_nonnull (roi);
  g_assert_cmpuint (roi->x, ==, 108);
  g_assert_cmpuint (count_on (out), ==, 1);
}

/* A buffer with another owner does not change. */
static void
test_shared_buffer (void)
{
  guint ids[3];
  g_autoptr (GstBuffer) buffer = frame (ids), out = NULL;

  out = filtered ("nmsfilter method=weighted", gst_buffer_ref (buffer));
  assert_ods (out, "108 400");
  assert_ods (buffer, "100 120 400");
  g_assert_cmpstr (od_text (buffer, ids[0]), ==, "100 100 80 80 0.9");
}

static const TestCase cases[] = { CASE (test_scores), CASE (test_places), CASE (test_region_and_od),
  CASE (test_shared_buffer), { NULL } };

GST_TEST_PROGRAM (cases);
