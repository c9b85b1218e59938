/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaprepare: makes the program of a kind ready to run. */
#ifndef NMS_XLAPREPARE_H
#define NMS_XLAPREPARE_H

#include "xlastore.h"

/* Compiles the program of a kind and compares its answers with the known ones
 * (xlacheck.h), unless it is ready; waits if another thread does this. Returns 0, or
 * a code of nms_error and one line of text if the device cannot be used. */
int nms__xla_prepare (nms__xla_store *store, nms__xla_kind kind, char *error, size_t error_size);

#endif
