/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * methodrows: the table of the methods that make new boxes. Most rows use these boxes:
 *
 *   WHOLE   0 0 4 4  area 16
 *   HALF    0 0 4 2  in WHOLE: IoU 8/16 = 1/2, IoS 1
 *   SHIFTED 2 0 6 4  on WHOLE: IoU 8/24 = 1/3, IoS 1/2
 *   NEXT    4 0 8 4  on SHIFTED: IoU 1/3, IoS 1/2; touches WHOLE
 *   FAR     9 9 13 13  overlaps none of them
 */
#define _GNU_SOURCE
#include "methodrows.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE 0, 0, 4, 4
#define HALF 0, 0, 4, 2
#define SHIFTED 2, 0, 6, 4
#define NEXT 4, 0, 8, 4
#define FAR 9, 9, 13, 13

#define GREEDY .method = NMS_METHOD_GREEDY_MERGE
#define MERGE .method = NMS_METHOD_MERGE
#define AVERAGE .method = NMS_METHOD_AVERAGE
#define WEIGHTED .method = NMS_METHOD_WEIGHTED
#define QUARTER .threshold = 0.25f

const MethodRow methodrows[] = {
  { "greedy: the common bounding box", "K S0 S0 K | 0 3", "0.75 0,0,6,4; 0.25 9,9,13,13", GREEDY,
      QUARTER, .count = 4,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.625f }, { SHIFTED, 0.5f }, { FAR, 0.25f } } },
  { "greedy: a suppressed box suppresses nothing", "K S0 K | 0 2", "0.75 0,0,6,4; 0.5 4,0,8,4",
      GREEDY, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.625f }, { NEXT, 0.5f } } },
  { "greedy: any score is taken", "S1 K | 1", "0 0,0,6,4", GREEDY, QUARTER, .count = 2,
      .boxes = { { SHIFTED, -3 }, { WHOLE, 0 } } },
  { "greedy: what comes after the cap is in no box", "K O O | 0", "0.75 0,0,4,4", GREEDY, QUARTER,
      .max = 1, .count = 3, .boxes = { { WHOLE, 0.75f }, { FAR, 0.625f }, { SHIFTED, 0.5f } } },
  /* SAHI's tests of its metrics */
  { "greedy: IoS", "K S0 | 0", "0.75 0,0,100,100", GREEDY, .metric = NMS_METRIC_IOS,
      .threshold = 0.5f, .count = 2,
      .boxes = { { 0, 0, 100, 100, 0.75f }, { 10, 10, 20, 20, 0.5f } } },
  { "greedy: IoU of the same", "K K | 0 1", "0.75 0,0,100,100; 0.5 10,10,20,20", GREEDY,
      .threshold = 0.5f, .count = 2,
      .boxes = { { 0, 0, 100, 100, 0.75f }, { 10, 10, 20, 20, 0.5f } } },
  { "greedy: corners in order", "K | 0", "0.75 0,0,4,4", GREEDY, QUARTER, .count = 1,
      .boxes = { { 4, 4, 0, 0, 0.75f } } },
  { "greedy: a box without area", "K K | 0 1", "0.75 0,0,4,4; 0.5 1,1,1,3", GREEDY, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { 1, 1, 1, 3, 0.5f } } },

  { "average: corners weighted by score", "K S0 | 0", "0.75 0,0,4,3.5", AVERAGE, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.25f } } },
  { "average: no score above 0", "K F F | 0", "0.75 0,0,4,4", AVERAGE, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0 }, { WHOLE, -1 } } },
  { "average: an infinite score weighs 2^32", "K S0 | 0", "inf 1,0,5,4", AVERAGE, QUARTER,
      .count = 2, .boxes = { { WHOLE, INFINITY }, { SHIFTED, 0x1p40f } } },
  { "average: a least score weighs 2^-64", "S1 K | 1", "2.71050543e-20 1,0,5,4", AVERAGE, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0x1p-149f }, { SHIFTED, 0x1p-65f } } },

  { "merge: through another box", "K S0 S0 | 0", "0.75 0,0,8,4", MERGE, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.625f }, { NEXT, 0.5f } } },
  { "merge: the same in another order", "S2 S2 K | 2", "0.75 0,0,8,4", MERGE, QUARTER, .count = 3,
      .boxes = { { NEXT, 0.5f }, { SHIFTED, 0.625f }, { WHOLE, 0.75f } } },
  { "merge: a box between two better ones joins the best", "K K S0 | 0 1",
      "0.75 0,0,6,4; 0.625 4,0,8,4", MERGE, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { NEXT, 0.625f }, { SHIFTED, 0.5f } } },
  { "merge: equal scores, the lower index first", "S1 K K | 1 2", "0.75 2,0,6,4; 0.75 4,0,8,4",
      MERGE, .threshold = 0.375f, .count = 3,
      .boxes = { { 2, 0, 6, 3, 0.5f }, { SHIFTED, 0.75f }, { NEXT, 0.75f } } },
  { "merge: classes", "K K S0 | 0 1", "0.75 0,0,8,4; 0.625 0,0,4,2", MERGE, .threshold = 0,
      .count = 3, .boxes = { { WHOLE, 0.75f, 1 }, { HALF, 0.625f, 2 }, { 2, 0, 8, 4, 0.5f, 1 } } },
  { "merge: classes meet", "K S0 S0 | 0", "0.75 0,0,8,4", MERGE, .threshold = 0, .agnostic = 1,
      .count = 3, .boxes = { { WHOLE, 0.75f, 1 }, { HALF, 0.625f, 2 }, { 2, 0, 8, 4, 0.5f, 1 } } },
  { "merge: a part and its whole", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", MERGE, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f, .part_of = 1 } } },
  { "merge: not through another box to the head whose part it is", "K S0 K | 0 2",
      "0.75 0,0,6,4; 0.5 4,0,8,4", MERGE, QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.625f }, { NEXT, 0.5f, .part_of = 1 } } },
  { "merge: not to a head that is a part of it", "K S0 K | 0 2", "0.75 0,0,6,4; 0.5 4,0,8,4", MERGE,
      QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f, .part_of = 3 }, { SHIFTED, 0.625f }, { NEXT, 0.5f } } },
  { "merge: to the next cluster if the best has its whole as head", "K S0 K S2 | 0 2",
      "0.75 0,0,6,4; 0.5 4,0,9,4", MERGE, QUARTER, .count = 4,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.625f }, { 5, 0, 9, 4, 0.5f },
          { NEXT, 0.25f, .part_of = 1 } } },
  { "merge: into the cluster that its whole joined", "K S0 S0 | 0", "0.75 0,0,6,4", MERGE, QUARTER,
      .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.625f }, { HALF, 0.5f, .part_of = 2 } } },
  { "merge: all members of a cluster are over the cap", "K S0 O O | 0", "0.75 0,0,4,4", MERGE,
      QUARTER, .max = 1, .count = 4,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.25f }, { FAR, 0.5f }, { 9, 9, 13, 12, 0.125f } } },
  { "merge: the cap of a class", "K O S0 K | 0 3", "0.75 0,0,4,4; 0.125 9,9,13,12", MERGE, QUARTER,
      .max_per_class = 1, .count = 4,
      .boxes = { { WHOLE, 0.75f }, { FAR, 0.5f }, { HALF, 0.25f }, { 9, 9, 13, 12, 0.125f, 1 } } },

  { "weighted: mean of corners and of scores", "K S0 | 0", "0.5 0,0,4,3.5", WEIGHTED, QUARTER,
      .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.25f } } },
  /* WHOLE and SHIFTED become 1 0 5 4, which the third overlaps by 8/20, but WHOLE by 4/24 */
  { "weighted: the fused box is compared", "K S0 S0 | 0", "0.5 1.66666663,0,5.33333349,4", WEIGHTED,
      .threshold = 0.3125f, .count = 3,
      .boxes = { { WHOLE, 0.5f }, { SHIFTED, 0.5f }, { 3, 0, 6, 4, 0.5f } } },
  /* the third overlaps WHOLE by 8/20, SHIFTED by 12/16 */
  { "weighted: the greatest overlap", "K K S1 | 0 1", "0.75 0,0,4,4; 0.375 2,0,5.66666651,4",
      WEIGHTED, .threshold = 0.34375f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { SHIFTED, 0.5f }, { 2, 0, 5, 4, 0.25f } } },
  { "weighted: of equal overlaps the first", "K K S0 | 0 1", "0.5 0.5,0,4.5,4; 0.5 4,0,8,4",
      WEIGHTED, .threshold = 0.125f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { NEXT, 0.5f }, { SHIFTED, 0.25f } } },
  { "weighted: IoS", "K S0 | 0", "0.5 0,0,4,3.5", WEIGHTED, .metric = NMS_METRIC_IOS,
      .threshold = 0.75f, .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.25f } } },
  { "weighted: the order of the fused scores, then the cap", "O O K | 2", "0.625 9,9,13,13",
      WEIGHTED, QUARTER, .max = 1, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.25f }, { FAR, 0.625f } } },
  { "weighted: scores and sources that are refused", "I I F K | 3", "0.5 9,9,13,13", WEIGHTED,
      QUARTER, .sources = 1, .count = 4,
      .boxes = { { WHOLE, 0.75f, 0, 1 }, { WHOLE, 0.75f, 0, -1 }, { HALF, 0 }, { FAR, 0.5f } } },
  { "weighted: a part and its whole", "K K S1 | 0 1", "0.75 0,0,4,4; 0.375 0,0,4,2", WEIGHTED,
      QUARTER, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f, .part_of = 1 }, { HALF, 0.25f } } },
  /* the weighted scores are 0.5 and 0.75; their mean 0.625 * 2 / 3 */
  { "weighted: the score times the weight ranks", "S1 K | 1", "0.416666657 0,0,4,2.79999995",
      WEIGHTED, QUARTER, .sources = 2, .weights = { 1, 2 }, .count = 2,
      .boxes = { { WHOLE, 0.5f, 0, 0 }, { HALF, 0.375f, 0, 1 } } },
  /* a source of two has found both boxes */
  { "weighted: avg", "K S0 | 0", "0.25 0,0,4,3.5", WEIGHTED, QUARTER, .sources = 2,
      .weights = { 3, 1 }, .count = 2, .boxes = { { WHOLE, 0.75f, 0, 1 }, { HALF, 0.25f, 0, 1 } } },
  { "weighted: max", "K S0 | 0", "0.25 0,0,4,3.5", WEIGHTED, .fused_score = NMS_FUSED_MAX, QUARTER,
      .sources = 2, .weights = { 3, 1 }, .count = 2,
      .boxes = { { WHOLE, 0.75f, 0, 1 }, { HALF, 0.25f, 0, 1 } } },
  { "weighted: box-and-model-avg", "K S0 | 0", "0.125 0,0,4,3.5", WEIGHTED,
      .fused_score = NMS_FUSED_BOX_AND_MODEL_AVG, QUARTER, .sources = 2, .weights = { 3, 1 },
      .count = 2, .boxes = { { WHOLE, 0.75f, 0, 1 }, { HALF, 0.25f, 0, 1 } } },
  { "weighted: absent-model-aware-avg", "K S0 | 0", "0.200000003 0,0,4,3.5", WEIGHTED,
      .fused_score = NMS_FUSED_ABSENT_MODEL_AWARE_AVG, QUARTER, .sources = 2, .weights = { 3, 1 },
      .count = 2, .boxes = { { WHOLE, 0.75f, 0, 1 }, { HALF, 0.25f, 0, 1 } } },

  /* The groups that the tests of supervision's box_non_max_merge expect, with its threshold rule
   * (>=). Of equal scores it takes the last index as head; here the lower index is the head. */
  { "supervision: equal scores", "K S0 | 0", "1 0,0,10,10", GREEDY, .threshold = 0.5f,
      .inclusive = 1, .count = 2, .boxes = { { 0, 0, 10, 10, 1 }, { 0, 0, 9, 9, 1 } } },
  { "supervision: at the threshold", "K S0 | 0", "1 0,0,10,10", GREEDY, QUARTER, .inclusive = 1,
      .count = 2, .boxes = { { 0, 0, 10, 10, 1 }, { 0, 0, 5, 5, 0.875f } } },
  { "supervision: below the threshold", "K K | 0 1", "1 0,0,10,10; 0.875 0,0,5,5", GREEDY,
      .threshold = 0.26f, .inclusive = 1, .count = 2,
      .boxes = { { 0, 0, 10, 10, 1 }, { 0, 0, 5, 5, 0.875f } } },
  { "supervision: a chain", "K S2 K S2 K | 2 0 4", "1 1,0,5,1; 0.875 0,0,2,1; 0.875 4,0,6,1",
      GREEDY, .threshold = 0.33f, .inclusive = 1, .count = 5,
      .boxes = { { 0, 0, 2, 1, 0.875f }, { 1, 0, 3, 1, 0.875f }, { 2, 0, 4, 1, 1 },
          { 3, 0, 5, 1, 0.875f }, { 4, 0, 6, 1, 0.875f } } },
  /* min_size_ratio: HALF is 1/2 of WHOLE */
  { "greedy: too small for the better one", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,4,2", GREEDY,
      QUARTER, .size_ratio = 0.5625f, .count = 2, .boxes = { { WHOLE, 0.75f }, { HALF, 0.5f } } },
  { "average: too large for the better one", "K K | 0 1", "0.75 0,0,4,2; 0.5 0,0,4,4", AVERAGE,
      QUARTER, .size_ratio = 0.5625f, .count = 2, .boxes = { { HALF, 0.75f }, { WHOLE, 0.5f } } },
  { "merge: boxes of other sizes meet through one between them", "K S0 S0 | 0", "0.75 0,0,4,4",
      MERGE, QUARTER, .size_ratio = 0.5f, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.625f }, { 0, 0, 2, 2, 0.5f } } },
  { "merge: and not without it", "K K | 0 1", "0.75 0,0,4,4; 0.5 0,0,2,2", MERGE,
      .threshold = 0.125f, .size_ratio = 0.5f, .count = 2,
      .boxes = { { WHOLE, 0.75f }, { 0, 0, 2, 2, 0.5f } } },
  /* the third box is 1/4 of WHOLE and 1/3 of the fused box of the first two */
  { "weighted: sizes are those of the fused boxes", "K S0 S0 | 0", "0.666666687 0,0,4,2.5",
      WEIGHTED, QUARTER, .size_ratio = 0.3f, .sources = 1, .count = 3,
      .boxes = { { WHOLE, 0.75f }, { HALF, 0.75f }, { 0, 0, 4, 1, 0.5f } } },
  { "weighted: so a box does not join the box before it is fused", "K S0 K | 0 2",
      "0.75 0,0,4,4; 0.5 0,0,4,1", WEIGHTED, .threshold = 0.125f, .size_ratio = 0.3f, .sources = 1,
      .count = 3, .boxes = { { WHOLE, 0.75f }, { WHOLE, 0.75f }, { 0, 0, 4, 1, 0.5f } } },
  { NULL }
};

void
methodrow_call (const MethodRow *row, MethodCall *call)
{
  *call = (MethodCall) { .boxes = { .size = sizeof call->boxes, .count = row->count } };
  for (size_t i = 0; i < row->count; i++) {
    call->rows[i] = row->boxes[i];
    call->parent[i] = row->boxes[i].part_of - 1;
  }
  for (size_t i = 0; i < row->sources; i++)
    call->weights[i] = row->weights[i];

  const MethodBox *first = call->rows;
  const ptrdiff_t stride = sizeof *first;
  call->boxes.x1 = (nms_column) { &first->x1, stride };
  call->boxes.y1 = (nms_column) { &first->y1, stride };
  call->boxes.x2 = (nms_column) { &first->x2, stride };
  call->boxes.y2 = (nms_column) { &first->y2, stride };
  call->boxes.score = (nms_column) { &first->score, stride };
  call->boxes.class_id = (nms_column) { &first->class_id, stride };
  call->boxes.source = (nms_column) { &first->source, stride };
  call->boxes.parent = (nms_column) { call->parent, 0 };

  call->options = (nms_options) {
    .size = sizeof call->options,
    .iou_threshold = row->threshold,
    .score_threshold = -INFINITY,
    .max_detections = row->max,
    .max_per_class = row->max_per_class,
    .inclusive = row->inclusive,
    .class_agnostic = row->agnostic,
    .method = row->method,
    .metric = row->metric,
    .sigma = row->sigma,
    .min_score = row->min_score,
    .min_size_ratio = row->size_ratio,
    .fused_score = row->fused_score,
    .source_count = row->sources,
    .source_weights = row->weights[0] > 0 ? call->weights : NULL,
  };
}

char *
methodrow_describe (size_t kept_count, const float *kept_score, const float *kept_box)
{
  char *string = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&string, &length);
  locale_t c_locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before;

  if (!stream || !c_locale)
    abort ();
  before = uselocale (c_locale); /* the rows have decimal points */
  for (size_t k = 0; k < kept_count; k++) {
    const float *c = &kept_box[4 * k];
    fprintf (stream, "%s%.9g %.9g,%.9g,%.9g,%.9g", k ? "; " : "", kept_score[k], c[0], c[1], c[2],
        c[3]);
  }
  fclose (stream);
  uselocale (before);
  freelocale (c_locale);
  return string;
}
