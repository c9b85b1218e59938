/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* programtpu: the program that contains a kernel for TPUs. */
#ifndef NMS_PROGRAMTPU_H
#define NMS_PROGRAMTPU_H

#include "programgraph.h"

/* Returns the text of the program, for free (), and adds its inputs and outputs to
 * job->program. Returns NULL after an error, which is latched in `lz`. */
char *nms__program_tpu (nms_lazy *lz, const nms__program_job *job);

#endif
