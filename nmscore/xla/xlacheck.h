/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacheck: may a device be trusted with a program? */
#ifndef NMS_XLACHECK_H
#define NMS_XLACHECK_H

#include "xlastore.h"

/* Compiles the program of a kind and has it give known answers. `flags`: of
 * nms_lazy_nms. 0, or a code
 * of nms_error and one line of text: it cannot be compiled or run, or it gives
 * other answers. */
int nms__xla_check (nms_lazy_cache *cache, unsigned flags, nms__xla_kind kind, char *error,
    size_t error_size);

#endif
