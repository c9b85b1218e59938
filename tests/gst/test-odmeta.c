/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter and boxselect on GstAnalytics detections (ODs), alone and beside regions: which are
 * removed, tagged, moved or rescored, and what becomes of the mtds that are related to them.
 */
#include "gstrunner.h"
#include "odboxes.h"

/* A frame with ODs and regions, the launch line of the element that it goes through, and what is
 * left. Each expectation may be NULL. */
typedef struct
{
  const gchar *name, *line, *ods;
  const gchar *left; /* as assert_ods takes it */
  const gchar *text; /* as assert_ods_text takes it */
  const gchar *regions;
  const gchar *ids, *places, *tags, *stats; /* of regions, as gstboxes.h takes them */
  const gchar *first; /* the launch line of an element in front of it, or NULL */
  gboolean locked;    /* the relation meta */
} Row;

/* The last one has negative extents. */
#define FIVE \
  "dog 1,0,50,50 0.5; dog 2,0,50,50 0.9; cat 3,0,50,50 0.8; dog 300,0,50,50 0.7; " \
  "dog 4,300,-50,-50 0.6"
/* an IoU of 0.6, and one apart */
#define PAIR "a 100,100,80,80 0.9 red; a 120,100,80,80 0.6 blue; a 400,100,80,80 0.3"

static const Row rows[] = {
  { "drop", "nmsfilter", THREE_ODS, "2 300", "2: 0 dog 2,0,50,50 0.9; 1 dog 300,0,50,50 0.7" },
  { "all gone", "nmsfilter score-threshold=0.8", "dog 1,0,50,50 0.5 puppy", "", "0:" },
  { "settings", "nmsfilter", FIVE, "2 3 300 4" },
  { "settings", "nmsfilter class-agnostic=true", FIVE, "2 300 4" },
  { "settings", "nmsfilter score-threshold=0.75", FIVE, "2 3" },
  { "settings", "nmsfilter classes=cat", FIVE, "1 2 3 300 4" },
  { "settings", "nmsfilter class-options=\"o,dog=[o,score-threshold=0.75]\"", FIVE, "2 3" },
  { "settings", "boxselect drop-classes=dog", FIVE, "3" },
  { "settings", "boxselect max-aspect-ratio=1 min-area=2500", FIVE, "1 2 3 300 4" },
  { "sources", "nmsfilter sources=main,left",
      "a 100,100,80,80 0.6; a 105,100,80,80 0.9 source:left", "105" },
  { "sources", "nmsfilter sources=main:priority=1,left",
      "a 100,100,80,80 0.6; a 105,100,80,80 0.9 source:left", "100" },
  { "tag", "nmsfilter action=tag", "dog 1,0,50,50 0.5 puppy; dog 2,0,50,50 0.9",
      .text = "5: 0 dog 1,0,50,50 0.5 puppy nms:suppressed; 2 dog 2,0,50,50 0.9 nms:kept" },
  { "tag, not selected", "nmsfilter action=tag classes=cat", "dog 1,0,50,50 0.5",
      .text = "1: 0 dog 1,0,50,50 0.5" },
  { "tag, second filter", "nmsfilter action=tag", THREE_ODS,
      .first = "nmsfilter action=tag score-threshold=0.8",
      .text = "6: 0 dog 1,0,50,50 0.5 nms:suppressed; 1 dog 2,0,50,50 0.9 nms:kept; "
              "2 dog 300,0,50,50 0.7 nms:kept" },
  { "locked", "nmsfilter", THREE_ODS, "1 2 300", .locked = TRUE },
  { "scores", "nmsfilter method=soft-linear", PAIR,
      .text = "5: 0 a 100,100,80,80 0.9 red; 2 a 120,100,80,80 0.24 blue; 4 a 400,100,80,80 0.3" },
  { "scores", "nmsfilter method=soft-linear method-options=o,min-score=0.25", PAIR, "100 400" },
  { "places", "nmsfilter method=weighted", PAIR,
      .text = "3: 0 a 108,100,80,80 0.75 red; 2 a 400,100,80,80 0.3" },
  { "places", "nmsfilter method=greedy-merge action=tag", PAIR,
      .text = "8: 0 a 100,100,100,80 0.9 red nms:kept; 2 a 120,100,80,80 0.6 blue nms:suppressed; "
              "4 a 400,100,80,80 0.3 nms:kept" },
#if GST_CHECK_VERSION(1, 26, 0)
  /* Bars across each other are kept, no matter how much their upright boxes overlap. Of bars along
   * each other (an IoU of 0.73) one is removed, within a class. 204 is upright. */
  { "rotated", "nmsfilter iou-threshold=0.5",
      "ship 200,200,100,10 0.9 @0.785398; ship 201,200,100,10 0.8 @-0.785398; "
      "ship 202,201,100,10 0.7 @0.785398; boat 203,201,100,10 0.6 @0.785398; "
      "ship 204,200,100,10 0.5; ship 205,205,100,10 0.99 @nan",
      .text = "4: 0 ship 200,200,100,10 0.9 @0.785398; 1 ship 201,200,100,10 0.8 @-0.785398; "
              "2 boat 203,201,100,10 0.6 @0.785398; 3 ship 204,200,100,10 0.5" },
  { "rotated", "nmsfilter class-agnostic=true",
      "ship 200,200,100,10 0.9 @0.785398; boat 203,201,100,10 0.6 @0.785398", "200" },
#endif
  /* A region is one detection with the OD of its id. The doubles give overlaps of .502 and .498.
   * One OD and one region alone overlap, too. Regions name ids, so these do not change. */
  { "both", "nmsfilter",
      "far 0,300,9,9 0.5; dog 100,100,100,10 0.25; dog 133,100,100,10 0.99; "
      "dog 133,200,100,10 0.99; dog 101,200,100,10 0.25; cat 500,300,50,50 0.6; "
      "cat 400,300,50,50 0.3",
      .regions = "1 dog 100:100:200:110 0.9; 2 dog 133.15:100:233.15:110 0.8; "
                 "3 dog 133.4:200:233.4:210 0.8; 4 dog 100:200:200:210 0.9; "
                 "77 cat 500,300,50,50 0.5; 78 cat 400,300,50,50 0.4",
      .text = "6: 0 far 0,300,9,9 0.5; 1 dog 100,100,100,10 0.25; 3 dog 133,200,100,10 0.99; "
              "4 dog 101,200,100,10 0.25; 5 cat 500,300,50,50 0.6",
      .ids = "1 3 4 78", .stats = "boxes-in=9 boxes-out=6 unscored=0" },
  /* The first OD has id 0, which in a region means that it has no id. Such a region and OD are one
   * detection if their places and classes are equal. */
  { "first id", "nmsfilter", "dog 100,100,50,50 0.9", .regions = "0 dog 100,100,50,50",
      .left = "100", .ids = "0", .stats = "boxes-in=1 unscored=0" },
  { "first id", "nmsfilter", "dog 100,100,50,50 0.9",
      .regions = "0 cat 100,100,50,50; 0 dog 300,100,50,50", .left = "100", .ids = "0 0",
      .stats = "boxes-in=3" },
  { "score of the OD", "nmsfilter score-threshold=0.5",
      "far 0,300,9,9 0.5; dog 100,100,50,50 0.25; dog 300,100,50,50 0.75",
      .regions = "1 dog 100,100,50,50; 2 dog 300,100,50,50", .left = "0 300", .ids = "2",
      .stats = "boxes-in=3 unscored=0" },
  /* a region without a confidence gets the new one */
  { "score of the OD", "nmsfilter method=soft-linear",
      "far 0,300,9,9 0.5; a 100,100,80,80 0.9; a 120,100,80,80 0.6", .regions = "2 a 120,100,80,80",
      .text = "3: 0 far 0,300,9,9 0.5; 1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.24", .ids = "2" },
  { "both all gone", "nmsfilter score-threshold=0.5",
      "dog 50,100,100,10 0.3; dog 100,100,100,10 0.9", .regions = "1 dog 100:100:200:110 0.4",
      .text = "0:", .ids = "" },
  { "both tagged", "nmsfilter action=tag",
      "far 500,100,10,10 0.5; dog 100,100,100,10 0.3; dog 101,100,100,10 0.3",
      .regions = "1 dog 100:100:200:110 0.8; 2 dog 101:100:201:110 0.9",
      .text = "6: 0 far 500,100,10,10 0.5 nms:kept; 1 dog 100,100,100,10 0.3 nms:suppressed; "
              "2 dog 101,100,100,10 0.3 nms:kept",
      .tags = "1=suppressed:1 2=kept" },
  { "region and OD", "nmsfilter method=average",
      "b 0,300,10,10 0.5; a 100,100,80,80 0.9; a 120,100,80,80 0.6",
      .regions = "1 a 100,100,80,80 0.9; 2 a 120,100,80,80 0.6", .left = "0 108", .ids = "1",
      .places = "108,100,80,80" },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Row *row = &rows[i];
    g_autoptr (GstHarness) h = harness_new (row->line);
    g_autoptr (GstBuffer) buffer = frame_with_ods (row->ods);

    g_test_message ("%s: %s", row->name, row->line);
    if (row->regions)
      add_boxes (buffer, row->regions);
    if (row->locked)
      GST_META_FLAG_SET (gst_buffer_get_analytics_relation_meta (buffer), GST_META_FLAG_LOCKED);
    if (row->first)
      buffer = filtered (row->first, buffer);
    buffer = through (h, buffer);
    if (row->left)
      assert_ods (buffer, row->left);
    if (row->text)
      assert_ods_text (buffer, row->text);
    if (row->ids)
      assert_ids (buffer, row->ids);
    if (row->places)
      g_assert_cmpstr (boxes_on (buffer), ==, row->places);
    if (row->tags)
      assert_tags (buffer, row->tags);
    if (row->stats)
      assert_stats (h->element, row->stats);
  }
}

/* A buffer of which none are removed is passed on unchanged, whoever has it. */
static void
test_none_removed (void)
{
  g_autoptr (GstBuffer) buffer = frame_with_ods ("dog 1,0,50,50 0.9 puppy"), out = NULL;

  out = filtered ("nmsfilter", gst_buffer_ref (buffer));
  g_assert_true (out == buffer);
}

/* The other owner of a buffer keeps all its mtds. */
static void
test_shared (void)
{
  static const gchar *const shared[][2] = { { "nmsfilter",
                                                "6: 0 a 100,100,80,80 0.9 red; "
                                                "4 a 400,100,80,80 0.3" },
    { "nmsfilter method=weighted", "6: 0 a 108,100,80,80 0.75 red; 4 a 400,100,80,80 0.3" } };

  for (guint i = 0; i < G_N_ELEMENTS (shared); i++) {
    GstBuffer *buffer = frame_with_ods (PAIR), *out;
    g_autofree gchar *before = NULL;

    add_foreign (buffer, 5);
    before = g_strdup (ods_text (buffer));
    out = filtered (shared[i][0], gst_buffer_ref (buffer));
    g_assert_true (out != buffer);
    g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
    assert_ods_text (buffer, before);
    assert_ods_text (out, shared[i][1]);
    assert_foreign (out, "5");
    gst_buffer_unref (out);
    gst_buffer_unref (buffer);
  }
  assert_none_alive ();
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

#if GST_CHECK_VERSION(1, 26, 0)
/* All kinds of mtds: kept detections keep theirs with the exact relations, and those of removed
 * detections are removed. All types are known, so ids change. */
static void
test_related (void)
{
  const guint both = GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_IS_PART_OF;
  static const gchar *const ods[] = { "dog 0,0,500,500 0.5 worse", "dog 10,0,500,500 0.6 best",
    "dog 20,0,500,500 0.5 worse" };
  g_autoptr (GstBuffer) buffer = frame_new (0);

  for (guint i = 0; i < G_N_ELEMENTS (ods); i++) {
    const guint od = add_ods (buffer, ods[i]);

    add_track (buffer, od, 1000 + i);
    relate (buffer, od, add_mask (buffer, (gint) i, 0, 8, 8), GST_ANALYTICS_REL_TYPE_CONTAIN);
#if GST_CHECK_VERSION(1, 28, 0)
    {
      gsize dims[1] = { 4 };
      GstAnalyticsTensorMtd tensor;

      gst_analytics_relation_meta_add_tensor_mtd_simple (relations_of (buffer),
          g_quark_from_static_string ("t"), GST_TENSOR_DATA_TYPE_UINT8,
          gst_buffer_new_allocate (NULL, 4, NULL), GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1, dims,
          &tensor);
      relate (buffer, tensor.id, od, GST_ANALYTICS_REL_TYPE_N_TO_N);
    }
#endif
  }
  add_mask (buffer, 9, 0, 8, 8); /* of the frame, without relations */
  buffer = filtered ("nmsfilter", buffer);
  assert_masks (buffer, "1,0,8,8 9,0,8,8");
  g_assert_cmphex (types_between (buffer, 1, 0), ==, both);
  g_assert_cmphex (types_between (buffer, 0, 1), ==, GST_ANALYTICS_REL_TYPE_RELATE_TO);
#if GST_CHECK_VERSION(1, 28, 0)
  assert_ods_text (buffer, "6: 0 dog 10,0,500,500 0.6 best #1001");
  g_assert_cmphex (types_between (buffer, 4, 0), ==, GST_ANALYTICS_REL_TYPE_N_TO_N);
#else
  assert_ods_text (buffer, "5: 0 dog 10,0,500,500 0.6 best #1001");
#endif
}
#endif

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
  g_autoptr (GstBuffer) buffer = frame_with_ods (THREE_ODS), out = NULL;
  GstAnalyticsMtd mtd;

  for (guint i = 0; i < 2; i++) {
    gst_analytics_relation_meta_add_mtd (relations_of (buffer), &uncopied_impl, 8, &mtd);
    relate (buffer, i, mtd.id, GST_ANALYTICS_REL_TYPE_CONTAIN);
  }
  add_class (buffer, 1, "best", 0.5f);
  out = filtered ("nmsfilter", gst_buffer_copy (buffer));
  assert_ods (out, "2 300");
  g_assert_nonnull (strstr (ods_text (out), " best; "));
}

/* A part and its parent do not suppress each other, and are removed together. */
static void
test_parents (void)
{
  const GstAnalyticsRelTypes part_of = GST_ANALYTICS_REL_TYPE_IS_PART_OF;
  GstBuffer *buffer = frame_with_ods ("car 1,0,100,100 0.9; car 2,0,100,100 0.8; "
                                      "car 3,0,100,100 0.7; wheel 300,0,20,20 0.99");
  GstBuffer *out;

  relate (buffer, 1, 0, part_of);
  relate (buffer, 2, 3, GST_ANALYTICS_REL_TYPE_CONTAIN); /* 1 suppresses 3 */
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "1 2");
  g_assert_cmphex (types_between (out, 1, 0), ==, part_of);
  gst_buffer_unref (out);

  /* parts of each other are not treated as parts */
  buffer = frame_with_ods (THREE_ODS);
  relate (buffer, 0, 1, part_of);
  relate (buffer, 1, 0, part_of);
  out = filtered ("nmsfilter", buffer);
  assert_ods (out, "2 300");
  gst_buffer_unref (out);
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_none_removed), CASE (test_shared),
  CASE (test_allocation),
#if GST_CHECK_VERSION(1, 26, 0)
  CASE (test_related),
#endif
  CASE (test_uncopied), CASE (test_parents), { NULL } };

GST_TEST_PROGRAM (cases);
