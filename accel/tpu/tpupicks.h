/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tpupicks: the kernel with one grid step for each pick. */
#ifndef NMS_TPUPICKS_H
#define NMS_TPUPICKS_H

#include "tpukernel.h"

/* Sets the arrays and the steps of the kernel for a spec that was checked. */
void nms__tpu_picks_layout (const nms__tpu_spec *spec, nms__tpu_layout *layout);

/* Prints the kernel. */
void nms__tpu_picks_print (nms__tpu *m, const nms__tpu_layout *layout);

#endif
