/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mosaicpicks: the kernel with one grid step for each pick. */
#ifndef NMS_MOSAICPICKS_H
#define NMS_MOSAICPICKS_H

#include "mosaickernel.h"

/* Sets the arrays and the steps of the kernel for a spec that was checked. */
void nms__mosaic_picks_layout (const nms__mosaic_spec *spec, nms__mosaic_layout *layout);

/* Prints the kernel. */
void nms__mosaic_picks_print (nms__mosaic *m, const nms__mosaic_spec *spec,
    const nms__mosaic_layout *layout);

#endif
