/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handrows: small cases whose results were worked out by hand from the definition. The
 * reference and every engine must give the text in the row.
 */
#pragma once

#include "nmscore.h"

typedef struct {
  float x1, y1, x2, y2;
  float score;
  int32_t class_id;
  uint8_t exclude;
  int32_t part_of; /* index of the parent plus 1; 0: none */
} HandBox;

#define HANDROW_BOXES 8
#define HANDROW_CLASSES 3

typedef struct {
  const char *name;
  const char *expect; /* in the format of describe.h */
  float iou;
  float least; /* score threshold */
  uint64_t max, max_per_class, candidates;
  uint8_t inclusive, strict, agnostic;
  size_t class_count;
  nms_class_options classes[HANDROW_CLASSES]; /* sizes are filled in */
  size_t count;
  HandBox boxes[HANDROW_BOXES];
} HandRow;

extern const HandRow handrows[]; /* ends with a name that is NULL */

/* The arguments of nms_run for a row. They point into this struct. */
typedef struct {
  nms_boxes boxes;
  nms_options options;
  nms_class_options classes[HANDROW_CLASSES];
  int32_t parent[HANDROW_BOXES];
  HandBox rows[HANDROW_BOXES];
} HandCall;

void handrow_call (const HandRow *row, HandCall *call);
