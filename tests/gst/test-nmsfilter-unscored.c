/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes without a confidence: their order, alone and among scored boxes, and
 * the neighbors that they need.
 */
#include "gstrunner.h"

/* Three equal boxes, each 20 pixels to the right of the previous one: adjacent ones overlap by 2/3,
 * the first and the third by 3/7. Two larger boxes lie apart. */
#define ROW \
  "1 a 0,0,100,100; 2 a 20,0,100,100; 3 a 40,0,100,100; 4 a 300,0,110,100; 5 a 300,0,120,100"

/* 2 ranks above 1, which has no score. */
#define MIXED \
  "1 a 0,0,100,100; 2 a 10,0,100,100 -5.0; 3 a 200,0,100,100; 4 b 200,0,100,100; " \
  "5 a 400,0,100,100 0.5; 6 a 400,0,100,100 0.5; 7 a 405,0,100,100 0.9"

static void
test_rows (void)
{
  static const FrameRow rows[] = {
    /* 2 has two neighbors, all others one; 4 is before 5 because it is smaller */
    { "ranks", "nmsfilter missing-score=neighbors", ROW, "2 4" },
    /* equal areas: the leftmost box is first */
    { "ranks", "nmsfilter missing-score=area", ROW, "1 3 5" },
    { "ranks", "nmsfilter missing-score=order", ROW, "1 3 4" },
    { "ranks", "nmsfilter missing-score=drop", ROW, "" },
    { "min neighbors", "nmsfilter min-neighbors=2", ROW, "2" },
    { "min neighbors", "nmsfilter min-neighbors=3", ROW, "" },
    { "min neighbors", "nmsfilter min-neighbors=2 iou-threshold=0.4", ROW, "1" },
    { "caps and thresholds", "nmsfilter class-options=\"o,a=[o,max=1,score-threshold=9]\"", ROW,
        "2" },
    { "mixed", "nmsfilter", MIXED, "2 3 4 7" },
    { "mixed", "nmsfilter score-threshold=0.1", MIXED, "1 3 4 7" },
    { "mixed", "nmsfilter score-threshold=0.1 class-options=\"o,a=[o,score-threshold=-9]\"", MIXED,
        "2 3 4 7" },
    /* 1 has the neighbor 2, unless 2 is below the threshold; scored boxes need no neighbors */
    { "mixed", "nmsfilter min-neighbors=1", MIXED, "2 7" },
    { "mixed", "nmsfilter min-neighbors=1 score-threshold=0.1", MIXED, "7" },
    { "mixed suppressors", "nmsfilter action=tag score-threshold=-4", MIXED, "1 2 3 4 5 6 7",
        "1=kept 2=below-score 5=suppressed:6 6=suppressed:6 7=kept" },
    { "mixed suppressors", "nmsfilter action=tag", MIXED, "1 2 3 4 5 6 7", "1=suppressed:1" },
    { "counts", "nmsfilter missing-score=drop", MIXED, "2 7", NULL,
        "no-score=3 unscored=3 boxes-out=2 suppressed=2" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

/* One frame with 100,001 boxes for each setting, the last one with all boxes in one place. */
static void
test_huge_frames (void)
{
  static const gchar *const lines[] = { "nmsfilter", "nmsfilter min-neighbors=1",
    "nmsfilter missing-score=area", "nmsfilter missing-score=drop", "nmsfilter" };

  for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
    g_autoptr (GstHarness) h = harness_new (lines[k]);
    g_autoptr (GRand) random = g_rand_new_with_seed (k);
    GstBuffer *buffer = frame_new (0);
    g_autoptr (GstBuffer) out = NULL;

    for (gint i = 0; i <= 100000; i++) {
      const gint x = k == 4 ? 10 + i % 3 : g_rand_int_range (random, 0, 3000);
      const gint y = k == 4 ? 10 : g_rand_int_range (random, 0, 3000);

      if (k < 2 || k == 4 || i % 2)
        add_region (buffer, i, "a", (Rect) { x, y, 50, 50 });
      else
        add_scored (buffer, i, "a", (Rect) { x, y, 50, 50 }, g_rand_double (random));
    }
    out = through (h, buffer);
    g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, 100001);
    g_assert_cmpuint (stat_of (h->element, "boxes-out"), ==, count_on (out));
    g_assert_cmpuint (stat_of (h->element, "boxes-out") + stat_of (h->element, "suppressed")
            + stat_of (h->element, "no-score") + stat_of (h->element, "too-few-neighbors"),
        ==, 100001);
    if (k == 4)
      assert_ids (out, "0"); /* equal numbers of neighbors: x gives the order */
  }
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_huge_frames), { NULL } };

GST_TEST_PROGRAM (cases);
