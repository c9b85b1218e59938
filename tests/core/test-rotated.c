/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotated boxes: overlaps worked out by hand, and random pairs, which are compared with the
 * reference. The reference computes overlaps by another method. test-properties has random frames.
 */
#include "boxgen.h"
#include "rotatedref.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>

#define PI 3.14159265358979f

typedef struct {
  float box[4], angle;
} RotatedBox;

static nms_boxes
boxes_of (const RotatedBox *list, size_t count)
{
  return (nms_boxes) { .size = sizeof (nms_boxes),
    .count = count,
    .x1 = { &list->box[0], sizeof *list },
    .y1 = { &list->box[1], sizeof *list },
    .x2 = { &list->box[2], sizeof *list },
    .y2 = { &list->box[3], sizeof *list },
    .angle = { &list->angle, sizeof *list } };
}

/* Returns the number of boxes of `list`, whose scores decrease, that are kept by a metric. */
static size_t
kept_by (uint32_t metric, const RotatedBox *list, size_t count, float threshold, int inclusive)
{
  const nms_boxes boxes = boxes_of (list, count);
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_options_init (&options, sizeof options);
  options.metric = metric;
  options.iou_threshold = threshold;
  options.inclusive = (uint8_t) inclusive;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  return result.kept_count;
}

static size_t
kept_of (const RotatedBox *list, size_t count, float threshold, int inclusive)
{
  return kept_by (NMS_METRIC_IOU, list, count, threshold, inclusive);
}

static void
test_known (void)
{
  static const struct {
    const char *what;
    RotatedBox a, b;
    double iou;
  } rows[] = {
    { "the same box at the same angle", { { 0, 0, 40, 20 }, 0.7f }, { { 0, 0, 40, 20 }, 0.7f }, 1 },
    /* an octagon of side 2 r tan (pi/8): area 8 (sqrt 2 - 1) r^2 of 4 r^2 */
    { "a square and itself at 45 degrees", { { 10, 10, 20, 20 }, 0 },
        { { 10, 10, 20, 20 }, PI / 4 }, 0.828427124746190 / (2 - 0.828427124746190) },
    { "a bar across a bar", { { 0, 40, 100, 60 }, 0 }, { { 0, 40, 100, 60 }, PI / 2 },
        400.0 / 3600 },
    { "a bar lies along a diagonal", { { 0, -5, 100, 5 }, PI / 4 }, { { 0, -5, 100, 5 }, -PI / 4 },
        100.0 / 1900 },
    { "one inside of the other", { { 0, 0, 100, 100 }, 0.3f }, { { 45, 45, 55, 55 }, 1.1f }, 0.01 },
    { "upright boxes around them meet, they do not", { { 0, 0, 100, 4 }, PI / 4 },
        { { 30, -30, 130, -26 }, PI / 4 }, 0 },
    { "touching sides", { { 0, 0, 10, 10 }, PI / 2 }, { { 10, 0, 20, 10 }, PI / 2 }, 0 },
    { "a whole turn", { { 3, 5, 33, 15 }, 2 * PI }, { { 3, 5, 33, 15 }, 0 }, 1 },
    { "corners in the other order", { { 40, 20, 0, 0 }, 0.7f }, { { 0, 0, 40, 20 }, 0.7f }, 1 },
    { "no area", { { 0, 0, 40, 0 }, 0.7f }, { { 0, 0, 40, 0 }, 0.7f }, 0 },
    { "a width of 2^-50", { { 0, 0, 0x1p-50f, 4 }, 0.7f }, { { 0, 0, 0x1p-50f, 4 }, 0.7f }, 0 },
    { "a height of 2^-50", { { 0, 0, 4, 0x1p-50f }, 0.7f }, { { 0, 0, 4, 0x1p-50f }, 0.7f }, 0 },
    /* clockwise where y points down: the right side becomes the bottom */
    { "off the bar: counter-clockwise", { { 0, 0, 100, 10 }, PI / 6 },
        { { 43.30127f, -25, 143.30127f, -15 }, PI / 6 }, 0 },
    { "along the bar, clockwise", { { 0, 0, 100, 10 }, PI / 6 },
        { { 43.30127f, 25, 143.30127f, 35 }, PI / 6 }, 0.5 / 1.5 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int flipped = 0; flipped < 2; flipped++) {
      const RotatedBox pair[] = { flipped ? rows[i].b : rows[i].a,
        flipped ? rows[i].a : rows[i].b };
      const float below = (float) (rows[i].iou - 1e-6), above = (float) (rows[i].iou + 1e-6);
      g_test_message ("%s", rows[i].what);
      if (below > 0)
        g_assert_cmpuint (kept_of (pair, 2, below, 0), ==, 1);
      if (above < 1)
        g_assert_cmpuint (kept_of (pair, 2, rows[i].iou > 0 ? above : 0, 0), ==, 2);
    }
}

/* Frames with a rotated box run in engine sorted, those with angles of 0 in the named one. */
static void
test_engine (void)
{
  static const RotatedBox list[] = { { { 0, 0, 10, 10 }, 0 }, { { 0, 0, 10, 10 }, -0.0f },
    { { 0, 0, 10, 10 }, 1e30f } };
  nms_boxes boxes = boxes_of (list, 3);
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_options_init (&options, sizeof options);
  options.engine = NMS_ENGINE_SEQUENTIAL;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SORTED);
  boxes.count = 2;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SEQUENTIAL);
}

/* Checks that the overlap of a pair is rounded to `even`: it is above the float before, reaches
 * `even`, and not the float behind. */
static void
check_rounded (const RotatedBox pair[2], float even)
{
  g_assert_cmpuint (kept_of (pair, 2, nextafterf (even, 0), 0), ==, 1);
  g_assert_cmpuint (kept_of (pair, 2, even, 0), ==, 2);
  g_assert_cmpuint (kept_of (pair, 2, even, 1), ==, 1);
  g_assert_cmpuint (kept_of (pair, 2, nextafterf (even, 1), 1), ==, 2);
}

/* The documented accuracy is 1e-12. So a decision can be wrong only if the overlap is
 * closer than that to the midpoint between two thresholds. */
static void
test_precision (void)
{
  BoxRandom random = { 99 };
  int close = 0;

  for (int round = 0; round < 20000; round++) {
    RotatedBox pair[2];
    for (int i = 0; i < 2; i++) {
      float x = 1000 + 30 * boxrandom_unit (&random), y = 500 + 30 * boxrandom_unit (&random);
      pair[i] = (RotatedBox) { { x, y, x + 5 + 60 * boxrandom_unit (&random),
                                   y + 5 + 60 * boxrandom_unit (&random) },
        8 * boxrandom_unit (&random) - 4 };
    }
    long double exact = ref_rotated_iou (pair[0].box, pair[0].angle, pair[1].box, pair[1].angle);
    if (exact < 1e-3L)
      continue;
    check_rounded (pair, (float) exact);
    close++;
  }
  g_assert_cmpint (close, >, 10000);
}

/* Overlaps that are exact in binary64 and lie halfway between two binary32 numbers: they are
 * compared as if they had been rounded to the one with the even mantissa. The angle is too small
 * to move a corner. */
static void
test_ties (void)
{
  static const float halves[][4] = { { 0x1p13f, 0x1p10f, 5415.5f, 774.5f }, /* 16777219 / 2^25 */
    { 0x1p22f, 2, 2796203.5f, 1.5f } };                                     /* 16777221 / 2^25 */

  for (size_t i = 0; i < G_N_ELEMENTS (halves); i++) {
    const float w = halves[i][0], h = halves[i][1], v = halves[i][2], u = halves[i][3];
    const RotatedBox pair[2] = { { { -w, -h, w, h }, 0 }, { { -v, -u, v, u }, 1e-30f } };
    check_rounded (pair, 0x1.000004p-1f);
  }
}

/* A small box lies inside a large one, which is 2^16 to 2^24 times as long, far from its centre. */
static void
test_small_in_large (void)
{
  BoxRandom random = { 7 };

  for (int round = 0; round < 5000; round++) {
    const float size = (float) (1 << boxrandom_below (&random, 9));
    const float x = 1e8f * boxrandom_unit (&random), y = 1e8f * boxrandom_unit (&random);
    const RotatedBox large = { { -0x1p29f, -0x1p29f, 0x1p29f, 0x1p29f },
      8 * boxrandom_unit (&random) - 4 };
    const RotatedBox small = { { x, y, x + 64 * size, y + 32 * size }, 0.5f };
    const RotatedBox pair[2] = { round % 2 ? small : large, round % 2 ? large : small };

    g_assert_cmpuint (kept_by (NMS_METRIC_IOS, pair, 2, 0.999f, 0), ==, 1);
    g_assert_cmpuint (kept_by (NMS_METRIC_IOS, pair, 2, 1.0f, 0), ==, 2);
  }
}

static const TestCase cases[] = { CASE (test_known), CASE (test_engine), CASE (test_ties),
  CASE (test_precision), CASE (test_small_in_large), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
