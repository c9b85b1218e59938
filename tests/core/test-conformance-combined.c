/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow's twelve cases for CombinedNonMaxSuppression, from tensorflow/tensorflow
 * (Apache-2.0), commit 0698f7518b5d,
 * tensorflow/core/kernels/image/non_max_suppression_op_test.cc; a batch is a row here.
 * Boxes are y1 x1 y2 x2, one for all classes or one for each class. The operator runs
 * NMS for each class under a cap per class and keeps the best boxes of all classes under
 * a total cap. It then clips to 0..1 and pads with zeros: the test clips, and a row
 * lists the boxes without the padding. The operator's pad_per_class limits the total to
 * max_per_class * classes; the rows have that number.
 */
#include "conformance.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

#define MOST 12

typedef struct {
  const char *name;
  size_t count, boxes_a_row, classes;
  float boxes[MOST * 4]; /* [count][boxes_a_row][4] */
  float scores[MOST];    /* [count][classes] */
  uint64_t max_per_class, max;
  float iou, least;
  int clip;
  float expect_boxes[5][4];
  float expect_scores[5];
  int32_t expect_classes[5];
  size_t expect_count;
} CombinedRow;

#define SMALL_BOXES \
  0, 0, 0.1f, 0.1f, 0, 0.01f, 0.1f, 0.11f, 0, -0.01f, 0.1f, 0.09f, 0, 0.11f, 0.1f, 0.2f, 0, 0.12f, \
      0.1f, 0.21f, 0, 0.3f, 1, 0.4f
#define LARGER_BOXES \
  0, 0, 0.2f, 0.2f, 0, 0.02f, 0.2f, 0.22f, 0, -0.02f, 0.2f, 0.19f, 0, 0.21f, 0.2f, 0.3f, 0, 0.22f, \
      0.2f, 0.31f, 0, 0.4f, 1, 0.5f
#define TWO_CLASS_SCORES 0.1f, 0.9f, 0.75f, 0.8f, 0.6f, 0.3f, 0.95f, 0.1f, 0.5f, 0.5f, 0.3f, 0.1f

static const CombinedRow rows[] = {
  { "ThreeClusters", .count = 6, .boxes_a_row = 1, .classes = 1, .boxes = { SMALL_BOXES },
      .scores = { SIX_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f, .least = 0, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f }, { 0, 0.3f, 1, 0.4f } },
      .expect_scores = { 0.95f, 0.9f, 0.3f }, .expect_classes = { 0, 0, 0 }, .expect_count = 3 },
  { "ThreeClustersNoBoxClipping", .count = 6, .boxes_a_row = 1, .classes = 1,
      .boxes = { 0, 0, 10, 10, 0, 1, 10, 11, 0, 1, 10, 9, 0, 11, 10, 20, 0, 12, 10, 21, 0, 30, 100,
          40 },
      .scores = { SIX_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f, .least = 0,
      .expect_boxes = { { 0, 11, 10, 20 }, { 0, 0, 10, 10 }, { 0, 30, 100, 40 } },
      .expect_scores = { 0.95f, 0.9f, 0.3f }, .expect_classes = { 0, 0, 0 }, .expect_count = 3 },
  { "ThreeClustersWithScoreThreshold", .count = 6, .boxes_a_row = 1, .classes = 1,
      .boxes = { SMALL_BOXES }, .scores = { SIX_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f,
      .least = 0.4f, .clip = 1, .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 0 }, .expect_count = 2 },
  { "ThreeClustersWithScoreThresholdZeroScores", .count = 6, .boxes_a_row = 1, .classes = 1,
      .boxes = { SMALL_BOXES }, .scores = { 0.1f, 0, 0, 0.3f, 0.2f, -5 }, .max_per_class = 4,
      .max = 5, .iou = 0.5f, .least = -3, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.3f, 0.1f }, .expect_classes = { 0, 0 }, .expect_count = 2 },
  { "TwoBatchesWithScoreThreshold, batch 0", .count = 6, .boxes_a_row = 1, .classes = 1,
      .boxes = { SMALL_BOXES }, .scores = { SIX_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f,
      .least = 0.4f, .clip = 1, .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 0 }, .expect_count = 2 },
  { "TwoBatchesWithScoreThreshold, batch 1", .count = 6, .boxes_a_row = 1, .classes = 1,
      .boxes = { LARGER_BOXES }, .scores = { SIX_SCORES }, .max_per_class = 3, .max = 3,
      .iou = 0.5f, .least = 0.4f, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 0 }, .expect_count = 2 },
  { "TwoBatchesTwoClasses, batch 0", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { SMALL_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3,
      .iou = 0.5f, .least = 0, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f }, { 0, 0.01f, 0.1f, 0.11f } },
      .expect_scores = { 0.95f, 0.9f, 0.75f }, .expect_classes = { 0, 1, 0 }, .expect_count = 3 },
  { "TwoBatchesTwoClasses, batch 1", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { LARGER_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3,
      .iou = 0.5f, .least = 0, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f }, { 0, 0.02f, 0.2f, 0.22f } },
      .expect_scores = { 0.95f, 0.9f, 0.75f }, .expect_classes = { 0, 1, 0 }, .expect_count = 3 },
  { "TwoBatchesTwoClassesWithScoreThreshold, batch 0", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { SMALL_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3,
      .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesWithScoreThreshold, batch 1", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { LARGER_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3,
      .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesWithScoreThresholdPaddedTotalSize, batch 0", .count = 6, .boxes_a_row = 1,
      .classes = 2, .boxes = { SMALL_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 10,
      .max = 3, .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesWithScoreThresholdPaddedTotalSize, batch 1", .count = 6, .boxes_a_row = 1,
      .classes = 2, .boxes = { LARGER_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 10,
      .max = 3, .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesWithScoreThresholdPaddedPerClass, batch 0", .count = 6, .boxes_a_row = 1,
      .classes = 2, .boxes = { SMALL_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 2,
      .max = 4, .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesWithScoreThresholdPaddedPerClass, batch 1", .count = 6, .boxes_a_row = 1,
      .classes = 2, .boxes = { LARGER_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 2,
      .max = 4, .iou = 0.5f, .least = 0.8f, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f } },
      .expect_scores = { 0.95f, 0.9f }, .expect_classes = { 0, 1 }, .expect_count = 2 },
  { "TwoBatchesTwoClassesTotalSize, batch 0", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { SMALL_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 5,
      .iou = 0.5f, .least = 0.1f, .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f }, { 0, 0.01f, 0.1f, 0.11f },
          { 0, 0.12f, 0.1f, 0.21f }, { 0, 0.3f, 1, 0.4f } },
      .expect_scores = { 0.95f, 0.9f, 0.75f, 0.5f, 0.3f }, .expect_classes = { 0, 1, 0, 1, 0 },
      .expect_count = 5 },
  { "TwoBatchesTwoClassesTotalSize, batch 1", .count = 6, .boxes_a_row = 1, .classes = 2,
      .boxes = { LARGER_BOXES }, .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 5,
      .iou = 0.5f, .least = 0.1f, .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f }, { 0, 0.02f, 0.2f, 0.22f },
          { 0, 0.22f, 0.2f, 0.31f }, { 0, 0.4f, 1, 0.5f } },
      .expect_scores = { 0.95f, 0.9f, 0.75f, 0.5f, 0.3f }, .expect_classes = { 0, 1, 0, 1, 0 },
      .expect_count = 5 },
  { "TwoBatchesTwoClassesForBoxesAndScores (q=2), batch 0", .count = 6, .boxes_a_row = 2,
      .classes = 2,
      .boxes = { 0, 0, 0.1f, 0.1f, 0, 0, 0.1f, 0.1f, 0, 0.01f, 0.1f, 0.11f, 0, 0.6f, 0.1f, 0.7f, 0,
          -0.01f, 0.1f, 0.09f, 0, -0.01f, 0.1f, 0.09f, 0, 0.11f, 0.1f, 0.2f, 0, 0.11f, 0.1f, 0.2f,
          0, 0.12f, 0.1f, 0.21f, 0, 0.12f, 0.1f, 0.21f, 0, 0.3f, 1, 0.4f, 0, 0.3f, 1, 0.4f },
      .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f, .least = 0,
      .clip = 1,
      .expect_boxes = { { 0, 0.11f, 0.1f, 0.2f }, { 0, 0, 0.1f, 0.1f }, { 0, 0.6f, 0.1f, 0.7f } },
      .expect_scores = { 0.95f, 0.9f, 0.8f }, .expect_classes = { 0, 1, 1 }, .expect_count = 3 },
  { "TwoBatchesTwoClassesForBoxesAndScores (q=2), batch 1", .count = 6, .boxes_a_row = 2,
      .classes = 2,
      .boxes = { 0, 0, 0.2f, 0.2f, 0, 0, 0.2f, 0.2f, 0, 0.02f, 0.2f, 0.22f, 0, 0.02f, 0.2f, 0.22f,
          0, -0.02f, 0.2f, 0.19f, 0, -0.02f, 0.2f, 0.19f, 0, 0.21f, 0.2f, 0.3f, 0, 0.21f, 0.2f,
          0.3f, 0, 0.22f, 0.2f, 0.31f, 0, 0.22f, 0.2f, 0.31f, 0, 0.4f, 1, 0.5f, 0, 0.4f, 1, 0.5f },
      .scores = { TWO_CLASS_SCORES }, .max_per_class = 3, .max = 3, .iou = 0.5f, .least = 0,
      .clip = 1,
      .expect_boxes = { { 0, 0.21f, 0.2f, 0.3f }, { 0, 0, 0.2f, 0.2f }, { 0, 0.02f, 0.2f, 0.22f } },
      .expect_scores = { 0.95f, 0.9f, 0.75f }, .expect_classes = { 0, 1, 0 }, .expect_count = 3 },
  { "NegativeScores", .count = 2, .boxes_a_row = 1, .classes = 1,
      .boxes = { 0, 0, 1, 1, 0, 0, 1, 1 }, .scores = { -5, -6 }, .max_per_class = 2, .max = 2,
      .iou = 0.5f, .least = -10, .clip = 1, .expect_boxes = { { 0, 0, 1, 1 } },
      .expect_scores = { -5 }, .expect_classes = { 0 }, .expect_count = 1 },
  { .name = NULL }
};

static void
test_row (gconstpointer data)
{
  const CombinedRow *row = data;
  float corners[MOST * 2][4], scores[MOST * 2];
  int32_t classes[MOST * 2];
  size_t n = 0;

  for (size_t c = 0; c < row->classes; c++)
    for (size_t i = 0; i < row->count; i++, n++) {
      size_t box = i * row->boxes_a_row + (row->boxes_a_row > 1 ? c : 0);
      memcpy (corners[n], row->boxes + box * 4, sizeof corners[n]);
      scores[n] = row->scores[i * row->classes + c];
      classes[n] = (int32_t) c;
    }

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    nms_boxes boxes = { .size = sizeof boxes, .count = n };
    nms_options options;
    nms_result result;

    conformance_set_yxyx (&boxes, corners[0]);
    boxes.score.data = scores;
    boxes.class_id.data = classes;
    nms_options_init (&options, sizeof options);
    options.iou_threshold = row->iou;
    options.score_threshold = row->least;
    options.score_strict = 1;
    options.max_per_class = row->max_per_class;
    options.max_detections = row->max;
    options.engine = enginecheck_engines[e];
    conformance_run (&boxes, &options, &result);

    g_assert_cmpuint (result.kept_count, ==, row->expect_count);
    for (size_t k = 0; k < row->expect_count; k++) {
      int32_t i = result.kept[k];
      for (int d = 0; d < 4; d++)
        g_assert_cmpfloat (row->clip ? CLAMP (corners[i][d], 0, 1) : corners[i][d], ==,
            row->expect_boxes[k][d]);
      g_assert_cmpfloat (scores[i], ==, row->expect_scores[k]);
      g_assert_cmpint (classes[i], ==, row->expect_classes[k]);
    }
  }
}

static const TestCase cases[] = { TEST_ROWS ("/conformance/combined/%s", test_row, rows),

  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
