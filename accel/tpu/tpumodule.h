/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tpumodule: the StableHLO module around a kernel. */
#ifndef NMS_TPUMODULE_H
#define NMS_TPUMODULE_H

#include "tpukernel.h"

/* Prints the module of a kernel that uses `memory` bytes of vector memory. `kernel` is
 * its text in base64. */
void nms__tpu_module_print (nms__tpu *m, const nms__tpu_spec *spec,
    const nms__tpu_layout *layout, const char *kernel, size_t memory);

#endif
