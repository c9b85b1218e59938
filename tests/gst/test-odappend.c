/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odappend and odrewrite: ODs that are moved, rescored, and appended with their classes, tracks
 * and relations to those of another buffer. Calls functions of the plugin directly.
 */
#include "foreignmtd.h"
#include "gstrunner.h"
#include "meta/boxappend.h"
#include "meta/boxmap.h"
#include "meta/boxremove.h"
#include "meta/boxrewrite.h"
#include "odboxes.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BoxMetaReading, box_meta_reading_free)

/* Semantic tags as GStreamer 1.30 has them: a text for each mtd. Older versions lack them, so the
 * functions of this program take the place of GStreamer's. */
static GHashTable *tags = NULL; /* tag_key -> text */

gchar *gst_analytics_mtd_get_semantic_tag (const GstAnalyticsMtd *instance);
gboolean gst_analytics_mtd_set_semantic_tag (GstAnalyticsMtd *instance, const gchar *tag);

static gchar *
tag_key (const GstAnalyticsMtd *mtd)
{
  return g_strdup_printf ("%p %u", (gpointer) mtd->meta, mtd->id);
}

gchar *
gst_analytics_mtd_get_semantic_tag (const GstAnalyticsMtd *instance)
{
  g_autofree gchar *key = tag_key (instance);

  return g_strdup (tags ? g_hash_table_lookup (tags, key) : NULL);
}

gboolean
gst_analytics_mtd_set_semantic_tag (GstAnalyticsMtd *instance, const gchar *tag)
{
  if (tags)
    g_hash_table_replace (tags, tag_key (instance), g_strdup (tag));
  return TRUE;
}

/* A person (OD 0) with a class, a face (OD 2) that is a part of it, a track of the face, a foreign
 * mtd that the track is related to, and a class of no OD. The face has a region. The foreign mtd
 * may hold ids, so it cannot be appended. */
static GstBuffer *
branch_new (void)
{
  GstBuffer *buffer = frame_new (0);
  const guint person = add_ods (buffer, "person 100,50,20,40 0.5 tall");
  const guint face = add_ods (buffer, "face 105,52,4,4 0.25");
  const guint track = add_track (buffer, face, 77);
  GstAnalyticsClsMtd scene;
  guint foreign;

  relate (buffer, face, person, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  foreign = foreign_mtd_add (buffer, 9);
  relate (buffer, track, foreign, GST_ANALYTICS_REL_TYPE_CONTAIN);
  gst_analytics_relation_meta_add_one_cls_mtd (relations_of (buffer), 1.0f,
      g_quark_from_static_string ("indoors"), &scene);
  add_boxes (buffer, "2 face 105.25:52.25:109.25:56.25 0.25 in 0");
  return buffer;
}

/* Reads the boxes of a branch and moves them by these pixels to a frame of this size. */
static void
take_shifted (BoxMetaReading *reading, GstBuffer *branch, gint by, gint width, gint height)
{
  BoxMap map;

  box_meta_reading_take (reading, branch, 640, 480, 0);
  box_map_init (&map);
  box_map_shift (&map, by, by);
  box_map_move_all (&map, box_meta_reading_boxes (reading), width, height, TRUE);
}

/* Moving and rescoring changes no id, relation or other mtd. The box "far" is outside then, so it
 * is to be removed. The face has the place of the region's doubles. */
static void
test_rewrite (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  GArray *boxes = box_meta_reading_boxes (reading);
  g_autoptr (GstBuffer) buffer = branch_new ();
  BoxMap map;

  add_ods (buffer, "far 0,0,10,10 0.5");
  box_meta_reading_take (reading, buffer, 640, 480, 0);
  g_assert_cmpuint (boxes->len, ==, 3);
  box_map_init (&map);
  box_map_shift (&map, -50, -50);
  box_map_scale (&map, 2, 2);
  g_assert_cmpuint (box_map_move_all (&map, boxes, 640, 480, FALSE), ==, 1);
  g_array_index (boxes, Box, 0).confidence = 0.75;
  g_array_index (boxes, Box, 0).flags |= BOX_RESCORED;
  box_rewrite (buffer, reading, 640, 480);
  assert_ods_text (buffer,
      "7: 0 person 100,0,40,80 0.5 tall; 2 face 111,5,8,8 0.75 #77; 6 far 0,0,10,10 0.5");
  g_assert_cmphex (types_between (buffer, 2, 0), ==, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_cmphex (types_between (buffer, 2, 3), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  assert_foreign (buffer, "9");
  box_remove (buffer, reading);
  g_assert_cmpuint (box_meta_reading_take (reading, buffer, 640, 480, 0), ==, 2);
  g_assert_cmpfloat_with_epsilon (g_array_index (boxes, Box, 0).x1, 110.5, 1e-9);
  g_assert_cmpfloat (g_array_index (boxes, Box, 0).confidence, ==, 0.75);
}

/* A region around a rotated OD stays the upright box around it. */
static void
test_rewrite_rotated (void)
{
#if GST_CHECK_VERSION(1, 26, 0)
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer)
      buffer = frame_with_ods ("first 0,0,9,9 0.5; ship 100,100,40,20 0.5 @1.5707963");
  BoxMap map;

  add_boxes (buffer, "1 ship 110,90,20,40");
  box_meta_reading_take (reading, buffer, 640, 480, 0);
  box_map_init (&map);
  box_map_orient (&map, GST_VIDEO_ORIENTATION_HORIZ, 640, 480);
  box_map_move_all (&map, box_meta_reading_boxes (reading), 640, 480, FALSE);
  box_rewrite (buffer, reading, 640, 480);
  assert_ods_text (buffer, "2: 0 first 631,0,9,9 0.5; 1 ship 500,100,40,20 0.5 @-1.5708");
  g_assert_cmpstr (boxes_on (buffer), ==, "510,90,20,40");
  g_assert_null (gst_buffer_get_video_region_of_interest_meta (buffer)->params);
#endif
}

/* Appends the branch to a buffer with an OD, a region whose id a new OD would get, and another. */
static void
test_append (void)
{
  const gint alive = foreign_mtds_alive ();
  BoxMetaReading *reading = box_meta_reading_new ();
  GArray *boxes = box_meta_reading_boxes (reading);
  GstBuffer *buffer = frame_with_ods ("car 1,2,3,4 1 red"), *branch = branch_new ();
  GstVideoRegionOfInterestMeta *roi;

  add_boxes (buffer, "2 sign 7,7,7,7; 0 tree 9,9,7,7");
  take_shifted (reading, branch, 300, 1280, 800);
  g_assert_cmpuint (box_append (buffer, branch, reading, 1280, 800, "left", FALSE), ==, 2);
  g_assert_cmpuint (mtds_on (branch), ==, 6);
  gst_buffer_unref (branch);

  /* 2 is the id of the region "sign" */
  assert_ods_text (buffer,
      "9: 0 car 1,2,3,4 1 red; 3 person 400,350,20,40 0.5 tall source:left; "
      "5 face 405,352,4,4 0.25 source:left #77");
  g_assert_cmphex (types_between (buffer, 5, 3), ==, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_cmphex (types_between (buffer, 4, 3), ==,
      GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  assert_foreign (buffer, "");
  g_assert_cmpstr (reading->move.lost, ==, "foreign");
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 5);
  g_assert_nonnull (roi);
  g_assert_cmpint (roi->parent_id, ==, 3);

  g_assert_cmpuint (box_meta_read (buffer, 1280, 800, BOX_READ_SOURCE | BOX_READ_TRACK, boxes), ==,
      5);
  g_assert_cmpfloat_with_epsilon (g_array_index (boxes, Box, 2).x1, 405.25, 1e-9);
  g_assert_cmpint (g_array_index (boxes, Box, 2).track_id, ==, 77);
  g_assert_cmpint (g_array_index (boxes, Box, 2).parent, ==, 4);
  g_assert_cmpstr (g_quark_to_string (g_array_index (boxes, Box, 4).source), ==, "left");
  g_assert_cmpuint (g_array_index (boxes, Box, 3).source, ==, 0);
  gst_buffer_unref (buffer);
  box_meta_reading_free (reading);
  assert_none_alive (foreign_mtds_alive () - alive);
}

/* Drops the box whose left side is at x. */
static void
drop_at (GArray *boxes, gdouble x)
{
  for (guint i = 0; i < boxes->len; i++)
    if (g_array_index (boxes, Box, i).x1 == x)
      g_array_index (boxes, Box, i).state = BOX_STATE_SUPPRESSED;
}

/* A box that is to be dropped is not appended, and gets no source. */
static void
test_append_some (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0), branch = branch_new ();

  box_meta_reading_take (reading, branch, 640, 480, 0);
  drop_at (box_meta_reading_boxes (reading), 100);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, "left", FALSE), ==, 1);
  assert_ods_text (buffer, "3: 0 face 105,52,4,4 0.25 source:left #77");
}

/* ODs of a buffer without any, then once more with another name; then to a locked meta. */
static void
test_append_again (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) branch = branch_new (), one = frame_new (0), two = frame_new (0);

  box_meta_reading_take (reading, branch, 640, 480, 0);
  g_assert_cmpuint (box_append (one, branch, reading, 640, 480, "one", FALSE), ==, 2);
  assert_ods (one, "100 105");
  box_meta_reading_take (reading, one, 640, 480, 0);
  g_assert_cmpuint (box_append (two, one, reading, 640, 480, "two", FALSE), ==, 2);
  assert_classes (two, od_at (two, 100), "tall source:two");
  g_assert_cmpuint (box_append (two, one, reading, 640, 480, NULL, FALSE), ==, 2);
  assert_ods (two, "100 105 100 105");
  GST_META_FLAG_SET ((GstMeta *) relations_of (two), GST_META_FLAG_LOCKED);
  g_assert_cmpuint (box_append (two, one, reading, 640, 480, NULL, FALSE), ==, 1);
  g_assert_cmpuint (count_on (two), ==, 3);
  GST_META_FLAG_UNSET ((GstMeta *) relations_of (two), GST_META_FLAG_LOCKED);
}

/* A removed OD leaves a placeholder if a region names a later one. ODs appended to such a meta,
 * which is rebuilt for them, change no id. */
static void
test_append_to_placeholder (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_with_ods (THREE_ODS), branch = branch_new ();
  const guint named = od_at (buffer, 300);

  add_region (buffer, (gint) named, "dog", (Rect) { 300, 0, 50, 50 });
  box_meta_reading_take (reading, buffer, 640, 480, 0);
  drop_at (box_meta_reading_boxes (reading), 1);
  box_remove (buffer, reading);
  assert_ods (buffer, "2 300");
  g_assert_cmpuint (od_at (buffer, 300), ==, named);

  box_meta_reading_take (reading, branch, 640, 480, 0);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, "left", FALSE), ==, 2);
  assert_ods (buffer, "2 300 100 105");
  g_assert_cmpuint (od_at (buffer, 300), ==, named);
}

/* A mtd of an unknown type is left out with what is related to it alone, and named only if it
 * belongs to an OD. */
static void
test_append_unknown (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0), branch = frame_new (0);
  guint person, group, of_group, of_both;

  foreign_mtd_add (branch, 1); /* belongs to the frame */
  person = add_ods (branch, "person 100,50,20,40 0.5");
  box_meta_reading_take (reading, branch, 640, 480, 0);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, NULL, FALSE), ==, 1);
  g_assert_null (reading->move.lost);
  g_assert_cmpuint (mtds_on (buffer), ==, 1);

  group = foreign_mtd_add (branch, 2);
  relate (branch, person, group, GST_ANALYTICS_REL_TYPE_CONTAIN);
  of_group = add_class (branch, group, "left knee", 0.5f);
  of_both = add_class (branch, group, "tall", 0.5f);
  relate (branch, of_both, person, GST_ANALYTICS_REL_TYPE_RELATE_TO);
  relate (branch, of_group, foreign_mtd_add (branch, 3), GST_ANALYTICS_REL_TYPE_RELATE_TO);
  box_meta_reading_take (reading, branch, 640, 480, 0);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, NULL, FALSE), ==, 1);
  g_assert_cmpstr (reading->move.lost, ==, "foreign");
  g_assert_cmpuint (mtds_on (buffer), ==, 3); /* the class "tall", too */
  assert_ods (buffer, "100 100");
  g_assert_cmphex (types_between (buffer, 2, 1), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
}

/* Fails unless mtds of these ids, the first ones, have these tags. */
static void
assert_tags_of (GstBuffer *buffer, guint first, const gchar *expected)
{
  gchar **list = g_strsplit (expected, " ", -1);

  for (guint i = 0; list[i]; i++) {
    const GstAnalyticsMtd mtd = { first + i, relations_of (buffer) };
    g_autofree gchar *tag = gst_analytics_mtd_get_semantic_tag (&mtd);

    g_assert_cmpstr (tag ? tag : "-", ==, list[i]);
  }
  g_strfreev (list);
}

/* Semantic tags stay with their mtds when others are removed in place or in a copy, and when they
 * are appended. */
static void
test_tags (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_with_ods (THREE_ODS), copy = NULL, target = frame_new (0);
  GstAnalyticsMtd mtd = { 2, relations_of (buffer) };

  tags = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gst_analytics_mtd_set_semantic_tag (&mtd, "third");
  mtd.id = add_class (buffer, 2, "dog", 1.0f);
  gst_analytics_mtd_set_semantic_tag (&mtd, "class_descriptor");
  box_meta_reading_take (reading, buffer, 640, 480, 0);
  drop_at (box_meta_reading_boxes (reading), 1);
  copy = box_remove_copy (buffer, reading);
  assert_tags_of (copy, 0, "- third class_descriptor");
  g_assert_cmpuint (box_append (target, buffer, reading, 640, 480, "left", FALSE), ==, 2);
  assert_tags_of (target, od_at (target, 300), "third");
  g_hash_table_remove_all (tags); /* as GStreamer does when it clears the meta */
  mtd.id = 2;
  gst_analytics_mtd_set_semantic_tag (&mtd, "third");
  box_remove (buffer, reading);
  assert_ods (buffer, "2 300");
  assert_tags_of (buffer, 1, "third");
  g_clear_pointer (&tags, g_hash_table_unref);
}

static const TestCase cases[] = { CASE (test_rewrite), CASE (test_rewrite_rotated),
  CASE (test_append), CASE (test_append_some), CASE (test_append_again),
  CASE (test_append_to_placeholder), CASE (test_append_unknown), CASE (test_tags), { NULL } };

GST_TEST_PROGRAM (cases);
