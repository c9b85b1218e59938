/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scorerows: the table of the methods that keep boxes as they are: hard NMS by each metric, soft
 * and matrix NMS. Most rows use these boxes:
 *
 *   WHOLE   0 0 4 4  area 16
 *   HALF    0 0 4 2  in WHOLE: IoU 8/16 = 1/2, IoS 1
 *   LOWER   0 2 4 4  the other half of WHOLE
 *   SHIFTED 2 0 6 4  on WHOLE: IoU 8/24 = 1/3, IoS 1/2
 *   CORNER  2 2 6 6  on WHOLE: IoU 4/28, common bounding box 36
 *   FAR     9 9 13 13  overlaps none of them
 */
#include "methodrows.h"

#include <float.h>
#include <math.h>

#define WHOLE 0, 0, 4, 4
#define HALF 0, 0, 4, 2
#define LOWER 0, 2, 4, 4
#define SHIFTED 2, 0, 6, 4
#define CORNER 2, 2, 6, 6
#define FAR 9, 9, 13, 13

#define IOS .metric = NMS_METRIC_IOS
#define DIOU .metric = NMS_METRIC_DIOU
#define GIOU .metric = NMS_METRIC_GIOU
#define LINEAR .method = NMS_METHOD_SOFT_LINEAR
#define GAUSSIAN .method = NMS_METHOD_SOFT_GAUSSIAN
#define MATRIX .method = NMS_METHOD_MATRIX_LINEAR
#define MATRIX_GAUSSIAN .method = NMS_METHOD_MATRIX_GAUSSIAN
#define QUARTER .threshold = 0.25f
#define TWO(a, b) .count = 2, .boxes = { { a, 0.75f }, { b, 0.5f } }

const MethodRow scorerows[] = { { "hard: IoS at the threshold", "K K | 0 1",
                                    "0.75 0,0,4,4; 0.5 2,0,6,4", IOS, .threshold = 0.5f,
                                    TWO (WHOLE, SHIFTED) },
  { "hard: IoS at the threshold, inclusive", "K S0 | 0", "0.75 0,0,4,4", IOS, .threshold = 0.5f,
      .inclusive = 1, TWO (WHOLE, SHIFTED) },
  { "hard: IoS of a box within another", "K S0 | 0", "0.75 0,0,100,100", IOS, .threshold = 0.9f,
      .count = 2, .boxes = { { 0, 0, 100, 100, 0.75f }, { 10, 10, 20, 20, 0.5f } } },
  /* 1/3 - (2 * 2) / (6 * 6 + 4 * 4) = 0.2564 */
  { "hard: DIoU above the threshold", "K S0 | 0", "0.75 0,0,4,4", DIOU, .threshold = 0.25f,
      TWO (WHOLE, SHIFTED) },
  { "hard: DIoU below the threshold", "K K | 0 1", "0.75 0,0,4,4; 0.5 2,0,6,4", DIOU,
      .threshold = 0.2578125f, TWO (WHOLE, SHIFTED) },
  /* 1/7 - (36 - 28) / 36 < 0 */
  { "hard: a negative GIoU is no overlap", "K K | 0 1", "0.75 0,0,4,4; 0.5 2,2,6,6", GIOU,
      .threshold = 0, .inclusive = 1, TWO (WHOLE, CORNER) },
  { "hard: GIoU with a full hull is IoU", "K S0 | 0", "0.75 0,0,4,4", GIOU, .threshold = 0.49f,
      TWO (WHOLE, HALF) },
  { "hard: IoS, classes", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", IOS, QUARTER, .count = 2,
      .boxes = { { WHOLE, 0.75f, 1 }, { HALF, 0.5f, 2 } } },
  { "hard: IoS, a part and its whole", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", IOS, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f, .part_of = 1 } } },
  { "hard: IoS, boxes behind the cap are over it, suppressed or not", "K O O | 0", "0.75 0,0,4,4",
      IOS, QUARTER, .max = 1, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { FAR, 0.25f } } },
  { "hard: IoS, a suppressed box suppresses nothing", "K S0 K | 0 2", "0.75 0,0,4,4; 0.25 4,0,8,4",
      IOS, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.5f }, { 4, 0, 8, 4, 0.25f } } },

  { "soft-linear: the score falls and the order changes", "K K K | 0 2 1",
      "0.75 0,0,4,4; 0.375 9,9,13,13; 0.25 0,0,4,2", LINEAR, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { FAR, 0.375f } } },
  { "soft-linear: not above the threshold", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", LINEAR,
      .threshold = 0.5f, TWO (WHOLE, HALF) },
  { "soft-linear: inclusive", "K K | 0 1", "0.75 0,0,4,4; 0.25 0,0,4,2", LINEAR, .threshold = 0.5f,
      .inclusive = 1, TWO (WHOLE, HALF) },
  { "soft-linear: below the least score", "K S0 | 0", "0.75 0,0,4,4", LINEAR, QUARTER,
      .min_score = 0.375f, TWO (WHOLE, HALF) },
  { "soft-linear: equal to the least score", "K K | 0 1", "0.75 0,0,4,4; 0.25 0,0,4,2", LINEAR,
      QUARTER, .min_score = 0.25f, TWO (WHOLE, HALF) },
  { "soft-linear: filtered by the least score", "K F | 0", "0.75 0,0,4,4", LINEAR, QUARTER,
      .min_score = 0.625f, TWO (WHOLE, FAR) },
  { "soft-linear: lowered twice", "K K S1 | 0 1", "0.75 0,0,4,4; 0.375 0,0,4,2", LINEAR, QUARTER,
      .min_score = 0.15625f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.75f }, { 0, 0, 4, 3, 0.75f } } },
  { "soft-linear: the same box has weight 0", "K S0 | 0", "0.75 0,0,4,4", LINEAR, QUARTER,
      .min_score = 0x1p-100f, TWO (WHOLE, WHOLE) },
  { "soft-linear: a box over the cap lowers nothing", "K O O | 0", "0.75 0,0,4,4", LINEAR, QUARTER,
      .max = 1, .min_score = 0.375f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { FAR, 0.5f }, { 9, 9, 13, 11, 0.4375f } } },
  { "soft-linear: the cap of a class", "K O K O | 0 2", "0.75 0,0,4,4; 0.25 0,0,4,2", LINEAR,
      QUARTER, .max_per_class = 1, .count = 4,
      .boxes = { { WHOLE, 0.75f, 1 }, { FAR, 0.5f, 1 }, { HALF, 0.25f, 2 }, { LOWER, 0.25f, 2 } } },
  { "soft-linear: a part and its whole", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", LINEAR, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f, .part_of = 1 } } },
  { "soft-linear: an infinite score counts as FLT_MAX", "K K | 0 1",
      "3.40282347e+38 0,0,4,4; 1.70141173e+38 0,0,4,2", LINEAR, QUARTER, .count = 2,
      .boxes = { { WHOLE, INFINITY }, { HALF, INFINITY } } },
  { "soft-linear: IoS", "K K | 0 1", "0.75 0,0,4,4; 0.25 2,0,6,4", LINEAR, IOS, QUARTER,
      TWO (WHOLE, SHIFTED) },
  /* exp (-0.25 / 0.5) = 0.60653066, exp (-0.25 / 1) = 0.77880078 */
  { "soft-gaussian: the default sigma", "K K | 0 1", "0.75 0,0,4,4; 0.303265333 0,0,4,2", GAUSSIAN,
      QUARTER, TWO (WHOLE, HALF) },
  { "soft-gaussian: TensorFlow's sigma 0.5 is 1", "K K | 0 1", "0.75 0,0,4,4; 0.389400393 0,0,4,2",
      GAUSSIAN, .sigma = 1, TWO (WHOLE, HALF) },
  { "soft-gaussian: the threshold has no effect", "K K | 0 1", "0.75 0,0,4,4; 0.303265333 0,0,4,2",
      GAUSSIAN, .threshold = 1, TWO (WHOLE, HALF) },
  { "soft-gaussian: a least sigma", "K S0 | 0", "0.75 0,0,4,4", GAUSSIAN, .sigma = FLT_TRUE_MIN,
      .min_score = FLT_TRUE_MIN, TWO (WHOLE, HALF) },

  { "matrix-linear: one box above", "K K K | 0 2 1", "0.75 0,0,4,4; 0.375 9,9,13,13; 0.25 0,0,4,2",
      MATRIX, .count = 3, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { FAR, 0.375f } } },
  /* CORNER of HALF: by WHOLE 1 - 1/4, by HALF (1 - 1/2) / (1 - 1/2) */
  { "matrix-linear: a lowered box lowers less", "K K K | 0 1 2",
      "0.75 0,0,4,4; 0.25 0,0,4,2; 0.1875 0,0,2,2", MATRIX, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { 0, 0, 2, 2, 0.25f } } },
  { "matrix-linear: suppressed by a box that is suppressed", "K S0 S1 | 0", "0.75 0,0,4,4", MATRIX,
      .min_score = 0.3125f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { HALF, 0.375f } } },
  { "matrix-linear: a copy lowers nothing", "K S0 S0 | 0", "0.75 0,0,4,4", MATRIX,
      .min_score = 0.25f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { WHOLE, 0.5f }, { HALF, 0.25f } } },
  { "matrix-linear: the cap", "O K | 1", "0.75 9,9,13,13", MATRIX, .max = 1, .count = 2,
      .boxes = { { WHOLE, 0.5f }, { FAR, 0.75f } } },
  { "matrix-linear: classes", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", MATRIX, .count = 2,
      .boxes = { { WHOLE, 0.75f, 1 }, { HALF, 0.5f, 2 } } },
  { "matrix-linear: classes meet", "K K | 0 1", "0.75 0,0,4,4; 0.25 0,0,4,2", MATRIX, .agnostic = 1,
      .count = 2, .boxes = { { WHOLE, 0.75f, 1 }, { HALF, 0.5f, 2 } } },
  { "matrix-linear: equal scores, the lower index first", "K K | 0 1",
      "0.75 0,0,4,2; 0.375 0,0,4,4", MATRIX, .count = 2,
      .boxes = { { HALF, 0.75f }, { WHOLE, 0.75f } } },
  /* exp (-2 * 0.25) */
  { "matrix-gaussian: the default sigma", "K K | 0 1", "0.75 0,0,4,4; 0.303265333 0,0,4,2",
      MATRIX_GAUSSIAN, TWO (WHOLE, HALF) },
  { "matrix-gaussian: filtered by the least score", "K F | 0", "0.75 0,0,4,4", MATRIX_GAUSSIAN,
      .min_score = 0.625f, TWO (WHOLE, FAR) },
  /* by WHOLE 1/16, by HALF 1/4 - 1/4: exp (-2 / 16) = 0.88249690 */
  { "matrix-gaussian: a lowered box lowers less", "K K K | 0 1 2",
      "0.75 0,0,4,4; 0.303265333 0,0,4,2; 0.220624223 0,0,2,2", MATRIX_GAUSSIAN, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { 0, 0, 2, 2, 0.25f } } },
  /* min_size_ratio: HALF is 1/2 of WHOLE */
  { "hard: IoU, a box of exactly the least size is a duplicate", "K S0 | 0", "0.75 0,0,4,4",
      QUARTER, .size_ratio = 0.5f, TWO (WHOLE, HALF) },
  { "hard: IoU, a smaller one is none", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", QUARTER,
      .size_ratio = 0x1.000002p-1f, TWO (WHOLE, HALF) },
  { "hard: IoU, nor is a larger one", "K K | 0 1", "0.75 0,0,4,2; 0.5 0,0,4,4", QUARTER,
      .size_ratio = 0x1.000002p-1f, TWO (HALF, WHOLE) },
  { "hard: IoS, a child before an adult", "K K S0 | 0 1", "0.75 0,0,4,4; 0.5 0,0,1,2", IOS, QUARTER,
      .size_ratio = 0.25f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { 0, 0, 1, 2, 0.5f }, { HALF, 0.25f } } },
  { "hard: equal sizes only", "K S0 K | 0 2", "0.75 0,0,4,4; 0.25 0,0,4,2", QUARTER,
      .size_ratio = 1, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { WHOLE, 0.5f }, { HALF, 0.25f } } },
  { "soft-linear: a box of another size lowers nothing", "K K K | 0 1 2",
      "0.75 0,0,4,4; 0.5 0,0,4,2; 0.249999985 2,0,6,4", LINEAR, QUARTER, .size_ratio = 0.75f,
      .count = 3, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { SHIFTED, 0.375f } } },
  { "matrix-linear: a box of another size neither lowers nor compensates", "K K K | 0 1 2",
      "0.75 0,0,4,4; 0.5 0,0,4,2; 0.25 0,0,2,2", MATRIX, .size_ratio = 0.5625f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f }, { 0, 0, 2, 2, 0.25f } } },
  { NULL } };
