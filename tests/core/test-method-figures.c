/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All methods and metrics: figures of other libraries' tests, and figures worked out by hand that
 * are not exact. test-semantics has those that are, and test-properties has random calls.
 */
#include "enginecheck.h"
#include "handrows.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define MMCV "6,3,8,7 0.6; 3,6,9,11 0.9; 3,7,10,12 0.7; 1,4,13,7 0.2"
#define TENSORFLOW \
  "0,0,1,1 0.9; 0,0.1,1,1.1 0.75; 0,-0.1,1,0.9 0.6; 0,10,1,11 0.95; 0,10.1,1,11.1 0.5; " \
  "0,100,1,101 0.3"
#define ENSEMBLE \
  "0.1,0.1,0.5,0.5 0.9 class=1; 0.11,0.11,0.51,0.51 0.8 class=1; 0.6,0.6,0.8,0.8 0.7 class=1; " \
  "0.59,0.59,0.79,0.79 0.85 class=1 source=1; 0.61,0.61,0.81,0.81 0.75 class=1 source=1; " \
  "0.8,0.8,0.9,0.9 0.65 source=1"

/* `left`: the first corner of the first kept box. TensorFlow's exponent is -v * v / (2 * sigma), so
 * its sigma 0.5 is 1 here; its figures have three digits. */
static const struct {
  HandRow row;
  float tolerance, left, scores[6];
} figures[] = { { { "mmcv-linear", "soft-linear iou=0.3 min-score=0.01", MMCV, "1 0 2 3" }, 1e-6f,
                    3, { 0.9f, 0.6f, 0.29024392f, 0.2f } },
  { { "mmcv-gaussian", "soft-gaussian sigma=0.5 min-score=0.01", MMCV, "1 0 2 3" }, 1e-6f, 3,
      { 0.9f, 0.59630775f, 0.3527551f, 0.18650459f } },
  { { "tensorflow-gaussian", "soft-gaussian sigma=1", TENSORFLOW, "3 0 1 5 4 2" }, 1e-3f, 0,
      { 0.95f, 0.9f, 0.384f, 0.3f, 0.256f, 0.197f } },
  /* (0.6 * 1.4 + 0.59 * 0.85 + 0.61 * 0.75) / 3, 3 / 4, (1.8 + 1.6) / 4 * 2 / 3, 0.65 / 3 */
  { { "ensemble-boxes", "weighted fused=2 sources=2 weights=2,1", ENSEMBLE, "2 0 5" }, 1e-6f,
      0.59966667f, { 0.75f, 0.56666667f, 0.21666667f } },
/* worked out by hand: a square of side 2 and the same rotated by pi / 4 have the intersection
   * 8 * (sqrt (2) - 1), so their IoU is 0.7071 and their IoS 0.8284. exp (-0.5 / 0.5) =
   * exp (-2 * 0.5) = 0.36787944. */
#define SQUARES "0,0,2,2 1; 0,0,2,2 1 angle=0.78539816"
  { { "squares, linear", "soft-linear", SQUARES, "0 1" }, 2e-7f, 0, { 1, 0.29289322f } },
  { { "squares, linear IoS", "soft-linear ios", SQUARES, "0 1" }, 2e-7f, 0, { 1, 0.17157288f } },
  { { "squares, gaussian", "soft-gaussian", SQUARES, "0 1" }, 2e-7f, 0, { 1, 0.36787944f } },
  { { "squares, matrix", "matrix-linear", SQUARES, "0 1" }, 2e-7f, 0, { 1, 0.29289322f } },
  { { "squares, matrix gaussian", "matrix-gaussian", SQUARES, "0 1" }, 2e-7f, 0,
      { 1, 0.36787944f } },
#define PROBIOU "soft-linear probiou iou=0"
#define ACROSS "-4,-1,4,1 1 angle=0.5; -4,-1,4,1 1 angle=2.0707963"
  { { "moved by a third: exp (-6 * 16 / (4 * 144))", PROBIOU, "0,0,12,12 1; 4,0,16,12 1", "0 1" },
      2e-7f, 0, { 1, 0.39181404f } },
  { { "of half the size: sqrt (4 * 4 / 25)", PROBIOU, "-2,-2,2,2 1; -1,-1,1,1 1", "0 1" }, 2e-7f,
      -2, { 1, 0.44721360f } },
  { { "across: sqrt (4 * 16 / 289)", PROBIOU, ACROSS, "0 1" }, 2e-7f, -4, { 1, 0.72760688f } },
  { { "across: above the threshold", "probiou iou=0.2723", ACROSS, "0" }, 1e-6f, -4, { 1 } },
  { { "across: not above", "probiou iou=0.2725", ACROSS, "0 1" }, 1e-6f, -4, { 1, 1 } },
  { { "a rotated square: the same distribution", PROBIOU,
        "-2,-2,2,2 1 angle=0.3; -1,-1,1,1 1 angle=1.1", "0 1" },
      2e-7f, -2, { 1, 0.44721360f } },
  { { "touching boxes of 0.1185", PROBIOU, "0,0,4,4 1; 4,0,8,4 1", "0 1" }, 2e-7f, 0, { 1, 1 } },
  { { "rotated boxes that do not meet", PROBIOU, "0,0,4,4 1 angle=3.1415927; 4.001,0,8.001,4 1",
        "0 1" },
      2e-7f, 0, { 1, 1 } },
  /* the third square overlaps the fused box of the others, but not their head, which is larger */
  { { "rotated: a fused box shrinks", "weighted iou=0.4",
        "-10,-10,10,10 0.5 angle=0.3; -7,-7,7,7 0.5 angle=0.3; -5.5,-5.5,5.5,5.5 0.5 angle=0.3",
        "0" },
      1e-6f, -7.5f, { 0.5f } },
  { { NULL } } };

static void
test_figures (gconstpointer data)
{
  const typeof (*figures) *p = data;
  nms_result result = { .size = sizeof result };
  HandCall call;

  handrow_call (&p->row, &call);
  g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
  g_autofree char *is = handrow_describe (&p->row, &result, call.boxes.count);
  g_assert_cmpstr (is, ==, p->row.expect);
  for (size_t k = 0; k < result.kept_count; k++)
    g_assert_cmpfloat_with_epsilon (result.kept_score[k], p->scores[k], p->tolerance);
  g_assert_cmpfloat_with_epsilon (result.kept_box[0], p->left, 1e-6f);
}

/* The direction of a box is that of the vector (3, 4). Box 1 is box 0 moved along it by 5, box 3 is
 * box 1 with its sides and angle given the other way, and box 2 crosses box 0: their upright
 * bounding boxes are the same. */
static void
test_rotated (void)
{
  static const HandRow row = { "rotated", "",
    "75,95,125,105 0.9 angle=0.9272952; 78,99,128,109 0.6 angle=0.9272952; "
    "75,95,125,105 0.5 angle=-0.9272952; 98,79,108,129 0.3 angle=2.4980915",
    "K S0 K S0 | 0 2" };
  static const float merged[] = { 74, 97, 129, 107 }, mean[] = { 76.5f, 97, 126.5f, 107 };
  static const float alone[] = { 75, 95, 125, 105 };
  nms_result result = { .size = sizeof result };
  HandCall call;

  handrow_call (&row, &call);
  for (uint32_t m = NMS_METHOD_WEIGHTED; m <= NMS_METHOD_AVERAGE; m++) {
    const float *must = m == NMS_METHOD_MERGE || m == NMS_METHOD_GREEDY_MERGE ? merged : mean;
    call.options.method = m;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    g_autofree char *is = handrow_describe (&row, &result, call.boxes.count);
    g_assert_cmpstr (is, ==, row.expect);
    for (int c = 0; c < 4; c++)
      g_assert_cmpfloat_with_epsilon (result.kept_box[c], must[c], 1e-4f);
    g_assert_cmpmem (&result.kept_box[4], sizeof alone, alone, sizeof alone);
  }
}

/* A fused box moves far from its head: each box overlaps the mean of those before it at its edge.
 * Small boxes inside the head fill the blocks around it. */
static void
test_drift (void)
{
  enum { CHAIN = 60, COUNT = 1060 };
  static float rows[COUNT][4], scores[COUNT];
  nms_boxes boxes = { .size = sizeof boxes, .count = COUNT, .score = { scores, 0 } };
  nms_options options;
  float mean = 0, sum = 0;

  for (int i = 0; i < COUNT; i++) {
    const int fills = i >= CHAIN;
    const float x = fills ? (float) (i % 32) / 32 : i ? mean + 0.75f : 0;
    const float y = fills ? (float) (i / 32) / 40 : 0, size = fills ? 0.01f : 1;
    memcpy (rows[i], (float[4]) { x, y, x + size, y + size }, sizeof rows[i]);
    scores[i] = 1 - (float) i / 2048;
    sum += x;
    mean = sum / (float) (i + 1);
  }
  nms_boxes_set_rows (&boxes, &rows[0][0]);
  nms_options_init (&options, sizeof options);
  options.iou_threshold = 0.05f;
  options.method = NMS_METHOD_WEIGHTED;
  g_assert_cmpstr (enginecheck_run (context, &boxes, &options, ENGINECHECK_ISAS), ==, NULL);
}

/* Lowers a score by a box of IoU 1 and the sigma that gives this exponent; exp of it is within
 * 2^-23 of libm's, and 0 below the least normal number. */
static void
test_exponential (void)
{
  static const float rows[][4] = { { 0, 0, 1, 1 }, { 0, 0, 1, 1 } }, scores[] = { 2, 1 };
  nms_boxes boxes = { .size = sizeof boxes, .count = 2, .score = { scores, 0 } };
  nms_options options;

  nms_boxes_set_rows (&boxes, rows[0]);
  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_SOFT_GAUSSIAN;
  options.outputs = NMS_OUTPUT_SCORE;
  options.min_score = 0;
  for (float exponent = 1e-9f; exponent < 200; exponent *= 1.0007f) {
    nms_result result = { .size = sizeof result };
    options.sigma = 1 / exponent;
    g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
    const double expected = exp (-(double) (1 / options.sigma)), is = result.kept_score[1];
    if (expected < 0x1p-126)
      g_assert_cmpfloat (is, ==, 0);
    else
      g_assert_cmpfloat (fabs (is / expected - 1), <, 0x1p-23);
  }
}

#define ONE(...) +1

static void
test_names (void)
{
#define CHECK_METHOD(constant, number, family, by_score, changes, name, text) \
  g_assert_cmpstr (nms_method_name (NMS_METHOD_##constant), ==, name);
  NMS_METHOD_LIST (CHECK_METHOD)
#define CHECK_METRIC(constant, number, name, text) \
  g_assert_cmpstr (nms_metric_name (NMS_METRIC_##constant), ==, name);
  NMS_METRIC_LIST (CHECK_METRIC)
  g_assert_cmpstr (nms_fused_score_name (NMS_FUSED_AVG), ==, "avg");
  for (int wrong = -1; wrong < 200; wrong += 101) {
    g_assert_null (nms_method_name (wrong));
    g_assert_null (nms_metric_name (wrong));
    g_assert_null (nms_fused_score_name (wrong));
  }
  g_assert_null (nms_method_name (NMS_METHOD_LIST (ONE)));
  g_assert_null (nms_metric_name (NMS_METRIC_LIST (ONE)));
  g_assert_null (nms_fused_score_name (4));
  g_assert_null (nms_method_reason (NMS_METHOD_HARD, NMS_METRIC_GIOU));
  g_assert_null (nms_method_reason (NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOS));
  g_assert_nonnull (nms_method_reason (NMS_METHOD_SOFT_LINEAR, NMS_METRIC_DIOU));
  g_assert_nonnull (nms_method_reason (100, NMS_METRIC_IOU));
  g_assert_nonnull (nms_method_reason (NMS_METHOD_HARD, NMS_METRIC_LIST (ONE)));
}

/* The text of the engine in use names the method and the instruction set. Neighbors are counted by
 * IoU only. */
static void
test_engine_in_use (void)
{
  static const float rows[][4] = { { 0, 0, 1, 1 } };
  nms_boxes boxes = { .size = sizeof boxes, .count = 1 };
  nms_result result = { .size = sizeof result };
  nms_options options;
  uint32_t neighbors;

  nms_boxes_set_rows (&boxes, rows[0]);
  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_SOFT_LINEAR;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_autofree char *expected = g_strdup_printf ("soft-linear/%s", nms_context_isa (context));
  g_assert_cmpstr (nms_context_engine_in_use (context), ==, expected);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SEQUENTIAL);
  g_assert_cmpint (nms_count_neighbors (context, &boxes, &options, &neighbors), ==, NMS_OK);

  options.method = NMS_METHOD_HARD;
  options.metric = NMS_METRIC_IOS;
  g_assert_cmpint (nms_count_neighbors (context, &boxes, &options, &neighbors), ==,
      NMS_ERROR_UNSUPPORTED);
  g_assert_cmpstr (nms_context_error (context), ==, "neighbors are counted by metric iou only");
}

static const TestCase cases[] = { TEST_ROWS ("/methods/figures/%s", test_figures, figures),
  CASE (test_rotated), CASE (test_drift), CASE (test_exponential), CASE (test_names),
  CASE (test_engine_in_use), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
