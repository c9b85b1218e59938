/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refboxes: the boxes of a call and the rules about single boxes, for the files of the
 * reference.
 */
#pragma once

#include "nmscore.h"

#include <stdbool.h>

typedef struct {
  float x1, y1, x2, y2; /* in order */
  float score;
  float angle; /* radians; 0: upright */
  int32_t class_id;
  int32_t group;  /* boxes of one group are compared */
  int32_t parent; /* -1: none */
  int32_t source;
  bool invalid;
  bool filtered;
  bool not_candidate;
} RefBox;

/* The options of one box: those of its class, else the global ones. */
typedef struct {
  float iou_threshold;
  float score_threshold;
  uint64_t max;
  int32_t group;
} RefRule;

/* One call: the boxes and the options. */
typedef struct {
  RefBox *list;
  size_t count;
  const nms_options *options;
} RefCall;

/* As calloc, but aborts when out of memory. */
void *ref_allocate (size_t count, size_t size);

RefBox ref_box (float x1, float y1, float x2, float y2, float score);
RefRule ref_rule_of (const nms_options *options, int32_t class_id);

/* Reads all boxes and decides which take part. The caller frees `list`. */
RefCall ref_call_read (const nms_boxes *boxes, const nms_options *options);

/* Returns the numbers of the boxes that take part, by descending score; of equal scores the lower
 * number is first. Sets *length. The caller frees the list. */
int32_t *ref_order (const RefCall *call, size_t *length);

/* Returns whether boxes i and j are compared: their groups and parents must allow it. */
bool ref_comparable (const RefCall *call, size_t i, size_t j);

/* Returns whether a method gives boxes new scores. */
bool ref_rescores (uint32_t method);

/* Returns whether box i takes part. */
bool ref_takes_part (const RefCall *call, size_t i);
