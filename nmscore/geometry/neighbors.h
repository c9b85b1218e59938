/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* neighbors: counts the neighbors of each box. */
#ifndef NMS_NEIGHBORS_H
#define NMS_NEIGHBORS_H

#include "frame/frame.h"

/* Counts the neighbors of each box of a prepared frame. `neighbors` has an element
 * for each of the caller's `count` boxes. nms__neighbors_scratch_size returns the bytes of
 * scratch that it needs. */
void nms__neighbors (nms__frame *frame, uint32_t *neighbors, size_t count);
size_t nms__neighbors_scratch_size (size_t boxes);

#endif
