/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlalibrary: from the name of a plugin's file to its table of functions. */
#ifndef NMS_XLALIBRARY_H
#define NMS_XLALIBRARY_H

#include "nmscore.h"
#include "pjrt.h"

/* Zeroes a struct of arguments and sets its size. */
#define NMS__PJRT_ARGS(type, name) type name = { .head = { sizeof (type), NULL } }

/* Loads and initializes a plugin, once in a process, or finds it loaded; the
 * caller sees to it that one thread at a time is in here. *api lives as long
 * as the process. 0, or a code of nms_error and a line of text. */
int nms__xla_library_load (const char *path, const pjrt_api **api, char *error,
    size_t error_size);

/* NMS_ERROR_DEVICE, and "what: message" in one line; `failure` is destroyed. */
int nms__xla_failed (const pjrt_api *api, pjrt_error *failure, const char *what, char *error,
    size_t error_size);

/* Writes a line of text like snprintf; returns the code. */
int nms__xla_say (int code, char *error, size_t error_size, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 4, 5)))
#endif
    ;

#endif
