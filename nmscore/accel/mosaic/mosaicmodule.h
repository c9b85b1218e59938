/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mosaicmodule: the StableHLO module around a kernel. */
#ifndef NMS_MOSAICMODULE_H
#define NMS_MOSAICMODULE_H

#include "mosaickernel.h"

/* Prints the module of a kernel that uses `memory` bytes of vector memory. `kernel` is
 * its text in base64. */
void nms__mosaic_module_print (nms__mosaic *m, const nms__mosaic_spec *spec,
    const nms__mosaic_layout *layout, const char *kernel, size_t memory);

#endif
