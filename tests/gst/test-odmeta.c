/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter on GstAnalytics detections: which mtds are removed and which must stay
 * unchanged, on buffers with ODs only, with ODs and regions, and with both for one
 * detection.
 */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "odboxes.h"

/* A mtd of a type that the plugin does not know, which owns memory. */
typedef struct
{
  gchar *text;
  gint number;
} Foreign;

static gint foreign_alive = 0;

static gboolean
foreign_transform (GstBuffer * target, GstAnalyticsMtd * mtd, GstBuffer * buffer, GQuark type,
    gpointer data)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  foreign->text = g_strdup (foreign->text);
  foreign_alive++;
  return TRUE;
}

static void
foreign_clear (GstBuffer * buffer, GstAnalyticsMtd * mtd)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  g_free (foreign->text);
  foreign_alive--;
}

static const GstAnalyticsMtdImpl foreign_impl = {
  .name = "foreign", .mtd_meta_transform = foreign_transform, .mtd_meta_clear = foreign_clear
};

#define FOREIGN_TYPE ((GstAnalyticsMtdType) &foreign_impl)

static guint
add_foreign (GstBuffer * buffer, gint number)
{
  GstAnalyticsMtd mtd;
  Foreign *foreign = gst_analytics_relation_meta_add_mtd (relations_of (buffer), &foreign_impl,
      sizeof *foreign, &mtd);

  foreign->text = g_strdup_printf ("foreign %d", number);
  foreign->number = number;
  foreign_alive++;
  return mtd.id;
}

static void
relate (GstBuffer * buffer, guint from, guint to, GstAnalyticsRelTypes types)
{
  gst_analytics_relation_meta_set_relation (relations_of (buffer), types, from, to);
}

static guint
types_between (GstBuffer * buffer, guint from, guint to)
{
  return gst_analytics_relation_meta_get_relation (relations_of (buffer), from, to);
}

/* Returns the numbers of foreign mtds, in order: "7 9". Free it. */
static gchar *
foreigns_on (GstBuffer * buffer)
{
  GString *text = g_string_new (NULL);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  while (gst_analytics_relation_meta_iterate (relations_of (buffer), &state, FOREIGN_TYPE, &mtd)) {
    Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd.meta, mtd.id);
    gchar *must = g_strdup_printf ("foreign %d", foreign->number);

    g_assert_cmpstr (foreign->text, ==, must);
    g_free (must);
    g_string_append_printf (text, "%s%d", text->len ? " " : "", foreign->number);
  }
  return g_string_free (text, FALSE);
}

/* Adds the ODs that most tests use: two that overlap and one apart. */
static GstBuffer *
three_ods (void)
{
  GstBuffer *buffer = frame_new (0);

  add_od (buffer, "dog", 1, 0, 50, 50, 0.5f);   /* suppressed by 2 */
  add_od (buffer, "dog", 2, 0, 50, 50, 0.9f);
  add_od (buffer, "dog", 300, 0, 50, 50, 0.7f);
  return buffer;
}

/* ------------------------------------------------------------------ ODs alone */

static void
test_drop (void)
{
  GstBuffer *out = filtered ("nmsfilter", three_ods ());
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
  gst_buffer_unref (out);
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
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = frame_new (0), *out;

    add_od (buffer, "dog", 1, 0, 50, 50, 0.5f);
    add_od (buffer, "dog", 2, 0, 50, 50, 0.9f);
    add_od (buffer, "cat", 3, 0, 50, 50, 0.8f);
    add_od (buffer, "dog", 300, 0, 50, 50, 0.7f);
    add_od (buffer, "dog", 4, 300, -50, -50, 0.6f);     /* negative extents */
    out = filtered (rows[i].launch_line, buffer);
    g_test_message ("%s", rows[i].launch_line);
    assert_ods (out, rows[i].left);
    gst_buffer_unref (out);
  }
}

/* If all are removed, an empty relation meta remains. A buffer of which none are removed
 * is passed on unchanged. */
static void
test_all_and_none (void)
{
  GstHarness *h = harness_new ("nmsfilter score-threshold=0.8");
  GstBuffer *buffer = frame_new (0), *out;

  add_class (buffer, add_od (buffer, "dog", 1, 0, 50, 50, 0.5f), "puppy", 0.5f);
  out = through (h, buffer);
  g_assert_cmpuint (mtds_on (out), ==, 0);
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_class (buffer, add_od (buffer, "dog", 1, 0, 50, 50, 0.9f), "puppy", 0.5f);
  out = through (h, gst_buffer_ref (buffer));   /* two owners */
  g_assert_true (out == buffer);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

/* The other owner of a buffer keeps all its mtds. */
static void
test_shared (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBuffer *buffer = three_ods (), *out;

  add_class (buffer, 1, "second", 0.25f);
  add_foreign (buffer, 5);
  out = through (h, gst_buffer_ref (buffer));
  g_assert_true (out != buffer);
  g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  assert_ods (buffer, "1 2 300");
  assert_ods (out, "2 300");
  assert_classes (out, od_at (out, 2), "second");
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  assert_none_alive (foreign_alive);
}

#if GST_CHECK_VERSION (1, 26, 0)
static guint
add_segmentation (GstBuffer * buffer, GstBuffer * mask)
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
  guint i, ods[3], track = 0, segmentation = 0;
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  for (i = 0; i < 3; i++) {
    GstAnalyticsTrackingMtd tracking;

    ods[i] = add_od (buffer, "dog", 10 * (gint) i, 0, 500, 500, 0.5f + 0.1f * (gfloat) (i == 1));
    add_class (buffer, ods[i], i == 1 ? "best" : "worse", 0.125f * (gfloat) i);
    gst_analytics_relation_meta_add_tracking_mtd (relations_of (buffer), 1000 + i,
        i * GST_SECOND, &tracking);
    relate (buffer, ods[i], tracking.id, GST_ANALYTICS_REL_TYPE_RELATE_TO);
    relate (buffer, ods[i], add_segmentation (buffer, mask), GST_ANALYTICS_REL_TYPE_CONTAIN);
#if GST_CHECK_VERSION (1, 28, 0)
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
  add_segmentation (buffer, mask);      /* of the frame, without relations */
  out = filtered ("nmsfilter", buffer);

  assert_ods (out, "10");
  ods[0] = od_at (out, 10);
  g_assert_cmpuint (ods[0], ==, 0);     /* all types are known, so ids may change */
  assert_classes (out, 0, "best");
  g_assert_cmpuint (types_between (out, 1, 0), ==, both);
  g_assert_cmpuint (types_between (out, 0, 1), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  while (gst_analytics_relation_meta_iterate (relations_of (out), &state,
          gst_analytics_tracking_mtd_get_mtd_type (), &mtd)) {
    GstClockTime first, last;
    gboolean lost;
    guint64 id;

    gst_analytics_tracking_mtd_get_info ((GstAnalyticsTrackingMtd *) & mtd, &id, &first, &last,
        &lost);
    g_assert_cmpuint (id, ==, 1001);
    g_assert_cmpuint (first, ==, GST_SECOND);
    track++;
  }
  g_assert_cmpuint (track, ==, 1);
  for (state = NULL; gst_analytics_relation_meta_iterate (relations_of (out), &state,
          gst_analytics_segmentation_mtd_get_mtd_type (), &mtd); segmentation++) {
    GstAnalyticsSegmentationMtd *one = (GstAnalyticsSegmentationMtd *) & mtd;
    GstBuffer *its = gst_analytics_segmentation_mtd_get_mask (one, NULL, NULL, NULL, NULL);

    g_assert_true (its == mask);
    g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_id (one, 1), ==, 8);
    gst_buffer_unref (its);
  }
  g_assert_cmpuint (segmentation, ==, 2);
#if GST_CHECK_VERSION (1, 28, 0)
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

static void
add_rotated (GstBuffer * buffer, const gchar * label, gint x, gint y, gint w, gint h,
    gfloat rotation, gfloat confidence)
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
  add_rotated (buffer, "ship", 201, 200, 100, 10, -eighth, 0.8f);        /* across */
  add_rotated (buffer, "ship", 202, 201, 100, 10, eighth, 0.7f); /* along: IoU .73 */
  add_rotated (buffer, "boat", 203, 201, 100, 10, eighth, 0.6f); /* along, of another class */
  add_od (buffer, "ship", 204, 200, 100, 10, 0.5f);     /* upright: crosses both */
  add_rotated (buffer, "ship", 205, 205, 100, 10, NAN, 0.99f);
  out = filtered ("nmsfilter iou-threshold=0.5", buffer);
  assert_ods (out, "200 201 203 204");
  g_assert_true (gst_analytics_relation_meta_get_od_mtd (relations_of (out), od_at (out, 203),
          &od));
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

/* Mtds that are related to detections through other mtds. */
static void
test_chains (void)
{
  GstBuffer *buffer = three_ods (), *out;
  guint of_dropped = add_foreign (buffer, 1), of_that = add_foreign (buffer, 2);
  guint of_both = add_foreign (buffer, 3), between = add_foreign (buffer, 4);
  guint of_kept = add_foreign (buffer, 5), alone = add_foreign (buffer, 6);
  guint pair = add_foreign (buffer, 7);
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
  left = foreigns_on (out);
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
  left = foreigns_on (out);
  g_assert_cmpstr (left, ==, "3 6 7");
  g_free (left);
  gst_buffer_unref (out);
  assert_none_alive (foreign_alive);
}

static gboolean
refuse_transform (GstBuffer * target, GstAnalyticsMtd * mtd, GstBuffer * buffer, GQuark type,
    gpointer data)
{
  return FALSE;
}

static const GstAnalyticsMtdImpl uncopied_impl = {
  .name = "uncopied", .mtd_meta_transform = refuse_transform
};

/* From GStreamer 1.28 on a mtd that refuses to be copied leaves a placeholder without a
 * type in the copy. */
static void
test_uncopied (void)
{
  GstBuffer *buffer = three_ods (), *copy, *out;
  GstAnalyticsMtd mtd;
  guint i;

  for (i = 0; i < 2; i++) {
    gst_analytics_relation_meta_add_mtd (relations_of (buffer), &uncopied_impl, 8, &mtd);
    relate (buffer, i, mtd.id, GST_ANALYTICS_REL_TYPE_CONTAIN);
  }
  add_class (buffer, 1, "best", 0.5f);
  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  out = filtered ("nmsfilter", copy);
  assert_ods (out, "2 300");
  assert_classes (out, od_at (out, 2), "best");
  gst_buffer_unref (out);
}

static void
test_locked (void)
{
  GstBuffer *buffer = three_ods (), *out;

  GST_META_FLAG_SET (gst_buffer_get_analytics_relation_meta (buffer), GST_META_FLAG_LOCKED);
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "1 2 300");
  gst_buffer_unref (out);
}

/* A part and its parent do not suppress each other, and are removed together. */
static void
test_parents (void)
{
  static const GstAnalyticsRelTypes part_of = GST_ANALYTICS_REL_TYPE_IS_PART_OF;
  static const GstAnalyticsRelTypes contains = GST_ANALYTICS_REL_TYPE_CONTAIN;
  GstBuffer *buffer = frame_new (0), *out;

  add_od (buffer, "car", 1, 0, 100, 100, 0.9f);
  add_od (buffer, "car", 2, 0, 100, 100, 0.8f); /* part of 1 */
  add_od (buffer, "car", 3, 0, 100, 100, 0.7f); /* suppressed */
  add_od (buffer, "wheel", 300, 0, 20, 20, 0.99f);      /* part of it */
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

static void
test_tag (void)
{
  GstHarness *h = harness_new ("nmsfilter action=tag");
  GstBuffer *buffer = three_ods (), *out;
  guint i;

  add_class (buffer, 0, "puppy", 0.5f);
  out = through (h, buffer);
  for (i = 0; i < 3; i++) {             /* a second filter replaces the tags */
    assert_ods (out, "1 2 300");
    g_assert_cmpuint (mtds_on (out), ==, 7);
    assert_classes (out, od_at (out, 1), "puppy nms:suppressed");
    assert_classes (out, od_at (out, 2), "nms:kept");
    assert_classes (out, od_at (out, 300), "nms:kept");
    out = through (h, out);
  }
  gst_buffer_unref (out);

  g_object_set (h->element, "classes", "cat", NULL);
  out = through (h, three_ods ());      /* not selected, so not tagged */
  g_assert_cmpuint (mtds_on (out), ==, 3);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* --------------------------------------------------------- both, and some of each */

static void
test_both (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0), *out;
  guint id;

  add_foreign (buffer, 0);      /* makes sure that no OD has id 0 */
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
  add_scored (buffer, 77, "cat", 500, 300, 50, 50, 0.5);
  add_od (buffer, "cat", 400, 300, 50, 50, 0.3f);
  add_scored (buffer, 78, "cat", 400, 300, 50, 50, 0.4);
  out = through (h, buffer);
  assert_ids (out, "1 3 4 78");
  assert_ods (out, "100 133 101 500");
  /* regions refer to ids, which must not change */
  g_assert_cmpuint (od_at (out, 101), ==, 4);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 8);
  g_assert_cmpuint (stat_of (h->element, "boxes-out"), ==, 5);
  g_assert_cmpuint (stat_of (h->element, "unscored"), ==, 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* The first OD has id 0, which in a region means none. Then position and class identify
 * the detection. */
static void
test_first_id (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstBuffer *buffer = frame_new (0), *out;

  add_od (buffer, "dog", 100, 100, 50, 50, 0.9f);
  add_region (buffer, 0, "dog", 100, 100, 50, 50);
  out = through (h, buffer);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 1);
  gst_buffer_unref (out);

  buffer = frame_new (0);
  add_od (buffer, "dog", 100, 100, 50, 50, 0.9f);
  add_region (buffer, 0, "cat", 100, 100, 50, 50);
  add_region (buffer, 0, "dog", 300, 100, 50, 50);
  out = through (h, buffer);
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 4);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
test_both_all_gone (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  add_exact (buffer, 1, "dog", 100, 100, 200, 110, 0.4);
  add_od (buffer, "dog", 50, 100, 100, 10, 0.3f);
  add_od (buffer, "dog", 100, 100, 100, 10, 0.9f);
  add_foreign (buffer, 1);
  relate (buffer, 1, 2, GST_ANALYTICS_REL_TYPE_CONTAIN);
  out = filtered ("nmsfilter score-threshold=0.5", buffer);
  assert_ids (out, "");
  g_assert_cmpuint (mtds_on (out), ==, 0);
  gst_buffer_unref (out);
  assert_none_alive (foreign_alive);
}

static void
test_both_tagged (void)
{
  GstBuffer *buffer = frame_new (0), *out;

  add_od (buffer, "dog", 500, 100, 10, 10, 0.5f);
  add_exact (buffer, 1, "dog", 100, 100, 200, 110, 0.8);
  add_od (buffer, "dog", 100, 100, 100, 10, 0.3f);
  add_exact (buffer, 2, "dog", 101, 100, 201, 110, 0.9);
  add_od (buffer, "dog", 101, 100, 100, 10, 0.3f);
  out = filtered ("nmsfilter action=tag", buffer);
  assert_tag (out, 1, "suppressed:1");
  assert_tag (out, 2, "kept");
  assert_classes (out, 0, "nms:kept");
  assert_classes (out, 1, "nms:suppressed");
  assert_classes (out, 2, "nms:kept");
  gst_buffer_unref (out);
}

static void
test_allocation (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstCaps *caps = gst_caps_from_string (FRAME_CAPS);
  GstQuery *query = gst_query_new_allocation (caps, FALSE);

  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_true (gst_query_find_allocation_meta (query, GST_ANALYTICS_RELATION_META_API_TYPE,
          NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}

static const TestCase cases[] = {
  { "/odmeta/drop", test_drop },
  { "/odmeta/settings", test_settings },
  { "/odmeta/all-and-none", test_all_and_none },
  { "/odmeta/shared", test_shared },
#if GST_CHECK_VERSION (1, 26, 0)
  { "/odmeta/related", test_related },
  { "/odmeta/rotated", test_rotated },
#endif
  { "/odmeta/chains", test_chains },
  { "/odmeta/uncopied", test_uncopied },
  { "/odmeta/locked", test_locked },
  { "/odmeta/parents", test_parents },
  { "/odmeta/tag", test_tag },
  { "/odmeta/both", test_both },
  { "/odmeta/first-id", test_first_id },
  { "/odmeta/both-all-gone", test_both_all_gone },
  { "/odmeta/both-tagged", test_both_tagged },
  { "/odmeta/allocation", test_allocation },
  { NULL }
};

GST_TEST_PROGRAM (cases);
