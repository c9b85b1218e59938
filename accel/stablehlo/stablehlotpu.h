/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlotpu: the program that contains a kernel for TPUs. */
#ifndef NMS_STABLEHLOTPU_H
#define NMS_STABLEHLOTPU_H

#include "stablehlograph.h"

/* Returns the text of the program, for free (), and adds its inputs and outputs to
 * job->program. Returns NULL after an error, which is latched in `lz`. */
char *nms__stablehlo_tpu (nms_lazy *lz, const nms__stablehlo_job *job);

#endif
