/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enginecheck: runs nmscore with every engine, combination of outputs and entry point,
 * and compares each result with the reference, bit for bit.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

/* Adds a strict engine xla to a context. A test program that links this function, of
 * tests/accel/addxla.c, runs engine xla too if NMS_TEST_XLA_PLUGIN names a plugin. */
int enginecheck_add_xla (nms_context *ctx) __attribute__ ((weak));

/* The engines that every check runs, NMS_ENGINE_AUTO first. */
#define ENGINECHECK_ENGINES 4
extern const uint32_t enginecheck_engines[ENGINECHECK_ENGINES + 1];

/* The instruction sets; no machine has all of them. NULL ends the list. */
extern const char *const enginecheck_isas[];

/* Returns the number of engines in enginecheck_engines to run: all of them with engine xla, which
 * is the last, else one less. enginecheck_use sets the engine with this number, and adds engine xla
 * to the context if it has none. */
#define ENGINECHECK_XLA_BOXES 65536 /* NMS_XLA_MAX_BOXES */
int enginecheck_count (void);
void enginecheck_use (nms_context *ctx, nms_options *options, int number);

/* Calls nms_run_batch with one image. arrays->kept_offsets is ignored. */
int enginecheck_batch (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_batch_arrays *arrays, nms_result *result);

#define ENGINECHECK_ALL_OUTPUTS \
  (NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY | NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX)

/* Describes the first difference between `result`, which must have all outputs, and the
 * reference. Returns NULL if there is none. Free with free (). */
char *enginecheck_difference (const nms_result *result, const RefResult *expected);

/* Like enginecheck_difference, for a result with only these outputs, which may include the scores
 * and the corners of the kept boxes. */
char *enginecheck_difference_of (const nms_result *result, const RefResult *expected,
    uint32_t outputs);

/* Runs every engine with four combinations of outputs, nms_run_batch and
 * nms_count_neighbors, and compares them with the reference. Other methods and metrics than
 * hard and iou, which run without an engine, run once with each combination. Describes the
 * first difference; returns NULL if there is none. Free with free (). The engine and the
 * outputs of `options` are ignored; `options` may be NULL. ENGINECHECK_QUICK runs each
 * engine once with all outputs, and nothing else; ENGINECHECK_OUTPUTS runs each engine
 * with each combination, and nothing else. */
enum { ENGINECHECK_FULL, ENGINECHECK_QUICK, ENGINECHECK_OUTPUTS };
char *enginecheck_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    int how);

/* Runs a call once on each instruction set that runs here and compares all outputs with the
 * reference. Describes the first difference like enginecheck_run. */
char *enginecheck_isas_difference (nms_context *ctx, const nms_boxes *boxes,
    const nms_options *options);
