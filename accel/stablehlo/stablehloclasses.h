/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehloclasses: the class options of a program, as columns with a number for each box. */
#ifndef NMS_STABLEHLOCLASSES_H
#define NMS_STABLEHLOCLASSES_H

#include "stablehlojob.h"

/* Returns whether an entry of the class options sets the option `field`, an NMS_CLASS_... bit. */
int nms__stablehlo_classes_set (const nms__stablehlo_job *job, uint32_t field);

/* Each of these returns the option of each box's class, or the option of the program for classes
 * without one. `class_id` has the boxes' classes. */

/* The least key with which a box takes part, S32. */
nms_lazy_tensor nms__stablehlo_classes_least (nms_lazy *lz, const nms__stablehlo_job *job,
    nms_lazy_tensor class_id);
/* The limit in the form of nms_lazy_limit_of (), F32. */
nms_lazy_tensor nms__stablehlo_classes_limit (nms_lazy *lz, const nms__stablehlo_job *job,
    nms_lazy_tensor class_id);
/* The three numbers of nms__tpu_threshold_limit (), F32. */
void nms__stablehlo_classes_kernel_limit (nms_lazy *lz, const nms__stablehlo_job *job,
    nms_lazy_tensor class_id, nms_lazy_tensor limit[3]);
/* The most kept boxes, S32; 0 for no limit. */
nms_lazy_tensor nms__stablehlo_classes_cap (nms_lazy *lz, const nms__stablehlo_job *job,
    nms_lazy_tensor class_id);

#endif
