/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares a detector's head that is decoded and filtered in one program with one that
 * is decoded here, column by column, and filtered with nms_run.
 */
#include "boxgen.h"
#include "lazycontext.h"
#include "nmsgraph.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

#define ANCHORS 210
#define CLASSES 7

typedef struct {
  int32_t picks[ANCHORS], classes[ANCHORS], count;
  float scores[ANCHORS], corners[4][ANCHORS];
} Decoded;

/* Makes rows cx cy w h and scores of clustered boxes, some of them invalid. */
static void
make_head (BoxRandom *random, float head[4 + CLASSES][ANCHORS], int hostile)
{
  const float bad[] = { NAN, INFINITY, -INFINITY, 3e38f, -0.0f, 0.0f };

  for (int i = 0; i < ANCHORS; i++) {
    head[0][i] = (float) boxrandom_below (random, 6) * 40.0f + boxrandom_unit (random) * 20.0f;
    head[1][i] = (float) boxrandom_below (random, 3) * 40.0f + boxrandom_unit (random) * 20.0f;
    head[2][i] = 20.0f + boxrandom_unit (random) * 30.0f;
    head[3][i] = 20.0f + boxrandom_unit (random) * 30.0f;
    for (int c = 0; c < CLASSES; c++) /* few values: ties among classes and boxes */
      head[4 + c][i] = (float) boxrandom_below (random, 40) / 40.0f;
  }
  for (int k = 0; k < 60 && hostile; k++)
    head[boxrandom_below (random, 4 + CLASSES)][boxrandom_below (random, ANCHORS)] =
        bad[boxrandom_below (random, 6)];
  for (int c = 0; c < CLASSES && hostile; c++) /* no score at all, and no score but one */
    head[4 + c][17] = head[4 + (c + 1) % CLASSES][18] = c < CLASSES - 1 ? NAN : 0.25f;
  for (int c = 0; c < CLASSES && hostile; c++)
    head[4 + c][17] = NAN;
}

static void
run_program (const float head[4 + CLASSES][ANCHORS], int transposed, float iou, float least,
    int32_t most, Decoded *d)
{
  const int32_t dims[] = { 4 + CLASSES, ANCHORS }, turned[] = { ANCHORS, 4 + CLASSES };
  float columns[ANCHORS][4 + CLASSES];
  nms_lazy_tensor raw, score;

  for (int i = 0; i < ANCHORS; i++)
    for (int r = 0; r < 4 + CLASSES; r++)
      columns[i][r] = head[r][i];
  raw = transposed ? nms_lazy_transpose (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, turned, columns))
                   : nms_lazy_input (lz, NMS_LAZY_F32, 2, dims, head);
  nms_lazy_boxes boxes = nms_lazy_decode_head (lz, raw, &score);
  boxes.limit = nms_lazy_input_f32 (lz, nms_lazy_limit_of (iou, 0));
  boxes.least = nms_lazy_input_s32 (lz, nms_lazy_order_key_of (least));
  boxes.cap = nms_lazy_input_s32 (lz, most);
  nms_lazy_kept kept = nms_lazy_nms (lz, &boxes, 0);
  nms_lazy_tensor want[] = { kept.picks, kept.count, boxes.class_id, score, boxes.x1, boxes.y1,
    boxes.x2, boxes.y2 };
  void *const into[] = { d->picks, &d->count, d->classes, d->scores, d->corners[0], d->corners[1],
    d->corners[2], d->corners[3] };
  if (nms_lazy_read (lz, G_N_ELEMENTS (want), want, into) < 0)
    g_error ("%s", nms_lazy_error (lz));
  nms_lazy_clear (lz);
}

/* Decodes, then filters. */
static void
check (const float head[4 + CLASSES][ANCHORS], float iou, float least, uint64_t most,
    const Decoded *d)
{
  static nms_context *context;
  float rows[4 * ANCHORS], scores[ANCHORS];
  int32_t classes[ANCHORS];
  nms_boxes boxes = { .size = sizeof boxes, .count = ANCHORS };
  nms_options options;
  nms_result result = { .size = sizeof result };

  for (int i = 0; i < ANCHORS; i++) {
    for (int k = 0; k < 4; k++)
      rows[4 * i + k] = head[k][i];
    scores[i] = NAN;
    classes[i] = -1;
    for (int c = 0; c < CLASSES; c++)
      if (!isnan (head[4 + c][i]) && !(head[4 + c][i] <= scores[i])) {
        scores[i] = head[4 + c][i];
        classes[i] = c;
      }
  }
  nms_rows_from_cxcywh (rows, ANCHORS, rows);
  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = scores;
  boxes.class_id.data = classes;
  nms_options_init (&options, sizeof options);
  options.iou_threshold = iou;
  options.score_threshold = least;
  options.max_detections = most;
  context = nms_context_new ();
  g_assert_cmpint (nms_run (context, &boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpint (d->count, ==, (int32_t) result.kept_count);
  for (size_t k = 0; k < result.kept_count; k++) {
    int32_t i = result.kept[k];
    g_assert_cmpint (d->picks[k], ==, i);
    g_assert_cmpint (d->classes[i], ==, classes[i]);
    g_assert_cmpfloat (d->scores[i], ==, scores[i]);
    g_assert_cmpfloat (d->corners[0][i], ==, MIN (rows[4 * i], rows[4 * i + 2]));
    g_assert_cmpfloat (d->corners[3][i], ==, MAX (rows[4 * i + 1], rows[4 * i + 3]));
  }
  nms_context_free (&context);
}

static void
test_heads (void)
{
  BoxRandom random = { 5 };
  nms_lazy_counters counters = { .size = sizeof counters };
  int32_t most_kept = 0;

  for (int round = 0; round < 40; round++) {
    float head[4 + CLASSES][ANCHORS];
    const float iou = boxrandom_unit (&random),
                least = round % 4 ? 0.9f * boxrandom_unit (&random) : -INFINITY;
    const int32_t most = (int32_t) boxrandom_below (&random, 60);
    Decoded d;

    make_head (&random, head, round & 1);
    run_program (head, round / 2 & 1, iou, least, most, &d);
    check (head, iou, least, (uint64_t) most, &d);
    most_kept = MAX (most_kept, d.count);
  }
  g_assert_cmpint (most_kept, >, 40);
  nms_lazy_cache_counters (cache, &counters);
  g_assert_cmpuint (counters.misses, ==, 2); /* two layouts */
}

/* The text shows that there is one program. */
static void
test_dump (void)
{
  static const float head[4 + CLASSES][ANCHORS];
  const int32_t dims[] = { 4 + CLASSES, ANCHORS };
  nms_lazy_boxes boxes = nms_lazy_decode_head (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, dims, head),
      NULL);

  boxes.limit = nms_lazy_input_f32 (lz, 0.5f);
  nms_lazy_kept kept = nms_lazy_nms (lz, &boxes, 0);
  g_autofree char *text = nms_lazy_dump (lz, 1, &kept.picks);
  g_assert_nonnull (strstr (text,
      "func.func @main(%a0: tensor<f32>, %a1: tensor<11x210xf32>, "
      "%a2: tensor<f32>) -> (tensor<210xi32>)"));
  g_assert_nonnull (strstr (text, "\"stablehlo.while\""));
  g_assert_null (strstr (strstr (text, "@main") + 1, "func.func"));
  g_assert_null (strstr (text, "210x210"));
  nms_lazy_clear (lz);
  nms_lazy_decode_head (lz, nms_lazy_input_f32 (lz, 1.0f), NULL);
  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_ERROR_ARGUMENT);
  nms_lazy_clear (lz);
}

static const TestCase cases[] = { CASE (test_heads), CASE (test_dump), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
