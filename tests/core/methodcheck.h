/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* methodcheck: runs calls of methods on every instruction set that runs here. */
#pragma once

#include "boxgen.h"
#include "methodrows.h"

#include <glib.h>

/* Compares a row worked out by hand with nms_run; the function of a test case. */
void methodcheck_row (gconstpointer row);

/* Compares a call with the reference, all outputs bit for bit. `round` is for messages. */
void methodcheck_call (nms_context *ctx, const BoxCall *call, uint64_t round);
