/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: makes simple frames of boxes for engine xla and compares results with the reference, for
 * tests that need a few runs with known settings. */
#pragma once

#include "enginecheck.h"
#include "scoped.h"

typedef struct {
  nms_context *ctx;    /* a context of its own, with engine xla */
  int strict;          /* whether the engine is strict */
  nms_boxes boxes;     /* points into the arrays below */
  nms_options options; /* defaults, engine xla, all outputs */
  float *rows;
  float *score;
} Frame;

/* Makes a context with engine xla for this plugin, strict or not, and a frame of `count` boxes. */
void frame_init (Frame *frame, size_t count, const char *plugin, int strict);

/* Frees the context and the boxes. */
void frame_clear (Frame *frame);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Frame, frame_clear)

/* Calls frame_clear () and frame_check_closed (). */
void frame_close (Frame *frame);

/* Replaces the boxes by `count` others, some of which overlap, and scores with ties. The same count
 * gives the same boxes. */
void frame_fill (Frame *frame, size_t count);

/* Replaces engine xla in the context. */
void frame_use (Frame *frame, const char *plugin, int strict);

/* Runs the frame and fails the test unless the result equals the reference's. */
void frame_check (Frame *frame);

/* Runs the frame and fails the test unless the run fails with this code and a text that
 * contains `detail`. */
void frame_fails (Frame *frame, int code, const char *detail);

/* Waits until the threads of engine xla have finished. Fails the test if a device is then open. */
void frame_check_closed (void);

/* Runs `run` in a forked child that is killed after 60 s. Fails the test if it fails there. */
void frame_fork (void (*run) (void *data), void *data);
