/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cases of other libraries' tests for hard NMS of axis-aligned boxes: 14 cases in 15
 * rows (the first has two batches), each with its project. Their cases for soft,
 * merging, fusing and rotated NMS, and one for intersection over the smaller area, need
 * methods that this library does not have.
 *
 * One deviation is known: if scores are equal, supervision keeps the box of the higher
 * index and this library the lower one. None of its cases has equal scores; a row of our
 * own fixes our behaviour. The overlaps of supervision's box_iou and of SAHI's IoU case
 * are checked too.
 */
#include "conformance.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <math.h>

#define MOST 10

typedef struct {
  const char *name;
  size_t count;
  int swapped; /* boxes are y1 x1 y2 x2; else x1 y1 x2 y2 */
  float boxes[MOST * 4];
  float scores[MOST];
  int32_t classes[MOST];
  float iou, least;
  uint64_t max_per_class;
  int32_t expect[MOST];
  size_t expect_count;
  int count_only;
} OtherRow;

#define TWO_BOXES 10, 10, 40, 40, 15, 15, 40, 40
#define THREE_BOXES 0, 0, 30, 40, 5, 5, 35, 45, 10, 10, 40, 50
#define THREE_SCORES 0.8f, 0.9f, 0.85f

static const OtherRow rows[] = {
  { "microsoft/onnxruntime non_max_suppression_op_test.cc TwoBatches_TwoClasses, batch 0",
      .count = 10, .swapped = 1,
      .boxes = { 0, 0, 0.3f, 0.3f, 0, 0, 0.4f, 0.4f, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.9f, 0.9f, 0.5f,
          0.5f, 1, 1, 0, 0, 0.3f, 0.3f, 0, 0, 0.4f, 0.4f, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.9f, 0.9f,
          0.5f, 0.5f, 1, 1 },
      .scores = { 0.1f, 0.2f, 0.6f, 0.3f, 0.9f, 0.1f, 0.2f, 0.6f, 0.3f, 0.9f },
      .classes = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 }, .iou = 0.8f, .least = -INFINITY,
      .max_per_class = 2, .expect = { 4, 9, 2, 7 }, .expect_count = 4 },
  { "microsoft/onnxruntime non_max_suppression_op_test.cc TwoBatches_TwoClasses, batch 1",
      .count = 10, .swapped = 1,
      .boxes = { 0, 0, 0.3f, 0.3f, 0, 0, 0.4f, 0.4f, 0.5f, 0.5f, 0.95f, 0.95f, 0.5f, 0.5f, 0.96f,
          0.96f, 0.5f, 0.5f, 1, 1, 0, 0, 0.3f, 0.3f, 0, 0, 0.4f, 0.4f, 0.5f, 0.5f, 0.95f, 0.95f,
          0.5f, 0.5f, 0.96f, 0.96f, 0.5f, 0.5f, 1, 1 },
      .scores = { 0.1f, 0.2f, 0.6f, 0.3f, 0.9f, 0.1f, 0.2f, 0.6f, 0.3f, 0.9f },
      .classes = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 }, .iou = 0.8f, .least = -INFINITY,
      .max_per_class = 2, .expect = { 4, 9, 1, 6 }, .expect_count = 4 },
  { "open-mmlab/mmcv tests/test_ops/test_nms.py", .count = 4,
      .boxes = { 6, 3, 8, 7, 3, 6, 9, 11, 3, 7, 10, 12, 1, 4, 13, 7 },
      .scores = { 0.6f, 0.9f, 0.7f, 0.2f }, .iou = 0.3f, .least = -INFINITY, .expect = { 1, 0, 3 },
      .expect_count = 3 },
  { "open-mmlab/mmcv mmcv/ops/nms.py docstring: the count is all that upstream tells", .count = 7,
      .boxes = { 49.1f, 32.4f, 51, 35.9f, 49.3f, 32.9f, 51, 35.3f, 49.2f, 31.8f, 51, 35.4f, 35.1f,
          11.5f, 39.1f, 15.7f, 35.6f, 11.8f, 39.3f, 14.2f, 35.3f, 11.5f, 39.9f, 14.5f, 35.2f, 11.7f,
          39.7f, 15.7f },
      .scores = { 0.9f, 0.9f, 0.5f, 0.5f, 0.5f, 0.4f, 0.3f }, .iou = 0.6f, .least = -INFINITY,
      .expect_count = 3, .count_only = 1 },
  { "Smirkey/powerboxes tests", .count = 6,
      .boxes = { 184.68927598f, 850.65932762f, 201.47437531f, 866.02327337f, 185.68927598f,
          851.65932762f, 200.47437531f, 865.02327337f, 875.33814954f, 706.46958933f, 902.14487263f,
          737.14697788f, 874.33814954f, 703.46958933f, 901.14487263f, 732.14697788f, 277.71729109f,
          744.81869575f, 308.13768447f, 777.11413807f, 275.71729109f, 740.81869575f, 310.13768447f,
          765.11413807f },
      .scores = { 0.9f, 0.8f, 0.7f, 0.6f, 0.5f, 0.4f }, .iou = 0.5f, .least = -INFINITY,
      .expect = { 0, 2, 4 }, .expect_count = 3 },
  { "Smirkey/powerboxes tests: IoU 1/7", .count = 2, .boxes = { 0, 0, 2, 2, 1, 1, 3, 3 },
      .scores = { 1, 1 }, .iou = 0.8f, .least = -INFINITY, .expect = { 0, 1 }, .expect_count = 2 },
  { "Smirkey/powerboxes tests: score 0 is below the threshold", .count = 2,
      .boxes = { 0, 0, 2, 2, 1, 1, 3, 3 }, .scores = { 0, 1 }, .iou = 0.8f, .least = 0.5f,
      .expect = { 1 }, .expect_count = 1 },
  { "Smirkey/powerboxes tests: all scores below the threshold", .count = 2,
      .boxes = { 0, 0, 2, 2, 1, 1, 3, 3 }, .scores = { 0, 0 }, .iou = 0.8f, .least = 1,
      .expect_count = 0 },
  { "pytorch/vision test/test_ops.py test_nms_float16: float16 there", .count = 3,
      .boxes = { 285.3538f, 185.5758f, 1193.511f, 851.4551f, 285.1472f, 188.7374f, 1192.4984f,
          851.0669f, 279.244f, 197.9812f, 1189.4746f, 849.2019f },
      .scores = { 0.637f, 0.7569f, 0.3966f }, .iou = 0.2f, .least = -INFINITY, .expect = { 1 },
      .expect_count = 1 },
  { "kornia test_nms: a box of width 0 is kept", .count = 4,
      .boxes = { 10, 10, 20, 20, 15, 5, 15, 25, 100, 100, 200, 200, 100, 100, 200, 200 },
      .scores = { 0.9f, 0.8f, 0.7f, 0.9f }, .iou = 0.8f, .least = -INFINITY, .expect = { 0, 3, 1 },
      .expect_count = 3 },
  { "roboflow/supervision test/detection (non_max_suppression): two boxes of one class", .count = 2,
      .boxes = { TWO_BOXES }, .scores = { 0.8f, 0.9f }, .classes = { 0, 0 }, .iou = 0.5f,
      .least = -INFINITY, .expect = { 1 }, .expect_count = 1 },
  { "roboflow/supervision test/detection (non_max_suppression): two boxes of two classes",
      .count = 2, .boxes = { TWO_BOXES }, .scores = { 0.8f, 0.9f }, .classes = { 0, 1 },
      .iou = 0.5f, .least = -INFINITY, .expect = { 1, 0 }, .expect_count = 2 },
  { "roboflow/supervision test/detection (non_max_suppression): three boxes of one class",
      .count = 3, .boxes = { THREE_BOXES }, .scores = { THREE_SCORES }, .classes = { 0, 0, 0 },
      .iou = 0.5f, .least = -INFINITY, .expect = { 1 }, .expect_count = 1 },
  { "roboflow/supervision test/detection (non_max_suppression): three boxes of three classes",
      .count = 3, .boxes = { THREE_BOXES }, .scores = { THREE_SCORES }, .classes = { 0, 1, 2 },
      .iou = 0.5f, .least = -INFINITY, .expect = { 1, 2, 0 }, .expect_count = 3 },
  { "roboflow/supervision test/detection (non_max_suppression): three boxes of two classes",
      .count = 3, .boxes = { THREE_BOXES }, .scores = { THREE_SCORES }, .classes = { 0, 0, 1 },
      .iou = 0.5f, .least = -INFINITY, .expect = { 1, 2 }, .expect_count = 2 },
  { "obss/sahi NMS tests: IoU of a small box in a large one", .count = 2,
      .boxes = { 0, 0, 100, 100, 10, 10, 20, 20 }, .scores = { 0.9f, 0.8f }, .iou = 0.5f,
      .least = -INFINITY, .expect = { 0, 1 }, .expect_count = 2 },
  { "our side of the deviation from supervision: a tie goes to the lower index", .count = 2,
      .boxes = { TWO_BOXES }, .scores = { 0.9f, 0.9f }, .iou = 0.5f, .least = -INFINITY,
      .expect = { 0 }, .expect_count = 1 },
  { .name = NULL }
};

static void
test_row (gconstpointer data)
{
  const OtherRow *row = data;

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    nms_boxes boxes = { .size = sizeof boxes, .count = row->count };
    nms_options options;
    nms_result result;

    if (row->swapped)
      conformance_set_yxyx (&boxes, row->boxes);
    else
      nms_boxes_set_rows (&boxes, row->boxes);
    boxes.score.data = row->scores;
    boxes.class_id.data = row->classes;
    nms_options_init (&options, sizeof options);
    options.iou_threshold = row->iou;
    options.score_threshold = row->least;
    options.max_per_class = row->max_per_class;
    options.engine = enginecheck_engines[e];
    conformance_run (&boxes, &options, &result);
    g_assert_cmpuint (result.kept_count, ==, row->expect_count);
    if (!row->count_only)
      g_assert_cmpmem (result.kept, result.kept_count * sizeof *result.kept, row->expect,
          row->expect_count * sizeof *row->expect);
  }
}

/* roboflow/supervision box_iou: 0.142857 */
static void
test_box_iou (void)
{
  static const float a[4] = { 100, 100, 200, 200 }, b[4] = { 150, 150, 250, 250 };

  g_assert_cmpfloat (nms_iou (a, b), ==, 1.0f / 7.0f);
  g_assert_cmpfloat (ref_iou (a, b), ==, 1.0f / 7.0f);
}

static const TestCase cases[] = { TEST_ROWS ("/conformance/others/%s", test_row, rows),
  CASE (test_box_iou), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
