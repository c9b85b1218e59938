/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxsteady on GstAnalytics: tracks, held ODs, the ids of a tracker, and regions of ODs. */
#include "gstrunner.h"
#include "odboxes.h"

/* Returns the ODs with their classes and tracks: "100 car #1 200 #2!". Free it. */
static gchar *
tracks_on (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = relations_of (buffer);
  GString *text = g_string_new (NULL);
  gpointer state = NULL, related = NULL;
  GstAnalyticsMtd od, track;

  while (gst_analytics_relation_meta_iterate (meta, &state, gst_analytics_od_mtd_get_mtd_type (),
      &od)) {
    g_autofree gchar *classes = classes_of (buffer, od.id);

    g_string_append_printf (text, "%d %s", x_of_od (&od), classes);
    related = NULL;
    while (gst_analytics_relation_meta_get_direct_related (meta, od.id, GST_ANALYTICS_REL_TYPE_ANY,
        gst_analytics_tracking_mtd_get_mtd_type (), &related, &track)) {
      GstClockTime first, last;
      gboolean lost;
      guint64 id;

      gst_analytics_tracking_mtd_get_info ((GstAnalyticsTrackingMtd *) &track, &id, &first, &last,
          &lost);
      g_string_append_printf (text, "#%" G_GUINT64_FORMAT "%s ", id, lost ? "!" : "");
    }
  }
  return g_string_free (text, FALSE);
}

#define expect_tracks(h, buffer, expected) \
  G_STMT_START \
  { \
    GstBuffer *out_ = through (h, buffer); \
    g_autofree gchar *text_ = tracks_on (out_); \
    g_assert_cmpstr (text_, ==, expected); \
    gst_buffer_unref (out_); \
  } \
  G_STMT_END

/* Of the second frame, an OD that is not confirmed is removed with its class; the others keep
 * classes and get tracks. The third frame has no meta. */
static void
test_tracks (void)
{
  GstHarness *h = harness_new ("boxsteady smoothing=0 hold=1");
  GstBuffer *buffer;

  for (guint i = 0; i < 2; i++) {
    buffer = frame_new (i * 100 * GST_MSECOND);
    if (i == 1)
      add_class (buffer, add_od (buffer, "car", 300, 20, 30, 40, 0.5f), "red", 0.5f);
    add_class (buffer, add_od (buffer, "car", 100, 20, 30, 40, 0.5f), "green", 0.5f);
    add_od (buffer, "dog", 200, 20, 30, 40, 0.5f);
    expect_tracks (h, buffer, "100 green#1 200 #2 ");
  }
  expect_tracks (h, frame_new (200 * GST_MSECOND), "100 #1! 200 #2! ");
  expect_tracks (h, frame_new (300 * GST_MSECOND), "");
  gst_harness_teardown (h);
}

/* Places are smoothed in the OD: 100, then 110 with the gain 0.75. */
static void
test_places (void)
{
  GstHarness *h = harness_new ("boxsteady smoothing=0.5");

  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = frame_new (i * 100 * GST_MSECOND);

    add_od (buffer, "car", 100 + 12 * (gint) i, 20, 60, 80, 0.5f);
    expect_tracks (h, buffer, i ? "109 #1 " : "100 #1 ");
  }
  gst_harness_teardown (h);
}

/* The ids of a tracker upstream are kept. */
static void
test_given (void)
{
  GstHarness *h = harness_new ("boxsteady smoothing=0");

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame_new (i * 100 * GST_MSECOND);
    GstAnalyticsTrackingMtd track;

    if (i < 2) {
      const guint od = add_od (buffer, "car", 100, 20, 60, 80, 0.5f);

      gst_analytics_relation_meta_add_tracking_mtd (relations_of (buffer), 77, 0, &track);
      relate (buffer, od, track.id, GST_ANALYTICS_REL_TYPE_RELATE_TO);
    }
    expect_tracks (h, buffer, i < 2 ? "100 #77 " : "100 #77! ");
  }
  gst_harness_teardown (h);
}

/* A region and an OD with its id are one box, also where it is held. */
static void
test_regions (void)
{
  GstHarness *h = harness_new ("boxsteady smoothing=0");

  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = frame_new (i * 100 * GST_MSECOND);

    if (i == 0) {
      add_od (buffer, "dog", 300, 20, 30, 40, 0.5f);
      add_scored (buffer, (gint) add_od (buffer, "car", 100, 20, 60, 80, 0.5f), "car", 100, 20, 60,
          80, 0.5);
    }
    buffer = through (h, buffer);
    g_assert_cmpstr (boxes_on (buffer), ==, "100,20,60,80");
    assert_ods (buffer, i ? "300 100" : "300 100");
    g_assert_nonnull (
        gst_buffer_get_video_region_of_interest_meta_id (buffer, (gint) od_at (buffer, 100)));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

static const TestCase cases[] = { { "/boxsteady/tracks", test_tracks },
  { "/boxsteady/places", test_places }, { "/boxsteady/given", test_given },
  { "/boxsteady/regions", test_regions }, { NULL } };

GST_TEST_PROGRAM (cases);
