/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * describe: writes a result as one line with one token for each box (K kept, S<i>
 * suppressed by box i, O over-cap, F filtered, I invalid, N not a candidate), then the kept list
 * in order: "K S0 K | 2 0". The hand-worked rows have this text. Calls no function of nmscore.
 */
#pragma once

#include "nmscore.h"
#include "reference.h"

/* `result` must have all outputs. Free both with free (). */
char *describe_result (const nms_result *result, size_t count);
char *describe_reference (const RefResult *result);
