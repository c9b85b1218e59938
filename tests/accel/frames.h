/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: simple frames of boxes, in arrays of their own, and a comparison of
 * a result with the reference, for tests that count on nothing but a few runs. */
#pragma once

#include "enginecheck.h"

typedef struct {
  nms_boxes boxes;
  nms_options options; /* defaults, all outputs */
  float *rows;
  float *score;
} Frame;

/* `count` boxes that overlap here and there, scores with ties; the same for the
 * same seed. */
void frame_init (Frame *frame, size_t count, uint32_t seed);
void frame_clear (Frame *frame);

/* Runs it; fails the test unless the result is the reference's. */
void frame_check (Frame *frame, nms_context *context);

/* The same, but it must fail with this code, and a text that has `detail`. */
void frame_fails (Frame *frame, nms_context *context, int code, const char *detail);
