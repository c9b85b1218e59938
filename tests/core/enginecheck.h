/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enginecheck: runs nmscore in every way it can be run and compares each
 * result with the reference, bit for bit.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

/* The engines that every check runs, NMS_ENGINE_AUTO first. */
#define ENGINECHECK_ENGINES 4
extern const uint32_t enginecheck_engines[ENGINECHECK_ENGINES + 1];

/* How many of enginecheck_engines the checks that can use engine xla run: the
 * last one too if the environment variable NMS_TEST_XLA_PLUGIN names a plugin.
 * enginecheck_use sets the engine, and xla strictly. */
int enginecheck_count (void);
void enginecheck_use (nms_options *options, int number);

/* Where `result`, which must have all outputs, differs from the reference;
 * NULL: nowhere. Free with free (). */
char *enginecheck_difference (const nms_result *result, const RefResult *expected);

/* The same for a result that has no outcomes or no suppressed_by. */
char *enginecheck_difference_of (const nms_result *result, const RefResult *expected,
    uint32_t outputs);

/* Every engine with every combination of outputs, nms_run_into, and
 * nms_count_neighbors, against the reference. Returns what differs, or NULL.
 * The engine and outputs of `options` are ignored; `options` may be NULL.
 * ENGINECHECK_QUICK: each engine once, with all outputs, and nothing else.
 * ENGINECHECK_OUTPUTS: each engine with every combination, and nothing else. */
enum { ENGINECHECK_FULL, ENGINECHECK_QUICK, ENGINECHECK_OUTPUTS };
char *enginecheck_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    int how);
