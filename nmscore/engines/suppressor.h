/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* suppressor: finds the kept box that suppresses a candidate. Used by several engines. */
#ifndef NMS_SUPPRESSOR_H
#define NMS_SUPPRESSOR_H

#include "frame/frame.h"

/* Returns the position of the first of the kept boxes 0..end-1 that suppresses the
 * candidate `box`, or `end` if none does. The kept boxes are in order of rank, so
 * the first suppressor is the highest-ranked one. `index` is the candidate's
 * position in the caller's columns, `kept_index` has the kept boxes' ones; `limit`
 * is the candidate's. */
size_t nms__first_suppressor (const nms__frame *frame, const nms__columns *kept, size_t end,
    const nms__box *box, int32_t index, const int32_t *kept_index, double limit);

#endif
