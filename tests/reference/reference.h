/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reference: non-maximum suppression and its methods written from their definitions, slowly.
 *
 * The tests compare every engine and method of nmscore with it. It uses the structs, outcomes
 * and option bits of nmscore.h, and no function of it. It compares every pair and divides,
 * so it is meant for some thousand boxes. Arguments must be well formed (full-size
 * structs, thresholds in range); test-errors.c checks how nms_run treats others. Aborts
 * when out of memory.
 */
#pragma once

#include "nmscore.h"

typedef struct {
  size_t count;
  size_t kept_count;
  size_t suppressed_count;
  size_t over_cap_count;
  size_t filtered_count;
  size_t invalid_count;
  size_t not_candidate_count;
  int32_t *kept;          /* kept_count indices in score order */
  uint8_t *outcome;       /* count */
  int32_t *suppressed_by; /* count */
  float *kept_score;      /* kept_count */
  float *kept_box;        /* 4 * kept_count */
  int rotated; /* not 0: a box is rotated, so that fused corners depend on the last bit of sines */
} RefResult;

/* Runs the method of the options. Free with ref_result_clear (). */
void ref_run (const nms_boxes *boxes, const nms_options *options, RefResult *result);
void ref_result_clear (RefResult *result);

/* Counts the neighbors of each box into `neighbors`, an array of boxes->count. */
void ref_count_neighbors (const nms_boxes *boxes, const nms_options *options, uint32_t *neighbors);

/* Returns the IoU of two boxes x1 y1 x2 y2; 0 if one is invalid. */
float ref_iou (const float a[4], const float b[4]);
