/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * conformance: what the tests of other projects' figures share. Every run also
 * goes through every engine and output, and the program of lazy tensors, and is
 * compared with the reference.
 */
#pragma once

#include "enginecheck.h"

#include <glib.h>

/* `start` and `finish` of a TestProgram: create and free what conformance_run uses. */
const char *conformance_start (const char *needs);
void conformance_finish (void);

/* Points the corners at rows y1 x1 y2 x2. */
void conformance_set_yxyx (nms_boxes *boxes, const float *rows);

/* Runs the engine of `options`; must succeed. The result holds until the next
 * call of this function. */
void conformance_run (const nms_boxes *boxes, const nms_options *options, nms_result *result);

/* Must fail with this code and detail. */
void conformance_fail (const nms_boxes *boxes, const nms_options *options, int error,
    const char *detail);
