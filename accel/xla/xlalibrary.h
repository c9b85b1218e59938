/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlalibrary: loads the library of a plugin and checks its table of functions. */
#ifndef NMS_XLALIBRARY_H
#define NMS_XLALIBRARY_H

#include "pjrt.h"

/* Loads and initializes a plugin, or finds it loaded. The caller ensures that only one
 * thread at a time calls this function. *api is valid until the process ends. Returns
 * 0, or a code of nms_error and one line of text. */
int nms__xla_library_load (const char *path, const pjrt_api **api, char *error, size_t error_size);

#endif
