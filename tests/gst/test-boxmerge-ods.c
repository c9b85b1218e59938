/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge: ODs, with their classes, tracks, tags and relations, beside regions. */
#include "gstrunner.h"
#include "merging.h"
#include "odboxes.h"

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
  const guint face = add_ods (buffer, "face 118,52,4,4 0.25");
  const guint track = add_track (buffer, face, 77);
  GstAnalyticsClsMtd scene;

  relate (buffer, face, person, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  relate (buffer, track, add_foreign (buffer, 9), GST_ANALYTICS_REL_TYPE_CONTAIN);
  gst_analytics_relation_meta_add_one_cls_mtd (relations_of (buffer), 1.0f,
      g_quark_from_static_string ("indoors"), &scene);
  add_boxes (buffer, "2 face 118.25:52.25:122.25:56.25 0.25 in 0");
  return buffer;
}

/* Appends the branch to a buffer with an OD, a region whose id a new OD would get, and another. */
static void
test_related (void)
{
  GstBuffer *main = frame_with_ods ("car 1,2,3,4 1 red"), *out;
  GstVideoRegionOfInterestMeta *roi;
  GstBus *bus;
  Merging m;

  merging_open (&m, "boxmerge sink_0::xpos=300 sink_0::ypos=300 sink_0::source=left", 1, NULL,
      FALSE);
  bus = harness_bus (m.main);
  add_boxes (main, "2 sign 7,7,7,7; 0 tree 9,9,7,7");
  out = merging_merge (&m, branch_new (), main);
  /* 2 is the id of the region "sign" */
  assert_ods_text (out,
      "9: 0 car 1,2,3,4 1 red; 3 person 400,350,20,40 0.5 tall source:left; "
      "5 face 418,352,4,4 0.25 source:left #77");
  g_assert_cmphex (types_between (out, 5, 3), ==, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_cmphex (types_between (out, 4, 3), ==,
      GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  assert_foreign (out, "");
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "\"foreign\"");
  assert_ids (out, "2 0 5");
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 5);
  g_assert_cmpint (roi->parent_id, ==, 3);
  g_assert_cmpstr (boxes_on (out), ==, "7,7,7,7 9,9,7,7 418,352,4,4");
  gst_buffer_unref (out);
  merging_close (&m);
  assert_none_alive ();
}

/* What a main buffer gets from the branch, moved by `properties`. */
static void
expect_merged (const gchar *properties, GstBuffer *branch, GstBuffer *main, const gchar *ods)
{
  g_autofree gchar *launch = g_strconcat ("boxmerge sink_0::source=left ", properties, NULL);
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, launch, 1, NULL, FALSE);
  out = merging_merge (&m, branch, main);
  assert_ods_text (out, ods);
}

/* Of the branch, the person is outside. */
static void
test_outside (void)
{
  expect_merged ("sink_0::xpos=-120", branch_new (), NULL,
      "3: 0 face -2,52,4,4 0.25 source:left #77");
}

/* To a meta that is locked, only the region of the face is appended. */
static void
test_locked (void)
{
  GstBuffer *main = frame_with_ods ("car 1,2,3,4 1");
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  GST_META_FLAG_SET ((GstMeta *) relations_of (main), GST_META_FLAG_LOCKED);
  out = merging_merge (&m, branch_new (), main);
  assert_ods (out, "1");
  g_assert_cmpstr (boxes_on (out), ==, "118,52,4,4");
  merging_expect_stat (&m, 0, "boxes", 1);
}

/* A removed OD leaves a placeholder if a region names a later one. ODs appended to such a meta,
 * which is rebuilt for them, change no id. */
static void
test_placeholder (void)
{
  GstBuffer *main = frame_with_ods (THREE_ODS);

  add_boxes (main, "2 dog 300,0,50,50");
  expect_merged ("", branch_new (), filtered ("nmsfilter", main),
      "9: 1 dog 2,0,50,50 0.9; 2 dog 300,0,50,50 0.7; 3 person 100,50,20,40 0.5 tall source:left; "
      "5 face 118,52,4,4 0.25 source:left #77");
}

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
  add_ods (left, "dog 10,20,30,40 0.5 poodle");
  add_ods (right, "cat 10,20,30,40 0.25");
  gst_harness_push (m.branch[0], left);
  gst_harness_push (m.branch[1], right);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *main = frame_new (i * FRAME);
    g_autoptr (GstBuffer) out = NULL;

    add_ods (main, "car 5,5,30,40 1");
    gst_harness_push (m.main, main);
    out = gst_harness_pull (m.main);
    assert_ods_text (out,
        "6: 0 car 5,5,30,40 1; 1 dog 10,20,30,40 0.5 poodle source:sink_0; "
        "4 cat 330,20,30,40 0.25 source:right");
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
  add_ods (branch, "dog 4,20,60,40 0.9; dog 100,20,60,40 0.9");
  add_ods (main, "dog 318,20,70,40 0.3; dog 410,20,70,40 0.3");
  gst_harness_push (m.branch[1], frame_new (0));
  out = merging_merge (&m, branch, main);
  assert_ods_text (out,
      "7: 0 dog 318,20,70,40 0.3; 1 dog 410,20,70,40 0.3; "
      "2 dog 324,20,60,40 0.9 source:sink_0 source-cut; 3 dog 420,20,60,40 0.9 source:sink_0");
  marked = gst_buffer_copy (out);
  GST_BUFFER_PTS (marked) = FRAME;
  out = filtered ("nmsfilter", out);
  assert_ods (out, "318 420");
  gst_buffer_unref (out);

  gst_harness_push (m.branch[1], marked);
  out = merging_merge (&m, frame_new (FRAME), frame_new (FRAME));
  assert_ods_text (out,
      "9: 0 dog 318,20,70,40 0.3 source:sink_1; 1 dog 410,20,70,40 0.3 source:sink_1; "
      "2 dog 324,20,60,40 0.9 source:sink_1 source-cut; 3 dog 420,20,60,40 0.9 source:sink_1");
}

/* A region and the OD with its id are one box. The buffer that another element holds keeps its
 * own metadata. */
static void
test_region_and_od (void)
{
  GstBuffer *branch = frame_with_ods ("dog 10,20,30,40 0.5");
  g_autoptr (GstBuffer) held = frame_with_ods ("car 5,5,30,40 1"), out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge sink_0::source=\"\"", 1, NULL, FALSE);
  add_boxes (branch, "0 dog 10,20,30,40 0.5");
  out = merging_merge (&m, branch, gst_buffer_ref (held));
  assert_ods_text (out, "2: 0 car 5,5,30,40 1; 1 dog 10,20,30,40 0.5");
  assert_ids (out, "1");
  assert_ods (held, "5");
  merging_expect_stat (&m, 0, "boxes", 1);
}

/* A group of keypoints names its members by their ids, which change. It is left out of every
 * buffer, with what is related to it alone, and one warning says so if it belongs to an OD. A mask
 * moves with the boxes to the place of the branch. */
static void
test_group (void)
{
  GstBus *bus;
  Merging m;

  merging_open (&m, "boxmerge sink_0::xpos=320 sink_0::source=\"\"", 1, NULL, FALSE);
  bus = harness_bus (m.main);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *branch = frame_new (i * FRAME), *main = frame_new (i * FRAME);
    const guint group = add_foreign (branch, 7);
    const guint person = add_ods (branch, "person 10,20,30,40 0.5");
    g_autoptr (GstBuffer) out = NULL;

    add_foreign (main, 5);
    if (i > 0) { /* the group of the first buffer belongs to the frame */
      relate (branch, person, group, GST_ANALYTICS_REL_TYPE_CONTAIN);
      relate (branch, add_class (branch, group, "left knee", 0.5f), add_foreign (branch, 3),
          GST_ANALYTICS_REL_TYPE_RELATE_TO);
      relate (branch, person, add_class (branch, group, "tall", 0.5f),
          GST_ANALYTICS_REL_TYPE_RELATE_TO);
    }
#if GST_CHECK_VERSION(1, 26, 0)
    relate (main, 0, add_mask (main, 10, 20, 30, 40), GST_ANALYTICS_REL_TYPE_CONTAIN);
    relate (branch, person, add_mask (branch, 10, 20, 30, 40), GST_ANALYTICS_REL_TYPE_CONTAIN);
#endif
    out = merging_merge (&m, branch, main);
#if GST_CHECK_VERSION(1, 26, 0)
    assert_masks (out, "10,20,30,40 330,20,30,40");
    assert_ods_text (out, i ? "5: 2 person 330,20,30,40 0.5 tall" : "4: 2 person 330,20,30,40 0.5");
#else
    assert_ods_text (out, i ? "3: 1 person 330,20,30,40 0.5 tall" : "2: 1 person 330,20,30,40 0.5");
#endif
    assert_foreign (out, "5");
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, i == 1);
  }
  merging_close (&m);
  assert_none_alive ();
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
  g_autoptr (GstBuffer) buffer = frame_with_ods (THREE_ODS), copy = NULL, out = NULL;
  GstAnalyticsMtd mtd = { 2, relations_of (buffer) };
  g_auto (Merging) m = { 0 };

  tags = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gst_analytics_mtd_set_semantic_tag (&mtd, "third");
  mtd.id = add_class (buffer, 2, "dog", 1.0f);
  gst_analytics_mtd_set_semantic_tag (&mtd, "class_descriptor");
  copy = filtered ("nmsfilter", gst_buffer_ref (buffer));
  assert_tags_of (copy, 0, "- third class_descriptor");
  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  out = merging_merge (&m, gst_buffer_ref (buffer), NULL);
  assert_tags_of (out, 2, "third class_descriptor");
  g_hash_table_remove_all (tags); /* as GStreamer does when it clears the meta */
  mtd.id = 2;
  gst_analytics_mtd_set_semantic_tag (&mtd, "third");
  buffer = filtered ("nmsfilter", buffer);
  assert_ods (buffer, "2 300");
  assert_tags_of (buffer, 1, "third");
  g_clear_pointer (&tags, g_hash_table_unref);
}

static const TestCase cases[] = { CASE (test_ods), CASE (test_cut), CASE (test_region_and_od),
  CASE (test_related), CASE (test_outside), CASE (test_locked), CASE (test_placeholder),
  CASE (test_group), CASE (test_tags), { NULL } };

GST_TEST_PROGRAM (cases);
