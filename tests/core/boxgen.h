/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxgen: random calls of nms_run, reproducible from one number. A call has boxes of one
 * temper (uniform, on an integer grid, crowded, equal, tiny, huge, hostile), scores with
 * or without ties, sparse classes, any subset of the columns, packed or strided, and
 * options that suit them: some thresholds equal an overlap of these boxes exactly.
 *
 * Each array is an allocation of exactly its size, so that a sanitizer sees any read
 * beyond the last element.
 */
#pragma once

#include "nmscore.h"

#include <stdint.h>

/* Random numbers. The upper bits are those of the input of a fuzzer as long as it lasts. */
typedef struct {
  uint64_t state;
  const uint8_t *input; /* borrowed */
  size_t left;          /* bytes of the input; 0 without a fuzzer */
} BoxRandom;

uint64_t boxrandom_bits (BoxRandom *random);
uint32_t boxrandom_below (BoxRandom *random, uint32_t limit); /* 0 to limit - 1; 0 if limit is 0 */
float boxrandom_unit (BoxRandom *random);                     /* from 0 to 1 */

enum {
  BOXGEN_UNIFORM,
  BOXGEN_GRID,    /* small integers: overlaps that hit thresholds */
  BOXGEN_CROWD,   /* copies of few objects with small shifts, as detectors write them */
  BOXGEN_EQUAL,   /* few different boxes, many times */
  BOXGEN_SCALED,  /* BOXGEN_CROWD times a small or large power of two */
  BOXGEN_HOSTILE, /* NaN, infinities, limits, flipped, -0, subnormals */
  BOXGEN_TEMPERS,
  /* layouts of many boxes that are hard for an engine */
  BOXGEN_APART = BOXGEN_TEMPERS,
  BOXGEN_ONE_SPOT,
  BOXGEN_ALL_SIZES, /* extents from e^-10 to e^10 */
  BOXGEN_BARS,      /* long ones in both directions */
  BOXGEN_GIANT,     /* one covers all others */
  BOXGEN_HUGE,
  BOXGEN_LINE,
  BOXGEN_SMALL,
  BOXGEN_OUTLIERS,
  BOXGEN_CONCENTRIC,
  BOXGEN_DIAGONAL,
  BOXGEN_FAR_TILES,
  BOXGEN_LAYOUTS
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
  float *angle;
  int32_t *source; /* set by boxcall_random_method, as are the weights */
  float weights[4];
} BoxCall;

/* Makes a call with `count` boxes of this temper; all else is random. */
void boxcall_random (BoxCall *call, BoxRandom *random, int temper, size_t count);
void boxcall_clear (BoxCall *call);

/* Adds the column of angles, whose values the caller writes, and returns it. */
float *boxcall_add_angles (BoxCall *call);

/* Reads and writes x1 y1 x2 y2 of box i. */
void boxcall_corners (const BoxCall *call, size_t i, float box[4]);
void boxcall_set_corners (const BoxCall *call, size_t i, const float box[4]);

/* Draws a method, a metric that it takes and their options. Half of the calls of methods that
 * allow it and of tempers uniform and crowd get rotated boxes. */
void boxcall_random_method (BoxCall *call, BoxRandom *random, int temper);
