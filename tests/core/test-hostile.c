/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes that are chosen to make an engine slow: every engine equals the reference on them, and auto
 * changes to engine spatial if its estimate was wrong. tests/bench/hostile.py measures the times.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
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
  BoxRandom random = { SEED };
  nms_boxes boxes = { .size = sizeof boxes, .count = count };

  for (size_t i = 0; i < count; i++)
    score[i] = boxrandom_unit (&random);
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

/* Frames at thresholds, without and with a cap. `classes`: class ids are `factor` times 0 to this
 * number. */
static const struct {
  const char *name;
  size_t count;
  int layout;
  float threshold;
  uint64_t cap;
  int32_t classes, factor;
} frames[] = {
  /* cell numbers would be equal if they simply wrapped around */
  { "cells that wrap", 5000, BOXGEN_DIAGONAL, 0.5f, 2000, 0, 0 },
  { "far tiles", 4000, BOXGEN_FAR_TILES, 0.4f, 900, 0, 0 },
  /* narrower than 2^-50 they have no area */
  { "boxes without area", 3000, BOXGEN_CONCENTRIC, 0.999f, 1500, 0, 0 },
  { "boxes without area, threshold 0", 3000, BOXGEN_CONCENTRIC, 0, 0, 0, 0 },
  { "boxes without area, classes", 3000, BOXGEN_CONCENTRIC, 0.999f, 1500, 3, 1 },
  /* a public hash factor maps these to one cell */
  { "classes that collide", 4000, BOXGEN_CROWD, 0.5f, 3000, 1000, 0x10000 * 0x144c },
  { "classes at one place", 8000, BOXGEN_ONE_SPOT, 0.5f, 0, 4000, -1640531527 },
  /* at thresholds of about 0 a query of engine spatial reaches all bars of the other direction */
  { "bars, threshold 0", 4000, BOXGEN_BARS, 0, 1000, 0, 0 },
  { "bars, threshold 1e-4", 4000, BOXGEN_BARS, 1e-4f, 1000, 0, 0 },
  { "bars of three classes", 4000, BOXGEN_BARS, 1e-5f, 0, 2, 1 },
  { "a cap that is not filled", 2500, BOXGEN_EQUAL, 0.5f, 10, 0, 0 }, { NULL }
};

static void
test_frame (gconstpointer data)
{
  const typeof (*frames) *f = data;
  BoxRandom random = { SEED };
  g_auto (BoxCall) call = { 0 };
  nms_boxes boxes = start_boxes (f->count);

  boxcall_random (&call, &random, f->layout, f->count);
  for (size_t i = 0; i < f->count; i++) {
    boxcall_corners (&call, i, rows + 4 * i);
    class_id[i] = (int32_t) ((uint32_t) i % (uint32_t) (f->classes + 1) * (uint32_t) f->factor);
  }
  boxes.class_id.data = f->classes ? class_id : NULL;
  const nms_options options = options_of (f->threshold, 0),
                    capped = options_of (f->threshold, f->cap);
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
    g_assert_cmpfloat (iou, >, 0.95f);
    for (int side = -1; side < 2; side++) {
      nms_options options = options_of (side ? nextafterf (iou, (float) side) : iou, 0);
      options.inclusive = (uint8_t) (k % 2);
      check (&boxes, &options);
    }
  }
}

static const TestCase cases[] = { CASE (test_misjudged_frame),
  TEST_ROWS ("/hostile/%s", test_frame, frames), CASE (test_nested_boxes), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
