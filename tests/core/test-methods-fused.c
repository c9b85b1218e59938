/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the methods that make new boxes with rows worked out by hand and, for random calls,
 * with the reference, bit for bit, on every instruction set.
 */
#include "boxgen.h"
#include "describe.h"
#include "enginecheck.h"
#include "methodrows.h"
#include "rounds.h"
#include "testrunner.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static const char *const sets[] = { "scalar", "sse2", "avx2", "avx512", "neon" };

#define ALL_OUTPUTS                                                                               \
  (NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY | NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX)

static void
test_row (gconstpointer data)
{
  const MethodRow *row = data;
  nms_context *ctx = nms_context_new ();
  MethodCall call;

  methodrow_call (row, &call);
  call.options.outputs = ALL_OUTPUTS;
  for (size_t s = 0; s < G_N_ELEMENTS (sets); s++) {
    nms_result result = { .size = sizeof result };
    if (nms_context_set_isa (ctx, sets[s]) < 0)
      continue;
    int error = nms_run (ctx, &call.boxes, &call.options, &result);
    g_assert_cmpstr (nms_context_error (ctx), ==, "");
    g_assert_cmpint (error, ==, NMS_OK);
    char *is = describe_result (&result, row->count);
    char *kept = methodrow_describe (result.kept_count, result.kept_score, result.kept_box);
    g_assert_cmpstr (is, ==, row->expect);
    g_assert_cmpstr (kept, ==, row->kept);
    free (kept);
    free (is);
  }
  nms_context_free (&ctx);
}

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
  nms_options *o = &f->call.options;

  boxcall_random (&f->call, random, temper, count);
  o->outputs = ALL_OUTPUTS;
  o->engine = NMS_ENGINE_AUTO;
  o->method = methods[boxrandom_below (random, G_N_ELEMENTS (methods))];
  o->metric = boxrandom_below (random, 2) ? NMS_METRIC_IOU : NMS_METRIC_IOS;
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
  if (!boxrandom_below (random, 8))
    f->call.boxes.angle = (nms_column){ f->angle, 0 };
  if (boxrandom_below (random, 4))
    f->call.boxes.source = (nms_column){ f->source, 0 };
}

static void
fused_call_clear (FusedCall *f)
{
  boxcall_clear (&f->call);
  g_free (f->source);
  g_free (f->angle);
}

static void
compare (nms_context *ctx, const FusedCall *f, uint64_t round)
{
  RefResult expected;

  ref_run (&f->call.boxes, &f->call.options, &expected);
  for (size_t s = 0; s < G_N_ELEMENTS (sets); s++) {
    nms_result result = { .size = sizeof result };
    if (nms_context_set_isa (ctx, sets[s]) < 0)
      continue;
    if (nms_run (ctx, &f->call.boxes, &f->call.options, &result) < 0)
      g_error ("%s", nms_context_error (ctx));
    char *difference = enginecheck_difference_of (&result, &expected, ALL_OUTPUTS);
    if (difference)
      g_error ("round %" G_GUINT64_FORMAT ", %s, metric %u: %s", round,
          nms_context_engine_in_use (ctx), f->call.options.metric, difference);
  }
  ref_result_clear (&expected);
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
    compare (ctx, &f, round);
    fused_call_clear (&f);
  }
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
  f.call.boxes = (nms_boxes){ .size = sizeof f.call.boxes, .count = COUNT,
    .score = { scores, 0 } };
  nms_boxes_set_rows (&f.call.boxes, &rows[0][0]);
  nms_options_init (&f.call.options, sizeof f.call.options);
  f.call.options.iou_threshold = 0.05f;
  f.call.options.method = NMS_METHOD_WEIGHTED;
  f.call.options.outputs = ALL_OUTPUTS;
  compare (ctx, &f, 0);
  nms_context_free (&ctx);
}

static const TestCase cases[] = {
  TEST_ROWS ("/methods/fused/row/%s", test_row, methodrows),
  { "/methods/fused/drift", test_drift },
  { "/methods/fused/random", test_random },
  { NULL }
};

TEST_PROGRAM (cases);
