/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlotpu: the selection by a kernel for TPUs. */
#ifndef NMS_STABLEHLOTPU_H
#define NMS_STABLEHLOTPU_H

#include "nmsgraph.h"
#include "stablehlojob.h"

/* Records the kernel for the boxes of all images, which are vectors. Returns its picks and their
 * count. */
nms_lazy_kept nms__stablehlo_tpu (nms_lazy *lz, const nms__stablehlo_job *job,
    const nms_lazy_boxes *boxes);

#endif
