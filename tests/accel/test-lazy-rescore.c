/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares soft-NMS and Matrix NMS as one program, run by the eager executor, with nms_run, whose
 * methods are compared with references.
 */
#include "boxgen.h"
#include "lazycontext.h"
#include "rescoregraph.h"
#include "rounds.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MOST 200

/* One random frame. Scores have few values, which give ties. */
typedef struct {
  int32_t count;
  float rows[4 * MOST], column[4][MOST], scores[MOST];
  int32_t classes[MOST];
  nms_options options;
} Frame;

static void
make_frame (Frame *f, BoxRandom *random, uint32_t method)
{
  f->count = 1 + (int32_t) boxrandom_below (random, MOST);
  for (int32_t i = 0; i < f->count; i++) {
    float *row = &f->rows[4 * i];

    for (int k = 0; k < 2; k++) {
      row[k] = (float) boxrandom_below (random, 4) * 40.0f + boxrandom_unit (random) * 9.0f;
      row[k + 2] = row[k] + 20.0f + boxrandom_unit (random) * 30.0f;
    }
    for (int k = 0; k < 4; k++)
      f->column[k][i] = row[k];
    f->scores[i] = (float) boxrandom_below (random, 40) / 40.0f;
    f->classes[i] = (int32_t) boxrandom_below (random, 3) - 1;
  }
  nms_options_init (&f->options, sizeof f->options);
  f->options.method = method;
  f->options.iou_threshold = (float) boxrandom_below (random, 5) / 5.0f;
  f->options.inclusive = boxrandom_below (random, 2) == 1;
  f->options.class_agnostic = boxrandom_below (random, 2) == 1;
  f->options.sigma = 0.1f + boxrandom_unit (random) * 2.0f;
  f->options.min_score = boxrandom_unit (random) * 0.3f;
  f->options.max_detections = boxrandom_below (random, 3) * 20;
  f->options.outputs = NMS_OUTPUT_SCORE;
}

static nms_lazy_rescored
record (const Frame *f)
{
  const nms_options *o = &f->options;
  const int gaussian = o->method == NMS_METHOD_SOFT_GAUSSIAN
      || o->method == NMS_METHOD_MATRIX_GAUSSIAN;
  nms_lazy_tensor score = nms_lazy_input (lz, NMS_LAZY_F32, 1, &f->count, f->scores);
  nms_lazy_tensor least = nms_lazy_input_f32 (lz, o->min_score);
  nms_lazy_tensor sigma = nms_lazy_input_f32 (lz, o->sigma);
  nms_lazy_boxes b = { 0 };

  b.x1 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &f->count, f->column[0]);
  b.y1 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &f->count, f->column[1]);
  b.x2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &f->count, f->column[2]);
  b.y2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &f->count, f->column[3]);
  b.limit = nms_lazy_input_f32 (lz, nms_lazy_limit_of (o->iou_threshold, o->inclusive));
  b.cap = nms_lazy_input_s32 (lz, (int32_t) o->max_detections);
  if (!o->class_agnostic)
    b.class_id = nms_lazy_input (lz, NMS_LAZY_S32, 1, &f->count, f->classes);
  return (o->method == NMS_METHOD_SOFT_LINEAR || o->method == NMS_METHOD_SOFT_GAUSSIAN
          ? nms_lazy_soft_nms
          : nms_lazy_matrix_nms) (lz, &b, score, least, sigma, gaussian);
}

static void
check_frame (nms_context *ctx, const Frame *f)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = (size_t) f->count };
  nms_result result = { .size = sizeof result };
  nms_lazy_rescored kept = record (f);
  nms_lazy_tensor want[] = { kept.picks, kept.score, kept.count };
  int32_t picks[MOST], count;
  float scores[MOST];

  g_assert_cmpint (nms_lazy_read (lz, 3, want, (void *[]) { picks, scores, &count }), ==, NMS_OK);
  nms_lazy_clear (lz);
  nms_boxes_set_rows (&boxes, f->rows);
  boxes.score.data = f->scores;
  boxes.class_id.data = f->classes;
  g_assert_cmpint (nms_run (ctx, &boxes, &f->options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, (size_t) count);
  g_assert_cmpmem (picks, 4 * (size_t) count, result.kept, 4 * result.kept_count);
  g_assert_cmpmem (scores, 4 * (size_t) count, result.kept_score, 4 * result.kept_count);
  for (int32_t i = count; i < f->count; i++)
    g_assert_true (picks[i] == -1 && scores[i] == -1.0f);
}

static void
test_method (uint32_t method)
{
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 300);
  nms_context *ctx = nms_context_new ();

  for (uint64_t i = 0; i < rounds; i++) {
    BoxRandom random = { 1 + i };
    Frame f;

    make_frame (&f, &random, method);
    check_frame (ctx, &f);
  }
  nms_context_free (&ctx);
}

static void
test_random (void)
{
  for (uint32_t method = NMS_METHOD_SOFT_LINEAR; method <= NMS_METHOD_MATRIX_GAUSSIAN; method++)
    test_method (method);
}

/* Boxes that are not valid take no part, whatever numbers they hold. */
static void
test_valid (void)
{
  const int32_t n = 3;
  const float low[] = { 0, 0, NAN }, high[] = { 10, 10, INFINITY }, score[] = { 0.5f, 0.9f, NAN };
  const uint8_t valid[] = { 1, 0, 0 };
  nms_lazy_boxes b = { 0 };
  int32_t picks[3], count;

  b.x1 = b.y1 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, low);
  b.x2 = b.y2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, high);
  b.valid = nms_lazy_input (lz, NMS_LAZY_PRED, 1, &n, valid);
  nms_lazy_rescored kept = nms_lazy_soft_nms (lz, &b,
      nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, score), nms_lazy_f32 (lz, 0.0f),
      nms_lazy_f32 (lz, 0.5f), 1);
  nms_lazy_tensor want[] = { kept.picks, kept.count };
  g_assert_cmpint (nms_lazy_read (lz, 2, want, (void *[]) { picks, &count }), ==, NMS_OK);
  g_assert_cmpint (count, ==, 1);
  g_assert_cmpint (picks[0], ==, 0);
  nms_lazy_clear (lz);
}

static void
test_errors (void)
{
  nms_lazy_boxes b = { 0 };
  nms_lazy_rescored kept = nms_lazy_matrix_nms (lz, &b, nms_lazy_f32 (lz, 1.0f),
      nms_lazy_f32 (lz, 0.0f), NMS_LAZY_NONE, 0);

  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_ERROR_ARGUMENT);
  g_assert_true (kept.picks == NMS_LAZY_NONE && kept.score == NMS_LAZY_NONE);
  nms_lazy_clear (lz);
}

static const TestCase cases[] = { { "/lazy-rescore/random", test_random },
  { "/lazy-rescore/valid", test_valid }, { "/lazy-rescore/errors", test_errors }, { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
