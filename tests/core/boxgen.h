/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxgen: random calls of nms_run, reproducible from one number. Boxes of many
 * tempers (uniform, on an integer grid, crowded, equal, tiny, huge, hostile),
 * scores with and without ties, sparse classes, every column present or not,
 * packed or strided, and options to match, thresholds among them that the
 * overlaps of these very boxes hit exactly.
 *
 * Every array is an allocation of its own with no byte to spare, so that a
 * sanitizer sees any read beyond the last element.
 */
#pragma once

#include "nmscore.h"

#include <stdint.h>

typedef struct {
  uint64_t state;
} BoxRandom;

uint64_t boxrandom_bits (BoxRandom *random);
uint32_t boxrandom_below (BoxRandom *random, uint32_t limit); /* 0 .. limit - 1; 0 for 0 */
float boxrandom_unit (BoxRandom *random);                     /* 0 .. 1 */

enum {
  BOXGEN_UNIFORM,
  BOXGEN_GRID,     /* small integers: overlaps that hit thresholds */
  BOXGEN_CROWD,    /* jitter around few objects, as detectors do */
  BOXGEN_EQUAL,    /* few different boxes, many times */
  BOXGEN_SCALED,   /* a crowd scaled by a power of two, to both ends */
  BOXGEN_HOSTILE,  /* NaN, infinities, limits, flipped, -0, subnormals */
  BOXGEN_TEMPERS
};

#define BOXGEN_CLASS_OPTIONS 5

typedef struct {
  nms_boxes boxes; /* points into the arrays below */
  nms_options options;
  nms_class_options class_options[BOXGEN_CLASS_OPTIONS];
  float *corners; /* 4 * count, rows or columns */
  float *score;
  int32_t *class_id;
  uint8_t *exclude;
  int32_t *parent;
} BoxCall;

/* A call of `count` boxes of one temper with everything else random. */
void boxcall_random (BoxCall *call, BoxRandom *random, int temper, size_t count);
void boxcall_clear (BoxCall *call);

/* Gives all boxes different scores, in random order. */
void boxcall_distinct_scores (BoxCall *call, BoxRandom *random);
