/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter and boxreplay on buffers with both GstAnalytics detections and regions of
 * interest: an OD and a region for one detection, and some of each.
 */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "odboxes.h"
#include "textfiles.h"

static void
test_both (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;
  guint id;

  foreign_mtd_add (buffer, 0); /* makes sure that no OD has id 0 */
  /* each is an OD and a region for one detection; the doubles give overlaps of .502 and
   * .498 */
  id = add_od (buffer, "dog", 100, 100, 100, 10, 0.25f);
  add_exact (buffer, (gint) id, "dog", 100, 100, 200, 110, 0.9);
  id = add_od (buffer, "dog", 133, 100, 100, 10, 0.99f);
  add_exact (buffer, (gint) id, "dog", 133.15, 100, 233.15, 110, 0.8);
  id = add_od (buffer, "dog", 133, 200, 100, 10, 0.99f);
  add_exact (buffer, (gint) id, "dog", 133.4, 200, 233.4, 210, 0.8);
  id = add_od (buffer, "dog", 101, 200, 100, 10, 0.25f);
  add_exact (buffer, (gint) id, "dog", 100, 200, 200, 210, 0.9);
  /* a single OD and a single region that overlap */
  add_od (buffer, "cat", 500, 300, 50, 50, 0.6f);
  add_boxes (buffer, "77 cat 500,300,50,50 0.5");
  add_od (buffer, "cat", 400, 300, 50, 50, 0.3f);
  add_boxes (buffer, "78 cat 400,300,50,50 0.4");
  out = through (h, buffer);
  assert_ids (out, "1 3 4 78");
  assert_ods (out, "100 133 101 500");
  /* regions refer to ids, which must not change */
  g_assert_cmpuint (od_at (out, 101), ==, 4);
  assert_stats (h->element, "boxes-in=8 boxes-out=5 unscored=0");
}

/* The first OD has id 0, which in a region means that it has no id. Such a region and OD are
 * one detection if their positions and classes are equal. */
static void
test_first_id (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0), *out;

  add_od (buffer, "dog", 100, 100, 50, 50, 0.9f);
  add_boxes (buffer, "0 dog 100,100,50,50");
  out = through (h, buffer);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 1);
  g_assert_cmpuint (stat_of (h->element, "unscored"), ==, 0); /* the OD has a score */
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_od (buffer, "dog", 100, 100, 50, 50, 0.9f);
  add_boxes (buffer, "0 cat 100,100,50,50; 0 dog 300,100,50,50");
  out = through (h, buffer);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 4);
  gst_buffer_unref (out);
}

/* A region without a score, which names its OD, has the score of the OD. */
static void
test_score_of_od (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.5");
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  foreign_mtd_add (buffer, 0); /* makes sure that no OD has id 0 */
  add_region (buffer, (gint) add_od (buffer, "dog", 100, 100, 50, 50, 0.25f), "dog", 100, 100, 50,
      50);
  add_region (buffer, (gint) add_od (buffer, "dog", 300, 100, 50, 50, 0.75f), "dog", 300, 100, 50,
      50);
  out = through (h, buffer);
  assert_ods (out, "300");
  assert_stats (h->element, "boxes-in=2 unscored=0");
}

static void
test_both_all_gone (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  add_exact (buffer, 1, "dog", 100, 100, 200, 110, 0.4);
  add_od (buffer, "dog", 50, 100, 100, 10, 0.3f);
  add_od (buffer, "dog", 100, 100, 100, 10, 0.9f);
  foreign_mtd_add (buffer, 1);
  relate (buffer, 1, 2, GST_ANALYTICS_REL_TYPE_CONTAIN);
  out = filtered ("nmsfilter score-threshold=0.5", buffer);
  assert_ids (out, "");
  g_assert_cmpuint (mtds_on (out), ==, 0);
  gst_buffer_unref (out);
  assert_none_alive (foreign_mtds_alive ());
}

static void
test_both_tagged (void)
{
  GstBuffer *buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  add_od (buffer, "dog", 500, 100, 10, 10, 0.5f);
  add_exact (buffer, 1, "dog", 100, 100, 200, 110, 0.8);
  add_od (buffer, "dog", 100, 100, 100, 10, 0.3f);
  add_exact (buffer, 2, "dog", 101, 100, 201, 110, 0.9);
  add_od (buffer, "dog", 101, 100, 100, 10, 0.3f);
  out = filtered ("nmsfilter action=tag", buffer);
  assert_tags (out, "1=suppressed:1 2=kept");
  assert_classes (out, 0, "nms:kept");
  assert_classes (out, 1, "nms:suppressed");
  assert_classes (out, 2, "nms:kept");
}

/* Lets boxreplay attach the boxes of `text` to the buffer, and returns it; NULL, and the test is
 * skipped, if it is not built. */
static GstBuffer *
replay (const gchar *text, const gchar *properties, GstBuffer *buffer)
{
  GstElementFactory *factory = gst_element_factory_find ("boxreplay");
  GstBuffer *out = NULL;
  gchar *path, *launch;

  if (factory) {
    path = text_file_new ("replayed.jsonl", text, -1);
    launch = g_strdup_printf ("boxreplay %s location=\"%s\"", properties, path);
    out = filtered (launch, buffer);
    gst_object_unref (factory);
    g_free (launch);
    g_free (path);
  } else {
    g_test_skip ("boxreplay is not built");
    gst_buffer_unref (buffer);
  }
  return out;
}

/* A replayed region has the id of its OD, and its parent the id of the parent's OD, also where
 * the parent is the first box of the line. */
static void
test_replayed_parents (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  foreign_mtd_add (buffer, 0); /* makes sure that no OD has id 0 */
  out = replay ("{\"timestamp\":0,\"objects\":["
                "{\"x\":100,\"y\":100,\"w\":50,\"h\":90,\"region_id\":7},"
                "{\"x\":110,\"y\":100,\"w\":9,\"h\":9,\"region_id\":8,\"parent_id\":7}]}\n",
      "meta=both", buffer);
  if (out == NULL)
    return;
  assert_ids (out, "1 2");
  assert_ods (out, "100 110");
  g_assert_cmpint (gst_buffer_get_video_region_of_interest_meta_id (out, 1)->parent_id, ==, 0);
  g_assert_cmpint (gst_buffer_get_video_region_of_interest_meta_id (out, 2)->parent_id, ==, 1);
  gst_buffer_unref (out);
}

/* With existing=replace boxreplay removes all boxes of the buffer, and the mtds that are related
 * only to removed ODs. */
static void
test_replayed_instead (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  foreign_mtd_add (buffer, 5); /* related to nothing */
  add_class (buffer, add_od (buffer, "dog", 100, 100, 50, 90, 0.5f), "puppy", 0.5f);
  add_od (buffer, "dog", 200, 100, 50, 90, 0.5f);
  add_boxes (buffer, "1 dog 100,100,50,90");
  out = replay ("{\"timestamp\":0,\"objects\":[{\"x\":110,\"y\":100,\"w\":9,\"h\":9}]}\n",
      "meta=both existing=replace", buffer);
  if (out == NULL)
    return;
  assert_ods (out, "110");
  g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==, 1);
  g_assert_cmpuint (mtds_on (out), ==, 2); /* the third party's and the new OD */
  gst_buffer_unref (out);
}

/* Lets boxrecord record the two buffers, and returns the text of the file; NULL, and the test is
 * skipped, if it is not built. */
static gchar *
record (GstBuffer *first, GstBuffer *second)
{
  GstElementFactory *factory = gst_element_factory_find ("boxrecord");
  g_autofree gchar *path = text_file_path ("recorded.jsonl");
  gchar *launch, *text = NULL;
  GstHarness *h;

  if (factory) {
    launch = g_strdup_printf ("boxrecord location=\"%s\"", path);
    h = harness_new (launch);
    gst_buffer_unref (through (h, first));
    gst_buffer_unref (through (h, second));
    g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
    gst_harness_teardown (h);
    text = text_file_read (path);
    gst_object_unref (factory);
    g_free (launch);
  } else {
    g_test_skip ("boxrecord is not built");
    gst_buffer_unref (first);
    gst_buffer_unref (second);
  }
  return text;
}

/* The boxes of a frame leave nothing in those of the next: an OD in the place of a region that
 * has a parent is recorded without one. */
static void
test_recorded_after_parents (void)
{
  GstBuffer *regions = frame_new (0), *ods = frame_new (0);
  g_autofree gchar *text = NULL;

  add_boxes (regions, "7 dog 100,100,50,90; 8 paw 110,100,9,9 in 7");
  add_od (ods, "dog", 100, 100, 50, 90, 0.5f);
  add_od (ods, "paw", 110, 100, 9, 9, 0.5f);
  text = record (regions, ods);
  if (text) {
    g_assert_nonnull (strstr (text, "\"parent_id\":7"));
    g_assert_null (strstr (strchr (text, '\n'), "parent_id"));
    g_assert_nonnull (strstr (strchr (text, '\n'), "\"paw\""));
  }
}

/* Tags of ODs are recorded; only ODs with a tag have a state. */
static void
test_recorded_tags (void)
{
  g_autofree gchar *text = record (filtered ("nmsfilter action=tag", three_ods ()), three_ods ());

  if (text) {
    gchar **parts = g_strsplit (text, "\"state\":\"", -1);

    g_assert_cmpuint (g_strv_length (parts), ==, 4);
    g_assert_true (g_str_has_prefix (parts[1], "suppressed\""));
    g_assert_true (g_str_has_prefix (parts[2], "kept\""));
    g_assert_true (g_str_has_prefix (parts[3], "kept\""));
    g_assert_nonnull (strchr (parts[3], '\n')); /* the three are in the first line */
    g_strfreev (parts);
  }
}

static const TestCase cases[] = { CASE (test_both), CASE (test_first_id), CASE (test_score_of_od),
  CASE (test_both_all_gone), CASE (test_both_tagged), CASE (test_replayed_parents),
  CASE (test_replayed_instead), CASE (test_recorded_after_parents), CASE (test_recorded_tags),
  { NULL } };

GST_TEST_PROGRAM (cases);
