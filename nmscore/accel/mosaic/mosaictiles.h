/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mosaictiles: the kernel with one grid step for each tile of 128 boxes. */
#ifndef NMS_MOSAICTILES_H
#define NMS_MOSAICTILES_H

#include "mosaickernel.h"

/* Prints the kernel. */
void nms__mosaic_tiles_print (nms__mosaic *m, const nms__mosaic_spec *spec,
    const nms__mosaic_layout *layout);

#endif
