/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlachild: runs the program nms-xla-probe in a child process. */
#ifndef NMS_XLACHILD_H
#define NMS_XLACHILD_H

#include <stddef.h>

/* Makes `program` open the plugin in file `path`, and kills it and the processes that it started
 * after `seconds`. Returns 0 if the plugin could be opened and closed, or if the program could
 * not be started. Otherwise returns NMS_ERROR_DEVICE and one line of text: the plugin's error,
 * or how the program ended. Sets *is_final to 0 if another attempt may end differently: the
 * program was not started, or the plugin returned an error. */
int nms__xla_child_open (const char *program, const char *path, unsigned seconds, int *is_final,
    char *error, size_t error_size);

#endif
