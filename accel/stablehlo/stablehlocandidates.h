/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlocandidates: the option max_candidates of a program. */
#ifndef NMS_STABLEHLOCANDIDATES_H
#define NMS_STABLEHLOCANDIDATES_H

#include "nmsgraph.h"
#include "stablehlojob.h"

/* Returns which boxes take part, a PRED of the shape of b->key: of each image the first
 * max_candidates valid boxes in order whose key is at least b->least. Returns b->valid if
 * max_candidates is 0 or N or more. */
nms_lazy_tensor nms__stablehlo_candidates (nms_lazy *lz, const nms__stablehlo_job *job,
    const nms_lazy_boxes *b);

#endif
