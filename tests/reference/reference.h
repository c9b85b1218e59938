/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reference: non-maximum suppression written from its definition, slowly.
 *
 * What every engine of nmscore is compared with. It takes the structs of
 * nmscore.h and nothing else of it: no function and no constant but the
 * outcomes and option bits. Quadratic, one pair at a time, with real
 * divisions; meant for some thousand boxes. Arguments must be well formed
 * (full-size structs, thresholds in range): what nms_run makes of others is
 * the business of the tests of errors. Aborts when out of memory.
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
  int32_t *kept;          /* kept_count indices in score order */
  uint8_t *outcome;       /* count */
  int32_t *suppressed_by; /* count */
} RefResult;

/* `options` NULL: the documented defaults. Free with ref_result_clear (). */
void ref_run (const nms_boxes *boxes, const nms_options *options, RefResult *result);
void ref_result_clear (RefResult *result);

/* nms_count_neighbors by definition; `neighbors` has room for boxes->count. */
void ref_count_neighbors (const nms_boxes *boxes, const nms_options *options, uint32_t *neighbors);

/* The overlap of two boxes x1 y1 x2 y2; 0 where one is invalid. */
float ref_iou (const float a[4], const float b[4]);
