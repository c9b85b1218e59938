/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaerror: writes error texts of one line, some of them from a plugin's errors. */
#ifndef NMS_XLAERROR_H
#define NMS_XLAERROR_H

#include "nmslazy.h"
#include "pjrt.h"

/* Writes the first line of the formatted text to `error`, at most `error_size`
 * bytes with the final 0. Returns `code`. `error` may be NULL if `error_size`
 * is 0. */
int nms__xla_error_set (int code, char *error, size_t error_size, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 4, 5)))
#endif
    ;

/* Writes `what`, a colon and the plugin's message in the same way, and destroys `failure`.
 * Returns NMS_ERROR_DEVICE. */
int nms__xla_error_take (const pjrt_api *api, pjrt_error *failure, const char *what, char *error,
    size_t error_size);

#endif
