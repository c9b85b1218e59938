/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overlapgraph: records whether the IoU of one box with many exceeds their limits. */
#ifndef NMS_OVERLAPGRAPH_H
#define NMS_OVERLAPGRAPH_H

#include "nmslazy.h"

/* The columns of many boxes, or the scalars of one box, without a limit. */
typedef struct nms__overlap_columns {
  nms_lazy_tensor x1, y1, x2, y2;
  nms_lazy_tensor area, limit; /* set by nms__overlap_prepare */
} nms__overlap_columns;

/* Prepares columns before the loop: computes `area`, and converts `limit`, a column of
 * nms_lazy_boxes.limit, to the form that nms__overlap_graph takes. */
void nms__overlap_prepare (nms_lazy *lz, nms__overlap_columns *columns, int no_division);

/* Returns a PRED: the boxes of `columns` whose IoU with `box` exceeds their limits. */
nms_lazy_tensor nms__overlap_graph (nms_lazy *lz, const nms__overlap_columns *columns,
    const nms__overlap_columns *box, int no_division);

#endif
