/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handrows: small cases as text, whose results were worked out by hand from the definition. The
 * reference and every engine and method must give the text in the row. Calls no function of
 * nmscore.
 *
 * options: words such as "iou=0.25", "inclusive", "max=2", "soft-linear", "ios" (`fields` in
 * handrows.c), and for a class "class=7,iou=0.25,max=1,group=3", where "-iou=0.25" is written but
 * not set. The defaults are those of nms_options_init.
 *
 * boxes: "0,0,4,4 0.9; half 0.8 class=1 parent=0", corners, score and the other columns. Names of
 * corners:
 *   whole   0,0,4,4    area 16
 *   half    0,0,4,2    in whole: IoU 8/16 = 1/2, IoS 1
 *   lower   0,2,4,4    the other half of whole
 *   quarter 0,0,4,1    in whole: 4/16 = 1/4, in half: 1/2
 *   shifted 2,0,6,4    on whole: 8/24 = 1/3, IoS 1/2
 *   next    4,0,8,4    on shifted: 1/3; touches whole
 *   corner  2,2,6,6    on whole: 4/28, common bounding box 36
 *   far     9,9,13,13  overlaps none of them
 *
 * expect: a token for each box (K kept, S<i> suppressed by box i, O over-cap, F filtered, I
 * invalid, N not a candidate) and the kept boxes in order, "K S0 K | 2 0"; a third part has score
 * and corners of each kept box. A text without "|" has the kept boxes only.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

#define HANDROW_BOXES 20
#define HANDROW_CLASSES 3
#define HANDROW_SOURCES 3

typedef struct {
  const char *name, *options, *boxes, *expect;
} HandRow;

extern const HandRow hardrows[];   /* method hard by IoU; a name that is NULL ends each table */
extern const HandRow methodrows[]; /* other methods and metrics */

/* The arguments of nms_run for a row, with all outputs. They point into this struct. */
typedef struct {
  nms_boxes boxes;
  nms_options options;
  nms_class_options classes[HANDROW_CLASSES];
  float weights[HANDROW_SOURCES];
  struct {
    float corners[4], score, angle;
    int32_t class_id, source, parent;
    uint8_t exclude;
  } rows[HANDROW_BOXES];
} HandCall;

void handrow_call (const HandRow *row, HandCall *call);

/* Describes a result with all outputs in the form of `expect`, with as many parts. Free with
 * g_free (). */
char *handrow_describe (const HandRow *row, const nms_result *result, size_t count);
