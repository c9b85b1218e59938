/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacheck: compares a program's answers with known ones. */
#ifndef NMS_XLACHECK_H
#define NMS_XLACHECK_H

#include "xlastore.h"

/* Runs the program of a kind, which the caller prepares, on frames with known
 * answers; the first run compiles it if it is a graph. Returns 0, or a code of
 * nms_error and one line of text: the program cannot be compiled or run, or it gives
 * other answers. */
int nms__xla_check (nms__xla_store *store, nms__xla_kind kind, char *error, size_t error_size);

#endif
