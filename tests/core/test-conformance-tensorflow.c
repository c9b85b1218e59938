/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow's cases for NonMaxSuppression V1 to V5 and for its padded form, from
 * tensorflow/tensorflow (Apache-2.0), commit 0698f7518b5d; each row names its file and
 * test. Boxes are y1 x1 y2 x2. The cases of CombinedNonMaxSuppression are in
 * test-conformance-combined.c.
 *
 * 20 of the 22 single cases are here; V5SoftNMS and testSoftNMS need soft-NMS, which
 * this library does not have. The padded operator (5 cases of two batches) suppresses at
 * IoU >= threshold; the test leaves out its padding, because this library returns no
 * fixed shapes.
 *
 * WithOverlaps (one case, and its error cases Overlaps_notSquare and
 * Overlaps_thresholdOutOfRange) takes a matrix of overlaps instead of boxes and has no
 * counterpart. Of the other error cases InvalidIOUThreshold has one, below.
 * InconsistentBoxAndScoreShapes, Combined_boxesThirdDim and Combined_boxesNot4 are about
 * the shapes of tensors, which columns do not have.
 */
#include "conformance.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>

#define OP_TEST "tensorflow/core/kernels/image/non_max_suppression_op_test.cc "
#define PYTHON_TEST "tensorflow/python/ops/image_ops_test.py "
#define XLA_TEST "tensorflow/compiler/tests/image_ops_test.py "

#define MOST 10

typedef struct {
  const char *name;
  size_t count;
  float boxes[MOST * 4];
  float scores[MOST];
  uint64_t max;
  float iou, least;
  uint8_t strict; /* for operators with a score threshold */
  uint8_t inclusive;
  int32_t expect[MOST];
  size_t expect_count;
} TensorflowRow;

static const TensorflowRow rows[] = {
  { OP_TEST "SelectFromThreeClusters", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES },
      .max = 3, .iou = 0.5f, .least = -INFINITY, .expect = { 3, 0, 5 }, .expect_count = 3 },
  { OP_TEST "SelectFromThreeClustersFlippedCoordinates", .count = 6, .boxes = { SIX_BOXES_FLIPPED },
      .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f, .least = -INFINITY, .expect = { 3, 0, 5 },
      .expect_count = 3 },
  { OP_TEST "SelectAtMostTwoBoxesFromThreeClusters", .count = 6, .boxes = { SIX_BOXES },
      .scores = { SIX_SCORES }, .max = 2, .iou = 0.5f, .least = -INFINITY, .expect = { 3, 0 },
      .expect_count = 2 },
  { OP_TEST "SelectAtMostThirtyBoxesFromThreeClusters", .count = 6, .boxes = { SIX_BOXES },
      .scores = { SIX_SCORES }, .max = 30, .iou = 0.5f, .least = -INFINITY, .expect = { 3, 0, 5 },
      .expect_count = 3 },
  { OP_TEST "SelectSingleBox", .count = 1, .boxes = { 0, 0, 1, 1 }, .scores = { 0.9f }, .max = 3,
      .iou = 0.5f, .least = -INFINITY, .expect = { 0 }, .expect_count = 1 },
  { OP_TEST "SelectFromTenIdenticalBoxes", .count = 10, .boxes = { TEN_EQUAL_BOXES },
      .scores = { 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f }, .max = 3,
      .iou = 0.5f, .least = -INFINITY, .expect = { 0 }, .expect_count = 1 },
  { OP_TEST "EmptyInput", .count = 0, .max = 30, .iou = 0.5f, .least = -INFINITY,
      .expect_count = 0 },
  { OP_TEST "SelectWithNegativeScores", .count = 6, .boxes = { SIX_BOXES },
      .scores = { -9.1f, -9.25f, -9.4f, -9.05f, -9.5f, -9.7f }, .max = 6, .iou = 0.5f,
      .least = -INFINITY, .expect = { 3, 0, 5 }, .expect_count = 3 },
  { OP_TEST "FirstBoxDegenerate", .count = 3, .boxes = { 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3 },
      .scores = { 0.9f, 0.75f, 0.6f }, .max = 3, .iou = 0.5f, .least = -INFINITY,
      .expect = { 0, 1, 2 }, .expect_count = 3 },
  { OP_TEST "SelectFromThreeClustersWithScoreThreshold", .count = 6, .boxes = { SIX_BOXES },
      .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f, .strict = 1, .least = 0.4f,
      .expect = { 3, 0 }, .expect_count = 2 },
  { OP_TEST "SelectFromThreeClustersWithScoreThresholdZeroScores", .count = 6,
      .boxes = { SIX_BOXES }, .scores = { 0.1f, 0, 0, 0.3f, 0.2f, -5 }, .max = 6, .iou = 0.5f,
      .strict = 1, .least = -3, .expect = { 3, 0 }, .expect_count = 2 },
  { OP_TEST "PadFive", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 5,
      .iou = 0.5f, .strict = 1, .least = 0, .expect = { 3, 0, 5 }, .expect_count = 3 },
  { OP_TEST "PadSixWithScoreThreshold", .count = 6, .boxes = { SIX_BOXES },
      .scores = { SIX_SCORES }, .max = 6, .iou = 0.5f, .strict = 1, .least = 0.4f,
      .expect = { 3, 0 }, .expect_count = 2 },
  { OP_TEST "V5PadFive", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 5,
      .iou = 0.5f, .strict = 1, .least = 0, .expect = { 3, 0, 5 }, .expect_count = 3 },
  { PYTHON_TEST "testZeroIOUThreshold", .count = 6, .boxes = { SIX_BOXES },
      .scores = { 1, 1, 1, 1, 1, 1 }, .max = 3, .iou = 0, .least = -INFINITY, .expect = { 0, 3, 5 },
      .expect_count = 3 },
  { PYTHON_TEST "ContinuousOverlap (a suppressed box must not suppress)", .count = 6,
      .boxes = { 0, 0, 1, 1, 0, 0.2f, 1, 1.2f, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1, 1.8f,
          0, 2, 1, 3 },
      .scores = { 0.9f, 0.75f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 3, .iou = 0.5f, .strict = 1,
      .least = 0.1f, .expect = { 0, 2, 4 }, .expect_count = 3 },
  { XLA_TEST "ContinuousOverlap_xla (zero-area last box)", .count = 6,
      .boxes = { 0, 0, 1, 1, 0, 0.2f, 1, 1.2f, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1, 1.8f,
          0, 2, 1, 2 },
      .scores = { 0.9f, 0.75f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 3, .iou = 0.5f, .strict = 1,
      .least = 0.1f, .expect = { 0, 2, 4 }, .expect_count = 3 },
  { XLA_TEST "XLA_max3", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 3,
      .iou = 0.5f, .strict = 1, .least = 0, .expect = { 3, 0, 5 }, .expect_count = 3 },
  { XLA_TEST "XLA_scorethr", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 3,
      .iou = 0.5f, .strict = 1, .least = 0.4f, .expect = { 3, 0 }, .expect_count = 2 },
  { XLA_TEST "XLA_max1", .count = 6, .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 1,
      .iou = 0.5f, .strict = 1, .least = 0.4f, .expect = { 3 }, .expect_count = 1 },

  { XLA_TEST "padded max6, batch 0", .count = 6,
      .boxes = { 0, 0, 1, 1, 3, 3, 4, 4, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1, 1.8f, 0, 2,
          1, 2 },
      .scores = { 0.9f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 2, 4, 5 }, .expect_count = 5 },
  { XLA_TEST "padded max6, batch 1", .count = 6,
      .boxes = { 0, 2, 1, 2, 0, 0.8f, 1, 1.8f, 0, 0.6f, 1, 1.6f, 0, 0.4f, 1, 1.4f, 0, 0.2f, 1, 1.2f,
          0, 0, 1, 1 },
      .scores = { 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 3, 5 }, .expect_count = 4 },
  { XLA_TEST "padded max3, batch 0", .count = 6,
      .boxes = { 0, 0, 1, 1, 3, 3, 4, 4, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1, 1.8f, 0, 2,
          1, 2 },
      .scores = { 0.9f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 3, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 2 }, .expect_count = 3 },
  { XLA_TEST "padded max3, batch 1", .count = 6,
      .boxes = { 0, 2, 1, 2, 0, 0.8f, 1, 1.8f, 0, 0.6f, 1, 1.6f, 0, 0.4f, 1, 1.4f, 0, 0.2f, 1, 1.2f,
          0, 0, 1, 1 },
      .scores = { 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 3, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 3 }, .expect_count = 3 },
  { XLA_TEST "padded scorethr.5 max3, batch 0", .count = 6,
      .boxes = { 0, 0, 1, 1, 3, 3, 4, 4, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1, 1.8f, 0, 2,
          1, 2 },
      .scores = { 0.9f, 0.7f, 0.6f, 0.4f, 0.3f, 0.2f }, .max = 3, .iou = 0.5f, .inclusive = 1,
      .strict = 1, .least = 0.5f, .expect = { 0, 1, 2 }, .expect_count = 3 },
  { XLA_TEST "padded scorethr.5 max3, batch 1", .count = 6,
      .boxes = { 0, 2, 1, 2, 0, 0.8f, 1, 1.8f, 0, 0.6f, 1, 1.6f, 0, 0.4f, 1, 1.4f, 0, 0.2f, 1, 1.2f,
          0, 0, 1, 1 },
      .scores = { 0.8f, 0.7f, 0.6f, 0.4f, 0.3f, 0.1f }, .max = 3, .iou = 0.5f, .inclusive = 1,
      .strict = 1, .least = 0.5f, .expect = { 0, 1 }, .expect_count = 2 },
  { XLA_TEST "padded unsorted max6, batch 0", .count = 6,
      .boxes = { 0, 2, 1, 2, 3, 3, 4, 4, 0, 0, 1, 1, 0, 0.4f, 1, 1.4f, 0, 0.6f, 1, 1.6f, 0, 0.8f, 1,
          1.8f },
      .scores = { 0.3f, 0.7f, 0.9f, 0.6f, 0.5f, 0.4f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 2, 1, 3, 5, 0 }, .expect_count = 5 },
  { XLA_TEST "padded unsorted max6, batch 1", .count = 6,
      .boxes = { 0, 0.4f, 1, 1.4f, 0, 2, 1, 2, 0, 0.2f, 1, 1.2f, 0, 0, 1, 1, 0, 0.6f, 1, 1.6f, 0,
          0.8f, 1, 1.8f },
      .scores = { 0.5f, 0.8f, 0.4f, 0.3f, 0.6f, 0.7f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 1, 5, 0, 3 }, .expect_count = 4 },
  { XLA_TEST "padded noncanonical(y flipped) max6, batch 0", .count = 6,
      .boxes = { 1, 0, 0, 1, 3, 3, 4, 4, 1, 0.4f, 0, 1.4f, 1, 0.6f, 0, 1.6f, 1, 0.8f, 0, 1.8f, 1, 2,
          0, 2 },
      .scores = { 0.9f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 2, 4, 5 }, .expect_count = 5 },
  { XLA_TEST "padded noncanonical(y flipped) max6, batch 1", .count = 6,
      .boxes = { 1, 2, 0, 2, 1, 0.8f, 0, 1.8f, 1, 0.6f, 0, 1.6f, 1, 0.4f, 0, 1.4f, 1, 0.2f, 0, 1.2f,
          1, 0, 0, 1 },
      .scores = { 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f }, .max = 6, .iou = 0.5f, .inclusive = 1,
      .least = -INFINITY, .expect = { 0, 1, 3, 5 }, .expect_count = 4 },
  { .name = NULL }
};

static void
test_row (gconstpointer data)
{
  const TensorflowRow *row = data;

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    nms_boxes boxes = { .size = sizeof boxes, .count = row->count };
    nms_options options;
    nms_result result;

    conformance_set_yxyx (&boxes, row->boxes);
    boxes.score.data = row->scores;
    nms_options_init (&options, sizeof options);
    options.iou_threshold = row->iou;
    options.score_threshold = row->least;
    options.score_strict = row->strict;
    options.inclusive = row->inclusive;
    options.max_detections = row->max;
    options.engine = enginecheck_engines[e];
    conformance_run (&boxes, &options, &result);
    g_assert_cmpmem (result.kept, result.kept_count * sizeof *result.kept, row->expect,
        row->expect_count * sizeof *row->expect);
  }
}

/* InvalidIOUThreshold: "iou_threshold must be in [0, 1]" */
static void
test_invalid_iou_threshold (void)
{
  static const float box[4] = { 0, 0, 1, 1 };
  static const float score = 0.9f;
  nms_boxes boxes = { .size = sizeof boxes, .count = 1, .score = { &score, 0 } };
  nms_options options;
  g_autofree char *detail = g_strdup_printf ("iou_threshold is %g, must be 0..1", 1.2); /* or 1;
  char 2 */
  nms_boxes_set_rows (&boxes, box);
  nms_options_init (&options, sizeof options);
  options.iou_threshold = 1.2f;
  conformance_fail (&boxes, &options, NMS_ERROR_RANGE, detail);
}

static const TestCase cases[] = { TEST_ROWS ("/conformance/tensorflow/%s", test_row, rows),
  CASE (test_invalid_iou_threshold), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
