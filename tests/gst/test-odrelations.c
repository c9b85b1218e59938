/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter on GstAnalytics detections with relations: mtds of all types, chains of them,
 * and parts with their parents.
 */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "odboxes.h"

#if GST_CHECK_VERSION(1, 26, 0)
static guint
add_segmentation (GstBuffer *buffer, GstBuffer *mask)
{
  guint regions[2] = { 3, 8 };
  GstAnalyticsSegmentationMtd mtd;

  g_assert_true (gst_analytics_relation_meta_add_segmentation_mtd (relations_of (buffer),
      gst_buffer_ref (mask), GST_SEGMENTATION_TYPE_INSTANCE, 2, regions, 0, 0, 8, 8, &mtd));
  return mtd.id;
}

static GstBuffer *
mask_new (void)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 64, NULL);

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  return mask;
}

/* All kinds of mtds: kept detections keep theirs with the exact relations, those of
 * removed detections are removed, and nothing leaks. */
static void
test_related (void)
{
  const guint both = GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_IS_PART_OF;
  GstBuffer *mask = mask_new (), *buffer = frame_new (0), *out;
  guint ods[3], track = 0, segmentation = 0;
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  for (guint i = 0; i < 3; i++) {
    GstAnalyticsTrackingMtd tracking;

    ods[i] = add_od (buffer, "dog", 10 * (gint) i, 0, 500, 500, 0.5f + 0.1f * (gfloat) (i == 1));
    add_class (buffer, ods[i], i == 1 ? "best" : "worse", 0.125f * (gfloat) i);
    gst_analytics_relation_meta_add_tracking_mtd (relations_of (buffer), 1000 + i, i * GST_SECOND,
        &tracking);
    relate (buffer, ods[i], tracking.id, GST_ANALYTICS_REL_TYPE_RELATE_TO);
    relate (buffer, ods[i], add_segmentation (buffer, mask), GST_ANALYTICS_REL_TYPE_CONTAIN);
#if GST_CHECK_VERSION(1, 28, 0)
    {
      gsize dims[1] = { 4 };
      GstAnalyticsTensorMtd tensor;

      gst_analytics_relation_meta_add_tensor_mtd_simple (relations_of (buffer),
          g_quark_from_static_string ("t"), GST_TENSOR_DATA_TYPE_UINT8,
          gst_buffer_new_allocate (NULL, 4, NULL), GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1, dims,
          &tensor);
      relate (buffer, tensor.id, ods[i], GST_ANALYTICS_REL_TYPE_N_TO_N);
    }
#endif
  }
  add_segmentation (buffer, mask); /* of the frame, without relations */
  out = filtered ("nmsfilter", buffer);

  assert_ods (out, "10");
  ods[0] = od_at (out, 10);
  g_assert_cmpuint (ods[0], ==, 0); /* all types are known, so ids may change */
  assert_classes (out, 0, "best");
  g_assert_cmpuint (types_between (out, 1, 0), ==, both);
  g_assert_cmpuint (types_between (out, 0, 1), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  while (gst_analytics_relation_meta_iterate (relations_of (out), &state,
      gst_analytics_tracking_mtd_get_mtd_type (), &mtd)) {
    GstClockTime first, last;
    gboolean lost;
    guint64 id;

    gst_analytics_tracking_mtd_get_info ((GstAnalyticsTrackingMtd *) &mtd, &id, &first, &last,
        &lost);
    g_assert_cmpuint (id, ==, 1001);
    g_assert_cmpuint (first, ==, GST_SECOND);
    track++;
  }
  g_assert_cmpuint (track, ==, 1);
  for (state = NULL; gst_analytics_relation_meta_iterate (relations_of (out), &state,
           gst_analytics_segmentation_mtd_get_mtd_type (), &mtd);
       segmentation++) {
    GstAnalyticsSegmentationMtd *one = (GstAnalyticsSegmentationMtd *) &mtd;
    g_autoptr (GstBuffer)
        its = gst_analytics_segmentation_mtd_get_mask (one, NULL, NULL, NULL, NULL);

    g_assert_true (its == mask);
    g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_id (one, 1), ==, 8);
  }
  g_assert_cmpuint (segmentation, ==, 2);
#if GST_CHECK_VERSION(1, 28, 0)
  state = NULL;
  g_assert_true (gst_analytics_relation_meta_iterate (relations_of (out), &state,
      gst_analytics_tensor_mtd_get_mtd_type (), &mtd));
  g_assert_cmpuint (types_between (out, mtd.id, 0), ==, GST_ANALYTICS_REL_TYPE_N_TO_N);
  g_assert_cmpuint (mtds_on (out), ==, 6);
#else
  g_assert_cmpuint (mtds_on (out), ==, 5);
#endif
  gst_buffer_unref (out);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (mask), ==, 1);
  gst_buffer_unref (mask);
}
#endif

/* Mtds that are related to detections through other mtds. */
static void
test_chains (void)
{
  GstBuffer *buffer = three_ods (), *out;
  guint of_dropped = foreign_mtd_add (buffer, 1), of_that = foreign_mtd_add (buffer, 2);
  guint of_both = foreign_mtd_add (buffer, 3), between = foreign_mtd_add (buffer, 4);
  guint of_kept = foreign_mtd_add (buffer, 5), alone = foreign_mtd_add (buffer, 6);
  guint pair = foreign_mtd_add (buffer, 7);
  gchar *left;

  relate (buffer, 0, of_dropped, GST_ANALYTICS_REL_TYPE_CONTAIN);
  relate (buffer, of_that, of_dropped, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  relate (buffer, of_both, 0, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (buffer, 1, of_both, GST_ANALYTICS_REL_TYPE_CONTAIN | GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (buffer, between, of_dropped, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (buffer, of_kept, between, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (buffer, of_kept, 2, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (buffer, alone, pair, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  out = filtered ("nmsfilter", buffer);
  left = foreign_mtds_on (out);
  g_assert_cmpstr (left, ==, "3 4 5 6 7");
  g_free (left);
  /* a foreign mtd may hold ids, so ids must not change */
  g_assert_cmpuint (od_at (out, 2), ==, 1);
  g_assert_cmpuint (od_at (out, 300), ==, 2);
  g_assert_cmpuint (types_between (out, 1, of_both), ==,
      GST_ANALYTICS_REL_TYPE_CONTAIN | GST_ANALYTICS_REL_TYPE_RELATE_TO);
  g_assert_cmpuint (types_between (out, alone, pair), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  g_assert_cmpuint (types_between (out, of_both, 0), ==, 0);

  /* the second filter does not count placeholders as detections and adds no more of them */
  out = filtered ("nmsfilter score-threshold=0.8", out);
  assert_ods (out, "2");
  g_assert_cmpuint (od_at (out, 2), ==, 1);
  left = foreign_mtds_on (out);
  g_assert_cmpstr (left, ==, "3 6 7");
  g_free (left);
  gst_buffer_unref (out);
  assert_none_alive (foreign_mtds_alive ());
}

static gboolean
refuse_transform (GstBuffer *target, GstAnalyticsMtd *mtd, GstBuffer *buffer, GQuark type,
    gpointer data)
{
  return FALSE;
}

static const GstAnalyticsMtdImpl uncopied_impl = { .name = "uncopied",
  .mtd_meta_transform = refuse_transform };

/* From GStreamer 1.28 on a mtd that refuses to be copied leaves a placeholder without a
 * type in the copy. */
static void
test_uncopied (void)
{
  GstBuffer *buffer = three_ods (), *copy;
  g_autoptr (GstBuffer) out = NULL;
  GstAnalyticsMtd mtd;

  for (guint i = 0; i < 2; i++) {
    gst_analytics_relation_meta_add_mtd (relations_of (buffer), &uncopied_impl, 8, &mtd);
    relate (buffer, i, mtd.id, GST_ANALYTICS_REL_TYPE_CONTAIN);
  }
  add_class (buffer, 1, "best", 0.5f);
  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  out = filtered ("nmsfilter", copy);
  assert_ods (out, "2 300");
  assert_classes (out, od_at (out, 2), "best");
}

/* A part and its parent do not suppress each other, and are removed together. */
static void
test_parents (void)
{
  static const GstAnalyticsRelTypes part_of = GST_ANALYTICS_REL_TYPE_IS_PART_OF;
  static const GstAnalyticsRelTypes contains = GST_ANALYTICS_REL_TYPE_CONTAIN;
  GstBuffer *buffer = frame_new (0), *out;

  add_od (buffer, "car", 1, 0, 100, 100, 0.9f);
  add_od (buffer, "car", 2, 0, 100, 100, 0.8f);    /* part of 1 */
  add_od (buffer, "car", 3, 0, 100, 100, 0.7f);    /* suppressed */
  add_od (buffer, "wheel", 300, 0, 20, 20, 0.99f); /* part of it */
  relate (buffer, 1, 0, part_of);
  relate (buffer, 2, 3, contains);
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "1 2");
  g_assert_cmpuint (types_between (out, 1, 0), ==, part_of);
  gst_buffer_unref (out);

  /* parts of each other are not treated as parts */
  buffer = three_ods ();
  relate (buffer, 0, 1, part_of);
  relate (buffer, 1, 0, part_of);
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "2 300");
  gst_buffer_unref (out);
}

static const TestCase cases[] = {
#if GST_CHECK_VERSION(1, 26, 0)
  CASE (test_related),
#endif
  CASE (test_chains), CASE (test_uncopied), CASE (test_parents), { NULL }
};

GST_TEST_PROGRAM (cases);
