/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes that are chosen to make an engine slow: every engine equals the reference on them, and auto
 * changes to engine spatial if its estimate was wrong. bench-hostile measures the times.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>

#define MOST 8000
#define SEED 20240917

static float rows[4 * MOST], score[MOST];
static int32_t class_id[MOST];

static void
put_box (size_t i, double x, double y, double width, double height)
{
  rows[4 * i] = (float) x;
  rows[4 * i + 1] = (float) y;
  rows[4 * i + 2] = (float) (x + width);
  rows[4 * i + 3] = (float) (y + height);
}

static nms_boxes
start_boxes (size_t count)
{
  GRand *random = g_rand_new_with_seed (SEED);
  nms_boxes boxes = { .size = sizeof boxes, .count = count };

  for (size_t i = 0; i < count; i++)
    score[i] = (float) g_rand_double (random);
  g_rand_free (random);
  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = score;
  return boxes;
}

static nms_options
options_of (float threshold, uint64_t cap)
{
  nms_options options;

  nms_options_init (&options, sizeof options);
  options.iou_threshold = threshold;
  options.max_detections = cap;
  return options;
}

static void
check (const nms_boxes *boxes, const nms_options *options)
{
  char *difference = enginecheck_run (context, boxes, options, ENGINECHECK_OUTPUTS);

  if (difference)
    g_error ("%s", difference);
}

/* Wide boxes cross tall boxes with lower scores. Half of all boxes are neighbors of each box, so
 * a sample predicts that few boxes are kept, but all wide boxes are. */
static void
test_misjudged_frame (void)
{
  nms_boxes boxes = start_boxes (MOST);
  nms_options options = options_of (1e-5f, 0);
  nms_result result = { .size = sizeof result };

  for (size_t i = 0; i < MOST; i++) {
    const double at = (double) (i / 2) * 4.0;
    if (i % 2)
      put_box (i, at, 0.0, 1.0, MOST * 2.0);
    else
      put_box (i, 0.0, at, MOST * 2.0, 1.0);
    score[i] = (float) (i % 2 ? 0.1 : 0.5) + score[i] / 4.0f;
  }
  check (&boxes, &options);
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, 0);
  g_assert_cmpuint (result.kept_count, ==, MOST / 2);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SPATIAL);
  g_assert_true (g_str_has_prefix (nms_context_engine_in_use (context), "spatial/"));

  for (size_t i = 0; i < MOST; i++)
    class_id[i] = (int32_t) (i / 2 % 2) * 1000003;
  boxes.class_id.data = class_id;
  options.class_agnostic = 1;
  options.max_per_class = MOST;
  check (&boxes, &options);

  options.engine = NMS_ENGINE_SEQUENTIAL; /* an engine that the caller names has no budget */
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, 0);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SEQUENTIAL);
}

/* Puts bars in both directions: those with an odd number are wide, the others tall. With a share of
 * 1 each wide bar crosses each tall one, with a lower one some of them, with 0 none. */
static void
put_bars (size_t count, double share, GRand *random)
{
  for (size_t i = 0; i < count; i++) {
    const double at = g_rand_double_range (random, 0.0, (double) count), step = floor (at);
    const double length = (double) count * g_rand_double_range (random, share, 1.001);
    const double from = g_rand_double_range (random, 0.0, (double) count * 1.001 - length);
    if (share == 0.0 && i % 2)
      put_box (i, 0.0, step, step + 0.5, 0.9);
    else if (share == 0.0)
      put_box (i, step + 0.6, 0.0, 0.9, step + 0.4);
    else if (i % 2)
      put_box (i, from, at, length, 0.9);
    else
      put_box (i, at, from, 0.9, length);
  }
}

/* At thresholds of about 0 a query of engine spatial reaches all bars of the other direction. */
static void
test_crossing_bars (void)
{
  static const float thresholds[] = { 0.0f, 1e-5f, 1e-4f };
  static const double shares[] = { 0.0, 0.1, 0.5, 1.0 };
  nms_boxes boxes = start_boxes (4000);
  g_autoptr (GRand) random = g_rand_new_with_seed (SEED + 1);

  for (size_t i = 0; i < boxes.count; i++)
    class_id[i] = (int32_t) (i / 2 % 3);
  for (size_t layout = 0; layout < G_N_ELEMENTS (shares); layout++) {
    put_bars (boxes.count, shares[layout], random);
    for (size_t t = 0; t < G_N_ELEMENTS (thresholds); t++) {
      const nms_options options = options_of (thresholds[t], 0);
      const nms_options capped = options_of (thresholds[t], 1000);
      boxes.class_id.data = NULL;
      check (&boxes, &options);
      check (&boxes, &capped);
      boxes.class_id.data = class_id;
      check (&boxes, &options);
    }
  }
}

/* Boxes on a diagonal whose cell numbers would be equal if they simply wrapped around. */
static void
test_cells_that_wrap (void)
{
  nms_boxes boxes = start_boxes (5000);
  const nms_options options = options_of (0.5f, 0), capped = options_of (0.5f, 2000);

  for (size_t i = 0; i < boxes.count; i++)
    put_box (i, -3.0 * (double) i, 6.0 * (double) i, 4.0, 4.0);
  for (size_t i = 0; i < boxes.count; i += boxes.count / 64 + 1)
    put_box (i, 1000.0, -1000.0, 4.0, 4.0);
  check (&boxes, &options);
  check (&boxes, &capped);
}

/* Outliers in many tiles of the grid, at the ends of the coordinates. */
static void
test_far_tiles (void)
{
  nms_boxes boxes = start_boxes (4000);
  const nms_options options = options_of (0.4f, 0), capped = options_of (0.4f, 900);

  for (size_t i = 0; i < boxes.count; i++) {
    const double far = i % 3 ? 0.0 : ldexp (i % 2 ? 1.0 : -1.0, (int) (i % 60));
    put_box (i, far + (double) (i % 50) * 3.0, far * (double) (i % 7) + (double) (i / 50), 9.0,
        5.0);
  }
  check (&boxes, &options);
  check (&boxes, &capped);
}

/* Class ids that a public hash factor maps to one cell. */
static void
test_classes_that_collide (void)
{
  nms_boxes boxes = start_boxes (4000);
  const nms_options options = options_of (0.5f, 0), capped = options_of (0.5f, 3000);
  uint32_t id = 0;

  for (size_t i = 0; i < boxes.count; i++) {
    do
      id++;
    while (((id * UINT64_C (0x9e3779b97f4a7c15) >> 32) & 0xfff) != 0);
    class_id[i] = (int32_t) (i % 4 ? 7 : id);
    put_box (i, (double) (i % 64) * 3.0, (double) (i / 64) * 3.0, 4.0, 4.0);
  }
  boxes.class_id.data = class_id;
  check (&boxes, &options);
  check (&boxes, &capped);
}

/* Concentric boxes down to a width of 2^-95. Those narrower than 2^-50 have no area. */
static void
test_boxes_without_area (void)
{
  nms_boxes boxes = start_boxes (3000);
  const nms_options options = options_of (0.999f, 0), low = options_of (0.0f, 0);
  const nms_options capped = options_of (0.999f, 1500);

  for (size_t i = 0; i < boxes.count; i++) {
    const double w = 1e6 * exp (-(double) i * (80.0 / (double) boxes.count));
    put_box (i, -w / 2.0, -w / 2.0, w, i % 5 ? w : 1.0);
  }
  check (&boxes, &options);
  check (&boxes, &low);
  check (&boxes, &capped);
  for (size_t i = 0; i < boxes.count; i++)
    class_id[i] = (int32_t) (i % 3);
  boxes.class_id.data = class_id;
  check (&boxes, &options);
  check (&boxes, &capped);
}

/* Pairs of a box and a box within it, whose IoU is the quotient of their areas, at thresholds
 * around that quotient. Above a threshold of 0.9 areas are compared first. */
static void
test_nested_boxes (void)
{
  nms_boxes boxes = start_boxes (600);

  for (size_t i = 0; i < boxes.count; i++) {
    const double scale = ldexp (1.0 + (double) (i / 2) / 512.0, (int) (i / 2 % 5));
    put_box (i, (double) (i / 2) * 1e5, 0.0, (i % 2 ? 1000.0 : 1031.0) * scale, 700.0 * scale);
  }
  for (size_t k = 0; k < 40; k++) {
    const float iou = nms_iou (rows + 8 * k, rows + 8 * k + 4);
    const float thresholds[] = { nextafterf (iou, 0.0f), iou, nextafterf (iou, 1.0f) };
    g_assert_cmpfloat (iou, >, 0.95f);
    for (size_t t = 0; t < G_N_ELEMENTS (thresholds); t++) {
      nms_options options = options_of (thresholds[t], 0);
      options.inclusive = (uint8_t) (k % 2);
      check (&boxes, &options);
    }
  }
}

/* Boxes of three objects, so that a total cap of more than three boxes is not filled. */
static void
test_cap_that_is_not_filled (void)
{
  nms_boxes boxes = start_boxes (2500);

  for (size_t i = 0; i < boxes.count; i++)
    put_box (i, (double) (i % 3) * 500.0 + 9.0 * (double) score[i], (double) (i % 10), 104.0,
        105.0);
  for (uint64_t cap = 2; cap <= 300; cap *= 5) {
    const nms_options options = options_of (0.5f, cap);
    check (&boxes, &options);
  }
}

static const TestCase cases[] = { CASE (test_misjudged_frame), CASE (test_crossing_bars),
  CASE (test_cells_that_wrap), CASE (test_far_tiles), CASE (test_classes_that_collide),
  CASE (test_boxes_without_area), CASE (test_nested_boxes), CASE (test_cap_that_is_not_filled),
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
