/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazynms: runs a call of nms_run as a program of lazy tensors and compares the results
 * with the reference's. The inputs are the caller's columns: the program finds invalid
 * boxes, ranks, and applies thresholds and caps of classes.
 */
#pragma once

#include "nmsgraph.h"
#include "reference.h"

/* Which optional columns the program has. */
enum {
  LAZYNMS_WANTED, /* only those that have an effect in this call */
  LAZYNMS_ALL
};

/* Runs the call, padded to `padded` boxes (at least boxes->count and 1), and clears the
 * context. Boxes must not be rotated. `flags` are those of nms_lazy_nms. Describes the
 * first difference from `expected`, for free (), or returns NULL if there is none. */
char *lazynms_difference (nms_lazy *lz, const nms_boxes *boxes, const nms_options *options,
    size_t padded, int columns, unsigned flags, const RefResult *expected);
