/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlalibrary: from the name of a plugin's file to its table of functions. */
#ifndef NMS_XLALIBRARY_H
#define NMS_XLALIBRARY_H

#include "pjrt.h"

/* Loads and initializes a plugin, once in a process, or finds it loaded; the
 * caller sees to it that one thread at a time is in here. *api lives as long
 * as the process. 0, or a code of nms_error and a line of text. */
int nms__xla_library_load (const char *path, const pjrt_api **api, char *error,
    size_t error_size);

#endif
