/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazynms: a call of nms_run as a program of lazy tensors, raw columns in: what
 * is invalid, the order, thresholds and caps of classes are all decided in the
 * program. Compared with the reference.
 */
#pragma once

#include "nmsgraph.h"
#include "reference.h"

/* Which columns the program has, though they say nothing in this call. */
enum {
  LAZYNMS_WANTED, /* only those that say something */
  LAZYNMS_ALL
};

/* Runs the call, padded to `padded` boxes (at least boxes->count, at least 1)
 * and clears the context. Boxes must not be turned. `flags`: of nms_lazy_nms.
 * Returns where the results differ from `expected`, for free (); NULL: nowhere. */
char *lazynms_difference (nms_lazy *lz, const nms_boxes *boxes, const nms_options *options,
    size_t padded, int columns, unsigned flags, const RefResult *expected);
