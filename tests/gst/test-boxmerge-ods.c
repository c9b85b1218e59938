/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge: ODs, with their classes and relations, beside regions. */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "merging.h"
#include "odboxes.h"

/* ODs of two branches come behind that of the main stream, moved to their places, with their
 * classes and the names of their branches. Held ODs come again. */
static void
test_ods (void)
{
  GstBuffer *left = frame_new (0), *right = frame_new (0);
  g_auto (Merging) m = { 0 };

  merging_open (&m,
      "boxmerge sink_0::hold=1000000000 sink_1::xpos=320 sink_1::source=right "
      "sink_1::hold=1000000000",
      2, NULL, FALSE);
  add_class (left, add_od (left, "dog", (Rect) { 10, 20, 30, 40 }, 0.5f), "poodle", 0.75f);
  add_od (right, "cat", (Rect) { 10, 20, 30, 40 }, 0.25f);
  gst_harness_push (m.branch[0], left);
  gst_harness_push (m.branch[1], right);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *main = frame_new (i * FRAME);
    g_autoptr (GstBuffer) out = NULL;

    add_od (main, "car", (Rect) { 5, 5, 30, 40 }, 1);
    gst_harness_push (m.main, main);
    out = gst_harness_pull (m.main);
    assert_ods (out, "5 10 330");
    assert_classes (out, od_at (out, 5), "");
    assert_classes (out, od_at (out, 10), "poodle source:sink_0");
    assert_classes (out, od_at (out, 330), "source:right");
    if (i == 0)
      merging_play (&m, "a.boxes:1 eos-a eos-b");
  }
}

/* The mark of a cut OD is a class, which nmsfilter reads. Another boxmerge keeps it once. */
static void
test_cut (void)
{
  GstBuffer *branch = frame_new (0), *main = frame_new (0), *marked;
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::xpos=320", 2, NULL, FALSE);
  add_od (branch, "dog", (Rect) { 4, 20, 60, 40 }, 0.9f);
  add_od (branch, "dog", (Rect) { 100, 20, 60, 40 }, 0.9f);
  add_od (main, "dog", (Rect) { 318, 20, 70, 40 }, 0.3f);
  add_od (main, "dog", (Rect) { 410, 20, 70, 40 }, 0.3f);
  gst_harness_push (m.branch[1], frame_new (0));
  out = merging_merge (&m, branch, main);
  assert_ods (out, "318 410 324 420");
  assert_classes (out, od_at (out, 324), "source:sink_0 source-cut");
  assert_classes (out, od_at (out, 420), "source:sink_0");
  marked = gst_buffer_copy (out);
  GST_BUFFER_PTS (marked) = FRAME;
  out = filtered ("nmsfilter", out);
  assert_ods (out, "318 420");
  gst_buffer_unref (out);

  gst_harness_push (m.branch[1], marked);
  out = merging_merge (&m, frame_new (FRAME), frame_new (FRAME));
  assert_ods (out, "318 410 324 420");
  assert_classes (out, od_at (out, 324), "source:sink_1 source-cut");
}

/* A region and the OD with its id are one box. The buffer that another element holds keeps its
 * own metadata. */
static void
test_region_and_od (void)
{
  GstBuffer *branch = frame_new (0);
  g_autoptr (GstBuffer) held = frame_new (0), out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::source=\"\"", 1, NULL, FALSE);
  add_boxes (branch, "0 dog 10,20,30,40 0.5");
  gst_buffer_get_video_region_of_interest_meta_id (branch, 0)->id = (gint) add_od (branch, "dog",
      (Rect) { 10, 20, 30, 40 }, 0.5f);
  add_od (held, "car", (Rect) { 5, 5, 30, 40 }, 1);
  out = merging_merge (&m, branch, gst_buffer_ref (held));
  assert_ods (out, "5 10");
  g_assert_cmpuint (count_on (out), ==, 1);
  g_assert_nonnull (gst_buffer_get_video_region_of_interest_meta_id (out, (gint) od_at (out, 10)));
  assert_ods (held, "5");
  merging_expect_stat (&m, 0, "boxes", 1);
}

/* A group of keypoints names its members by their ids, which change. It is left out of every
 * buffer, and one warning says so. A mask moves with the boxes to the place of the branch. */
static void
test_group (void)
{
  GstBus *bus;
  Merging m;

  merging_open (&m, "boxmerge sink_0::xpos=320 sink_0::source=\"\"", 1, NULL, FALSE);
  bus = harness_bus (m.main);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *branch = frame_new (i * FRAME), *main = frame_new (i * FRAME);
    guint person = add_od (branch, "person", (Rect) { 10, 20, 30, 40 }, 0.5f);
    g_autoptr (GstBuffer) out = NULL;
    g_autofree gchar *foreign = NULL;

    relate (branch, person, foreign_mtd_add (branch, 7), GST_ANALYTICS_REL_TYPE_CONTAIN);
#if GST_CHECK_VERSION(1, 26, 0)
    relate (branch, person, add_mask (branch, 10, 20, 30, 40), GST_ANALYTICS_REL_TYPE_CONTAIN);
#endif
    foreign_mtd_add (main, 5);
    out = merging_merge (&m, branch, main);
    assert_ods (out, "330");
    foreign = foreign_mtds_on (out);
    g_assert_cmpstr (foreign, ==, "5");
#if GST_CHECK_VERSION(1, 26, 0)
    assert_masks (out, "330,20,30,40");
#endif
  }
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "\"foreign\"");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  merging_close (&m);
  assert_none_alive (foreign_mtds_alive ());
}

static const TestCase cases[] = { CASE (test_ods), CASE (test_cut), CASE (test_region_and_od),
  CASE (test_group), { NULL } };

GST_TEST_PROGRAM (cases);
