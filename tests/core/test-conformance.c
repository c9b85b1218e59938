/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cases of other projects' tests, which every engine must give, and the reference:
 *
 * - tensorflow: NonMaxSuppression V1 to V5 and its padded form, from tensorflow/tensorflow
 *   (Apache-2.0), commit 0698f7518b5d, in tensorflow/core/kernels/image,
 *   non_max_suppression_op_test.cc; python and xla: tensorflow/python/ops/image_ops_test.py and
 *   tensorflow/compiler/tests/image_ops_test.py. Soft NMS, overlaps given as a matrix, and shapes
 *   of tensors have no counterpart in method hard. The padded operator suppresses at IoU >=
 *   threshold.
 * - combined: CombinedNonMaxSuppression, from the same file. A batch is a row. Box i of class c has
 *   the index c * 6 + i. The operator also clips its boxes and pads them with zeros.
 * - onnx: NonMaxSuppression, from onnx/onnx (Apache-2.0),
 *   onnx/backend/test/case/node/nonmaxsuppression.py, as of 2026-08-22. A cap of 0 keeps nothing in
 *   ONNX and has no limit here.
 * - others: microsoft/onnxruntime, open-mmlab/mmcv (its docstring tells only the number of boxes),
 *   Smirkey/powerboxes, pytorch/vision, kornia, roboflow/supervision, obss/sahi. Of equal scores
 *   supervision keeps the higher index, and this library the lower one.
 *
 * Their boxes are y1 x1 y2 x2 or x1 y1 x2 y2, which makes no difference. Names joined by "=" have
 * the same input.
 */
#include "conformance.h"
#include "handrows.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

#define SMALL_OF_TWO \
  "0,0,0.1,0.1 0.1; 0,0.01,0.1,0.11 0.75; 0,-0.01,0.1,0.09 0.6; 0,0.11,0.1,0.2 0.95; " \
  "0,0.12,0.1,0.21 0.5; 0,0.3,1,0.4 0.3; 0,0,0.1,0.1 0.9 class=1; " \
  "0,0.01,0.1,0.11 0.8 class=1; 0,-0.01,0.1,0.09 0.3 class=1; " \
  "0,0.11,0.1,0.2 0.1 class=1; 0,0.12,0.1,0.21 0.5 class=1; 0,0.3,1,0.4 0.1 class=1"
#define LARGER_OF_TWO \
  "0,0,0.2,0.2 0.1; 0,0.02,0.2,0.22 0.75; 0,-0.02,0.2,0.19 0.6; 0,0.21,0.2,0.3 0.95; " \
  "0,0.22,0.2,0.31 0.5; 0,0.4,1,0.5 0.3; 0,0,0.2,0.2 0.9 class=1; " \
  "0,0.02,0.2,0.22 0.8 class=1; 0,-0.02,0.2,0.19 0.3 class=1; " \
  "0,0.21,0.2,0.3 0.1 class=1; 0,0.22,0.2,0.31 0.5 class=1; 0,0.4,1,0.5 0.1 class=1"
#define SIX \
  "0,0,1,1 0.9; 0,0.1,1,1.1 0.75; 0,-0.1,1,0.9 0.6; 0,10,1,11 0.95; 0,10.1,1,11.1 0.5; " \
  "0,100,1,101 0.3"
#define SIX_FLIPPED \
  "1,1,0,0 0.9; 0,0.1,1,1.1 0.75; 0,0.9,1,-0.1 0.6; 0,10,1,11 0.95; 1,10.1,0,11.1 0.5; " \
  "1,101,0,100 0.3"
#define TEN_EQUAL \
  "0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9; " \
  "0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9; 0,0,1,1 0.9"
#define SMALL \
  "0,0,0.1,0.1 0.9; 0,0.01,0.1,0.11 0.75; 0,-0.01,0.1,0.09 0.6; 0,0.11,0.1,0.2 0.95; " \
  "0,0.12,0.1,0.21 0.5; 0,0.3,1,0.4 0.3"

#define PADDED_0 \
  "0,0,1,1 0.9; 3,3,4,4 0.7; 0,0.4,1,1.4 0.6; 0,0.6,1,1.6 0.5; 0,0.8,1,1.8 0.4; " \
  "0,2,1,2 0.3"
#define PADDED_1 \
  "0,2,1,2 0.8; 0,0.8,1,1.8 0.7; 0,0.6,1,1.6 0.6; 0,0.4,1,1.4 0.5; 0,0.2,1,1.2 0.4; " \
  "0,0,1,1 0.3"

static const HandRow rows[] = { { "tensorflow SelectFromThreeClusters", "max=3", SIX, "3 0 5" },
  { "tensorflow SelectFromThreeClustersFlippedCoordinates", "max=3", SIX_FLIPPED, "3 0 5" },
  { "tensorflow SelectAtMostTwoBoxesFromThreeClusters", "max=2", SIX, "3 0" },
  { "tensorflow SelectAtMostThirtyBoxesFromThreeClusters", "max=30", SIX, "3 0 5" },
  { "tensorflow SelectSingleBox", "max=3", "0,0,1,1 0.9", "0" },
  { "tensorflow SelectFromTenIdenticalBoxes", "max=3", TEN_EQUAL, "0" },
  { "tensorflow EmptyInput", "max=30", "", "" },
  { "tensorflow SelectWithNegativeScores", "max=6",
      "0,0,1,1 -9.1; 0,0.1,1,1.1 -9.25; 0,-0.1,1,0.9 -9.4; 0,10,1,11 -9.05; "
      "0,10.1,1,11.1 -9.5; 0,100,1,101 -9.7",
      "3 0 5" },
  { "tensorflow FirstBoxDegenerate", "max=3", "0,0,0,0 0.9; 1,1,2,2 0.75; 2,2,3,3 0.6", "0 1 2" },
  { "tensorflow SelectFromThreeClustersWithScoreThreshold = xla XLA_scorethr",
      "least=0.4 strict max=3", SIX, "3 0" },
  { "tensorflow SelectFromThreeClustersWithScoreThresholdZeroScores", "least=-3 strict max=6",
      "0,0,1,1 0.1; 0,0.1,1,1.1 0; 0,-0.1,1,0.9 0; 0,10,1,11 0.3; 0,10.1,1,11.1 0.2; "
      "0,100,1,101 -5",
      "3 0" },
  { "tensorflow PadFive = V5PadFive", "least=0 strict max=5", SIX, "3 0 5" },
  { "tensorflow PadSixWithScoreThreshold", "least=0.4 strict max=6", SIX, "3 0" },
  { "python testZeroIOUThreshold", "iou=0 max=3",
      "0,0,1,1 1; 0,0.1,1,1.1 1; 0,-0.1,1,0.9 1; 0,10,1,11 1; 0,10.1,1,11.1 1; "
      "0,100,1,101 1",
      "0 3 5" },
  { "python ContinuousOverlap (a suppressed box must not suppress)", "least=0.1 strict max=3",
      "0,0,1,1 0.9; 0,0.2,1,1.2 0.75; 0,0.4,1,1.4 0.6; 0,0.6,1,1.6 0.5; 0,0.8,1,1.8 0.4; "
      "0,2,1,3 0.3",
      "0 2 4" },
  { "xla ContinuousOverlap_xla (zero-area last box)", "least=0.1 strict max=3",
      "0,0,1,1 0.9; 0,0.2,1,1.2 0.75; 0,0.4,1,1.4 0.6; 0,0.6,1,1.6 0.5; 0,0.8,1,1.8 0.4; "
      "0,2,1,2 0.3",
      "0 2 4" },
  { "xla XLA_max3", "least=0 strict max=3", SIX, "3 0 5" },
  { "xla XLA_max1", "least=0.4 strict max=1", SIX, "3" },
  { "xla padded max6, batch 0", "inclusive max=6", PADDED_0, "0 1 2 4 5" },
  { "xla padded max6, batch 1", "inclusive max=6", PADDED_1, "0 1 3 5" },
  { "xla padded max3, batch 0", "inclusive max=3", PADDED_0, "0 1 2" },
  { "xla padded max3, batch 1", "inclusive max=3", PADDED_1, "0 1 3" },
  { "xla padded scorethr.5 max3, batch 0", "least=0.5 strict inclusive max=3",
      "0,0,1,1 0.9; 3,3,4,4 0.7; 0,0.4,1,1.4 0.6; 0,0.6,1,1.6 0.4; 0,0.8,1,1.8 0.3; "
      "0,2,1,2 0.2",
      "0 1 2" },
  { "xla padded scorethr.5 max3, batch 1", "least=0.5 strict inclusive max=3",
      "0,2,1,2 0.8; 0,0.8,1,1.8 0.7; 0,0.6,1,1.6 0.6; 0,0.4,1,1.4 0.4; 0,0.2,1,1.2 0.3; "
      "0,0,1,1 0.1",
      "0 1" },
  { "xla padded unsorted max6, batch 0", "inclusive max=6",
      "0,2,1,2 0.3; 3,3,4,4 0.7; 0,0,1,1 0.9; 0,0.4,1,1.4 0.6; 0,0.6,1,1.6 0.5; "
      "0,0.8,1,1.8 0.4",
      "2 1 3 5 0" },
  { "xla padded unsorted max6, batch 1", "inclusive max=6",
      "0,0.4,1,1.4 0.5; 0,2,1,2 0.8; 0,0.2,1,1.2 0.4; 0,0,1,1 0.3; 0,0.6,1,1.6 0.6; "
      "0,0.8,1,1.8 0.7",
      "1 5 0 3" },
  { "xla padded noncanonical(y flipped) max6, batch 0", "inclusive max=6",
      "1,0,0,1 0.9; 3,3,4,4 0.7; 1,0.4,0,1.4 0.6; 1,0.6,0,1.6 0.5; 1,0.8,0,1.8 0.4; "
      "1,2,0,2 0.3",
      "0 1 2 4 5" },
  { "xla padded noncanonical(y flipped) max6, batch 1", "inclusive max=6",
      "1,2,0,2 0.8; 1,0.8,0,1.8 0.7; 1,0.6,0,1.6 0.6; 1,0.4,0,1.4 0.5; 1,0.2,0,1.2 0.4; "
      "1,0,0,1 0.3",
      "0 1 3 5" },
  { "onnx suppress_by_IOU", "least=0 strict max-per-class=3", SIX, "3 0 5" },
  { "onnx suppress_by_IOU_and_scores", "least=0.4 strict max-per-class=3", SIX, "3 0" },
  { "onnx flipped_coordinates", "least=0 strict max-per-class=3", SIX_FLIPPED, "3 0 5" },
  { "onnx limit_output_size = two_batches, batch 0 = two_batches, batch 1",
      "least=0 strict max-per-class=2", SIX, "3 0" },
  { "onnx single_box", "least=0 strict max-per-class=3", "0,0,1,1 0.9", "0" },
  { "onnx identical_boxes", "least=0 strict max-per-class=3", TEN_EQUAL, "0" },
  { "onnx center_point_box_format", "least=0 strict max-per-class=3",
      "0.5,0.5,1,1 0.9; 0.5,0.6,1,1 0.75; 0.5,0.4,1,1 0.6; 0.5,10.5,1,1 0.95; "
      "0.5,10.6,1,1 0.5; 0.5,100.5,1,1 0.3",
      "3 0 5" },
  { "onnx two_classes", "least=0 strict max-per-class=2",
      "0,0,1,1 0.9; 0,0.1,1,1.1 0.75; 0,-0.1,1,0.9 0.6; 0,10,1,11 0.95; 0,10.1,1,11.1 0.5; "
      "0,100,1,101 0.3; 0,0,1,1 0.9 class=1; 0,0.1,1,1.1 0.75 class=1; "
      "0,-0.1,1,0.9 0.6 class=1; 0,10,1,11 0.95 class=1; 0,10.1,1,11.1 0.5 class=1; "
      "0,100,1,101 0.3 class=1",
      "3 9 0 6" },
  { "onnx iou_threshold_boundary", "iou=0.14285715 least=0 strict max-per-class=3",
      "0,0,1,1 0.9; 0.5,0.5,1.5,1.5 0.8", "0 1" },
  { "combined ThreeClusters", "least=0 strict max=3 max-per-class=3", SMALL, "3 0 5" },
  { "combined ThreeClustersNoBoxClipping", "least=0 strict max=3 max-per-class=3",
      "0,0,10,10 0.9; 0,1,10,11 0.75; 0,1,10,9 0.6; 0,11,10,20 0.95; 0,12,10,21 0.5; "
      "0,30,100,40 0.3",
      "3 0 5" },
  { "combined ThreeClustersWithScoreThreshold = TwoBatchesWithScoreThreshold, batch 0",
      "least=0.4 strict max=3 max-per-class=3", SMALL, "3 0" },
  { "combined ThreeClustersWithScoreThresholdZeroScores", "least=-3 strict max=5 max-per-class=4",
      "0,0,0.1,0.1 0.1; 0,0.01,0.1,0.11 0; 0,-0.01,0.1,0.09 0; 0,0.11,0.1,0.2 0.3; "
      "0,0.12,0.1,0.21 0.2; 0,0.3,1,0.4 -5",
      "3 0" },
  { "combined TwoBatchesWithScoreThreshold, batch 1", "least=0.4 strict max=3 max-per-class=3",
      "0,0,0.2,0.2 0.9; 0,0.02,0.2,0.22 0.75; 0,-0.02,0.2,0.19 0.6; 0,0.21,0.2,0.3 0.95; "
      "0,0.22,0.2,0.31 0.5; 0,0.4,1,0.5 0.3",
      "3 0" },
  { "combined TwoBatchesTwoClasses, batch 0", "least=0 strict max=3 max-per-class=3", SMALL_OF_TWO,
      "3 6 1" },
  { "combined TwoBatchesTwoClasses, batch 1 = TwoBatchesTwoClassesForBoxesAndScores (q=2), batch 1",
      "least=0 strict max=3 max-per-class=3", LARGER_OF_TWO, "3 6 1" },
  { "combined TwoBatchesTwoClassesWithScoreThreshold, batch 0",
      "least=0.8 strict max=3 max-per-class=3", SMALL_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesWithScoreThreshold, batch 1",
      "least=0.8 strict max=3 max-per-class=3", LARGER_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesWithScoreThresholdPaddedTotalSize, batch 0",
      "least=0.8 strict max=3 max-per-class=10", SMALL_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesWithScoreThresholdPaddedTotalSize, batch 1",
      "least=0.8 strict max=3 max-per-class=10", LARGER_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesWithScoreThresholdPaddedPerClass, batch 0",
      "least=0.8 strict max=4 max-per-class=2", SMALL_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesWithScoreThresholdPaddedPerClass, batch 1",
      "least=0.8 strict max=4 max-per-class=2", LARGER_OF_TWO, "3 6" },
  { "combined TwoBatchesTwoClassesTotalSize, batch 0", "least=0.1 strict max=5 max-per-class=3",
      SMALL_OF_TWO, "3 6 1 10 5" },
  { "combined TwoBatchesTwoClassesTotalSize, batch 1", "least=0.1 strict max=5 max-per-class=3",
      LARGER_OF_TWO, "3 6 1 10 5" },
  { "combined TwoBatchesTwoClassesForBoxesAndScores (q=2), batch 0",
      "least=0 strict max=3 max-per-class=3",
      "0,0,0.1,0.1 0.1; 0,0.01,0.1,0.11 0.75; 0,-0.01,0.1,0.09 0.6; 0,0.11,0.1,0.2 0.95; "
      "0,0.12,0.1,0.21 0.5; 0,0.3,1,0.4 0.3; 0,0,0.1,0.1 0.9 class=1; "
      "0,0.6,0.1,0.7 0.8 class=1; 0,-0.01,0.1,0.09 0.3 class=1; "
      "0,0.11,0.1,0.2 0.1 class=1; 0,0.12,0.1,0.21 0.5 class=1; 0,0.3,1,0.4 0.1 class=1",
      "3 6 7" },
  { "combined NegativeScores", "least=-10 strict max=2 max-per-class=2", "0,0,1,1 -5; 0,0,1,1 -6",
      "0" },
  { "onnxruntime: TwoBatches_TwoClasses, batch 0", "iou=0.8 max-per-class=2",
      "0,0,0.3,0.3 0.1; 0,0,0.4,0.4 0.2; 0,0,0.5,0.5 0.6; 0.5,0.5,0.9,0.9 0.3; "
      "0.5,0.5,1,1 0.9; 0,0,0.3,0.3 0.1 class=1; 0,0,0.4,0.4 0.2 class=1; "
      "0,0,0.5,0.5 0.6 class=1; 0.5,0.5,0.9,0.9 0.3 class=1; 0.5,0.5,1,1 0.9 class=1",
      "4 9 2 7" },
  { "onnxruntime: TwoBatches_TwoClasses, batch 1", "iou=0.8 max-per-class=2",
      "0,0,0.3,0.3 0.1; 0,0,0.4,0.4 0.2; 0.5,0.5,0.95,0.95 0.6; 0.5,0.5,0.96,0.96 0.3; "
      "0.5,0.5,1,1 0.9; 0,0,0.3,0.3 0.1 class=1; 0,0,0.4,0.4 0.2 class=1; "
      "0.5,0.5,0.95,0.95 0.6 class=1; 0.5,0.5,0.96,0.96 0.3 class=1; "
      "0.5,0.5,1,1 0.9 class=1",
      "4 9 1 6" },
  { "mmcv", "iou=0.3", "6,3,8,7 0.6; 3,6,9,11 0.9; 3,7,10,12 0.7; 1,4,13,7 0.2", "1 0 3" },
  { "mmcv docstring", "iou=0.6",
      "49.1,32.4,51,35.9 0.9; 49.3,32.9,51,35.3 0.9; 49.2,31.8,51,35.4 0.5; "
      "35.1,11.5,39.1,15.7 0.5; 35.6,11.8,39.3,14.2 0.5; 35.3,11.5,39.9,14.5 0.4; "
      "35.2,11.7,39.7,15.7 0.3",
      "0 3 4" },
  { "powerboxes", "",
      "184.68927,850.6593,201.47438,866.02325 0.9; "
      "185.68927,851.6593,200.47438,865.02325 0.8; "
      "875.33813,706.4696,902.1449,737.147 0.7; 874.33813,703.4696,901.1449,732.147 0.6; "
      "277.7173,744.8187,308.1377,777.11414 0.5; 275.7173,740.8187,310.1377,765.11414 0.4",
      "0 2 4" },
  { "powerboxes: IoU 1/7", "iou=0.8", "0,0,2,2 1; 1,1,3,3 1", "0 1" },
  { "powerboxes: score 0 is below the threshold", "iou=0.8 least=0.5", "0,0,2,2 0; 1,1,3,3 1",
      "1" },
  { "powerboxes: all scores below the threshold", "iou=0.8 least=1", "0,0,2,2 0; 1,1,3,3 0", "" },
  { "torchvision test_nms_float16", "iou=0.2",
      "285.3538,185.5758,1193.511,851.4551 0.637; "
      "285.1472,188.7374,1192.4984,851.0669 0.7569; "
      "279.244,197.9812,1189.4746,849.2019 0.3966",
      "1" },
  { "kornia: a box of width 0 is kept", "iou=0.8",
      "10,10,20,20 0.9; 15,5,15,25 0.8; 100,100,200,200 0.7; 100,100,200,200 0.9", "0 3 1" },
  { "supervision: two boxes of one class", "", "10,10,40,40 0.8; 15,15,40,40 0.9", "1" },
  { "supervision: two boxes of two classes", "", "10,10,40,40 0.8; 15,15,40,40 0.9 class=1",
      "1 0" },
  { "supervision: three boxes of one class", "", "0,0,30,40 0.8; 5,5,35,45 0.9; 10,10,40,50 0.85",
      "1" },
  { "supervision: three boxes of three classes", "",
      "0,0,30,40 0.8; 5,5,35,45 0.9 class=1; 10,10,40,50 0.85 class=2", "1 2 0" },
  { "supervision: three boxes of two classes", "",
      "0,0,30,40 0.8; 5,5,35,45 0.9; 10,10,40,50 0.85 class=1", "1 2" },
  { "sahi: IoU of a small box in a large one", "", "0,0,100,100 0.9; 10,10,20,20 0.8", "0 1" },
  { "ours: a tie goes to the lower index", "", "10,10,40,40 0.9; 15,15,40,40 0.9", "0" },
  { NULL } };

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  const int centered = strstr (row->name, "center_point") != NULL;
  nms_result result = { .size = sizeof result };
  HandCall call;

  handrow_call (row, &call);
  for (size_t i = 0; centered && i < call.boxes.count; i++)
    nms_rows_from_cxcywh (call.rows[i].corners, 1, call.rows[i].corners);
  g_assert_cmpstr (enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL), ==,
      NULL);
  if (conformance_check_lazy)
    conformance_check_lazy (&call.boxes, &call.options);
  g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
  g_autofree char *is = handrow_describe (row, &result, call.boxes.count);
  g_assert_cmpstr (is, ==, row->expect);
}

static const TestCase cases[] = { TEST_ROWS ("/conformance/%s", test_row, rows), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
