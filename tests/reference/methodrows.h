/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * methodrows: small calls of the methods, whose results were worked out by hand from the
 * definitions. The reference and the library must give the text in the row.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

typedef struct {
  float x1, y1, x2, y2;
  float score;
  int32_t class_id;
  int32_t source;
  int32_t part_of; /* index of the parent plus 1; 0: none */
} MethodBox;

#define METHODROW_BOXES 6
#define METHODROW_SOURCES 3

typedef struct {
  const char *name;
  const char *expect; /* in the format of describe.h */
  const char *kept;   /* score and corners of each kept box: "0.9 0,0,4,4; 0.5 ..." */
  uint32_t method, metric, fused_score;
  float threshold;
  float sigma, min_score, size_ratio;
  uint8_t inclusive, agnostic;
  uint64_t max, max_per_class;
  size_t sources;
  float weights[METHODROW_SOURCES]; /* the first is 0: all weigh 1 */
  size_t count;
  MethodBox boxes[METHODROW_BOXES];
} MethodRow;

extern const MethodRow methodrows[]; /* ends with a name that is NULL */
extern const MethodRow scorerows[];  /* the methods that keep the boxes: scorerows.c */

/* The arguments of nms_run for a row. They point into this struct. */
typedef struct {
  nms_boxes boxes;
  nms_options options;
  MethodBox rows[METHODROW_BOXES];
  float weights[METHODROW_SOURCES];
  int32_t parent[METHODROW_BOXES];
} MethodCall;

void methodrow_call (const MethodRow *row, MethodCall *call);

/* Describes scores and corners in the form of MethodRow.kept. Free with free (). */
char *methodrow_describe (size_t kept_count, const float *kept_score, const float *kept_box);
