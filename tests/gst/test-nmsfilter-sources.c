/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes of several branches: priorities and thresholds by source, and boxes that
 * boxmerge has marked, because the edge of their tile cuts them.
 */
#include "gstrunner.h"

/* Two objects, both found by the main stream and by the branches left and right. */
#define THREE_SOURCES \
  "1 a 100,0,100,100 0.6; 2 a 400,0,100,100 0.8; 3 a 110,0,100,100 0.9 from left; " \
  "4 a 410,0,100,100 0.7 from left; 5 a 120,0,100,100 0.3 from right; " \
  "6 a 300,200,100,100 0.4 from right"

/* The same with marks. */
#define WITH_CUT \
  "1 a 100,0,100,100 0.6; 2 a 400,0,100,100 0.8; 3 a 110,0,100,100 0.9 from left cut; " \
  "4 a 410,0,100,100 0.7 from left; 5 a 120,0,100,100 0.3 from right; " \
  "6 a 300,200,100,100 0.4 from right cut"

/* Two tiles of a frame share the columns 300 to 340. The left one reports the left part of a person
 * up to its border, with a higher confidence than the whole person that the right one reports. */
#define TWO_TILES \
  "1 person 302,100,36,100 0.95 cut; 2 person 302,100,60,100 0.7; 3 person 0,300,50,100 0.9; " \
  "4 person 10,300,50,100 0.8; 5 person 300,400,40,70 0.2 cut"

#define TIE "1 a 100,0,100,100 0.5; 2 a 110,0,100,100 0.5 from left"
#define NO_SCORE "1 a 100,0,100,100 0.5 from left; 2 a 110,0,100,100"

static void
test_frames (void)
{
  static const FrameRow rows[] = {
    /* a higher priority wins whatever the scores are; unlisted names belong to the first one */
    { "priorities", "nmsfilter", THREE_SOURCES, "2 3 6" },
    { "priorities", "nmsfilter sources=main,left,right", THREE_SOURCES, "2 3 6" },
    { "priorities", "nmsfilter sources=main:priority=1,left,right", THREE_SOURCES, "1 2 6" },
    { "priorities", "nmsfilter sources=main,left:priority=-1", THREE_SOURCES, "1 2 6" },
    { "priorities", "nmsfilter sources=main,left:priority=1,right:priority=2", THREE_SOURCES,
        "4 5 6" },
    { "priorities", "nmsfilter sources=\" main = 2 : priority = 1 , left , right\"", THREE_SOURCES,
        "1 2 6" },
    /* the best ranks are those of priority 1; scores of all boxes still count for thresholds */
    { "priorities", "nmsfilter sources=main,right:priority=1 max-detections=2", THREE_SOURCES,
        "5 6" },
    { "priorities", "nmsfilter sources=main,right:priority=1 score-threshold=0.35", THREE_SOURCES,
        "2 3 6" },
    { "priorities", "nmsfilter sources=main,left:priority=1 method=greedy-merge", THREE_SOURCES,
        "3 4 6" },
    /* of equal scores the main stream wins, because boxmerge puts its boxes first */
    { "ties", "nmsfilter sources=main,left", TIE, "1" },
    /* a detector without confidences wins by its priority too */
    { "unscored", "nmsfilter sources=main:priority=1,left", NO_SCORE, "2" },
    /* thresholds of sources add to the other ones, and apply with every method */
    { "thresholds", "nmsfilter sources=main:score-threshold=0.7,left,right:score-threshold=0.4 ",
        THREE_SOURCES, "2 3 6" },
    { "thresholds", "nmsfilter sources=main:score-threshold=1,left,right score-threshold=0.8",
        THREE_SOURCES, "3" },
    { "thresholds", "nmsfilter sources=main,left:score-threshold=1:priority=1", THREE_SOURCES,
        "1 2 6" },
    { "thresholds", "nmsfilter sources=main,left:score-threshold=0.95 method=soft-linear",
        THREE_SOURCES, "1 2 5 6" },
    { "thresholds", "nmsfilter sources=main,left:score-threshold=0.95 action=tag", THREE_SOURCES,
        "1 2 3 4 5 6", "1=kept 3=below-score" },
    /* cut boxes lose to whole ones, whatever their scores and priorities are, and then to each
     * other by these */
    { "cut", "nmsfilter", WITH_CUT, "1 2 6", NULL, "lower-ranked=2" },
    { "cut", "nmsfilter sources=main,left:priority=1", WITH_CUT, "1 4 6" },
    { "cut", "nmsfilter method=merge", WITH_CUT, "1 2 6" },
    /* methods that compute with scores do not use the mark */
    { "cut", "nmsfilter method=weighted", WITH_CUT, "2 3 6" },
    /* 5 overlaps no whole box: it is kept, unless its own confidence is too low */
    { "whole boxes first", "nmsfilter", TWO_TILES, "2 3 5" },
    { "whole boxes first", "nmsfilter action=tag score-threshold=0.3", TWO_TILES, "1 2 3 4 5",
        "1=suppressed:1 2=kept 5=below-score" },
    /* boxes without a confidence, whole ones first: 2 and 4 have most neighbors */
    { "cut and unscored", "nmsfilter",
        "1 a 20,0,100,100; 2 a 0,0,100,100 cut; 3 a 40,0,100,100; 4 a 0,0,90,100 0.9 cut", "1",
        NULL, "lower-ranked=2 suppressed=3" },
    /* boxselect drops marked boxes, as Hailo's border-threshold does */
    { "dropped", "boxselect drop-cut=true", TWO_TILES, "2 3 4" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter sources=a,b=0", "Cannot use sources: the weight of b is \"0\"" },
    { "nmsfilter sources=a=2x", "Cannot use sources: the weight of a is \"2x\"" },
    { "nmsfilter sources=a,=2", "Cannot use sources: a weight has no name" },
    { "nmsfilter sources=a,b:priority=x", "the priority of b is \"x\"" },
    { "nmsfilter sources=a,b:priority=0.5", "the priority of b is \"0.5\"" },
    { "nmsfilter sources=a,b:priority=1001", "must be a whole number from -1000 to 1000" },
    { "nmsfilter sources=a,b:score-threshold=", "the score-threshold of b is \"\"" },
    { "nmsfilter sources=a,b:score-threshold=nan", "the score-threshold of b is \"nan\"" },
    { "nmsfilter sources=a,b:rank=1", "b has \"rank=1\"; there are only priority=NUMBER" },
    { "nmsfilter sources=a,:priority=1", "a weight has no name" },
    { "nmsfilter sources=b:priority=1", "all boxes belong to the only name, b" },
    { "nmsfilter sources=a,b:priority=1 method=weighted",
        "method=weighted with priorities in sources" },
  };

  expect_no_starts (refused, G_N_ELEMENTS (refused));
}

static const TestCase cases[] = { CASE (test_frames), CASE (test_refusals), { NULL } };

GST_TEST_PROGRAM (cases);
