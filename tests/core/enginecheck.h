/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enginecheck: runs nmscore with every engine, combination of outputs and entry point,
 * and compares each result with the reference, bit for bit.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

/* A program defines this function, as tests/accel/addxla.c does, so that all checks run an engine
 * of its own too. It adds the engine to the context, unless that is NULL. It returns NMS_OK, or an
 * error if there is no engine. */
int enginecheck_add_engine (nms_context *ctx) __attribute__ ((weak));

/* The engines that every check runs, NMS_ENGINE_AUTO first, and behind them NMS_ENGINE_ADDED. */
#define ENGINECHECK_ENGINES 4
extern const uint32_t enginecheck_engines[ENGINECHECK_ENGINES + 1];

/* The instruction sets; no machine has all of them. NULL ends the list. */
extern const char *const enginecheck_isas[];

#define ENGINECHECK_XLA_BOXES 65536 /* NMS_XLA_MAX_BOXES */

/* Returns whether a call is beyond added engines: a box is rotated, groups of classes have an
 * effect, or there is a min_size_ratio. */
int enginecheck_native_only (const nms_boxes *boxes, const nms_options *options);

/* Calls nms_run_batch with one image. arrays->kept_offsets is ignored. */
int enginecheck_batch (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const nms_batch_arrays *arrays, nms_result *result);

#define ENGINECHECK_OUTCOMES (NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY)
#define ENGINECHECK_ALL_OUTPUTS (ENGINECHECK_OUTCOMES | NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX)

/* Describes the first difference between a result with these outputs and the reference. Returns
 * NULL if there is none. Free with free (). */
char *enginecheck_difference (const nms_result *result, const RefResult *expected,
    uint32_t outputs);

/* Runs a call and compares it with the reference. Describes the first difference; returns NULL if
 * there is none. Free with free (). The engine and the outputs of `options` are ignored, except
 * that ENGINECHECK_ISAS runs the engine. Other methods and metrics than hard and iou run without
 * an engine.
 *
 * ENGINECHECK_FULL       each engine with four combinations of outputs, by nms_run and divided into
 *                        images by nms_run_batch; and nms_count_neighbors
 * ENGINECHECK_OUTPUTS    each engine with four combinations of outputs
 * ENGINECHECK_QUICK      each engine with all outputs
 * ENGINECHECK_ISAS       all outputs on each instruction set that runs here; leaves the context at
 *                        the last one
 * ENGINECHECK_NEIGHBORS  nms_count_neighbors on each instruction set */
enum {
  ENGINECHECK_FULL,
  ENGINECHECK_OUTPUTS,
  ENGINECHECK_QUICK,
  ENGINECHECK_ISAS,
  ENGINECHECK_NEIGHBORS
};
char *enginecheck_run (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    int how);
