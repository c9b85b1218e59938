/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: makes simple frames of boxes and compares results with the reference, for
 * tests that need a few runs with known settings. */
#pragma once

#include "enginecheck.h"

typedef struct {
  nms_boxes boxes;
  nms_options options; /* defaults, all outputs */
  float *rows;
  float *score;
} Frame;

/* Makes `count` boxes, some of which overlap, and scores with ties. The same seed makes
 * the same frame. */
void frame_init (Frame *frame, size_t count, uint32_t seed);
void frame_clear (Frame *frame);

/* Runs the frame and fails the test unless the result equals the reference's. */
void frame_check (Frame *frame, nms_context *context);

/* Runs the frame and fails the test unless the run fails with this code and a text that
 * contains `detail`. */
void frame_fails (Frame *frame, nms_context *context, int code, const char *detail);

/* Waits until the threads of engine xla have finished. Fails the test if a device is then open. */
void frame_check_closed (void);
