/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: makes simple frames of boxes and compares results with the reference, for
 * tests that need a few runs with known settings. */
#pragma once

#include "enginecheck.h"
#include "scoped.h"

typedef struct {
  nms_boxes boxes;
  nms_options options; /* defaults, all outputs */
  float *rows;
  float *score;
  const char *plugin; /* plugin of the engine that frame_add_engine adds, for NMS_ENGINE_ADDED */
  int strict;
  int has_engine;              /* the context has the engine of an earlier frame */
  const nms_context *added_to; /* context and settings with which the engine was added last */
  const char *added_plugin;
  int added_strict;
} Frame;

/* Makes `count` boxes, some of which overlap, and scores with ties. The same seed makes
 * the same frame. */
void frame_init (Frame *frame, size_t count, uint32_t seed);
void frame_clear (Frame *frame);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Frame, frame_clear)

/* Adds engine xla with the frame's plugin to the context, if the options name an added engine and
 * it was not added before. */
void frame_add_engine (Frame *frame, nms_context *context);

/* Adds the engine and runs the frame. */
int frame_run (Frame *frame, nms_context *context, nms_result *result);

/* Runs the frame and fails the test unless the result equals the reference's. */
void frame_check (Frame *frame, nms_context *context);

/* Runs the frame and fails the test unless the run fails with this code and a text that
 * contains `detail`. */
void frame_fails (Frame *frame, nms_context *context, int code, const char *detail);

/* Waits until the threads of engine xla have finished. Fails the test if a device is then open. */
void frame_check_closed (void);
