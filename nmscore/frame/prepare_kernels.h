/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prepare_kernels: the function of prepare.c that is compiled once per instruction set. */
#ifndef NMS_PREPARE_KERNELS_H
#define NMS_PREPARE_KERNELS_H

#include "frame.h"

typedef struct nms__prepare_kernels {
  /* Copies those of the caller's boxes first .. first+n-1 (n <= NMS__BLOCK) that take part to the
   * frame. `thresholds`: a score threshold for each box, or NULL if classes have none of their own.
   * f->class_entry is filled for all of these boxes. Sets the bits of invalid and of filtered
   * boxes. */
  void (*take_block) (nms__frame *frame, const nms_options *options, const nms_boxes *boxes,
      size_t first, size_t n, const float *thresholds, uint64_t *invalid, uint64_t *filtered);
} nms__prepare_kernels;

#endif
