/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods that keep boxes as they are: hard NMS by each metric, soft and matrix NMS. Rows
 * worked out by hand, figures of other libraries' tests, and random calls, which are compared with
 * the reference, bit for bit, on every instruction set.
 */
#include "boxgen.h"
#include "describe.h"
#include "enginecheck.h"
#include "methodcheck.h"
#include "rounds.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------- other libraries' tests */

typedef struct {
  const char *name;
  uint32_t method;
  float threshold, sigma, min_score, tolerance;
  size_t count;
  float boxes[6][4];
  float scores[6];
  int32_t kept[6];
  float kept_scores[6];
} Published;

#define MMCV_BOXES \
  .count = 4, .boxes = { { 6, 3, 8, 7 }, { 3, 6, 9, 11 }, { 3, 7, 10, 12 }, { 1, 4, 13, 7 } }, \
  .scores = { 0.6f, 0.9f, 0.7f, 0.2f }

/* y1 x1 y2 x2, which makes no difference */
#define TENSORFLOW_BOXES \
  .count = 6, \
  .boxes = { { 0, 0, 1, 1 }, { 0, 0.1f, 1, 1.1f }, { 0, -0.1f, 1, 0.9f }, { 0, 10, 1, 11 }, \
    { 0, 10.1f, 1, 11.1f }, { 0, 100, 1, 101 } }, \
  .scores = { 0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f }

static const Published published[] = { { "mmcv-linear", NMS_METHOD_SOFT_LINEAR, .threshold = 0.3f,
                                           .min_score = 0.01f, .tolerance = 1e-6f, MMCV_BOXES,
                                           .kept = { 1, 0, 2, 3 },
                                           .kept_scores = { 0.9f, 0.6f, 0.29024392f, 0.2f } },
  { "mmcv-gaussian", NMS_METHOD_SOFT_GAUSSIAN, .sigma = 0.5f, .min_score = 0.01f,
      .tolerance = 1e-6f, MMCV_BOXES, .kept = { 1, 0, 2, 3 },
      .kept_scores = { 0.9f, 0.59630775f, 0.3527551f, 0.18650459f } },
  /* TensorFlow's exponent is -v * v / (2 * sigma), so its sigma 0.5 is 1 here; its figures have
   * three digits */
  { "tensorflow-gaussian", NMS_METHOD_SOFT_GAUSSIAN, .sigma = 1, .tolerance = 1e-3f,
      TENSORFLOW_BOXES, .kept = { 3, 0, 1, 5, 4, 2 },
      .kept_scores = { 0.95f, 0.9f, 0.384f, 0.3f, 0.256f, 0.197f } },
  { NULL } };

static void
test_published (gconstpointer data)
{
  const Published *p = data;
  nms_boxes boxes = { .size = sizeof boxes, .count = p->count, .score = { p->scores, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, p->boxes[0]);
  nms_options_init (&options, sizeof options);
  options.method = p->method;
  options.iou_threshold = p->threshold;
  options.sigma = p->sigma;
  options.min_score = p->min_score;
  options.outputs = NMS_OUTPUT_SCORE;
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, p->count);
  for (size_t k = 0; k < p->count; k++) {
    g_assert_cmpint (result.kept[k], ==, p->kept[k]);
    g_assert_cmpfloat_with_epsilon (result.kept_score[k], p->kept_scores[k], p->tolerance);
  }
}

/* ------------------------------------------------------------------ random */

#define ONE(...) +1
#define LAST_METRIC ((NMS_METRIC_LIST (ONE)) - 1)

/* Sets a random method and metric, and options that suit them. */
static void
random_method (nms_options *o, BoxRandom *random)
{
  static const float sigmas[] = { 0, 0.5f, 1, 2, 0.01f, 1e9f };
  static const float least[] = { 0, 0.001f, 0.3f, 0.5f };

  o->method = boxrandom_below (random, 5);
  do
    o->metric = boxrandom_below (random, LAST_METRIC + 1);
  while (nms_method_reason ((int) o->method, (int) o->metric));
  o->sigma = sigmas[boxrandom_below (random, G_N_ELEMENTS (sigmas))];
  o->min_score = least[boxrandom_below (random, G_N_ELEMENTS (least))];
  o->engine = NMS_ENGINE_AUTO;
  o->outputs = ENGINECHECK_ALL_OUTPUTS;
}

static void
test_random (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 1);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 2000);
  nms_context *ctx = nms_context_new ();

  for (uint64_t round = 0; round < rounds; round++) {
    BoxRandom random = { seed + round };
    const size_t count = boxrandom_below (&random, round % 16 ? 80 : 400);
    BoxCall call;

    boxcall_random (&call, &random, (int) boxrandom_below (&random, BOXGEN_TEMPERS), count);
    random_method (&call.options, &random);
    methodcheck_call (ctx, &call, round);
    boxcall_clear (&call);
  }
  nms_context_free (&ctx);
}

/* Frames of more than 64 blocks. */
static void
test_large (void)
{
  nms_context *ctx = nms_context_new ();

  for (uint64_t round = 0; round < 10; round++) {
    BoxRandom random = { 77 + round };
    BoxCall call;

    boxcall_random (&call, &random, round % 2 ? BOXGEN_UNIFORM : BOXGEN_CROWD, 5000);
    random_method (&call.options, &random);
    call.options.method = (uint32_t) (round % 5);
    if (call.options.method)
      call.options.metric = NMS_METRIC_IOU;
    methodcheck_call (ctx, &call, round);
    boxcall_clear (&call);
  }
  nms_context_free (&ctx);
}

/* Half of the frames of test_random_rotated have tiny boxes: extents from 0 to 2^-46, some of which
 * count as 0, and many intersections whose own extents are below 2^-50, which count. */
static void
make_tiny (BoxCall *call, BoxRandom *random)
{
  for (size_t i = 0; i < 4 * call->boxes.count; i++)
    call->corners[i] *= 0x1p-52f;
  call->options.iou_threshold = boxrandom_unit (random) * 0.05f;
}

/* The reference computes the overlaps of rotated boxes by another method, so scores may differ in
 * the last bits. Hard NMS has the same result unless a metric is equal to the threshold. */
static void
test_random_rotated (void)
{
  enum { MOST = 60 };
  nms_context *ctx = nms_context_new ();

  for (uint64_t round = 0; round < 500; round++) {
    BoxRandom random = { 1000 + round };
    float angle[MOST];
    BoxCall call;

    boxcall_random (&call, &random, round % 2 ? BOXGEN_UNIFORM : BOXGEN_CROWD,
        boxrandom_below (&random, MOST));
    for (size_t i = 0; i < call.boxes.count; i++)
      angle[i] = boxrandom_below (&random, 3) ? boxrandom_unit (&random) * 7 - 3.5f : 0;
    random_method (&call.options, &random);
    call.options.method = NMS_METHOD_HARD;
    call.options.metric = boxrandom_below (&random, LAST_METRIC + 1);
    call.options.iou_threshold = boxrandom_unit (&random) * 0.9f;
    if (round & 2)
      make_tiny (&call, &random);
    call.boxes.angle = (nms_column) { angle, 0 };
    methodcheck_call (ctx, &call, round);
    boxcall_clear (&call);
  }
  nms_context_free (&ctx);
}

/* A square of side 2 and the same rotated by pi / 4 have the intersection 8 * (sqrt (2) - 1), so
 * their IoU is 0.7071 and their IoS 0.8284. */
static void
test_rotated_scores (void)
{
  static const float rows[][4] = { { 0, 0, 2, 2 }, { 0, 0, 2, 2 } };
  static const float scores[] = { 0.9f, 0.8f }, angles[] = { 0, 0.78539816f };
  static const struct {
    uint32_t method, metric;
    double factor;
  } cases[] = {
    { NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOU, 1 - 0.70710678 },
    { NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOS, 1 - 0.82842712 },
    { NMS_METHOD_SOFT_GAUSSIAN, NMS_METRIC_IOU, 0.36787944 }, /* exp (-0.5 / 0.5) */
    { NMS_METHOD_MATRIX_LINEAR, NMS_METRIC_IOU, 1 - 0.70710678 },
    { NMS_METHOD_MATRIX_GAUSSIAN, NMS_METRIC_IOU, 0.36787944 }, /* exp (-2 * 0.5) */
  };
  nms_boxes boxes = { .size = sizeof boxes,
    .count = 2,
    .score = { scores, 0 },
    .angle = { angles, 0 } };
  nms_options options;

  nms_boxes_set_rows (&boxes, rows[0]);
  nms_options_init (&options, sizeof options);
  options.outputs = ENGINECHECK_ALL_OUTPUTS;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    nms_result result = { .size = sizeof result };
    options.method = cases[i].method;
    options.metric = cases[i].metric;
    int error = nms_run (context, &boxes, &options, &result);
    g_assert_cmpstr (nms_context_error (context), ==, "");
    g_assert_cmpint (error, ==, NMS_OK);
    g_assert_cmpuint (result.kept_count, ==, 2);
    g_assert_cmpfloat_with_epsilon (result.kept_score[1], 0.8 * cases[i].factor, 1e-6);
    g_assert_cmpmem (&result.kept_box[4], sizeof rows[1], rows[1], sizeof rows[1]);
  }
}

/* ProbIoU of pairs whose covariances are easy to compute, as the factor 1 - ProbIoU of a score. */
static void
test_probiou (void)
{
  static const float scores[] = { 1, 1 };
  static const struct {
    const char *what;
    float rows[2][4], angles[2];
    double factor;
  } cases[] = {
    { "moved by a third: exp (-6 * 16 / (4 * 144))", { { 0, 0, 12, 12 }, { 4, 0, 16, 12 } },
        { 0, 0 }, 0.39181404 },
    { "of half the size: sqrt (4 * 4 / 25)", { { -2, -2, 2, 2 }, { -1, -1, 1, 1 } }, { 0, 0 },
        0.44721360 },
    { "across: sqrt (4 * 16 / 289)", { { -4, -1, 4, 1 }, { -4, -1, 4, 1 } }, { 0.5f, 2.0707963f },
        0.72760688 },
    { "a rotated square: the same distribution", { { -2, -2, 2, 2 }, { -1, -1, 1, 1 } },
        { 0.3f, 1.1f }, 0.44721360 },
    { "touching boxes of 0.1185", { { 0, 0, 4, 4 }, { 4, 0, 8, 4 } }, { 0, 0 }, 1 },
    { "rotated boxes that do not meet", { { 0, 0, 4, 4 }, { 4.001f, 0, 8.001f, 4 } },
        { 3.1415927f, 0 }, 1 },
  };
  nms_options options;

  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_SOFT_LINEAR;
  options.metric = NMS_METRIC_PROBIOU;
  options.iou_threshold = 0;
  options.outputs = NMS_OUTPUT_SCORE;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    nms_boxes boxes = { .size = sizeof boxes,
      .count = 2,
      .score = { scores, 0 },
      .angle = { cases[i].angles, 0 } };
    nms_result result = { .size = sizeof result };
    g_test_message ("%s", cases[i].what);
    nms_boxes_set_rows (&boxes, cases[i].rows[0]);
    g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
    g_assert_cmpfloat_with_epsilon (result.kept_score[1], cases[i].factor, 2e-7);
  }
}

/* --------------------------------------------------------------------- exp */

/* Lowers a score of 2^64 by a box of IoU 1 and the sigma that gives this exponent; exp of it is
 * within 2^-23 of libm's, and 0 below the least normal number. */
static void
test_exponential (void)
{
  static const float rows[][4] = { { 0, 0, 1, 1 }, { 0, 0, 1, 1 } };
  static const float scores[] = { 2, 1 };
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

static void
test_names (void)
{
  g_assert_cmpstr (nms_method_name (NMS_METHOD_HARD), ==, "hard");
  g_assert_cmpstr (nms_method_name (NMS_METHOD_SOFT_LINEAR), ==, "soft-linear");
  g_assert_cmpstr (nms_method_name (NMS_METHOD_SOFT_GAUSSIAN), ==, "soft-gaussian");
  g_assert_cmpstr (nms_method_name (NMS_METHOD_MATRIX_LINEAR), ==, "matrix-linear");
  g_assert_cmpstr (nms_method_name (NMS_METHOD_MATRIX_GAUSSIAN), ==, "matrix-gaussian");
  g_assert_null (nms_method_name (-1));
  g_assert_null (nms_method_name (100));
  g_assert_cmpstr (nms_metric_name (NMS_METRIC_IOU), ==, "iou");
  g_assert_cmpstr (nms_metric_name (NMS_METRIC_GIOU), ==, "giou");
  g_assert_null (nms_metric_name (-1));
  g_assert_cmpstr (nms_metric_name (NMS_METRIC_PROBIOU), ==, "probiou");
  g_assert_null (nms_metric_name (LAST_METRIC + 1));
  g_assert_cmpstr (nms_fused_score_name (NMS_FUSED_AVG), ==, "avg");
  g_assert_null (nms_fused_score_name (4));
  g_assert_null (nms_method_reason (NMS_METHOD_HARD, NMS_METRIC_GIOU));
  g_assert_null (nms_method_reason (NMS_METHOD_SOFT_LINEAR, NMS_METRIC_IOS));
  g_assert_nonnull (nms_method_reason (NMS_METHOD_SOFT_LINEAR, NMS_METRIC_DIOU));
  g_assert_nonnull (nms_method_reason (100, NMS_METRIC_IOU));
  g_assert_nonnull (nms_method_reason (NMS_METHOD_HARD, LAST_METRIC + 1));
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
  char *expected = g_strdup_printf ("soft-linear/%s", nms_context_isa (context));
  g_assert_cmpstr (nms_context_engine_in_use (context), ==, expected);
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SEQUENTIAL);
  g_assert_cmpint (nms_count_neighbors (context, &boxes, &options, &neighbors), ==, NMS_OK);
  g_free (expected);

  options.method = NMS_METHOD_HARD;
  options.metric = NMS_METRIC_IOS;
  g_assert_cmpint (nms_count_neighbors (context, &boxes, &options, &neighbors), ==,
      NMS_ERROR_UNSUPPORTED);
  g_assert_cmpstr (nms_context_error (context), ==, "neighbors are counted by metric iou only");
}

static const TestCase cases[] = { TEST_ROWS ("/methods/scores/row/%s", methodcheck_row, scorerows),
  TEST_ROWS ("/methods/scores/published/%s", test_published, published),
  { "/methods/scores/random", test_random }, { "/methods/scores/large", test_large },
  { "/methods/scores/random-rotated", test_random_rotated },
  { "/methods/scores/rotated-scores", test_rotated_scores },
  { "/methods/scores/probiou", test_probiou }, { "/methods/scores/exponential", test_exponential },
  { "/methods/scores/names", test_names }, { "/methods/scores/engine-in-use", test_engine_in_use },
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
