/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlocandidates: the keys of the boxes that take part, and the option max_candidates. */
#ifndef NMS_STABLEHLOCANDIDATES_H
#define NMS_STABLEHLOCANDIDATES_H

#include "nmsgraph.h"
#include "stablehlojob.h"

/* Returns the keys, INT32_MIN for boxes that do not take part, which is less than the key of any
 * score. */
nms_lazy_tensor nms__stablehlo_keys (nms_lazy *lz, const nms_lazy_boxes *b);

/* Returns which boxes take part, a PRED of the shape of b->key: of each image the first
 * max_candidates valid boxes in order whose key is at least b->least. Returns b->valid if
 * max_candidates is 0 or N or more. */
nms_lazy_tensor nms__stablehlo_candidates (nms_lazy *lz, const nms__stablehlo_job *job,
    const nms_lazy_boxes *b);

#endif
