/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handrows: the table. Most rows use boxes whose overlaps are easy to see:
 *
 *   WHOLE   0 0 4 4  area 16
 *   HALF    0 0 4 2  area 8, in WHOLE: 8/16      = 1/2
 *   QUARTER 0 0 4 1  area 4, in WHOLE: 4/16      = 1/4, in HALF: 1/2
 *   SHIFTED 2 0 6 4  area 16, on WHOLE: 8/24     = 1/3
 *   FAR     9 9 13 13  overlaps none of them
 */
#include "handrows.h"

#include <float.h>
#include <math.h>

#define WHOLE 0, 0, 4, 4
#define HALF 0, 0, 4, 2
#define QUARTER 0, 0, 4, 1
#define SHIFTED 2, 0, 6, 4
#define FAR 9, 9, 13, 13

#define ALL -INFINITY
#define BY_IOU NMS_CLASS_IOU_THRESHOLD
#define BY_SCORE NMS_CLASS_SCORE_THRESHOLD
#define BY_MAX NMS_CLASS_MAX_DETECTIONS
#define BY_GROUP NMS_CLASS_GROUP

#define THIRD 0x1.555556p-2f       /* the binary32 next to 1/3 */
#define BELOW_THIRD 0x1.555554p-2f /* its lower neighbour */
#define ABOVE_THIRD 0x1.555558p-2f

const HandRow handrows[] = {
  /* sizes */
  { "no box", "|", .iou = 0.5f, .least = ALL, .count = 0 },
  { "one box", "K | 0", .iou = 0.5f, .least = ALL, .count = 1, .boxes = { { WHOLE, 0.1f } } },

  /* the threshold itself */
  { "overlap equal to the threshold stays under >", "K K | 0 1", .iou = 0.5f, .least = ALL,
      .count = 2, .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f } } },
  { "overlap equal to the threshold goes under >=", "K S0 | 0", .iou = 0.5f, .least = ALL,
      .inclusive = 1, .count = 2, .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f } } },
  { "1/3 rounds to the threshold: not above it", "K K | 0 1", .iou = THIRD, .least = ALL,
      .count = 2, .boxes = { { WHOLE, 0.9f }, { SHIFTED, 0.8f } } },
  { "1/3 rounds to the threshold: reaches it", "K S0 | 0", .iou = THIRD, .least = ALL,
      .inclusive = 1, .count = 2, .boxes = { { WHOLE, 0.9f }, { SHIFTED, 0.8f } } },
  { "1/3 is above the float below", "K S0 | 0", .iou = BELOW_THIRD, .least = ALL, .count = 2,
      .boxes = { { WHOLE, 0.9f }, { SHIFTED, 0.8f } } },
  { "1/3 does not reach the float above", "K K | 0 1", .iou = ABOVE_THIRD, .least = ALL,
      .inclusive = 1, .count = 2, .boxes = { { WHOLE, 0.9f }, { SHIFTED, 0.8f } } },
  { "threshold 0: any intersection goes, touching stays", "K S0 K | 0 2", .iou = 0, .least = ALL,
      .count = 3, .boxes = { { WHOLE, 0.9f }, { 3.9375f, 0, 8, 4, 0.8f }, { 4, 4, 8, 8, 0.7f } } },
  { "threshold 0 under >=: touching still stays", "K K K S0 | 0 1 2", .iou = 0, .least = ALL,
      .inclusive = 1, .count = 4,
      .boxes = { { WHOLE, 0.9f }, { 4, 0, 8, 4, 0.8f }, { 4, 4, 8, 8, 0.7f }, { QUARTER, 0.6f } } },
  { "threshold -0 is 0", "K S0 K | 0 2", .iou = -0.0f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { QUARTER, 0.8f }, { 4, 4, 8, 8, 0.7f } } },
  { "threshold -0 is 0 under >= too", "K S0 K | 0 2", .iou = -0.0f, .least = ALL, .inclusive = 1,
      .count = 3, .boxes = { { WHOLE, 0.9f }, { QUARTER, 0.8f }, { 4, 4, 8, 8, 0.7f } } },
  { "threshold 1 suppresses nothing under >", "K K K | 0 1 2", .iou = 1, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.9f }, { WHOLE, 0.9f } } },
  { "threshold 1 suppresses equal boxes under >=", "K S0 K S0 | 0 2", .iou = 1, .least = ALL,
      .inclusive = 1, .count = 4,
      .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.9f }, { 0, 0, 4, 3.9999f, 0.8f }, { WHOLE, 0.7f } } },
  /* a box of 1 x 1 in one of 8192 x 8192 overlaps by 2^-26 */
  { "a threshold below 2^-24 acts as 0", "K S0 | 0", .iou = 0x1p-25f, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 8192, 8192, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  { "the float below 2^-24 still acts as 0", "K S0 | 0", .iou = 0x1.fffffep-25f, .least = ALL,
      .count = 2, .boxes = { { 0, 0, 8192, 8192, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  { "a subnormal threshold acts as 0", "K S0 | 0", .iou = 0x1p-149f, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 8192, 8192, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  { "threshold 2^-24 is itself", "K K | 0 1", .iou = 0x1p-24f, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 8192, 8192, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  /* 2^24 + 1 rounds to 2^24, minus 1: the union is 16777215, and 1/16777215
   * rounds above 2^-24; exact arithmetic would give 2^-24 and keep the box */
  { "each operation of the union is rounded", "K S0 | 0", .iou = 0x1p-24f, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 4096, 4096, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  /* intersection 2^-48, union 2^112: the quotient 2^-160 rounds to 0, which is not above
   * 0 */
  { "a quotient that rounds to 0 is not above 0", "K K | 0 1", .iou = 0, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 0x1p56f, 0x1p56f, 0.9f }, { 0, 0, 0x1p-24f, 0x1p-24f, 0.8f } } },
  { "a quotient that rounds to 0 reaches 0", "K S0 | 0", .iou = 0, .least = ALL, .inclusive = 1,
      .count = 2,
      .boxes = { { 0, 0, 0x1p56f, 0x1p56f, 0.9f }, { 0, 0, 0x1p-24f, 0x1p-24f, 0.8f } } },

  /* score */
  { "score equal to the threshold takes part", "K F K | 0 2", .iou = 0.5f, .least = 0.7f,
      .count = 3, .boxes = { { WHOLE, 0.7f }, { FAR, 0.69999995f }, { FAR, 0.7f } } },
  { "score equal to the threshold is out when strict", "F K F | 1", .iou = 0.5f, .least = 0.7f,
      .strict = 1, .count = 3, .boxes = { { WHOLE, 0.7f }, { FAR, 0.70000005f }, { FAR, 0.7f } } },
  { "a filtered box suppresses nothing", "F K | 1", .iou = 0.5f, .least = 0.7f, .count = 2,
      .boxes = { { WHOLE, 0.6f }, { WHOLE, 0.7f } } },
  { "-0 reaches a threshold of +0", "K K | 0 1", .iou = 0.5f, .least = 0.0f, .count = 2,
      .boxes = { { WHOLE, -0.0f }, { FAR, 0.0f } } },
  { "+0 is not above -0 when strict", "F F |", .iou = 0.5f, .least = -0.0f, .strict = 1, .count = 2,
      .boxes = { { WHOLE, 0.0f }, { FAR, -0.0f } } },
  { "-inf takes part by default, last", "K K K | 2 1 0", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, -INFINITY }, { FAR, -FLT_MAX }, { -9, -9, -5, -5, INFINITY } } },
  { "-inf is not above -inf when strict", "F K | 1", .iou = 0.5f, .least = ALL, .strict = 1,
      .count = 2, .boxes = { { WHOLE, -INFINITY }, { FAR, -FLT_MAX } } },
  { "threshold +inf leaves only +inf", "F K | 1", .iou = 0.5f, .least = INFINITY, .count = 2,
      .boxes = { { WHOLE, FLT_MAX }, { FAR, INFINITY } } },
  { "subnormal scores are told apart", "K K K | 2 1 0", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0 }, { FAR, 0x1p-149f }, { -9, -9, -5, -5, 0x1p-148f } } },

  /* order */
  { "equal scores: the lower index first", "K S0 S0 | 0", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.5f }, { WHOLE, 0.5f }, { WHOLE, 0.5f } } },
  { "-0 ties with +0", "K S0 K S2 | 0 2", .iou = 0.5f, .least = ALL, .count = 4,
      .boxes = { { WHOLE, -0.0f }, { WHOLE, 0.0f }, { FAR, 0.0f }, { FAR, -0.0f } } },
  { "negative scores rank upwards", "S2 S2 K | 2", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, -3 }, { WHOLE, -2 }, { WHOLE, -1 } } },
  { "kept come in score order, not input order", "K K K | 2 0 1", .iou = 0.5f, .least = ALL,
      .count = 3, .boxes = { { WHOLE, 0.5f }, { FAR, 0.4f }, { -9, -9, -5, -5, 0.6f } } },
  /* 0-1: 3/5 = 0.6, 1-2: 0.6, 0-2: 2/6 */
  { "a suppressed box suppresses nothing", "K S0 K | 0 2", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { 0, 0, 4, 4, 0.9f }, { 1, 0, 5, 4, 0.8f }, { 2, 0, 6, 4, 0.7f } } },
  /* box 2 overlaps 0 by 3/5 and 1 by 3/5; those two overlap by 2/6 */
  { "suppressed_by is the highest-ranked suppressor", "K K S1 | 1 0", .iou = 0.5f, .least = ALL,
      .count = 3, .boxes = { { 0, 0, 4, 4, 0.8f }, { 2, 0, 6, 4, 0.9f }, { 1, 0, 5, 4, 0.7f } } },

  /* invalid boxes */
  { "NaN anywhere is invalid", "I I I I I K | 5", .iou = 0.5f, .least = ALL, .count = 6,
      .boxes = { { NAN, 0, 4, 4, 0.9f }, { 0, NAN, 4, 4, 0.9f }, { 0, 0, NAN, 4, 0.9f },
          { 0, 0, 4, NAN, 0.9f }, { WHOLE, NAN }, { WHOLE, 0.1f } } },
  { "infinite coordinates are invalid", "I I I I K | 4", .iou = 0.5f, .least = ALL, .count = 5,
      .boxes = { { -INFINITY, 0, 4, 4, 0.9f }, { 0, -INFINITY, 4, 4, 0.9f },
          { 0, 0, INFINITY, 4, 0.9f }, { 0, 0, 4, INFINITY, 0.9f }, { WHOLE, 0.1f } } },
  /* 1e18f is 999999984306749440; its neighbour away from 0 is 2^36 further */
  { "1e18 is the last valid coordinate", "K I I S0 I I | 0", .iou = 0.5f, .least = ALL, .count = 6,
      .boxes = { { -1e18f, -1e18f, 1e18f, 1e18f, 0.9f }, { 0, 0, 0x1.bc16d8p+59f, 4, 0.8f },
          { 0, 0, 4, 0x1.bc16d8p+59f, 0.8f }, { 1e18f, 1e18f, -1e18f, -1e18f, 0.7f },
          { -0x1.bc16d8p+59f, 0, 4, 4, 0.6f }, { 0, -0x1.bc16d8p+59f, 4, 4, 0.6f } } },
  { "invalid goes before filtered", "I F I I |", .iou = 0.5f, .least = 0.5f, .count = 4,
      .boxes = { { NAN, 0, 4, 4, 0.1f }, { WHOLE, 0.1f }, { WHOLE, NAN },
          { 0, 0, 4, INFINITY, 0.9f, .exclude = 1 } } },
  { "invalid and filtered boxes count in no cap", "I F F K O | 3", .iou = 0.5f, .least = 0.2f,
      .max = 1, .count = 5,
      .boxes = { { NAN, 0, 4, 4, 0.9f }, { WHOLE, 0.1f }, { WHOLE, 0.9f, .exclude = 1 },
          { WHOLE, 0.8f }, { FAR, 0.7f } } },

  /* geometry */
  { "flipped corners are put in order", "K S0 S0 S0 | 0", .iou = 0.5f, .least = ALL, .count = 4,
      .boxes = { { 4, 4, 0, 0, 0.9f }, { 4, 0, 0, 4, 0.8f }, { 0, 4, 4, 0, 0.7f },
          { WHOLE, 0.6f } } },
  { "nothing is added to an extent", "K K | 0 1", .iou = 0, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 3, 3, 0.9f }, { 3, 0, 6, 3, 0.8f } } },
  { "a line and a point overlap nothing", "K K K K K | 0 1 2 3 4", .iou = 0, .least = ALL,
      .inclusive = 1, .count = 5,
      .boxes = { { WHOLE, 0.9f }, { 1, 1, 1, 3, 0.8f }, { 1, 1, 3, 1, 0.7f }, { 2, 2, 2, 2, 0.6f },
          { 2, 2, 2, 2, 0.5f } } },
  { "an extent of 2^-50 counts as 0", "K K K | 0 1 2", .iou = 0, .least = ALL, .inclusive = 1,
      .count = 3,
      .boxes = { { 0, 0, 0x1p-50f, 4, 0.9f }, { 0, 0, 0x1p-50f, 4, 0.8f }, { WHOLE, 0.7f } } },
  { "nor does a height of 2^-50 count", "K K K | 0 1 2", .iou = 0, .least = ALL, .inclusive = 1,
      .count = 3,
      .boxes = { { 0, 0, 4, 0x1p-50f, 0.9f }, { 0, 0, 4, 0x1p-50f, 0.8f }, { WHOLE, 0.7f } } },
  { "an extent just above 2^-50 does not", "K S0 | 0", .iou = 0.5f, .least = ALL, .count = 2,
      .boxes = { { 0, 0, 0x1.000002p-50f, 0x1.000002p-50f, 0.9f },
          { 0, 0, 0x1.000002p-50f, 0x1.000002p-50f, 0.8f } } },
  { "an intersection of 2^-50 counts as 0", "K K | 0 1", .iou = 0, .least = ALL, .inclusive = 1,
      .count = 2, .boxes = { { -1, 0, 0x1p-50f, 1, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  { "an intersection of 2^-49 does not", "K S0 | 0", .iou = 0, .least = ALL, .count = 2,
      .boxes = { { -1, 0, 0x1p-49f, 1, 0.9f }, { 0, 0, 1, 1, 0.8f } } },
  { "one pixel far from the origin", "K S0 K | 0 2", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { 16777214, 0, 16777216, 2, 0.9f }, { 16777214, 0, 16777216, 2, 0.8f },
          { 16777212, 0, 16777214, 2, 0.7f } } },

  /* classes */
  { "classes do not meet", "K K S0 | 0 1", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { WHOLE, 0.7f, 1 } } },
  { "classes meet when agnostic", "K S0 S0 | 0", .iou = 0.5f, .least = ALL, .agnostic = 1,
      .count = 3, .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { WHOLE, 0.7f, 1 } } },
  { "any int32 is a class", "K K K K S0 S1 S2 S3 | 0 1 2 3", .iou = 0.5f, .least = ALL, .count = 8,
      .boxes = { { WHOLE, 0.9f, INT32_MIN }, { WHOLE, 0.9f, INT32_MAX }, { WHOLE, 0.9f, -1 },
          { WHOLE, 0.9f, 0 }, { WHOLE, 0.8f, INT32_MIN }, { WHOLE, 0.8f, INT32_MAX },
          { WHOLE, 0.8f, -1 }, { WHOLE, 0.8f, 0 } } },

  /* caps */
  { "the total cap goes to the best", "O K O K | 3 1", .iou = 0.5f, .least = ALL, .max = 2,
      .count = 4,
      .boxes = { { WHOLE, 0.1f }, { FAR, 0.8f }, { -9, 0, -5, 4, 0.7f }, { 0, 9, 4, 13, 0.9f } } },
  { "over-cap goes before suppressed", "K O | 0", .iou = 0.5f, .least = ALL, .max = 1, .count = 2,
      .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f } } },
  { "suppressed while the cap was open, over-cap after", "K S0 K O O | 0 2", .iou = 0.5f,
      .least = ALL, .max = 2, .count = 5,
      .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f }, { FAR, 0.7f }, { WHOLE, 0.6f },
          { -9, 0, -5, 4, 0.5f } } },
  { "a cap of the number of boxes changes nothing", "K S0 K | 0 2", .iou = 0.5f, .least = ALL,
      .max = 3, .count = 3, .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f }, { FAR, 0.7f } } },
  { "a cap beyond 2^32 is no cap", "K K | 0 1", .iou = 0.5f, .least = ALL, .max = 0x100000001,
      .max_per_class = UINT64_MAX, .count = 2, .boxes = { { WHOLE, 0.9f }, { FAR, 0.8f } } },
  { "equal scores: the cap goes to the lower index", "K K O O | 0 1", .iou = 0.5f, .least = ALL,
      .max = 2, .count = 4,
      .boxes = { { WHOLE, 0.5f, 3 }, { WHOLE, 0.5f, 1 }, { WHOLE, 0.5f, 2 }, { FAR, 0.5f, 3 } } },
  { "each class has its own cap", "K K O O K | 0 1 4", .iou = 0.5f, .least = ALL,
      .max_per_class = 1, .count = 5,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, -7 }, { FAR, 0.7f, 1 }, { FAR, 0.6f, -7 },
          { FAR, 0.5f, 2 } } },
  { "the class's cap goes before suppressed", "K O K S2 O | 0 2", .iou = 0.5f, .least = ALL,
      .max_per_class = 2, .count = 5, .class_count = 1,
      .classes = { { .class_id = 1, .set = BY_MAX, .max_detections = 1 } },
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 1 }, { WHOLE, 0.7f, 2 }, { WHOLE, 0.6f, 2 },
          { FAR, 0.5f, 1 } } },
  { "both caps at once", "K K O O O | 0 1", .iou = 0.5f, .least = ALL, .max = 2, .max_per_class = 1,
      .count = 5,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { FAR, 0.7f, 1 }, { FAR, 0.6f, 3 },
          { WHOLE, 0.5f, 3 } } },
  { "class caps count per class when agnostic", "K O K S0 O | 0 2", .iou = 0.5f, .least = ALL,
      .max_per_class = 1, .agnostic = 1, .count = 5,
      .boxes = { { WHOLE, 0.9f, 1 }, { FAR, 0.8f, 1 }, { FAR, 0.7f, 2 }, { WHOLE, 0.6f, 3 },
          { 0, 9, 4, 13, 0.5f, 2 } } },
  { "an over-cap box suppresses nothing", "K O K | 0 2", .iou = 0.5f, .least = ALL,
      .max_per_class = 1, .agnostic = 1, .count = 3,
      .boxes = { { WHOLE, 0.9f, 1 }, { FAR, 0.8f, 1 }, { FAR, 0.7f, 2 } } },

  /* candidates */
  { "only the best boxes take part", "N K S3 K | 3 1", .iou = 0.25f, .least = ALL, .candidates = 3,
      .count = 4, .boxes = { { WHOLE, 0.1f }, { FAR, 0.8f }, { HALF, 0.7f }, { WHOLE, 0.9f } } },
  { "a box that is no candidate suppresses nothing", "N K | 1", .iou = 0.25f, .least = ALL,
      .candidates = 1, .count = 2, .boxes = { { WHOLE, 0.1f }, { WHOLE, 0.9f } } },
  { "equal scores: the candidate is the lower index", "K K N N | 0 1", .iou = 0.5f, .least = ALL,
      .candidates = 2, .count = 4,
      .boxes = { { WHOLE, -0.0f }, { FAR, 0.0f }, { FAR, 0.0f }, { FAR, -0.0f } } },
  { "candidates are counted over all classes", "K N N | 0", .iou = 0.5f, .least = ALL,
      .candidates = 1, .count = 3,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { FAR, 0.7f, 3 } } },
  { "invalid and filtered boxes are no candidates", "I F F K N | 3", .iou = 0.5f, .least = 0.3f,
      .candidates = 1, .count = 5,
      .boxes = { { NAN, 0, 4, 4, 0.9f }, { WHOLE, 0.8f, .exclude = 1 }, { WHOLE, 0.2f },
          { WHOLE, 0.5f }, { FAR, 0.4f } } },
  { "candidates go before caps and suppression", "K S0 K O N N | 0 2", .iou = 0.25f, .least = ALL,
      .max = 2, .candidates = 4, .count = 6,
      .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f }, { FAR, 0.7f }, { -9, 0, -5, 4, 0.6f },
          { WHOLE, 0.5f }, { -9, 0, -5, 4, 0.4f } } },
  { "as many candidates as boxes changes nothing", "K S0 K | 0 2", .iou = 0.5f, .least = ALL,
      .candidates = 3, .count = 3, .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f }, { FAR, 0.7f } } },
  { "more than 2^32 candidates are all boxes", "K S0 | 0", .iou = 0.5f, .least = ALL,
      .candidates = 0x100000001, .count = 2, .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f } } },

  /* options of one class */
  { "a class's own threshold", "K S0 K K | 0 2 3", .iou = 0.5f, .least = ALL, .class_count = 1,
      .classes = { { .class_id = 7, .set = BY_IOU, .iou_threshold = 0.25f } }, .count = 4,
      .boxes = { { WHOLE, 0.9f, 7 }, { HALF, 0.8f, 7 }, { WHOLE, 0.7f, 8 }, { HALF, 0.6f, 8 } } },
  { "a class's own threshold can be higher", "K K K S2 | 0 1 2", .iou = 0.25f, .least = ALL,
      .class_count = 1, .classes = { { .class_id = 7, .set = BY_IOU, .iou_threshold = 0.75f } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, 7 }, { HALF, 0.8f, 7 }, { WHOLE, 0.7f, 8 }, { HALF, 0.6f, 8 } } },
  { "a class's own threshold under >=", "K S0 | 0", .iou = 0.9f, .least = ALL, .inclusive = 1,
      .class_count = 1, .classes = { { .class_id = 7, .set = BY_IOU, .iou_threshold = 0.5f } },
      .count = 2, .boxes = { { WHOLE, 0.9f, 7 }, { HALF, 0.8f, 7 } } },
  { "a class's own score threshold, lower and higher", "K F K F | 2 0", .iou = 0.5f, .least = 0.5f,
      .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_SCORE, .score_threshold = 0.2f },
          { .class_id = 2, .set = BY_SCORE, .score_threshold = 0.8f } },
      .count = 4,
      .boxes = { { WHOLE, 0.2f, 1 }, { WHOLE, 0.7f, 2 }, { WHOLE, 0.8f, 2 }, { FAR, 0.4f, 3 } } },
  { "a class's own score threshold when strict", "F K | 1", .iou = 0.5f, .least = ALL, .strict = 1,
      .class_count = 1, .classes = { { .class_id = 1, .set = BY_SCORE, .score_threshold = 0.2f } },
      .count = 2, .boxes = { { WHOLE, 0.2f, 1 }, { WHOLE, 0.2f, 2 } } },
  { "a class's own cap of 0 lifts the common one", "K K K O | 0 1 2", .iou = 0.5f, .least = ALL,
      .max_per_class = 1, .class_count = 1,
      .classes = { { .class_id = 1, .set = BY_MAX, .max_detections = 0 } }, .count = 4,
      .boxes = { { WHOLE, 0.9f, 1 }, { FAR, 0.8f, 1 }, { WHOLE, 0.7f, 2 }, { FAR, 0.6f, 2 } } },
  { "fields that are not set are inherited", "K S0 F O | 0", .iou = 0.25f, .least = 0.3f,
      .max_per_class = 1, .class_count = 2,
      .classes = { { .class_id = 1,
                       .set = BY_MAX,
                       .iou_threshold = 0.9f,
                       .score_threshold = 5,
                       .max_detections = 2 },
          { .class_id = 2,
              .set = 0,
              .iou_threshold = NAN,
              .score_threshold = NAN,
              .max_detections = 9 } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, 2 }, { HALF, 0.8f, 1 }, { FAR, 0.2f, 1 }, { FAR, 0.7f, 2 } },
      .agnostic = 1 },
  /* the pair overlaps by 1/2; class 1 allows 3/4, class 2 allows 1/4 */
  { "the candidate's class decides when agnostic", "K S0 | 0", .iou = 0.5f, .least = ALL,
      .agnostic = 1, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_IOU, .iou_threshold = 0.75f },
          { .class_id = 2, .set = BY_IOU, .iou_threshold = 0.25f } },
      .count = 2, .boxes = { { WHOLE, 0.9f, 1 }, { HALF, 0.8f, 2 } } },
  { "and not the kept box's class", "K K | 0 1", .iou = 0.5f, .least = ALL, .agnostic = 1,
      .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_IOU, .iou_threshold = 0.75f },
          { .class_id = 2, .set = BY_IOU, .iou_threshold = 0.25f } },
      .count = 2, .boxes = { { WHOLE, 0.9f, 2 }, { HALF, 0.8f, 1 } } },
  { "options of the extremes of int32", "K K O F | 0 1", .iou = 0.5f, .least = ALL,
      .class_count = 3,
      .classes = { { .class_id = INT32_MAX, .set = BY_IOU, .iou_threshold = 1 },
          { .class_id = INT32_MIN, .set = BY_SCORE, .score_threshold = 0.5f },
          { .class_id = -1, .set = BY_MAX, .max_detections = 1 } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, INT32_MAX }, { WHOLE, 0.8f, -1 }, { FAR, 0.7f, -1 },
          { WHOLE, 0.4f, INT32_MIN } } },

  /* groups */
  { "classes of a group suppress each other, others do not", "K S0 K S2 | 0 2", .iou = 0.5f,
      .least = ALL, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_GROUP, .group = 7 },
          { .class_id = 2, .set = BY_GROUP, .group = 7 } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { WHOLE, 0.7f, 3 }, { WHOLE, 0.6f, 3 } } },
  { "a group is the class of its number, and a class in another group is not in it",
      "K S0 K K | 0 2 3", .iou = 0.5f, .least = ALL, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_GROUP, .group = 3 },
          { .class_id = 2, .set = BY_GROUP, .group = 1 } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 3 }, { WHOLE, 0.7f, 2 }, { FAR, 0.6f, 1 } } },
  { "caps and thresholds in a group are those of each class", "K S0 K O | 0 2", .iou = 0.5f,
      .least = ALL, .max_per_class = 1, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_GROUP, .group = 2 },
          { .class_id = 4, .set = BY_GROUP | BY_IOU, .group = 2, .iou_threshold = 1 } },
      .count = 4,
      .boxes = { { WHOLE, 0.9f, 1 }, { WHOLE, 0.8f, 2 }, { WHOLE, 0.7f, 4 }, { FAR, 0.6f, 4 } } },
  { "a box over the cap of its class suppresses no box of its group", "K O K | 0 2", .iou = 0.5f,
      .least = ALL, .class_count = 2,
      .classes = { { .class_id = 1, .set = BY_GROUP | BY_MAX, .group = 9, .max_detections = 1 },
          { .class_id = 2, .set = BY_GROUP, .group = 9 } },
      .count = 3, .boxes = { { FAR, 0.9f, 1 }, { WHOLE, 0.8f, 1 }, { WHOLE, 0.7f, 2 } } },

  /* exclude */
  { "an excluded box is filtered and suppresses nothing", "F K | 1", .iou = 0.5f, .least = ALL,
      .count = 2, .boxes = { { WHOLE, 0.9f, .exclude = 1 }, { WHOLE, 0.8f } } },
  { "any non-zero byte excludes", "F F K | 2", .iou = 0.5f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f, .exclude = 255 }, { FAR, 0.8f, .exclude = 128 }, { FAR, 0.1f } } },

  /* parents */
  { "a part stays beside its parent", "K K S0 | 0 1", .iou = 0.25f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f, .part_of = 1 }, { HALF, 0.7f } } },
  { "a parent stays beside its better part", "K K | 0 1", .iou = 0.25f, .least = ALL, .count = 2,
      .boxes = { { HALF, 0.9f, .part_of = 2 }, { WHOLE, 0.8f } } },
  { "two parts of one parent do meet", "K K S1 | 0 1", .iou = 0.25f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f, .part_of = 1 }, { HALF, 0.7f, .part_of = 1 } } },
  { "a part of a part meets its grandparent", "K K S0 | 0 1", .iou = 0.2f, .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { HALF, 0.8f, .part_of = 1 }, { QUARTER, 0.7f, .part_of = 2 } } },
  { "the second suppressor counts where the first is the parent", "K K S1 | 0 1", .iou = 0.4f,
      .least = ALL, .count = 3,
      .boxes = { { 0, 0, 4, 4, 0.9f }, { 2, 0, 6, 4, 0.8f }, { 1, 0, 5, 4, 0.7f, .part_of = 1 } } },
  { "a parent out of range is none", "K S0 S0 S0 | 0", .iou = 0.25f, .least = ALL, .count = 4,
      .boxes = { { WHOLE, 0.9f, .part_of = 1 }, { WHOLE, 0.8f, .part_of = 5 },
          { WHOLE, 0.7f, .part_of = INT32_MIN + 1 }, { WHOLE, 0.6f, .part_of = INT32_MAX } } },
  { "being a part of a suppressed box protects from nothing", "K S0 S0 | 0", .iou = 0.25f,
      .least = ALL, .count = 3,
      .boxes = { { WHOLE, 0.9f }, { WHOLE, 0.8f }, { HALF, 0.7f, .part_of = 2 } } },
  { .name = NULL }
};

void
handrow_call (const HandRow *row, HandCall *call)
{
  const ptrdiff_t stride = sizeof (HandBox);
  HandBox *rows = call->rows;

  *call = (HandCall) { 0 };
  for (size_t i = 0; i < row->count; i++) {
    rows[i] = row->boxes[i];
    call->parent[i] = rows[i].part_of - 1;
  }
  call->boxes = (nms_boxes) {
    .size = sizeof (nms_boxes),
    .count = row->count,
    .x1 = { &rows->x1, stride },
    .y1 = { &rows->y1, stride },
    .x2 = { &rows->x2, stride },
    .y2 = { &rows->y2, stride },
    .score = { &rows->score, stride },
    .class_id = { &rows->class_id, stride },
    .exclude = { &rows->exclude, stride },
    .parent = { call->parent, 0 },
  };
  call->options = (nms_options) {
    .size = sizeof (nms_options),
    .iou_threshold = row->iou,
    .score_threshold = row->least,
    .max_detections = row->max,
    .max_per_class = row->max_per_class,
    .max_candidates = row->candidates,
    .inclusive = row->inclusive,
    .score_strict = row->strict,
    .class_agnostic = row->agnostic,
    .outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY,
    .class_options = row->class_count ? call->classes : NULL,
    .class_option_count = row->class_count,
  };
  for (size_t i = 0; i < row->class_count; i++) {
    call->classes[i] = row->classes[i];
    call->classes[i].size = sizeof (nms_class_options);
  }
}
