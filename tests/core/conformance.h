/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * conformance: what the tests with cases of other projects share. conformance_run also
 * runs every engine with every combination of outputs and compares all results with the
 * reference.
 */
#pragma once

#include "enginecheck.h"

#include <glib.h>

/* Input that several projects use: y1 x1 y2 x2 of boxes, and scores. */
#define SIX_BOXES \
  0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100, 1, 101
#define SIX_BOXES_FLIPPED \
  1, 1, 0, 0, 0, 0.1f, 1, 1.1f, 0, 0.9f, 1, -0.1f, 0, 10, 1, 11, 1, 10.1f, 0, 11.1f, 1, 101, 0, 100
#define TEN_EQUAL_BOXES \
  0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, \
      0, 0, 1, 1, 0, 0, 1, 1
#define SIX_SCORES 0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f

/* Fails the test unless the program of lazy tensors gives the result of the reference. Only
 * programs that link tests/accel/addxla.c have it. */
void conformance_check_lazy (const nms_boxes *boxes, const nms_options *options)
    __attribute__ ((weak));

/* Sets the columns of corners to rows of y1 x1 y2 x2. */
void conformance_set_yxyx (nms_boxes *boxes, const float *rows);

/* Runs the engine of `options`, which must succeed. The result is valid until the next
 * call of this function. */
void conformance_run (const nms_boxes *boxes, const nms_options *options, nms_result *result);

/* Runs the engine of `options`, which must fail with this code and detail. */
void conformance_fail (const nms_boxes *boxes, const nms_options *options, int error,
    const char *detail);
