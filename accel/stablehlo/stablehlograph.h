/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlograph: records a program as operations on lazy tensors. */
#ifndef NMS_STABLEHLOGRAPH_H
#define NMS_STABLEHLOGRAPH_H

#include "stablehlojob.h"

/* Returns the text of the program, for free (), and adds its inputs and outputs to job->program.
 * Returns NULL after an error, which is latched in `lz`. */
char *nms__stablehlo_graph (nms_lazy *lz, const nms__stablehlo_job *job);

#endif
