/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All methods and metrics: random calls, which are compared with the reference, bit for bit, on
 * every instruction set; figures of other libraries' tests; and figures worked out by hand that are
 * not exact. test-semantics has those that are.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "handrows.h"
#include "rounds.h"
#include "scoped.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

static void
test_random (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 1);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 4000);

  for (uint64_t round = seed; round < seed + rounds; round++) {
    BoxRandom random = { round };
    g_auto (BoxCall) call = { 0 };
    const int temper = (int) boxrandom_below (&random, BOXGEN_TEMPERS);
    /* some frames have more than 64 blocks, unless the reference has to clip all pairs */
    const size_t most = round % 500 == 9 ? 5000 : round % 16 ? 80 : 400;
    boxcall_random (&call, &random, temper, boxrandom_below (&random, (uint32_t) most));
    boxcall_random_method (&call, &random, most > 400 ? BOXGEN_GRID : temper);
    char *difference = enginecheck_isas_difference (context, &call.boxes, &call.options);
    if (difference)
      g_error ("round %" G_GUINT64_FORMAT ", metric %u, %zu boxes: %s", round, call.options.metric,
          call.boxes.count, difference);
  }
}

/* ---------------------------------------------------------------- published */

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
} published[] = { { { "mmcv-linear", "soft-linear iou=0.3 min-score=0.01", MMCV, "1 0 2 3" }, 1e-6f,
                      3, { 0.9f, 0.6f, 0.29024392f, 0.2f } },
  { { "mmcv-gaussian", "soft-gaussian sigma=0.5 min-score=0.01", MMCV, "1 0 2 3" }, 1e-6f, 3,
      { 0.9f, 0.59630775f, 0.3527551f, 0.18650459f } },
  { { "tensorflow-gaussian", "soft-gaussian sigma=1", TENSORFLOW, "3 0 1 5 4 2" }, 1e-3f, 0,
      { 0.95f, 0.9f, 0.384f, 0.3f, 0.256f, 0.197f } },
  /* (0.6 * 1.4 + 0.59 * 0.85 + 0.61 * 0.75) / 3, 3 / 4, (1.8 + 1.6) / 4 * 2 / 3, 0.65 / 3 */
  { { "ensemble-boxes", "weighted fused=2 sources=2 weights=2,1", ENSEMBLE, "2 0 5" }, 1e-6f,
      0.59966667f, { 0.75f, 0.56666667f, 0.21666667f } },
  { { NULL } } };

static void
test_published (gconstpointer data)
{
  const typeof (*published) *p = data;
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

/* ------------------------------------------------------------------ by hand */

/* Two boxes of score 1, and the score that the second keeps. */
static const struct {
  const char *name;
  uint32_t method, metric;
  float rows[2][4], angles[2], threshold;
  double score;
} pairs[] = {
/* A square of side 2 and the same rotated by pi / 4 have the intersection 8 * (sqrt (2) - 1), so
   * their IoU is 0.7071 and their IoS 0.8284. exp (-0.5 / 0.5) = exp (-2 * 0.5) = 0.36787944. */
#define SQUARES { { 0, 0, 2, 2 }, { 0, 0, 2, 2 } }, { 0, 0.78539816f }, 0.5f
  { "linear", NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOU, SQUARES, 1 - 0.70710678 },
  { "linear IoS", NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOS, SQUARES, 1 - 0.82842712 },
  { "gaussian", NMS_METHOD_SOFT_GAUSSIAN, NMS_METRIC_IOU, SQUARES, 0.36787944 },
  { "matrix", NMS_METHOD_MATRIX_LINEAR, NMS_METRIC_IOU, SQUARES, 1 - 0.70710678 },
  { "matrix gaussian", NMS_METHOD_MATRIX_GAUSSIAN, NMS_METRIC_IOU, SQUARES, 0.36787944 },
#define PROBIOU NMS_METHOD_SOFT_LINEAR, NMS_METRIC_PROBIOU
  { "moved by a third: exp (-6 * 16 / (4 * 144))", PROBIOU, { { 0, 0, 12, 12 }, { 4, 0, 16, 12 } },
      { 0, 0 }, 0, 0.39181404 },
  { "of half the size: sqrt (4 * 4 / 25)", PROBIOU, { { -2, -2, 2, 2 }, { -1, -1, 1, 1 } },
      { 0, 0 }, 0, 0.44721360 },
  { "across: sqrt (4 * 16 / 289)", PROBIOU, { { -4, -1, 4, 1 }, { -4, -1, 4, 1 } },
      { 0.5f, 2.0707963f }, 0, 0.72760688 },
  { "a rotated square: the same distribution", PROBIOU, { { -2, -2, 2, 2 }, { -1, -1, 1, 1 } },
      { 0.3f, 1.1f }, 0, 0.44721360 },
  { "touching boxes of 0.1185", PROBIOU, { { 0, 0, 4, 4 }, { 4, 0, 8, 4 } }, { 0, 0 }, 0, 1 },
  { "rotated boxes that do not meet", PROBIOU, { { 0, 0, 4, 4 }, { 4.001f, 0, 8.001f, 4 } },
      { 3.1415927f, 0 }, 0, 1 },
  { NULL }
};

static void
test_pair (gconstpointer data)
{
  static const float scores[] = { 1, 1 };
  const typeof (*pairs) *p = data;
  nms_boxes boxes = { .size = sizeof boxes,
    .count = 2,
    .score = { scores, 0 },
    .angle = { p->angles, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, p->rows[0]);
  nms_options_init (&options, sizeof options);
  options.method = p->method;
  options.metric = p->metric;
  options.iou_threshold = p->threshold;
  options.outputs = NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpfloat_with_epsilon (result.kept_score[1], p->score, 2e-7);
  g_assert_cmpmem (result.kept_box, sizeof p->rows, p->rows, sizeof p->rows);
}

/* The direction of a box is that of the vector (3, 4). Box 1 is box 0 moved along it by 5, box 3 is
 * box 1 with its sides and angle given the other way, and box 2 crosses box 0: their upright
 * bounding boxes are the same. */
static void
test_rotated (void)
{
  static const float rows[][4] = { { 75, 95, 125, 105 }, { 78, 99, 128, 109 }, { 75, 95, 125, 105 },
    { 98, 79, 108, 129 } };
  static const float scores[] = { 0.9f, 0.6f, 0.5f, 0.3f };
  static const float merged[] = { 74, 97, 129, 107 }, mean[] = { 76.5f, 97, 126.5f, 107 };
  static const int32_t by[] = { -1, 0, -1, 0 };
  const float a = (float) atan2 (4, 3), angles[] = { a, a, -a, a + (float) G_PI_2 };
  nms_boxes boxes = { .size = sizeof boxes,
    .count = G_N_ELEMENTS (rows),
    .score = { scores, 0 },
    .angle = { angles, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, &rows[0][0]);
  nms_options_init (&options, sizeof options);
  options.outputs = ENGINECHECK_ALL_OUTPUTS;
  for (uint32_t m = NMS_METHOD_WEIGHTED; m <= NMS_METHOD_AVERAGE; m++) {
    const float *must = m == NMS_METHOD_MERGE || m == NMS_METHOD_GREEDY_MERGE ? merged : mean;
    options.method = m;
    g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
    g_assert_cmpmem (result.suppressed_by, sizeof by, by, sizeof by);
    g_assert_cmpuint (result.kept_count, ==, 2);
    for (int c = 0; c < 4; c++)
      g_assert_cmpfloat_with_epsilon (result.kept_box[c], must[c], 1e-4f);
    g_assert_cmpmem (&result.kept_box[4], sizeof rows[2], rows[2], sizeof rows[2]);
  }
}

/* Rotated squares around one centre: the third one overlaps the fused box of the others, but not
 * their head, which is larger. */
static void
test_rotated_shrinks (void)
{
  static const float rows[][4] = { { -10, -10, 10, 10 }, { -7, -7, 7, 7 },
    { -5.5f, -5.5f, 5.5f, 5.5f } };
  static const float angles[] = { 0.3f, 0.3f, 0.3f }, scores[] = { 0.5f, 0.5f, 0.5f };
  nms_boxes boxes = { .size = sizeof boxes,
    .count = 3,
    .score = { scores, 0 },
    .angle = { angles, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, &rows[0][0]);
  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_WEIGHTED;
  options.iou_threshold = 0.4f;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 1);
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
  g_assert_cmpstr (enginecheck_isas_difference (context, &boxes, &options), ==, NULL);
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

static const TestCase cases[] = { CASE (test_random),
  TEST_ROWS ("/methods/published/%s", test_published, published),
  TEST_ROWS ("/methods/pair/%s", test_pair, pairs), CASE (test_rotated),
  CASE (test_rotated_shrinks), CASE (test_drift), CASE (test_exponential), CASE (test_names),
  CASE (test_engine_in_use), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
