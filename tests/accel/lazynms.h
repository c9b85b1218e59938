/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazynms: runs a call of nms_run as a program of lazy tensors and compares the results
 * with the reference's. The inputs are the caller's columns: the program finds invalid
 * boxes, ranks, and applies thresholds and caps of classes.
 */
#pragma once

#include "nmscore.h"
#include "nmsgraph.h"

/* A flag of lazynms_check: the program has all optional columns. Without it, it has those that
 * have an effect in this call. */
#define LAZYNMS_ALL (1u << 16)

/* Runs the call, padded to `padded` boxes (at least boxes->count and 1), and clears the context.
 * Fails the test unless picks, count and states are those of the reference. Boxes must not be
 * rotated. `flags` are those of nms_lazy_nms, and LAZYNMS_ALL. */
void lazynms_check (nms_lazy *lz, const nms_boxes *boxes, const nms_options *options, size_t padded,
    unsigned flags);
