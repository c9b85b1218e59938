/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ten cases of ONNX for NonMaxSuppression, from onnx/onnx (Apache-2.0),
 * onnx/backend/test/case/node/nonmaxsuppression.py, as of 2026-08-22. ONNX runs NMS for
 * each batch and class, keeps score > threshold, suppresses IoU > threshold, returns
 * [batch, class, box] grouped by batch and class, and caps each class of a batch.
 *
 * One difference is deliberate: a cap of 0 keeps nothing in ONNX and has no limit here.
 * run_batch translates it.
 */
#include "conformance.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

#define MOST 20

typedef struct {
  const char *name;
  int centered; /* boxes are cx cy w h; else y1 x1 y2 x2 in any order */
  size_t batches, classes, count;
  float boxes[MOST * 4];
  float scores[MOST];
  uint64_t max;
  float iou, least;
  int32_t expect[MOST][3];
  size_t expect_count;
} OnnxRow;

#define SIX_BOXES_CENTERED \
  0.5f, 0.5f, 1, 1, 0.5f, 0.6f, 1, 1, 0.5f, 0.4f, 1, 1, 0.5f, 10.5f, 1, 1, 0.5f, 10.6f, 1, 1, \
      0.5f, 100.5f, 1, 1

static const OnnxRow rows[] = {
  { "test_nonmaxsuppression_suppress_by_IOU", .batches = 1, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f, .least = 0,
      .expect = { { 0, 0, 3 }, { 0, 0, 0 }, { 0, 0, 5 } }, .expect_count = 3 },
  { "test_nonmaxsuppression_suppress_by_IOU_and_scores", .batches = 1, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f, .least = 0.4f,
      .expect = { { 0, 0, 3 }, { 0, 0, 0 } }, .expect_count = 2 },
  { "test_nonmaxsuppression_flipped_coordinates", .batches = 1, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES_FLIPPED }, .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f, .least = 0,
      .expect = { { 0, 0, 3 }, { 0, 0, 0 }, { 0, 0, 5 } }, .expect_count = 3 },
  { "test_nonmaxsuppression_limit_output_size", .batches = 1, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 2, .iou = 0.5f, .least = 0,
      .expect = { { 0, 0, 3 }, { 0, 0, 0 } }, .expect_count = 2 },
  { "test_nonmaxsuppression_single_box", .batches = 1, .classes = 1, .count = 1,
      .boxes = { 0, 0, 1, 1 }, .scores = { 0.9f }, .max = 3, .iou = 0.5f, .least = 0,
      .expect = { { 0, 0, 0 } }, .expect_count = 1 },
  { "test_nonmaxsuppression_identical_boxes", .batches = 1, .classes = 1, .count = 10,
      .boxes = { TEN_EQUAL_BOXES },
      .scores = { 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f }, .max = 3,
      .iou = 0.5f, .least = 0, .expect = { { 0, 0, 0 } }, .expect_count = 1 },
  { "test_nonmaxsuppression_center_point_box_format", .centered = 1, .batches = 1, .classes = 1,
      .count = 6, .boxes = { SIX_BOXES_CENTERED }, .scores = { SIX_SCORES }, .max = 3, .iou = 0.5f,
      .least = 0, .expect = { { 0, 0, 3 }, { 0, 0, 0 }, { 0, 0, 5 } }, .expect_count = 3 },
  { "test_nonmaxsuppression_two_classes", .batches = 1, .classes = 2, .count = 6,
      .boxes = { SIX_BOXES }, .scores = { SIX_SCORES, SIX_SCORES }, .max = 2, .iou = 0.5f,
      .least = 0, .expect = { { 0, 0, 3 }, { 0, 0, 0 }, { 0, 1, 3 }, { 0, 1, 0 } },
      .expect_count = 4 },
  { "test_nonmaxsuppression_two_batches", .batches = 2, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES, SIX_BOXES }, .scores = { SIX_SCORES, SIX_SCORES }, .max = 2,
      .iou = 0.5f, .least = 0, .expect = { { 0, 0, 3 }, { 0, 0, 0 }, { 1, 0, 3 }, { 1, 0, 0 } },
      .expect_count = 4 },
  { "test_nonmaxsuppression_iou_threshold_boundary", .batches = 1, .classes = 1, .count = 2,
      .boxes = { 0, 0, 1, 1, 0.5f, 0.5f, 1.5f, 1.5f }, .scores = { 0.9f, 0.8f }, .max = 3,
      .iou = 0.1428571492433548f, .least = 0, .expect = { { 0, 0, 0 }, { 0, 0, 1 } },
      .expect_count = 2 },
  /* not in the suite: max 0 keeps nothing, as the text of the operator says */
  { "max_output_boxes_per_class 0 means none", .batches = 1, .classes = 1, .count = 6,
      .boxes = { SIX_BOXES }, .scores = { SIX_SCORES }, .max = 0, .iou = 0.5f, .least = 0,
      .expect_count = 0 },
  { .name = NULL }
};

/* Runs one batch with each box once for each class, in the order of classes, so that
 * index class * count + box orders ties as ONNX does. Appends to `selected`. */
static size_t
run_batch (const OnnxRow *row, size_t batch, uint32_t engine, int32_t (*selected)[3], size_t at)
{
  const size_t n = row->count;
  float corners[MOST * 4], all[MOST * 4];
  int32_t classes[MOST];
  nms_boxes boxes = { .size = sizeof boxes, .count = n * row->classes };
  nms_options options;
  nms_result result;

  if (row->max == 0)
    return at; /* nms_options cannot say "keep nothing" */
  if (row->centered)
    nms_rows_from_cxcywh (row->boxes + batch * n * 4, n, corners);
  else
    memcpy (corners, row->boxes + batch * n * 4, n * 4 * sizeof (float));
  for (size_t c = 0; c < row->classes; c++) {
    memcpy (all + c * n * 4, corners, n * 4 * sizeof (float));
    for (size_t i = 0; i < n; i++)
      classes[c * n + i] = (int32_t) c;
  }
  if (row->centered)
    nms_boxes_set_rows (&boxes, all);
  else
    conformance_set_yxyx (&boxes, all);
  boxes.score.data = row->scores + batch * n * row->classes;
  boxes.class_id.data = classes;

  nms_options_init (&options, sizeof options);
  options.iou_threshold = row->iou;
  options.score_threshold = row->least;
  options.score_strict = 1;
  options.max_per_class = row->max;
  options.engine = engine;
  conformance_run (&boxes, &options, &result);
  for (size_t c = 0; c < row->classes; c++)
    for (size_t k = 0; k < result.kept_count; k++)
      if (classes[result.kept[k]] == (int32_t) c) {
        selected[at][0] = (int32_t) batch;
        selected[at][1] = (int32_t) c;
        selected[at++][2] = result.kept[k] - (int32_t) (c * n);
      }
  return at;
}

static void
test_row (gconstpointer data)
{
  const OnnxRow *row = data;

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    int32_t selected[MOST * 2][3];
    size_t at = 0;

    for (size_t batch = 0; batch < row->batches; batch++)
      at = run_batch (row, batch, enginecheck_engines[e], selected, at);
    g_assert_cmpmem (selected, at * sizeof *selected, row->expect,
        row->expect_count * sizeof *row->expect);
  }
}

static const TestCase cases[] = { TEST_ROWS ("/conformance/onnx/%s", test_row, rows),

  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
