/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacheck: may a device be trusted with a program? */
#ifndef NMS_XLACHECK_H
#define NMS_XLACHECK_H

#include "xlastore.h"

/* Has the program of a kind give known answers; compiles it first if it is the
 * graph's. 0, or a code of nms_error and one line of text: it cannot be compiled
 * or run, or it gives other answers. */
int nms__xla_check (nms__xla_store *store, nms__xla_kind kind, char *error, size_t error_size);

#endif
