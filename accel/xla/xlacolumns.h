/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacolumns: the columns of a frame that the graph and the kernel share. */
#ifndef NMS_XLACOLUMNS_H
#define NMS_XLACOLUMNS_H

#include "nmscore.h"

/* Columns of the caller, with as many elements as the program has boxes. All bytes are 0 at the
 * call. A pointer is NULL if the program has no such column. */
typedef struct nms__xla_columns {
  float *corner[4];
  int32_t *key;       /* greater keys rank first, equal keys by position; INT32_MIN for padding */
  int32_t *class_id;  /* boxes suppress only boxes of their class */
  int32_t *cap_class; /* class whose kept boxes class_cap limits */
  int32_t *class_cap; /* 0 for no limit */
} nms__xla_columns;

/* Copies the boxes of a frame to columns of `n` places. */
void nms__xla_columns_fill (const nms__xla_columns *columns, const nms_frame *frame, size_t n);

#endif
