/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter on GstAnalytics detections: which are removed, tagged or rotated. */
#include <math.h>

#include "foreignmtd.h"
#include "gstrunner.h"
#include "odboxes.h"

static void
test_drop (void)
{
  g_autoptr (GstBuffer) out = filtered ("nmsfilter", three_ods ());
  gint x, y, w, h;
  gfloat confidence;
  GstAnalyticsODMtd od;

  assert_ods (out, "2 300");
  g_assert_cmpuint (mtds_on (out), ==, 2);
  g_assert_true (gst_analytics_relation_meta_get_od_mtd (relations_of (out), 0, &od));
  g_assert_true (gst_analytics_od_mtd_get_location (&od, &x, &y, &w, &h, &confidence));
  g_assert_cmpint (w, ==, 50);
  g_assert_cmpfloat (confidence, ==, 0.9f);
  g_assert_cmpstr (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&od)), ==, "dog");
}

/* Classes, thresholds, caps and options apply to ODs as to regions. */
static void
test_settings (void)
{
  static const struct
  {
    const gchar *launch_line, *left;
  } rows[] = {
    { "nmsfilter", "2 3 300 4" },
    { "nmsfilter class-agnostic=true", "2 300 4" },
    { "nmsfilter iou-threshold=0.99", "1 2 3 300 4" },
    { "nmsfilter score-threshold=0.75", "2 3" },
    { "nmsfilter max-detections=1", "2" },
    { "nmsfilter max-per-class=1", "2 3" },
    { "nmsfilter classes=cat", "1 2 3 300 4" },
    { "nmsfilter class-options=\"o,dog=[o,score-threshold=0.75]\"", "2 3" },
    { "nmsfilter score-threshold=2", "" },
    { "boxselect drop-classes=dog", "3" },
    { "boxselect min-width=51", "" },
    { "boxselect max-aspect-ratio=1 min-area=2500", "1 2 3 300 4" },
    { "boxselect roi=26,0,1,480", "1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    add_od (buffer, "dog", 1, 0, 50, 50, 0.5f);
    add_od (buffer, "dog", 2, 0, 50, 50, 0.9f);
    add_od (buffer, "cat", 3, 0, 50, 50, 0.8f);
    add_od (buffer, "dog", 300, 0, 50, 50, 0.7f);
    add_od (buffer, "dog", 4, 300, -50, -50, 0.6f); /* negative extents */
    out = filtered (rows[i].launch_line, buffer);
    g_test_message ("%s", rows[i].launch_line);
    assert_ods (out, rows[i].left);
  }
}

/* If all are removed, an empty relation meta remains. A buffer of which none are removed
 * is passed on unchanged. */
static void
test_all_and_none (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.8");
  g_autoptr (GstBuffer) buffer = frame_new (0);
  GstBuffer *out;

  add_class (buffer, add_od (buffer, "dog", 1, 0, 50, 50, 0.5f), "puppy", 0.5f);
  out = through (h, buffer);
  g_assert_cmpuint (mtds_on (out), ==, 0);
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_class (buffer, add_od (buffer, "dog", 1, 0, 50, 50, 0.9f), "puppy", 0.5f);
  out = through (h, gst_buffer_ref (buffer)); /* two owners */
  g_assert_true (out == buffer);
  gst_buffer_unref (out);
}

/* The other owner of a buffer keeps all its mtds. */
static void
test_shared (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBuffer *buffer = three_ods (), *out;

  add_class (buffer, 1, "second", 0.25f);
  foreign_mtd_add (buffer, 5);
  out = through (h, gst_buffer_ref (buffer));
  g_assert_true (out != buffer);
  g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  assert_ods (buffer, "1 2 300");
  assert_ods (out, "2 300");
  assert_classes (out, od_at (out, 2), "second");
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  assert_none_alive (foreign_mtds_alive ());
}

#if GST_CHECK_VERSION(1, 26, 0)
static void
add_rotated (GstBuffer *buffer, const gchar *label, gint x, gint y, gint w, gint h, gfloat rotation,
    gfloat confidence)
{
  GstAnalyticsODMtd od;

  g_assert_true (gst_analytics_relation_meta_add_oriented_od_mtd (relations_of (buffer),
      g_quark_from_string (label), x, y, w, h, rotation, confidence, &od));
}

/* Bars across each other are kept, no matter how much their upright boxes overlap. Of
 * bars along each other one is removed, within a class. */
static void
test_rotated (void)
{
  const gfloat eighth = (gfloat) (G_PI / 4);
  GstBuffer *buffer = frame_new (0), *out;
  GstAnalyticsODMtd od;
  gint x, y, w, h;
  gfloat rotation, confidence;

  add_rotated (buffer, "ship", 200, 200, 100, 10, eighth, 0.9f);
  add_rotated (buffer, "ship", 201, 200, 100, 10, -eighth, 0.8f); /* across */
  add_rotated (buffer, "ship", 202, 201, 100, 10, eighth, 0.7f);  /* along: IoU .73 */
  add_rotated (buffer, "boat", 203, 201, 100, 10, eighth,
      0.6f); /* lies along the first, but has another class */
  add_od (buffer, "ship", 204, 200, 100, 10, 0.5f); /* upright: crosses both */
  add_rotated (buffer, "ship", 205, 205, 100, 10, NAN, 0.99f);
  out = filtered ("nmsfilter iou-threshold=0.5", buffer);
  assert_ods (out, "200 201 203 204");
  g_assert_true (
      gst_analytics_relation_meta_get_od_mtd (relations_of (out), od_at (out, 203), &od));
  gst_analytics_od_mtd_get_oriented_location (&od, &x, &y, &w, &h, &rotation, &confidence);
  g_assert_cmpfloat (rotation, ==, eighth);
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_rotated (buffer, "ship", 200, 200, 100, 10, eighth, 0.9f);
  add_rotated (buffer, "boat", 203, 201, 100, 10, eighth, 0.6f);
  out = filtered ("nmsfilter class-agnostic=true", buffer);
  assert_ods (out, "200");
  gst_buffer_unref (out);
}
#endif

static void
test_locked (void)
{
  GstBuffer *buffer = three_ods ();
  g_autoptr (GstBuffer) out = NULL;

  GST_META_FLAG_SET (gst_buffer_get_analytics_relation_meta (buffer), GST_META_FLAG_LOCKED);
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "1 2 300");
}

static void
test_tag (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter action=tag");
  GstBuffer *buffer = three_ods (), *out;

  add_class (buffer, 0, "puppy", 0.5f);
  out = through (h, buffer);
  for (guint i = 0; i < 3; i++) { /* a second filter replaces the tags */
    assert_ods (out, "1 2 300");
    g_assert_cmpuint (mtds_on (out), ==, 7);
    assert_classes (out, od_at (out, 1), "puppy nms:suppressed");
    assert_classes (out, od_at (out, 2), "nms:kept");
    assert_classes (out, od_at (out, 300), "nms:kept");
    out = through (h, out);
  }
  gst_buffer_unref (out);

  g_object_set (h->element, "classes", "cat", NULL);
  out = through (h, three_ods ()); /* not selected, so not tagged */
  g_assert_cmpuint (mtds_on (out), ==, 3);
  gst_buffer_unref (out);
}

static void
test_allocation (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, FALSE);

  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_ANALYTICS_RELATION_META_API_TYPE, NULL));
}

static const TestCase cases[] = { CASE (test_drop), CASE (test_settings), CASE (test_all_and_none),
  CASE (test_shared),
#if GST_CHECK_VERSION(1, 26, 0)
  CASE (test_rotated),
#endif
  CASE (test_locked), CASE (test_tag), CASE (test_allocation), { NULL } };

GST_TEST_PROGRAM (cases);
