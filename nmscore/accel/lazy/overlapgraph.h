/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overlapgraph: does the IoU of one box and of many exceed their limits? */
#ifndef NMS_OVERLAPGRAPH_H
#define NMS_OVERLAPGRAPH_H

#include "nmslazy.h"

/* Columns, or of one box scalars (which has no limit). */
typedef struct nms__overlap_columns {
  nms_lazy_tensor x1, y1, x2, y2;
  nms_lazy_tensor area, limit; /* by nms__overlap_prepare */
} nms__overlap_columns;

/* Before the loop: fills `area`, and replaces `limit` (nms_lazy_boxes.limit, as
 * a column) with what nms__overlap_graph wants. */
void nms__overlap_prepare (nms_lazy *lz, nms__overlap_columns *columns, int no_division);

/* PRED: which columns the box suppresses, as far as overlap goes. */
nms_lazy_tensor nms__overlap_graph (nms_lazy *lz, const nms__overlap_columns *columns,
    const nms__overlap_columns *box, int no_division);

#endif
