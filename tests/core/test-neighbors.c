/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_count_neighbors on cases worked out by hand, and on frames of one jittered object, which
 * it compares with the reference. test-properties does so for random frames.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "handrows.h"
#include "rounds.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

/* `expect` lists the number of neighbors of each box. */
static const HandRow rows[] = { { "no box", "", "", "" },
  { "one box is not its own neighbor", "iou=0 inclusive", "whole 0", "0" },
  { "equal boxes", "", "whole 0; whole 0; whole 0; far 0", "2 2 2 0" },
  { "equal boxes under threshold 1", "iou=1", "whole 0; whole 0", "0 0" },
  { "equal boxes reach threshold 1", "iou=1 inclusive", "whole 0; whole 0", "1 1" },
  { "equal boxes without area", "iou=0 inclusive", "1,1,1,3 0; 1,1,1,3 0", "0 0" },
  /* whole-half 1/2, whole-quarter 1/4, half-quarter 1/2 */
  { "overlap equal to the threshold", "", "whole 0; half 0; quarter 0", "0 0 0" },
  { "overlap equal to the threshold, inclusive", "inclusive", "whole 0; half 0; quarter 0",
      "1 2 1" },
  { "touching", "iou=0 inclusive", "whole 0; next 0", "0 0" },
  { "scores do not matter", "iou=0.4", "whole 0.1; half 0.9; quarter -3", "1 2 1" },
  { "filtered ones have none and are none", "iou=0.25 least=0.5",
      "whole 0.4; whole 0.5; whole 0.9 exclude=1; half 0.9", "0 1 0 1" },
  { "invalid ones have none and are none", "iou=0.25", "0,0,4,nan 0; whole 0; whole nan; half 0",
      "0 1 0 1" },
  { "caps do not matter", "max=1 max-per-class=1", "whole 0; whole 0; whole 0", "2 2 2" },
  { "classes do not meet", "", "whole 0 class=1; whole 0 class=2; whole 0 class=1", "1 0 1" },
  { "classes meet when agnostic", "agnostic", "whole 0 class=1; whole 0 class=2; whole 0 class=1",
      "2 2 2" },
  { "a class's own threshold", "class=7,iou=0.25",
      "whole 0 class=7; half 0 class=7; whole 0 class=8; half 0 class=8", "1 1 0 0" },
  /* 1/2 is above the threshold of class 2 only. The boxes are neighbors if the overlap is above one
   * of the two thresholds, no matter which box has it. */
  { "when agnostic, either threshold counts", "agnostic class=1,iou=0.75 class=2,iou=0.25",
      "whole 0.9 class=1; half 0.8 class=2", "1 1" },
  { "and the other way round", "agnostic class=1,iou=0.75 class=2,iou=0.25",
      "whole 0.9 class=2; half 0.8 class=1", "1 1" },
  /* equal boxes of two classes with different thresholds are not counted as one */
  { "equal boxes of different thresholds", "iou=0.25 agnostic class=1,iou=1",
      "whole 0 class=1; whole 0 class=1; half 0 class=2", "1 1 2" },
  { "a part and its parent do not count each other", "iou=0.25", "whole 0; half 0 parent=0; half 0",
      "1 1 2" },
  { "parts of each other", "iou=0", "whole 0 parent=1; whole 0 parent=0", "0 0" },
  { "its own parent", "iou=0", "whole 0 parent=0; whole 0", "1 1" },
  { "two parts of one parent", "iou=0.25", "whole 0; half 0 parent=0; half 0 parent=0", "0 1 1" },
  { NULL } };

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  uint32_t is[HANDROW_BOXES], must[HANDROW_BOXES];
  g_autoptr (GString) text = g_string_new (NULL);
  HandCall call;

  handrow_call (row, &call);
  memset (is, 0x3c, sizeof is);
  g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options, is), ==, NMS_OK);
  ref_count_neighbors (&call.boxes, &call.options, must);
  for (size_t i = 0; i < call.boxes.count; i++)
    g_string_append_printf (text, "%s%u", i ? " " : "", is[i]);
  g_assert_cmpstr (text->str, ==, row->expect);
  g_assert_cmpmem (is, call.boxes.count * sizeof *is, must, call.boxes.count * sizeof *must);
  g_assert_cmphex (is[call.boxes.count], ==, 0x3c3c3c3c);
}

/* A large frame of n equal boxes, each with n - 1 neighbors. */
static void
test_equal_boxes (void)
{
  enum { N = 3000 };
  static const float one[4] = { 0, 0, 4, 4 };
  float (*corners)[4] = g_malloc_n (N, sizeof *corners);
  g_autofree uint32_t *is = g_new (uint32_t, N);
  nms_boxes boxes = { .size = sizeof boxes, .count = N };

  for (size_t i = 0; i < N; i++)
    memcpy (corners[i], one, sizeof one);
  nms_boxes_set_rows (&boxes, corners[0]);
  g_assert_cmpint (nms_count_neighbors (context, &boxes, NULL, is), ==, NMS_OK);
  for (size_t i = 0; i < N; i++)
    g_assert_cmpuint (is[i], ==, N - 1);
  g_free (corners);
}

/* The caller's columns for boxes of one object whose position and size vary. */
typedef struct Crowd {
  nms_boxes boxes;
  float corners[500][4], angles[500];
  int32_t ids[500];
} Crowd;

/* Makes `count` boxes of which about `equal_percent` are copies of earlier ones. */
static void
crowd_fill (Crowd *crowd, BoxRandom *random, size_t count, uint32_t equal_percent)
{
  crowd->boxes = (nms_boxes) { .size = sizeof crowd->boxes, .count = count };
  nms_boxes_set_rows (&crowd->boxes, crowd->corners[0]);
  for (size_t i = 0; i < count; i++) {
    float *c = crowd->corners[i];
    crowd->ids[i] = (int32_t) boxrandom_below (random, 3);
    crowd->angles[i] = boxrandom_below (random, 2) ? 0.2f * boxrandom_unit (random) : 0.0f;
    if (i && boxrandom_below (random, 100) < equal_percent) {
      memcpy (c, crowd->corners[boxrandom_below (random, (uint32_t) i)], sizeof *crowd->corners);
      continue;
    }
    for (int k = 0; k < 4; k++)
      c[k] = 100 + 5 * boxrandom_unit (random) + (k < 2 ? 0 : c[k - 2]);
    if (boxrandom_below (random, 100) == 0)
      c[0] -= 60; /* a box that reaches over several blocks, less similar to the others */
  }
}

static void
crowd_compare (const Crowd *crowd, const nms_options *options)
{
  const size_t bytes = crowd->boxes.count * sizeof (uint32_t);
  uint32_t is[500], must[500];

  ref_count_neighbors (&crowd->boxes, options, must);
  for (const char *const *isa = enginecheck_isas; *isa; isa++) {
    if (nms_context_set_isa (context, *isa) != NMS_OK)
      continue;
    memset (is, 0x3c, sizeof is);
    g_assert_cmpint (nms_count_neighbors (context, &crowd->boxes, options, is), ==, NMS_OK);
    g_assert_cmpmem (is, bytes, must, bytes);
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
}

/* The thresholds lie below, among and above the overlaps of the boxes. */
static void
test_crowd (void)
{
  static const float thresholds[] = { 0, 1e-6f, 0.5f, 0.8f, 0.9f, 0.97f, 1 };
  static const size_t counts[] = { 64, 65, 200, 500 };
  static const nms_class_options by_class[] = { { .size = sizeof by_class[0],
                                                    .class_id = 1,
                                                    .set = NMS_CLASS_IOU_THRESHOLD,
                                                    .iou_threshold = 0.85f },
    { .size = sizeof by_class[0],
        .class_id = 2,
        .set = NMS_CLASS_IOU_THRESHOLD,
        .iou_threshold = 0.4f } };
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", G_N_ELEMENTS (counts));
  BoxRandom random = { 15 };
  Crowd *crowd = g_new0 (Crowd, 1);
  nms_options options;

  for (size_t n = 0; n < MIN (rounds, G_N_ELEMENTS (counts)); n++)
    for (uint32_t equal_percent = 0; equal_percent <= 90; equal_percent += 45) {
      crowd_fill (crowd, &random, counts[n], equal_percent);
      for (size_t t = 0; t < G_N_ELEMENTS (thresholds); t++)
        for (int way = 0; way < 6; way++) {
          nms_options_init (&options, sizeof options);
          options.iou_threshold = thresholds[t];
          options.inclusive = way & 1;
          options.class_agnostic = way >= 4;
          crowd->boxes.class_id.data = way >= 2 ? crowd->ids : NULL;
          if (way >= 2 && t % 2 == 0) {
            options.class_options = by_class;
            options.class_option_count = G_N_ELEMENTS (by_class);
          }
          crowd_compare (crowd, &options);
        }
    }
  g_free (crowd);
}

/* Objects far from each other. An outlier makes their Z-order keys equal, so that different boxes
 * are told from equal ones only by comparing the coordinates. */
static void
test_objects (void)
{
  static const float thresholds[] = { 0, 0.5f, 0.9f };
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 24);
  BoxRandom random = { 17 };
  Crowd *crowd = g_new0 (Crowd, 1);
  nms_options options;

  nms_options_init (&options, sizeof options);
  for (int round = 0; round < (int) MIN (rounds, 24); round++) {
    crowd_fill (crowd, &random, round % 3 ? 500 : 20, round % 2 ? 45 : 0);
    for (size_t i = 0; i < crowd->boxes.count; i++) {
      const float object = 300.0f * (float) boxrandom_below (&random, 8);
      crowd->corners[i][0] += object;
      crowd->corners[i][2] += object;
    }
    if (round % 4 > 1)
      memcpy (crowd->corners[7], (float[4]) { 0, -1e18f, 1e18f, 1e18f }, sizeof *crowd->corners);
    crowd->boxes.class_id.data = round % 8 > 3 ? crowd->ids : NULL;
    for (size_t t = 0; t < G_N_ELEMENTS (thresholds); t++) {
      options.iou_threshold = thresholds[t];
      crowd_compare (crowd, &options);
    }
  }
  g_free (crowd);
}

/* The screen of rotated boxes sees their upright bounding boxes, which prove no overlap. */
static void
test_rotated_crowd (void)
{
  BoxRandom random = { 16 };
  Crowd *crowd = g_new0 (Crowd, 1);
  nms_options options;

  nms_options_init (&options, sizeof options);
  crowd_fill (crowd, &random, 150, 20);
  crowd->boxes.angle.data = crowd->angles;
  for (int t = 5; t < 10; t += 2) {
    options.iou_threshold = (float) t / 10;
    crowd_compare (crowd, &options);
  }
  g_free (crowd);
}

static const TestCase cases[] = { TEST_ROWS ("/neighbors/%s", test_row, rows),
  CASE (test_equal_boxes), CASE (test_crowd), CASE (test_objects), CASE (test_rotated_crowd),
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
