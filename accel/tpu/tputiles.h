/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tputiles: the kernel with one grid step for each tile of 128 boxes. */
#ifndef NMS_TPUTILES_H
#define NMS_TPUTILES_H

#include "tpukernel.h"

/* Prints the kernel. */
void nms__tpu_tiles_print (nms__tpu *m, const nms__tpu_spec *spec, const nms__tpu_layout *layout);

#endif
