/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the methods that make new boxes with rows worked out by hand and, for random calls,
 * with the reference, bit for bit, on every instruction set.
 */
#include "boxgen.h"
#include "describe.h"
#include "enginecheck.h"
#include "methodcheck.h"
#include "rounds.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A random call of a method that makes new boxes. */
typedef struct {
  BoxCall call;
  int32_t *source;
  float *angle;
  float weights[4];
} FusedCall;

static void
fused_call_random (FusedCall *f, BoxRandom *random, int temper, size_t count)
{
  static const uint32_t methods[] = { NMS_METHOD_WEIGHTED, NMS_METHOD_MERGE,
    NMS_METHOD_GREEDY_MERGE, NMS_METHOD_AVERAGE };
  static const uint32_t metrics[] = { NMS_METRIC_IOU, NMS_METRIC_IOS, NMS_METRIC_PROBIOU };
  nms_options *o = &f->call.options;

  boxcall_random (&f->call, random, temper, count);
  o->outputs = ENGINECHECK_ALL_OUTPUTS;
  o->engine = NMS_ENGINE_AUTO;
  o->method = methods[boxrandom_below (random, G_N_ELEMENTS (methods))];
  o->metric = metrics[boxrandom_below (random, G_N_ELEMENTS (metrics))];
  o->fused_score = boxrandom_below (random, 4);
  o->source_count = boxrandom_below (random, 5);
  for (int i = 0; i < 4; i++)
    f->weights[i] = boxrandom_below (random, 8) ? boxrandom_unit (random) + 0.125f : 0x1p32f;
  o->source_weights = boxrandom_below (random, 2) ? f->weights : NULL;
  f->source = g_new (int32_t, count + 1);
  for (size_t i = 0; i < count; i++)
    f->source[i] = (int32_t) boxrandom_below (random, (uint32_t) o->source_count)
        - !boxrandom_below (random, 100);
  f->angle = g_new (float, count + 1);
  for (size_t i = 0; i < count; i++)
    f->angle[i] = boxrandom_below (random, 3) ? boxrandom_unit (random) * 7 - 3.5f : 0;
  if ((temper == BOXGEN_UNIFORM || temper == BOXGEN_CROWD) && boxrandom_below (random, 2)) {
    f->call.boxes.angle = (nms_column) { f->angle, 0 };
    o->iou_threshold = boxrandom_unit (random) * 0.9f; /* so that it equals no metric */
  }
  if (boxrandom_below (random, 4))
    f->call.boxes.source = (nms_column) { f->source, 0 };
}

static void
fused_call_clear (FusedCall *f)
{
  boxcall_clear (&f->call);
  g_free (f->source);
  g_free (f->angle);
}

static void
test_random (void)
{
  const uint64_t seed = rounds_from_environment ("NMS_TEST_SEED", 1);
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 2000);
  nms_context *ctx = nms_context_new ();

  for (uint64_t round = 0; round < rounds; round++) {
    BoxRandom random = { seed + round };
    FusedCall f;
    const size_t count = boxrandom_below (&random, round % 16 ? 80 : 400);
    fused_call_random (&f, &random, (int) boxrandom_below (&random, BOXGEN_TEMPERS), count);
    methodcheck_call (ctx, &f.call, round);
    fused_call_clear (&f);
  }
  nms_context_free (&ctx);
}

/* The case of ensemble-boxes's own test: two models with weights 2 and 1. */
static void
test_ensemble_boxes (void)
{
  static const float rows[][4] = { { 0.1f, 0.1f, 0.5f, 0.5f }, { 0.11f, 0.11f, 0.51f, 0.51f },
    { 0.6f, 0.6f, 0.8f, 0.8f }, { 0.59f, 0.59f, 0.79f, 0.79f }, { 0.61f, 0.61f, 0.81f, 0.81f },
    { 0.8f, 0.8f, 0.9f, 0.9f } };
  static const float scores[] = { 0.9f, 0.8f, 0.7f, 0.85f, 0.75f, 0.65f }, weights[] = { 2, 1 };
  static const int32_t labels[] = { 1, 1, 1, 1, 1, 0 }, sources[] = { 0, 0, 0, 1, 1, 1 };
  static const int32_t by[] = { -1, 0, -1, 2, 2, -1 };
  nms_context *ctx = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes,
    .count = G_N_ELEMENTS (rows),
    .score = { scores, 0 },
    .class_id = { labels, 0 },
    .source = { sources, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, &rows[0][0]);
  nms_options_init (&options, sizeof options);
  options.method = NMS_METHOD_WEIGHTED;
  options.fused_score = NMS_FUSED_BOX_AND_MODEL_AVG;
  options.source_weights = weights;
  options.source_count = G_N_ELEMENTS (weights);
  options.outputs = ENGINECHECK_ALL_OUTPUTS;
  g_assert_cmpint (nms_run (ctx, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpmem (result.suppressed_by, sizeof by, by, sizeof by);
  g_assert_cmpuint (result.kept_count, ==, 3);
  const double third = (0.6 * 0.7 * 2 + 0.59 * 0.85 + 0.61 * 0.75) / (0.7 * 2 + 0.85 + 0.75);
  g_assert_cmpfloat_with_epsilon (result.kept_box[0], third, 1e-6);
  g_assert_cmpfloat_with_epsilon (result.kept_score[0], (0.7 * 2 + 0.85 + 0.75) / 4, 1e-6);
  g_assert_cmpfloat_with_epsilon (result.kept_score[1], (0.9 * 2 + 0.8 * 2) / 4 * 2 / 3, 1e-6);
  g_assert_cmpfloat_with_epsilon (result.kept_score[2], 0.65 / 3, 1e-6);
  nms_context_free (&ctx);
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
  const float a = (float) atan2 (4, 3);
  const float angles[] = { a, a, -a, a + (float) G_PI_2 };
  nms_context *ctx = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes,
    .count = G_N_ELEMENTS (rows),
    .score = { scores, 0 },
    .angle = { angles, 0 } };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_boxes_set_rows (&boxes, &rows[0][0]);
  nms_options_init (&options, sizeof options);
  options.outputs = ENGINECHECK_ALL_OUTPUTS;
  for (options.method = NMS_METHOD_WEIGHTED; options.method <= NMS_METHOD_AVERAGE;
       options.method++) {
    const float *must = options.method == NMS_METHOD_MERGE
            || options.method == NMS_METHOD_GREEDY_MERGE
        ? merged
        : mean;
    g_assert_cmpint (nms_run (ctx, &boxes, &options, &result), ==, NMS_OK);
    g_assert_cmpmem (result.suppressed_by, sizeof by, by, sizeof by);
    g_assert_cmpuint (result.kept_count, ==, 2);
    for (int c = 0; c < 4; c++)
      g_assert_cmpfloat_with_epsilon (result.kept_box[c], must[c], 1e-4f);
    g_assert_cmpmem (&result.kept_box[4], sizeof rows[2], rows[2], sizeof rows[2]);
  }
  nms_context_free (&ctx);
}

static void
skip (nms_column *column, size_t count, ptrdiff_t size)
{
  if (column->data)
    column->data = (const char *) column->data
        + (ptrdiff_t) count * (column->stride ? column->stride : size);
}

/* Returns the boxes from number `from` to `end` - 1. */
static nms_boxes
boxes_between (nms_boxes boxes, size_t from, size_t end)
{
  nms_column *const words[] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2, &boxes.score,
    &boxes.class_id, &boxes.angle, &boxes.source };

  for (size_t c = 0; c < G_N_ELEMENTS (words); c++)
    skip (words[c], from, 4);
  skip (&boxes.exclude, from, 1);
  boxes.parent = (nms_column) { 0 };
  boxes.count = end - from;
  return boxes;
}

#define IMAGES 4

static void
compare_image (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_batch_arrays *a, size_t from, size_t n)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (ctx, boxes, options, &result), ==, NMS_OK);
  g_assert_cmpmem (result.kept, result.kept_count * 4, a->kept + from, n * 4);
  g_assert_cmpmem (result.kept_score, n * 4, a->kept_score + from, n * 4);
  g_assert_cmpmem (result.kept_box, n * 16, a->kept_box + 4 * from, n * 16);
}

/* The boxes and scores of each image of a batch are those of a call for this image. */
static void
test_batch (void)
{
  static const size_t offsets[IMAGES + 1] = { 0, 100, 100, 180, 300 };
  BoxRandom random = { 7 };
  nms_context *ctx = nms_context_new (), *single = nms_context_new ();
  int32_t kept[300];
  float kept_score[300], kept_box[4 * 300];
  size_t ends[IMAGES + 1];
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = 300,
    .kept_offsets = ends,
    .kept_score = kept_score,
    .kept_box = kept_box };

  g_assert_cmpint (nms_context_set_threads (ctx, 2), ==, NMS_OK);
  for (int round = 0; round < 40; round++) {
    nms_result total = { .size = sizeof total };
    FusedCall f;
    fused_call_random (&f, &random, BOXGEN_CROWD, 300);
    f.call.options.max_detections = boxrandom_below (&random, 9);
    const nms_boxes all = boxes_between (f.call.boxes, 0, 300);
    int error = nms_run_batch (ctx, &all, offsets, IMAGES, &f.call.options, &arrays, &total);
    g_assert_cmpint (error, ==, NMS_OK);
    g_assert_true (total.kept_score == kept_score && total.kept_box == kept_box);
    for (int i = 0; i < IMAGES; i++) {
      const nms_boxes image = boxes_between (all, offsets[i], offsets[i + 1]);
      compare_image (single, &image, &f.call.options, &arrays, ends[i], ends[i + 1] - ends[i]);
    }
    fused_call_clear (&f);
  }
  nms_context_free (&single);
  nms_context_free (&ctx);
}

/* A fused box moves far from its head: each box overlaps the mean of those before it at its edge.
 * Small boxes inside the head fill the blocks around it. */
static void
test_drift (void)
{
  enum { CHAIN = 60, FILLERS = 1000, COUNT = CHAIN + FILLERS };
  static float rows[COUNT][4], scores[COUNT];
  nms_context *ctx = nms_context_new ();
  FusedCall f = { 0 };
  float mean = 0, sum = 0;

  for (int i = 0; i < COUNT; i++)
    scores[i] = 1 - i / 2048.0f;
  for (int i = 0; i < CHAIN; i++) {
    const float x = i ? mean + 0.75f : 0;
    memcpy (rows[i], (float[4]) { x, 0, x + 1, 1 }, sizeof rows[i]);
    sum += x;
    mean = sum / (float) (i + 1);
  }
  for (int i = CHAIN; i < COUNT; i++) {
    const float x = (float) (i % 32) / 32, y = (float) (i / 32) / 40;
    memcpy (rows[i], (float[4]) { x, y, x + 0.01f, y + 0.01f }, sizeof rows[i]);
  }
  f.call.boxes = (nms_boxes) { .size = sizeof f.call.boxes,
    .count = COUNT,
    .score = { scores, 0 } };
  nms_boxes_set_rows (&f.call.boxes, &rows[0][0]);
  nms_options_init (&f.call.options, sizeof f.call.options);
  f.call.options.iou_threshold = 0.05f;
  f.call.options.method = NMS_METHOD_WEIGHTED;
  f.call.options.outputs = ENGINECHECK_ALL_OUTPUTS;
  methodcheck_call (ctx, &f.call, 0);
  nms_context_free (&ctx);
}

static const TestCase cases[] = { TEST_ROWS ("/methods/fused/row/%s", methodcheck_row, methodrows),
  { "/methods/fused/ensemble-boxes", test_ensemble_boxes }, { "/methods/fused/batch", test_batch },
  { "/methods/fused/drift", test_drift }, { "/methods/fused/rotated", test_rotated },
  { "/methods/fused/random", test_random }, { NULL } };

TEST_PROGRAM (cases);
