/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge: ODs, with their classes and relations, beside regions. */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "merging.h"
#include "odboxes.h"

/* ODs of two branches come behind that of the main stream, moved to their places, with their
 * classes and the names of their branches. */
static void
test_ods (void)
{
  GstBuffer *buffer, *out;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_1::xpos=320 sink_1::source=right", 2, NULL, FALSE);
  buffer = frame_new (0);
  add_class (buffer, add_od (buffer, "dog", 10, 20, 30, 40, 0.5f), "poodle", 0.75f);
  gst_harness_push (m.branch[0], buffer);
  buffer = frame_new (0);
  add_od (buffer, "cat", 10, 20, 30, 40, 0.25f);
  gst_harness_push (m.branch[1], buffer);
  buffer = frame_new (0);
  add_od (buffer, "car", 5, 5, 30, 40, 1);
  gst_harness_push (m.main, buffer);
  out = gst_harness_pull (m.main);
  assert_ods (out, "5 10 330");
  assert_classes (out, od_at (out, 5), "");
  assert_classes (out, od_at (out, 10), "poodle source:sink_0");
  assert_classes (out, od_at (out, 330), "source:right");
  gst_buffer_unref (out);
  merging_expect_stat (&m, 0, "boxes", 1);
}

/* The mark of a cut OD is a class, which nmsfilter reads. Another boxmerge keeps it once. */
static void
test_cut (void)
{
  GstBuffer *buffer = frame_new (0), *out;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::xpos=320", 2, NULL, FALSE);
  add_od (buffer, "dog", 4, 20, 60, 40, 0.9f);
  add_od (buffer, "dog", 100, 20, 60, 40, 0.9f);
  gst_harness_push (m.branch[0], buffer);
  gst_harness_push (m.branch[1], frame_new (0));
  buffer = frame_new (0);
  add_od (buffer, "dog", 318, 20, 70, 40, 0.3f);
  add_od (buffer, "dog", 410, 20, 70, 40, 0.3f);
  gst_harness_push (m.main, buffer);
  out = gst_harness_pull (m.main);
  assert_ods (out, "318 410 324 420");
  assert_classes (out, od_at (out, 324), "source:sink_0 source-cut");
  assert_classes (out, od_at (out, 420), "source:sink_0");
  buffer = gst_buffer_copy (out);
  GST_BUFFER_PTS (buffer) = FRAME;
  out = filtered ("nmsfilter", out);
  assert_ods (out, "318 420");
  gst_buffer_unref (out);

  gst_harness_push (m.branch[0], frame_new (FRAME));
  gst_harness_push (m.branch[1], buffer);
  merging_push_main (&m, FRAME);
  out = gst_harness_pull (m.main);
  assert_ods (out, "318 410 324 420");
  assert_classes (out, od_at (out, 324), "source:sink_1 source-cut");
  gst_buffer_unref (out);
}

/* A region and the OD with its id are one box. The buffer that another element holds keeps its
 * own metadata. */
static void
test_region_and_od (void)
{
  GstBuffer *buffer = frame_new (0), *held = frame_new (0), *out;
  g_auto (Merging) m = { 0 };
  guint id;

  merging_open (&m, "boxmerge sink_0::source=\"\"", 1, NULL, FALSE);
  id = add_od (buffer, "dog", 10, 20, 30, 40, 0.5f);
  add_scored (buffer, (gint) id, "dog", 10, 20, 30, 40, 0.5);
  gst_harness_push (m.branch[0], buffer);
  add_od (held, "car", 5, 5, 30, 40, 1);
  gst_harness_push (m.main, gst_buffer_ref (held));
  out = gst_harness_pull (m.main);
  assert_ods (out, "5 10");
  g_assert_cmpuint (count_on (out), ==, 1);
  g_assert_nonnull (gst_buffer_get_video_region_of_interest_meta_id (out, (gint) od_at (out, 10)));
  assert_ods (held, "5");
  gst_buffer_unref (held);
  gst_buffer_unref (out);
  merging_expect_stat (&m, 0, "boxes", 1);
}

/* Held ODs come again. */
static void
test_hold (void)
{
  GstBuffer *buffer = frame_new (0), *out;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::hold=1000000000", 1, NULL, FALSE);
  add_od (buffer, "dog", 10, 20, 30, 40, 0.5f);
  gst_harness_push (m.branch[0], buffer);
  merging_push_main (&m, 0);
  out = gst_harness_pull (m.main);
  assert_ods (out, "10");
  gst_buffer_unref (out);
  gst_harness_push_event (m.branch[0], gst_event_new_eos ());
  merging_push_main (&m, FRAME);
  out = gst_harness_pull (m.main);
  assert_ods (out, "10");
  assert_classes (out, od_at (out, 10), "source:sink_0");
  gst_buffer_unref (out);
}

/* A group of keypoints names its members by their ids, which change. It is left out of every
 * buffer, and one warning says so. A mask moves with the boxes to the place of the branch. */
static void
test_group (void)
{
  GstBus *bus;
  Merging m;

  merging_open (&m, "boxmerge sink_1::xpos=320 sink_1::source=\"\"", 2, NULL, FALSE);
  bus = gst_bus_new ();
  gst_element_set_bus (m.element, bus);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame_new (i * FRAME), *out;
    guint person = add_od (buffer, "person", 10, 20, 30, 40, 0.5f);
    gchar *foreign;

    relate (buffer, person, foreign_mtd_add (buffer, 7), GST_ANALYTICS_REL_TYPE_CONTAIN);
#if GST_CHECK_VERSION(1, 26, 0)
    relate (buffer, person, add_mask (buffer, 10, 20, 30, 40), GST_ANALYTICS_REL_TYPE_CONTAIN);
#endif
    gst_harness_push (m.branch[0], frame_new (i * FRAME));
    gst_harness_push (m.branch[1], buffer);
    buffer = frame_new (i * FRAME);
    foreign_mtd_add (buffer, 5);
    gst_harness_push (m.main, buffer);
    out = gst_harness_pull (m.main);
    assert_ods (out, "330");
    foreign = foreign_mtds_on (out);
    g_assert_cmpstr (foreign, ==, "5");
    g_free (foreign);
#if GST_CHECK_VERSION(1, 26, 0)
    assert_masks (out, "330,20,30,40");
#endif
    gst_buffer_unref (out);
  }
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "\"foreign\"");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  gst_element_set_bus (m.element, NULL);
  gst_object_unref (bus);
  merging_close (&m);
  assert_none_alive (foreign_mtds_alive ());
}

static const TestCase cases[] = { CASE (test_ods), CASE (test_cut), CASE (test_region_and_od),
  CASE (test_hold), CASE (test_group), { NULL } };

GST_TEST_PROGRAM (cases);
