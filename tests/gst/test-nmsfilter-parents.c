/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes that are parts of other boxes (parent_id). A part and its parent do
 * not suppress each other; a part is removed with its parent, and then has no effect on
 * other boxes. If only the label drops the parent, the part stays. test-nmsfilter-reference
 * compares random frames with the definition.
 */
#include "gstrunner.h"

#define CHAIN "1 a 0,0,100,100 0.8; 2 a 0,0,100,90 0.9 in 1; 3 a 0,0,100,80 0.7 in 2"

/* 2 is suppressed, 3 below the threshold, 4 invalid, 5 over the cap; each has a part. */
#define ALL_FATES \
  "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.8; 3 car 200,0,100,100 0.1; " \
  "4 car 300,0,100,100 nan; 5 car 400,0,100,100 0.7; 6 car 400,200,100,100 0.75; " \
  "12 x 0,200,10,10 0.9 in 2; 13 y 0,200,10,10 0.9 in 3; 14 z 0,200,10,10 0.9 in 4; " \
  "15 w 0,200,10,10 0.9 in 5"

/* 3 is removed with 2, so 4 is kept and suppresses 5. */
#define NO_TRACE \
  "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.5; 3 wheel 300,80,20,20 0.8 in 2; " \
  "4 wheel 301,80,20,20 0.7; 5 wheel 302,80,20,20 0.6"

#define ITS_PLACE \
  "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.5; 3 wheel 300,80,20,20 0.8 in 2; " \
  "4 wheel 400,80,20,20 0.2"

static void
test_rows (void)
{
  static const FrameRow rows[] = {
    /* 2 is better than 1, but a part of it; 3 is a part of 2, and 1 is not its parent */
    { "no competition", "nmsfilter", CHAIN, "1 2" },
    { "no competition, all kept", "nmsfilter iou-threshold=0.8", CHAIN, "1 2 3" },
    /* 1 suppresses 2 */
    { "follows the whole", "nmsfilter",
        "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.8; 3 wheel 0,80,20,20 0.99 in 2; "
        "4 bolt 0,80,2,2 0.99 in 3; 5 wheel 80,80,20,20 0.3 in 1",
        "1 5", NULL, "suppressed=3" },
    { "fate and tags", "nmsfilter action=tag score-threshold=0.5 max-per-class=2", ALL_FATES,
        "1 2 3 4 5 6 12 13 14 15", "12=suppressed:0 13=below-score 14=invalid 15=over-cap",
        "suppressed=2 below-score=2 invalid=2 over-cap=2 boxes-out=2" },
    /* a part that is removed with its parent does not suppress other boxes ... */
    { "leaves no trace", "nmsfilter", NO_TRACE, "1 4" },
    { "leaves no trace", "nmsfilter engine=sequential", NO_TRACE, "1 4" },
    /* ... and does not count towards a cap */
    { "leaves its place", "nmsfilter max-detections=2", ITS_PLACE, "1 4" },
    { "leaves its place", "nmsfilter max-per-class=1", ITS_PLACE, "1 4" },
    /* 13 is removed with 12, which 11 suppresses (.8). 14, which 13 suppressed, is then kept and
     * suppresses 15 (55/145 with 14, 45/155 with 13). Its part 16, which suppressed 17, is removed
     * with it, but there is no third pass, so 17 stays dropped. */
    { "no third pass", "nmsfilter iou-threshold=0.35",
        "11 a 0,0,100,100 0.95; 12 a 10,0,100,100 0.30; 13 b 0,0,100,100 0.90 in 12; "
        "14 b 10,0,100,100 0.80; 15 b 55,0,100,100 0.70; 16 c 0,0,100,100 0.85 in 15; "
        "17 c 1,0,100,100 0.60",
        "11 14" },
    /* A frame without a consistent result: 1, a part of 4, suppresses 2 (60/140); if 2 were kept it
     * would suppress 3; 3 suppresses 4. The first pass drops 4 and therefore 1; the second keeps 2
     * and 4. 1 stays dropped, no two kept boxes overlap, and every box is counted. */
    { "paradox", "nmsfilter iou-threshold=0.3",
        "1 a 0,0,100,100 0.9 in 4; 2 a 40,0,100,100 0.8; 3 a 80,0,100,100 0.7; "
        "4 a 120,0,100,100 0.6",
        "2 4", NULL, "suppressed=2" },
    /* an id of 0 means no id; 5 is its own parent, 6 has an unknown one, 7 and 8 each other */
    { "no parents", "nmsfilter",
        "0 a 0,0,100,100 0.9; 0 a 1,0,100,100 0.8; 5 b 0,0,100,100 0.7 in 5; "
        "6 c 0,0,100,100 0.6 in 77; 7 d 0,0,100,100 0.9 in 8; 8 d 1,0,100,100 0.8 in 7",
        "0 5 6 7" },
    /* three boxes that are parts of each other, and a part of one of them */
    { "ring", "nmsfilter score-threshold=0.5",
        "4 e 300,0,100,100 0.9 in 3; 1 a 0,0,100,100 0.9 in 2; 2 b 0,0,100,100 0.9 in 3; "
        "3 c 0,0,100,100 0.1 in 1",
        "1 2" },
    /* 3 is part of 2, which 1 suppresses; 4 is kept although its confidence is low */
    { "not selected", "nmsfilter classes=car score-threshold=0.5",
        "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.8; 3 wheel 0,80,20,20 0.9 in 2; "
        "4 bus 0,0,100,100 0.1; 5 car 300,0,100,100 0.9 in 4",
        "1 4 5" },
    /* 1 and 2 are not neighbors of each other: each has one neighbor, 3 has two */
    { "unscored parts", "nmsfilter",
        "1 car 0,0,100,100; 2 car 10,0,100,100 in 1; 3 car 20,0,100,100", "3" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

/* A vehicle with people inside, as DL Streamer's inference-region=roi-list nests them, an
 * encoder hint, and a car with a plate. */
#define NESTED \
  "3 person 10,10,30,60 0.9 in 1; 9 '' 0,0,10,10; 1 vehicle 0,0,300,200 0.8; " \
  "2 person 100,10,30,60 0.7 in 1; 4 face 15,10,10,10 0.9 in 3; 5 car 400,0,100,50 0.9; " \
  "6 plate 420,30,20,8 0.6 in 5; 7 car 0,300,2,2 0.6 in 5"

/* Fails unless these regions are left, each written as its id, or as its id and its parent's. */
static void
assert_parents (GstBuffer *buffer, const gchar *expected)
{
  g_autoptr (GString) found = g_string_new (NULL);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;

    g_string_append_printf (found, roi->parent_id ? "%s%d/%d" : "%s%d", found->len ? " " : "",
        roi->id, roi->parent_id);
  }
  g_assert_cmpstr (found->str, ==, expected);
}

/* A selection by label looks at each box alone: parts stay if their labels do. Their parents are
 * gone, so they name none; the ids of other parents stay. */
static void
test_dropped_class (void)
{
  static const gchar *const rows[][2] = {
    { "boxselect keep-classes=person", "3 9 2" },
    { "boxselect keep-classes=person,face", "3 9 2 4/3" },
    { "boxselect drop-classes=vehicle,car", "3 9 2 4/3 6" },
    { "boxselect action=tag keep-classes=person", "3/1 9 1 2/1 4/3 5 6/5 7/5" },
    /* dropped for another reason, a part takes its own parts with it */
    { "boxselect drop-classes=vehicle max-height=50", "9 5 6/5 7/5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint shared = 0; shared < 2; shared++) {
      GstBuffer *buffer = frame_with (NESTED);
      g_autoptr (GstBuffer) out = NULL, owned = shared ? gst_buffer_ref (buffer) : NULL;

      add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 9), "roi/x264enc;");
      out = filtered (rows[i][0], buffer);
      assert_parents (out, rows[i][1]);
      if (shared)
        assert_parents (owned, "3/1 9 1 2/1 4/3 5 6/5 7/5");
    }
}

/* A chain of 20,000 parts, last part first: it needs no recursion and no quadratic time. */
static void
test_long_chain (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  for (gint i = 20000; i >= 1; i--) {
    gchar label[16];

    g_snprintf (label, sizeof label, "l%d", i % 50);
    add_scored (buffer, i, label, (Rect) { 20 * (i % 1000), 20 * (i / 1000), 10, 10 },
        i == 1 ? 0.1 : 0.9)
        ->parent_id = i - 1;
  }
  expect ("nmsfilter score-threshold=0.5", gst_buffer_ref (buffer), "");
  buffer = gst_buffer_make_writable (buffer);
  g_assert_cmpuint (count_on (buffer), ==, 20000);
  buffer = filtered ("nmsfilter", buffer);
  g_assert_cmpuint (count_on (buffer), ==, 20000);
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_dropped_class),
  CASE (test_long_chain), { NULL } };

GST_TEST_PROGRAM (cases);
